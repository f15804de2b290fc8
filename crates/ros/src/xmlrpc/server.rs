//! A small server for calls from others, on one address.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::http;
use super::value::{Call, Value, parse_call, write_answer};
use crate::error::RosError;

/// Longest time for a caller to say what it wants.
const REQUEST: Duration = Duration::from_secs(5);
/// Callers at a time; more are sent away.
const CALLERS: usize = 32;

/// Answers calls.
pub type Handler = dyn Fn(&Call) -> Value + Send + Sync;

/// Serves until it is dropped.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Serves on a port of an address; on a free one for 0.
    ///
    /// # Errors
    /// When there is no such address here, the port is taken, or there is no thread.
    pub fn start(ip: IpAddr, port: u16, handler: Arc<Handler>) -> Result<Self, RosError> {
        let failed = |cause| RosError::io(format!("serving on {ip}:{port}"), cause);
        let listener = TcpListener::bind((ip, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::Builder::new()
            .name("ros api".into())
            .spawn(move || serve(&listener, &handler, &over))
            .map_err(failed)?;
        Ok(Self { address, is_over, thread: Some(thread) })
    }

    /// Where it serves.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Who waits for callers is woken by one.
        let _woken = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, handler: &Arc<Handler>, is_over: &AtomicBool) {
    let callers = Arc::new(AtomicUsize::new(0));
    loop {
        let came = listener.accept();
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok((stream, _)) = came else {
            // Too many files are open: the next try may be luckier.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if callers.fetch_add(1, Ordering::Relaxed) >= CALLERS {
            callers.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (handler, count) = (Arc::clone(handler), Arc::clone(&callers));
        let spawned = std::thread::Builder::new().name("ros call".into()).spawn(move || {
            let _caller_left = answer(stream, &*handler);
            count.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            callers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn answer(mut stream: TcpStream, handler: &Handler) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(REQUEST))?;
    let (_, body) = http::read(&mut stream, Instant::now() + REQUEST)?;
    let answer = match parse_call(&body) {
        Ok(call) => handler(&call),
        Err(error) => {
            Value::Array(vec![Value::Int(-1), Value::text(error.to_string()), Value::Int(0)])
        }
    };
    http::write(&mut stream, "HTTP/1.1 200 OK", &write_answer(&answer))
}
