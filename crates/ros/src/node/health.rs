//! What is known of a node's connections.

use std::time::Duration;

/// A node's master and topics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeHealth {
    /// Process id of the master when it answered last.
    pub master_pid: Option<i32>,
    /// Why it does not answer now.
    pub master_lost: Option<String>,
    /// How often everything was registered again.
    pub registered_again: u64,
    /// How often another node took our name.
    pub names_taken: u64,
    /// What is heard.
    pub topics: Vec<TopicHealth>,
}

impl NodeHealth {
    pub(super) fn new(master_pid: Option<i32>) -> Self {
        Self { master_pid, ..Self::default() }
    }
}

/// A topic that is heard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicHealth {
    /// Its name.
    pub topic: String,
    /// Publishers that the master knows of.
    pub publishers: usize,
    /// Those that are connected.
    pub connected: usize,
    /// Messages so far.
    pub messages: u64,
    /// Messages that could not be read.
    pub unreadable: u64,
    /// What was wrong with the last of them.
    pub last_error: Option<String>,
    /// Connections that were made again.
    pub reconnects: u64,
    /// Since the newest message; none before the first.
    pub age: Option<Duration>,
    /// Publishers whose type is another: nobody can cure that but a person.
    pub refused: Vec<String>,
}

/// What happened to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The master does not answer; what is connected goes on.
    MasterLost,
    /// It answers again, and everything is registered.
    MasterBack,
    /// Another node has our name; we go on under this one.
    NameTaken {
        /// The new name.
        now: String,
    },
    /// Somebody asks us to end (`rosnode kill`).
    AskedToEnd {
        /// In whose words.
        reason: String,
    },
}
