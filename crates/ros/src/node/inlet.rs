//! A topic that is heard: one thread per publisher, which finds it again when it was away.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::health::TopicHealth;
use super::{Shared, locked};
use crate::error::RosError;
use crate::tcpros::{Fields, read_header, read_message, watch_over};
use crate::xmlrpc::{Uri, Value, call};

/// First and longest pause before a publisher is tried again.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
/// How long a publisher may take to say what it publishes.
const HEADER_WITHIN: Duration = Duration::from_secs(5);

/// A message that came.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Its bytes; the buffer is used again.
    pub bytes: &'a [u8],
    /// When it was here whole.
    pub at: Instant,
    /// Who sent it, by name.
    pub publisher: &'a str,
    counts: &'a Counts,
}

impl Incoming<'_> {
    /// Says that it could not be read; for [`TopicHealth`].
    pub fn is_unreadable(&self, error: &RosError) {
        self.counts.unreadable.fetch_add(1, Ordering::Relaxed);
        *locked(&self.counts.last_error) = Some(error.to_string());
    }
}

type Heard = Box<dyn FnMut(Incoming<'_>) + Send>;

#[derive(Debug, Default)]
struct Counts {
    messages: AtomicU64,
    unreadable: AtomicU64,
    reconnects: AtomicU64,
    last_error: Mutex<Option<String>>,
    last_at: Mutex<Option<Instant>>,
}

/// A publisher that the master named.
#[derive(Default)]
struct Peer {
    /// The master still names it.
    is_listed: AtomicBool,
    is_connected: AtomicBool,
    /// To be woken where it is read.
    stream: Mutex<Option<TcpStream>>,
    refused: Mutex<Option<String>>,
}

pub(crate) struct Inlet {
    pub(super) topic: String,
    pub(super) type_name: &'static str,
    md5: &'static str,
    largest: usize,
    heard: Mutex<Heard>,
    peers: Mutex<BTreeMap<Uri, Arc<Peer>>>,
    counts: Counts,
    is_over: AtomicBool,
}

impl Inlet {
    pub(super) fn new(
        topic: String,
        type_name: &'static str,
        md5: &'static str,
        largest: usize,
        heard: Heard,
    ) -> Self {
        Self {
            topic,
            type_name,
            md5,
            largest,
            heard: Mutex::new(heard),
            peers: Mutex::default(),
            counts: Counts::default(),
            is_over: AtomicBool::new(false),
        }
    }

    /// The master names these publishers. Whoever is connected stays until its connection ends,
    /// named or not: a master that has just begun knows few.
    pub(super) fn hear_from(self: &Arc<Self>, uris: &[Uri], is_complete: bool, shared: &Shared) {
        let mut peers = locked(&self.peers);
        if is_complete {
            for (uri, peer) in peers.iter() {
                peer.is_listed.store(uris.contains(uri), Ordering::Relaxed);
            }
        }
        for uri in uris {
            if let Some(peer) = peers.get(uri) {
                peer.is_listed.store(true, Ordering::Relaxed);
                continue;
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let peer = Arc::new(Peer { is_listed: AtomicBool::new(true), ..Peer::default() });
            let (inlet, uri, own) = (Arc::clone(self), uri.clone(), Arc::clone(&peer));
            let name = locked(&shared.name).clone();
            let place = uri.clone();
            let spawned = std::thread::Builder::new()
                .name("ros topic".into())
                .spawn(move || inlet.listen(&place, &own, &name));
            // Without a thread it is named again at the next change.
            if spawned.is_ok() {
                peers.insert(uri, peer);
            }
        }
    }

    fn is_wanted(&self, peer: &Peer) -> bool {
        !self.is_over.load(Ordering::Relaxed) && peer.is_listed.load(Ordering::Relaxed)
    }

    /// The thread of one publisher.
    fn listen(&self, uri: &Uri, peer: &Peer, me: &str) {
        let mut pause = PAUSES[0];
        let mut buffer = Vec::new();
        while self.is_wanted(peer) {
            let before = self.counts.messages.load(Ordering::Relaxed);
            let ended = self.connect(uri, me).and_then(|(stream, from)| {
                locked(&peer.refused).take();
                self.read_all(stream, peer, &from, &mut buffer)
            });
            peer.is_connected.store(false, Ordering::Relaxed);
            locked(&peer.stream).take();
            let Err(error) = ended else { break };
            *locked(&self.counts.last_error) = Some(error.to_string());
            if matches!(error, RosError::Refused { .. }) {
                // Asked again it would say the same, until somebody starts another.
                *locked(&peer.refused) = Some(error.to_string());
                pause = PAUSES[1];
            }
            if self.counts.messages.load(Ordering::Relaxed) > before {
                pause = PAUSES[0];
            }
            self.wait(pause, peer);
            pause = (pause * 2).min(PAUSES[1]);
            while locked(&peer.refused).is_some() && self.is_wanted(peer) {
                self.wait(PAUSES[1], peer);
            }
            self.counts.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        locked(&self.peers).remove(uri);
    }

    fn wait(&self, pause: Duration, peer: &Peer) {
        let end = Instant::now() + pause;
        while Instant::now() < end && self.is_wanted(peer) {
            std::thread::sleep(Duration::from_millis(20).min(pause));
        }
    }

    /// A connection, and who is at its other end.
    fn connect(&self, uri: &Uri, me: &str) -> Result<(TcpStream, String), RosError> {
        let protocols = Value::Array(vec![Value::Array(vec![Value::text("TCPROS")])]);
        let params = [Value::text(me), Value::text(&self.topic), protocols];
        let answer = call(uri, "requestTopic", &params).map_err(|error| match error {
            // "Not published here" passes when it is.
            RosError::Refused { reason, .. } => RosError::bad(uri.to_string(), reason),
            other => other,
        })?;
        let Some([Value::Text(protocol), Value::Text(host), Value::Int(port)]) = answer.as_array()
        else {
            return Err(RosError::bad(uri.to_string(), format!("answers {answer:?}")));
        };
        let port = u16::try_from(*port).ok().filter(|_| protocol == "TCPROS");
        let port = port.ok_or_else(|| {
            RosError::bad(uri.to_string(), format!("offers {protocol}, not TCPROS"))
        })?;
        let failed = |cause| RosError::io(format!("connecting to {host}:{port}"), cause);
        let mut stream = crate::xmlrpc::connect(host, port).map_err(failed)?;
        watch_over(&stream);
        let fields = Fields::new(&[
            ("callerid", me),
            ("md5sum", self.md5),
            ("type", self.type_name),
            ("topic", &self.topic),
            ("tcp_nodelay", "1"),
        ]);
        stream.set_write_timeout(Some(HEADER_WITHIN)).map_err(failed)?;
        std::io::Write::write_all(&mut stream, &fields.to_bytes()).map_err(failed)?;
        let theirs = read_header(&mut stream, Instant::now() + HEADER_WITHIN)?;
        let refused = |reason: String| RosError::Refused {
            whom: format!("the publisher at {uri}"),
            what: self.topic.clone(),
            reason,
        };
        if theirs.has("error") {
            return Err(refused(theirs.get("error").to_owned()));
        }
        if self.md5 != "*"
            && !matches!(theirs.get("md5sum"), "*" | "")
            && theirs.get("md5sum") != self.md5
        {
            return Err(refused(format!(
                "it publishes {} ({}), heard is {} ({})",
                theirs.get("type"),
                theirs.get("md5sum"),
                self.type_name,
                self.md5
            )));
        }
        Ok((stream, theirs.get("callerid").to_owned()))
    }

    fn read_all(
        &self,
        mut stream: TcpStream,
        peer: &Peer,
        from: &str,
        buffer: &mut Vec<u8>,
    ) -> Result<(), RosError> {
        let copy = stream.try_clone().map_err(|cause| RosError::io("a connection", cause))?;
        *locked(&peer.stream) = Some(copy);
        peer.is_connected.store(true, Ordering::Relaxed);
        while !self.is_over.load(Ordering::Relaxed) {
            let bytes = read_message(&mut stream, buffer, self.largest)?;
            let at = Instant::now();
            self.counts.messages.fetch_add(1, Ordering::Relaxed);
            *locked(&self.counts.last_at) = Some(at);
            let incoming = Incoming { bytes, at, publisher: from, counts: &self.counts };
            (locked(&self.heard))(incoming);
        }
        Ok(())
    }

    pub(super) fn close(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        for peer in locked(&self.peers).values() {
            if let Some(stream) = &*locked(&peer.stream) {
                let _it_may_be_gone = stream.shutdown(Shutdown::Both);
            }
        }
    }

    pub(super) fn connected(&self) -> Vec<Uri> {
        let peers = locked(&self.peers);
        let connected = peers.iter().filter(|(_, peer)| peer.is_connected.load(Ordering::Relaxed));
        connected.map(|(uri, _)| uri.clone()).collect()
    }

    pub(super) fn health(&self) -> TopicHealth {
        let peers = locked(&self.peers);
        TopicHealth {
            topic: self.topic.clone(),
            publishers: peers.len(),
            connected: peers.values().filter(|p| p.is_connected.load(Ordering::Relaxed)).count(),
            messages: self.counts.messages.load(Ordering::Relaxed),
            unreadable: self.counts.unreadable.load(Ordering::Relaxed),
            last_error: locked(&self.counts.last_error).clone(),
            reconnects: self.counts.reconnects.load(Ordering::Relaxed),
            age: locked(&self.counts.last_at).map(|at| at.elapsed()),
            refused: peers.values().filter_map(|peer| locked(&peer.refused).clone()).collect(),
        }
    }
}

/// A topic that is heard until this is dropped.
pub struct Subscription {
    inlet: Arc<Inlet>,
    shared: Weak<Shared>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("topic", &self.inlet.topic).finish_non_exhaustive()
    }
}

impl Subscription {
    pub(super) fn new(inlet: Arc<Inlet>, shared: Weak<Shared>) -> Self {
        Self { inlet, shared }
    }

    /// The topic as the robot knows it.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.inlet.topic
    }

    /// Whether a publisher is connected now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        let peers = locked(&self.inlet.peers);
        peers.values().any(|peer| peer.is_connected.load(Ordering::Relaxed))
    }

    /// What is known of it.
    #[must_use]
    pub fn health(&self) -> TopicHealth {
        self.inlet.health()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.inlet.close();
        let Some(shared) = self.shared.upgrade() else { return };
        let is_last = {
            let mut inlets = locked(&shared.inlets);
            inlets.retain(|inlet| !Arc::ptr_eq(inlet, &self.inlet));
            inlets.iter().all(|inlet| inlet.topic != self.inlet.topic)
        };
        if is_last && !shared.is_over.load(Ordering::Relaxed) {
            shared.unregister_inlet(&self.inlet.topic);
        }
    }
}
