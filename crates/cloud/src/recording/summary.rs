//! What is in a recording: topics, types, counts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::Recording;
use crate::error::CloudError;

/// A topic of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedTopic {
    /// Its name.
    pub topic: String,
    /// Type of its messages, as the file says it.
    pub type_name: String,
    /// Messages that are readable.
    pub messages: u64,
    /// Log time of the first.
    pub first_ns: u64,
    /// Log time of the last.
    pub last_ns: u64,
}

/// Everything that is in a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordingSummary {
    /// Topics that have messages, by name and type.
    pub topics: Vec<RecordedTopic>,
    /// What could not be read.
    pub damage: Vec<String>,
}

impl RecordingSummary {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When it cannot be opened, or is no recording; damage is in the summary.
    pub fn of(path: &Path) -> Result<Self, CloudError> {
        let mut topics = BTreeMap::new();
        let mut damage = Vec::new();
        for message in Recording::open(path)? {
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    damage.push(error.to_string());
                    continue;
                }
            };
            let channel = &message.channel;
            let key = (channel.topic.clone(), channel.type_name.clone());
            let (messages, first_ns, last_ns) = topics.entry(key).or_insert((0_u64, u64::MAX, 0));
            *messages += 1;
            *first_ns = message.log_ns.min(*first_ns);
            *last_ns = message.log_ns.max(*last_ns);
        }
        let topic = |((topic, type_name), (messages, first_ns, last_ns))| RecordedTopic {
            topic,
            type_name,
            messages,
            first_ns,
            last_ns,
        };
        Ok(Self { topics: topics.into_iter().map(topic).collect(), damage })
    }
}

impl RecordedTopic {
    /// Messages a second; 0 for one message.
    #[must_use]
    pub fn rate_hz(&self) -> f64 {
        let seconds = self.last_ns.saturating_sub(self.first_ns) as f64 * 1e-9;
        if seconds > 0.0 { (self.messages - 1) as f64 / seconds } else { 0.0 }
    }
}
