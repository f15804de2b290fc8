//! A node of ROS 1: registered with the master and again when it comes back, serving what others
//! ask a node, with its topics and services. Threads, no runtime.

mod api;
mod connections;
mod health;
mod inlet;
mod outlet;
mod registration;
mod service;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use health::{NodeEvent, NodeHealth, TopicHealth};
pub use inlet::{Incoming, Subscription};
pub use outlet::Publisher;
pub use service::ServiceHandler;

use connections::Listener;
use inlet::Inlet;
use outlet::Outlet;
use service::Service;

use crate::error::RosError;
use crate::message::Message;
use crate::settings::NodeSettings;
use crate::wire::Format;
use crate::xmlrpc::{Server, Uri, Value, call};

/// Largest message of a topic that is not of pictures or clouds.
pub const SMALL_MESSAGE: usize = 1 << 20;
/// Largest picture or cloud.
pub const LARGE_MESSAGE: usize = 64 << 20;

/// How often the master is looked at.
const WATCH: Duration = Duration::from_millis(500);

/// What all threads of a node know.
pub(crate) struct Shared {
    settings: NodeSettings,
    /// Changes when another node takes it.
    name: Mutex<String>,
    /// Where others call us.
    api: Mutex<Option<Uri>>,
    /// Where others connect to our topics and services.
    tcp_port: Mutex<u16>,
    inlets: Mutex<Vec<Arc<Inlet>>>,
    outlets: Mutex<BTreeMap<String, Arc<Outlet>>>,
    services: Mutex<BTreeMap<String, Arc<Service>>>,
    health: Mutex<NodeHealth>,
    events: Mutex<Vec<NodeEvent>>,
    is_over: AtomicBool,
    /// Something is not registered as it should be.
    is_register_due: AtomicBool,
    names_taken: AtomicU64,
    wake: (Mutex<()>, Condvar),
}

/// A node; leaves when it is dropped.
pub struct Node {
    shared: Arc<Shared>,
    /// Dropped first: nobody calls a node that leaves.
    server: Option<Server>,
    listener: Option<Listener>,
    watch: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A thread that panicked with it has nothing half-written in it: values are replaced whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    /// Begins, when the master is there.
    ///
    /// # Errors
    /// When there is no master, or nothing can be served on our address.
    pub fn start(settings: NodeSettings) -> Result<Self, RosError> {
        let no_master =
            |reason: String| RosError::NoMaster { uri: settings.master.to_string(), reason };
        let me = Value::text(settings.name.as_str());
        let pid = call(&settings.master, "getPid", &[me]).map_err(|e| no_master(e.to_string()))?;
        let (ip, host) = (settings.ip, settings.host.clone());
        let shared = Arc::new(Shared {
            name: Mutex::new(settings.name.clone()),
            settings,
            api: Mutex::default(),
            tcp_port: Mutex::default(),
            inlets: Mutex::default(),
            outlets: Mutex::default(),
            services: Mutex::default(),
            health: Mutex::new(NodeHealth::new(pid.as_int())),
            events: Mutex::default(),
            is_over: AtomicBool::new(false),
            is_register_due: AtomicBool::new(false),
            names_taken: AtomicU64::new(0),
            wake: (Mutex::new(()), Condvar::new()),
        });
        let asked = Arc::downgrade(&shared);
        let server = Server::start(ip, 0, Arc::new(move |call| api::answer(&asked, call)))?;
        *locked(&shared.api) = Some(Uri { host, port: server.address().port() });
        let listener = Listener::start(ip, &shared)?;
        *locked(&shared.tcp_port) = listener.port();
        let watched = Arc::clone(&shared);
        let watch = std::thread::Builder::new()
            .name("ros master".into())
            .spawn(move || watched.watch_master())
            .map_err(|cause| RosError::io("a thread for the master", cause))?;
        Ok(Self { shared, server: Some(server), listener: Some(listener), watch: Some(watch) })
    }

    /// Our name now.
    #[must_use]
    pub fn name(&self) -> String {
        locked(&self.shared.name).clone()
    }

    /// What is known of master and topics.
    #[must_use]
    pub fn health(&self) -> NodeHealth {
        let mut health = locked(&self.shared.health).clone();
        health.topics = locked(&self.shared.inlets).iter().map(|inlet| inlet.health()).collect();
        health
    }

    /// What happened since this was asked last.
    #[must_use]
    pub fn events(&self) -> Vec<NodeEvent> {
        std::mem::take(&mut *locked(&self.shared.events))
    }

