//! ROS 1 without ROS: a node of our own, for robots that speak it. Threads, no runtime, no C.
//!
//! ```no_run
//! use citrange_ros::message::JointState;
//! use citrange_ros::{Node, NodeSettings, SMALL_MESSAGE};
//!
//! let node = Node::start(NodeSettings::from_environment("listener")?)?;
//! let heard = node.subscribe("/joint_states", SMALL_MESSAGE, |state: JointState, at| {
//!     // Called from the connection's thread: keep what is needed, and return.
//!     let _age = (state.position, at.elapsed());
//! })?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! let health = heard.health(); // rates, ages, what could not be read, who has another type
//! assert!(health.connected <= health.publishers);
//! # Ok::<(), citrange_ros::RosError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | who we are, where the master is, names | `settings.rs` |
//! | a node: registered, again when the master was away, another name when ours is taken | `node.rs`, `node/registration.rs` |
//! | a topic that is heard, published; a service | `node/inlet.rs`, `node/outlet.rs`, `node/service.rs` |
//! | what others may ask a node | `node/api.rs` |
//! | XML-RPC, its HTTP | `xmlrpc.rs` |
//! | headers and lengths on a connection | `tcpros.rs` |
//! | a master, where no ROS is installed | `master.rs` |
//! | messages | `message.rs`; numbers and strings of ROS 1 and ROS 2 (CDR) `wire.rs` |
//! | goals, how they end | `action/tracker.rs`; both sides `action/client.rs`, `action/server.rs` |
//!
//! Servers are bound to `ROS_IP` or `ROS_HOSTNAME`, or to loopback where the master is there. Every
//! length that others claim has a limit, every wait an end. Must survive `examples/fuzz_ros.rs`.

pub mod action;
mod error;
mod master;
pub mod message;
mod node;
mod settings;
pub mod tcpros;
mod wire;
pub mod xmlrpc;

pub use error::RosError;
pub use master::Master;
pub use node::{
    Incoming, LARGE_MESSAGE, Node, NodeEvent, NodeHealth, Publisher, SMALL_MESSAGE, ServiceHandler,
    Subscription, TopicHealth,
};
pub use settings::{NodeSettings, global};
pub use wire::{Format, Reader, Writer};
