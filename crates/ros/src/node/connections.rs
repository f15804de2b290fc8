//! Where others connect to our topics and services.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Shared, locked, service};
use crate::error::RosError;
use crate::tcpros::{read_header, refuse, watch_over};

/// Connections at a time; more are sent away.
const CONNECTIONS: usize = 128;
/// How long one may take to say what it wants.
const HEADER_WITHIN: Duration = Duration::from_secs(5);

/// Takes connections until it is dropped.
pub(super) struct Listener {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn start(ip: IpAddr, shared: &Arc<Shared>) -> Result<Self, RosError> {
        let failed = |cause| RosError::io(format!("listening on {ip}"), cause);
        let listener = TcpListener::bind((ip, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, node) = (Arc::clone(&is_over), Arc::downgrade(shared));
        let thread = std::thread::Builder::new()
            .name("ros connections".into())
            .spawn(move || accept(&listener, &node, &over))
            .map_err(failed)?;
        Ok(Self { address, is_over, thread: Some(thread) })
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _woken = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, node: &Weak<Shared>, is_over: &AtomicBool) {
    let count = Arc::new(AtomicUsize::new(0));
    loop {
        let came = listener.accept();
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok((stream, _)) = came else {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if count.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            count.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (node, own) = (node.clone(), Arc::clone(&count));
        let spawned = std::thread::Builder::new().name("ros connection".into()).spawn(move || {
            serve(stream, &node);
            own.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(mut stream: TcpStream, node: &Weak<Shared>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    watch_over(&stream);
    let Ok(fields) = read_header(&mut stream, Instant::now() + HEADER_WITHIN) else { return };
    let Some(shared) = node.upgrade() else { return };
    let me = locked(&shared.name).clone();
    if fields.has("service") {
        let name = fields.get("service");
        let provided = locked(&shared.services).get(name).cloned();
        drop(shared);
        match provided {
            Some(provided) => service::serve(&provided, stream, &fields, &me),
            None => refuse(&mut stream, &format!("{name} is not provided here")),
        }
        return;
    }
    let topic = fields.get("topic");
    let outlet = locked(&shared.outlets).get(topic).cloned();
    // A subscriber must not keep a node alive that leaves.
    drop(shared);
    match outlet {
        Some(outlet) => outlet.serve(stream, &fields, &me),
        None => refuse(&mut stream, &format!("{topic} is not published here")),
    }
}
