//! Starting and stopping the server, and what its threads share.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use axum::body::Bytes;
use citrange_teleop::DriverLock;
use tokio::sync::watch;

use crate::error::StudioError;
use crate::guard::{Names, Token};
use crate::once::Codes;
use crate::painter::Pictures;
use crate::wire::Status;
use crate::{addresses, feed, listener, painter};
use citrange_teleop::telemetry::Telemetry;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Names people may call this machine by, besides `localhost` and its addresses.
    pub hosts: Vec<String>,
    /// The secret in the link; none makes a random one.
    pub token: Option<String>,
    /// Most pages open at once.
    pub viewers: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 8420));
        Self { listen, hosts: Vec::new(), token: None, viewers: 16 }
    }
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) board: Arc<Telemetry>,
    pub(crate) driver_lock: Arc<DriverLock>,
    pub(crate) stage_json: String,
    pub(crate) token: Token,
    pub(crate) codes: Codes,
    pub(crate) names: Names,
    pub(crate) most_viewers: usize,
    pub(crate) viewers: AtomicUsize,
    /// Connections so far, to give each a name.
    pub(crate) connections: AtomicU64,
    pub(crate) states: watch::Sender<Bytes>,
    pub(crate) status: watch::Sender<Arc<Status>>,
    pub(crate) pictures: watch::Sender<Arc<Pictures>>,
    pub(crate) stop: watch::Sender<bool>,
    started: Instant,
}

impl Shared {
    /// The server's time in ms.
    pub(crate) fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Pages open, of how many.
    pub(crate) fn viewers_text(&self) -> String {
        format!("{}/{}", self.viewers.load(Ordering::Acquire), self.most_viewers)
    }
}

/// Counts one up for as long as it lives.
pub(crate) struct Counted {
    shared: Arc<Shared>,
    of: fn(&Shared) -> &AtomicUsize,
}

impl Counted {
    /// `None` when there are `most` already.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        of: fn(&Shared) -> &AtomicUsize,
        most: usize,
    ) -> Option<Self> {
        let up = |count: usize| (count < most).then_some(count + 1);
        of(shared).fetch_update(Ordering::AcqRel, Ordering::Acquire, up).ok()?;
        Some(Self { shared: Arc::clone(shared), of })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.of)(&self.shared).fetch_sub(1, Ordering::AcqRel);
    }
}

/// A running server; dropping it stops it.
pub struct Server {
    address: SocketAddr,
    /// Names it was given.
    names: Vec<String>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// How long connections get to say goodbye.
const GOODBYE: Duration = Duration::from_millis(500);

/// Starts the server in threads of its own; returns when people can connect.
///
/// # Errors
/// When the port is taken or the address is not this machine's, when a given token is weak or a
/// host no name, or when the system has no threads or random bytes left.
pub fn serve(
    board: Arc<Telemetry>,
    driver_lock: Arc<DriverLock>,
    options: &ServeOptions,
) -> Result<Server, StudioError> {
    let token = Token::new(options.token.as_deref())?;
    let names = Names::new(&options.hosts)?;
    let asked = options.listen;
    let listen_error = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => StudioError::PortBusy(asked),
        _ => StudioError::Listen { address: asked, source },
    };
    let listener = TcpListener::bind(asked).map_err(listen_error)?;
    listener.set_nonblocking(true).map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(StudioError::Threads)?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener).map_err(listen_error)?
    };

    // Plain structs of numbers and strings always have a JSON form.
    let stage_json = serde_json::to_string(&board.stage).unwrap_or_else(|_| "null".into());
    let shared = Arc::new(Shared {
        board,
        driver_lock,
        stage_json,
        token,
        codes: Codes::default(),
        names,
        most_viewers: options.viewers,
        viewers: AtomicUsize::new(0),
        connections: AtomicU64::new(0),
        states: watch::Sender::new(Bytes::new()),
        status: watch::Sender::default(),
        pictures: watch::Sender::default(),
        stop: watch::Sender::new(false),
        started: Instant::now(),
    });

    let names = options.hosts.clone();
    let mut server = Server { address, names, shared: Arc::clone(&shared), threads: Vec::new() };
    let painting = Arc::clone(&shared);
    server.start("studio-pictures", move || painter::paint(&painting))?;
    server.start("studio", move || {
        runtime.block_on(async {
            let mut stop = shared.stop.subscribe();
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => {}
                () = listener::accept(&listener, &shared) => {}
                () = feed::feed(&shared) => {}
            }
            let goodbye = Instant::now() + GOODBYE;
            while shared.viewers.load(Ordering::Acquire) > 0 && Instant::now() < goodbye {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        runtime.shutdown_background();
    })?;
    Ok(server)
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The link to open on this machine, with the token.
    #[must_use]
    pub fn link(&self) -> String {
        // "Any address" is nowhere to go to.
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
            ip => ip,
        };
        self.link_to(&SocketAddr::new(ip, self.address.port()).to_string())
    }

    /// All links, those that other machines can open first: by the names it was given, by the
    /// addresses of the interfaces, and on this machine.
    #[must_use]
    pub fn links(&self) -> Vec<String> {
        let port = self.address.port();
        let named =
            self.names.iter().map(|name| match name.trim_matches(['[', ']']).parse::<IpAddr>() {
                Ok(ip) => SocketAddr::new(ip, port).to_string(),
                Err(_) => format!("{name}:{port}"),
            });
        let reachable = addresses::reachable(self.address);
        let all = named.chain(reachable.iter().map(SocketAddr::to_string));
        all.map(|at| self.link_to(&at)).collect()
    }

    fn link_to(&self, at: &str) -> String {
        format!("http://{at}/?token={}", self.shared.token.text())
    }

    /// People connected.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.shared.viewers.load(Ordering::Acquire)
    }

    /// Says goodbye to everybody and ends the threads.
    pub fn stop(self) {
        drop(self);
    }

    fn start(
        &mut self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), StudioError> {
        let nice = move || {
            stand_back();
            work();
        };
        let thread = thread::Builder::new().name(name.into()).spawn(nice);
        self.threads.push(thread.map_err(StudioError::Threads)?);
        Ok(())
    }
}

/// How far the server stands back behind the control loop. Keys come through it: drawing stands
/// back further.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// Lets the control loop go first when cores are scarce.
fn stand_back() {
    // Elsewhere this would hold for the whole process, the loop included. It is a favour, not a
    // need: when it is refused the page still works.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICE);
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A thread that panicked has nothing left to stop.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the token: debug output ends up in logs.
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}
