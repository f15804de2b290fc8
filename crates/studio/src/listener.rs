//! Takes connections in, a bounded number of them, each for a bounded time until it has become
//! a WebSocket.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::routes;
use crate::server::Shared;

/// Most connections that are not (yet) WebSockets.
const MOST_REQUESTS: usize = 64;
/// Longest life of one; a browser opens another.
const LONGEST_REQUEST: Duration = Duration::from_secs(60);
const LONGEST_HEADERS: Duration = Duration::from_secs(10);
const MOST_HEADER_BYTES: usize = 16 * 1024;

/// The address on this machine that a connection came in on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CameInOn(pub(crate) IpAddr);

/// Takes connections for as long as it is polled.
pub(crate) async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let router = routes::router(Arc::clone(shared));
    let places = Arc::new(Semaphore::new(MOST_REQUESTS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files, most likely; it passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        // Small messages must not wait for more. A refusal only makes them slower.
        let _ = stream.set_nodelay(true);
        let service = router.clone().layer(Extension(CameInOn(local.ip())));
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(LONGEST_HEADERS)
                .max_buf_size(MOST_HEADER_BYTES)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
                .with_upgrades();
            // How a browser ends a connection is its business.
            let _ = tokio::time::timeout(LONGEST_REQUEST, connection).await;
            drop(place);
        });
    }
}