    /// Hears a topic as bytes. `heard` is called from the threads of its connections, one at a
    /// time. Type and md5sum may be `*`.
    ///
    /// # Errors
    /// When the name is none. A master that is away is no error: it is told when it is back.
    pub fn subscribe_bytes(
        &self,
        topic: &str,
        [type_name, md5]: [&'static str; 2],
        largest: usize,
        heard: impl FnMut(Incoming<'_>) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        let topic = self.shared.settings.resolve(topic)?;
        let inlet = Arc::new(Inlet::new(topic, type_name, md5, largest, Box::new(heard)));
        locked(&self.shared.inlets).push(Arc::clone(&inlet));
        self.shared.register_inlet(&inlet);
        Ok(Subscription::new(inlet, Arc::downgrade(&self.shared)))
    }

    /// Hears a topic. What cannot be read is counted ([`TopicHealth::unreadable`]) and left out.
    ///
    /// # Errors
    /// As [`Node::subscribe_bytes`].
    pub fn subscribe<M: Message + 'static>(
        &self,
        topic: &str,
        largest: usize,
        mut heard: impl FnMut(M, Instant) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        self.subscribe_bytes(
            topic,
            [M::TYPE, M::MD5],
            largest,
            move |incoming| match M::from_bytes(incoming.bytes, Format::Ros1) {
                Ok(message) => heard(message, incoming.at),
                Err(error) => incoming.is_unreadable(&error),
            },
        )
    }

    /// Publishes a topic. Each subscriber has a queue of `depth` messages, of which the oldest go
    /// when it does not keep up; a latched topic gives its last message to whoever comes.
    ///
    /// # Errors
    /// When the name is none, or the topic is published already.
    pub fn advertise<M: Message>(
        &self,
        topic: &str,
        depth: usize,
        is_latched: bool,
    ) -> Result<Publisher, RosError> {
        self.advertise_bytes(topic, [M::TYPE, M::MD5], M::definition(), depth, is_latched)
    }

    /// Publishes a topic whose messages are made elsewhere.
    ///
    /// # Errors
    /// As [`Node::advertise`].
    pub fn advertise_bytes(
        &self,
        topic: &str,
        [type_name, md5]: [&'static str; 2],
        definition: String,
        depth: usize,
        is_latched: bool,
    ) -> Result<Publisher, RosError> {
        let topic = self.shared.settings.resolve(topic)?;
        let outlet = Outlet::new(topic.clone(), [type_name, md5], definition, depth, is_latched);
        let outlet = Arc::new(outlet);
        {
            let mut outlets = locked(&self.shared.outlets);
            if outlets.contains_key(&topic) {
                return Err(RosError::bad(topic, "this node publishes it already"));
            }
            outlets.insert(topic, Arc::clone(&outlet));
        }
        self.shared.register_outlet(&outlet);
        Ok(Publisher::new(outlet, Arc::downgrade(&self.shared)))
    }

    /// A parameter of the master; none where it is not set.
    ///
    /// # Errors
    /// When the master does not answer.
    pub fn param(&self, key: &str) -> Result<Option<Value>, RosError> {
        let params = [Value::text(self.name()), Value::text(key)];
        match call(&self.shared.settings.master, "getParam", &params) {
            Ok(value) => Ok(Some(value)),
            Err(RosError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// When the master does not answer.
    pub fn set_param(&self, key: &str, value: Value) -> Result<(), RosError> {
        let params = [Value::text(self.name()), Value::text(key), value];
        call(&self.shared.settings.master, "setParam", &params).map(drop)
    }

    /// Calls a service: bytes in, bytes out. The md5sum may be `*`.
    ///
    /// # Errors
    /// When nobody provides it, it does not answer in time, or says no.
    pub fn call_service(
        &self,
        name: &str,
        md5: &str,
        request: &[u8],
        within: Duration,
    ) -> Result<Vec<u8>, RosError> {
        let name = self.shared.settings.resolve(name)?;
        let me = self.name();
        service::call_service(&self.shared.settings.master, [&me, &name, md5], request, within)
    }

    /// Provides a service until the node leaves.
    ///
    /// # Errors
    /// When the name is none, or provided already.
    pub fn provide_service(
        &self,
        name: &str,
        [type_name, md5]: [&'static str; 2],
        handler: Box<ServiceHandler>,
    ) -> Result<(), RosError> {
        let name = self.shared.settings.resolve(name)?;
        let service = Arc::new(Service { name: name.clone(), type_name, md5, handler });
        if locked(&self.shared.services).insert(name.clone(), Arc::clone(&service)).is_some() {
            return Err(RosError::bad(name, "this node provides it already"));
        }
        self.shared.register_service(&service);
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.wake.1.notify_all();
        if let Some(watch) = self.watch.take() {
            let _ended = watch.join();
        }
        self.shared.unregister_all();
        drop(self.server.take());
        drop(self.listener.take());
        for inlet in locked(&self.shared.inlets).drain(..) {
            inlet.close();
        }
        for outlet in locked(&self.shared.outlets).values() {
            outlet.close();
        }
    }
}
