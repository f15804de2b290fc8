//! A topic that is published: a queue and a thread per subscriber.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use super::{Shared, locked};
use crate::message::Message;
use crate::tcpros::{Fields, framed, refuse};
use crate::wire::Format;

struct Subscriber {
    name: String,
    queue: Mutex<VecDeque<Arc<Vec<u8>>>>,
    came: Condvar,
    is_gone: AtomicBool,
    stream: TcpStream,
}

impl Subscriber {
    fn end(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
        self.came.notify_all();
        let _it_may_be_gone = self.stream.shutdown(Shutdown::Both);
    }
}

pub(crate) struct Outlet {
    pub(super) topic: String,
    pub(super) type_name: &'static str,
    md5: &'static str,
    definition: String,
    depth: usize,
    is_latched: bool,
    latched: Mutex<Option<Arc<Vec<u8>>>>,
    subscribers: Mutex<Vec<Arc<Subscriber>>>,
    dropped: AtomicU64,
}

impl Outlet {
    pub(super) fn new(
        topic: String,
        [type_name, md5]: [&'static str; 2],
        definition: String,
        depth: usize,
        is_latched: bool,
    ) -> Self {
        Self {
            topic,
            type_name,
            md5,
            definition,
            depth: depth.max(1),
            is_latched,
            latched: Mutex::default(),
            subscribers: Mutex::default(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Somebody wants to hear it; the calling thread is theirs until they leave.
    pub(super) fn serve(&self, mut stream: TcpStream, fields: &Fields, me: &str) {
        let (md5, kind) = (fields.get("md5sum"), fields.get("type"));
        if md5 != "*" && md5 != self.md5 {
            let reason = format!(
                "{} is {} with md5sum {}, not {kind} with {md5}",
                self.topic, self.type_name, self.md5
            );
            return refuse(&mut stream, &reason);
        }
        let answer = Fields::new(&[
            ("callerid", me),
            ("md5sum", self.md5),
            ("type", self.type_name),
            ("topic", &self.topic),
            ("latching", if self.is_latched { "1" } else { "0" }),
            ("message_definition", &self.definition),
        ]);
        let (Ok(mut hangs_up), Ok(mut head)) = (stream.try_clone(), stream.try_clone()) else {
            return;
        };
        // First in the list: who has read the header counts on every message from then on.
        let subscriber = {
            let mut subscribers = locked(&self.subscribers);
            let queue = Mutex::new(locked(&self.latched).iter().cloned().collect());
            let (came, is_gone) = (Condvar::new(), AtomicBool::new(false));
            let name = fields.get("callerid").to_owned();
            let subscriber = Arc::new(Subscriber { name, queue, came, is_gone, stream });
            subscribers.push(Arc::clone(&subscriber));
            subscriber
        };
        let is_told = head.write_all(&answer.to_bytes()).is_ok();
        let watched = Arc::clone(&subscriber);
        // A subscriber never says anything: what is read is its end.
        let watch = std::thread::Builder::new().name("ros leaves".into()).spawn(move || {
            let mut one = [0];
            while matches!(hangs_up.read(&mut one), Ok(1..)) {}
            watched.end();
        });
        if is_told && watch.is_ok() {
            self.write_all(&subscriber);
        }
        subscriber.end();
        locked(&self.subscribers).retain(|other| !Arc::ptr_eq(other, &subscriber));
    }

    fn write_all(&self, subscriber: &Subscriber) {
        let mut stream = &subscriber.stream;
        loop {
            let next = {
                let mut queue = locked(&subscriber.queue);
                loop {
                    if subscriber.is_gone.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Some(next) = queue.pop_front() {
                        break next;
                    }
                    let waited = subscriber.came.wait(queue);
                    queue = waited.unwrap_or_else(PoisonError::into_inner);
                }
            };
            if stream.write_all(&next).is_err() {
                return;
            }
        }
    }

    fn publish(&self, message: &[u8]) {
        let subscribers = locked(&self.subscribers);
        if subscribers.is_empty() && !self.is_latched {
            return;
        }
        let bytes = Arc::new(framed(message));
        if self.is_latched {
            *locked(&self.latched) = Some(Arc::clone(&bytes));
        }
        for subscriber in subscribers.iter() {
            let mut queue = locked(&subscriber.queue);
            while queue.len() >= self.depth {
                queue.pop_front();
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            queue.push_back(Arc::clone(&bytes));
            drop(queue);
            subscriber.came.notify_all();
        }
    }

    pub(super) fn close(&self) {
        locked(&self.subscribers).iter().for_each(|subscriber| subscriber.end());
    }

    pub(super) fn subscribers(&self) -> Vec<String> {
        locked(&self.subscribers).iter().map(|subscriber| subscriber.name.clone()).collect()
    }
}

/// A topic that is published until this is dropped.
pub struct Publisher {
    outlet: Arc<Outlet>,
    shared: Weak<Shared>,
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.outlet.topic).finish_non_exhaustive()
    }
}

impl Publisher {
    pub(super) fn new(outlet: Arc<Outlet>, shared: Weak<Shared>) -> Self {
        Self { outlet, shared }
    }

    /// Sends a message to all who are connected.
    pub fn publish<M: Message>(&self, message: &M) {
        if self.is_heard() || self.outlet.is_latched {
            self.publish_bytes(&message.to_bytes(Format::Ros1));
        }
    }

    /// Sends a message that was made elsewhere.
    pub fn publish_bytes(&self, message: &[u8]) {
        self.outlet.publish(message);
    }

    /// Names of those who are connected.
    #[must_use]
    pub fn subscribers(&self) -> Vec<String> {
        self.outlet.subscribers()
    }

    /// Whether anybody is connected.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        !locked(&self.outlet.subscribers).is_empty()
    }

    /// Messages that a subscriber was too slow for.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.outlet.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.outlet.close();
        let Some(shared) = self.shared.upgrade() else { return };
        locked(&shared.outlets).remove(&self.outlet.topic);
        if !shared.is_over.load(Ordering::Relaxed) {
            shared.unregister_outlet(&self.outlet.topic);
        }
    }
}
