//! Takes connections in, a bounded number of them, each for a bounded time until it has become
//! a WebSocket. When all places are taken, the oldest that has not shown the token goes: idle
//! connections of strangers keep nobody out.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::{Extension, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::routes;
use crate::server::Shared;

/// Most connections that are not (yet) WebSockets.
const MOST_REQUESTS: usize = 64;
/// Longest life of one; a browser opens another.
const LONGEST_REQUEST: Duration = Duration::from_secs(60);
/// Longest that one may take to say what it wants.
const LONGEST_HEADERS: Duration = Duration::from_secs(4);
const MOST_HEADER_BYTES: usize = 16 * 1024;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The address on this machine that the connection came in on.
    pub(crate) came_in_on: IpAddr,
    known: Arc<AtomicBool>,
}

impl Caller {
    /// Has shown the token.
    pub(crate) fn is_known(&self) {
        self.known.store(true, Ordering::Relaxed);
    }
}

/// A connection that is not (yet) a WebSocket.
struct Guest {
    known: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

/// Takes connections for as long as it is polled.
pub(crate) async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let router = routes::router(Arc::clone(shared));
    // Oldest first.
    let mut guests: VecDeque<Guest> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files, most likely; it passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        // Small messages must not wait for more. A refusal only makes them slower.
        let _ = stream.set_nodelay(true);
        make_room(&mut guests);
        let known = Arc::new(AtomicBool::new(false));
        let caller = Caller { came_in_on: local.ip(), known: Arc::clone(&known) };
        let task = tokio::spawn(serve_one(stream, router.clone(), caller));
        guests.push_back(Guest { known, task });
    }
}

/// Forgets those who are done; sends the oldest away when there is no place left, if possible one
/// who has not shown the token.
fn make_room(guests: &mut VecDeque<Guest>) {
    guests.retain(|guest| !guest.task.is_finished());
    if guests.len() >= MOST_REQUESTS {
        let stranger = guests.iter().position(|guest| !guest.known.load(Ordering::Relaxed));
        if let Some(guest) = guests.remove(stranger.unwrap_or(0)) {
            guest.task.abort();
        }
    }
}

async fn serve_one(stream: TcpStream, router: Router, caller: Caller) {
    let service = router.layer(Extension(caller));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEADERS)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    // How a browser ends a connection is its business.
    let _ = tokio::time::timeout(LONGEST_REQUEST, connection).await;
}
