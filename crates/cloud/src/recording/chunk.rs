//! A chunk that is being read: records in memory, and what is wrong behind them.

use std::sync::Arc;

use super::RecordedBytes;
use super::compression::Unpacked;
use crate::error::CloudError;

/// No record is larger; what claims to be is damage.
pub(super) const MOST_RECORD_BYTES: u64 = 1 << 29;

/// Unpacked records.
pub(super) struct Chunk {
    bytes: Arc<Vec<u8>>,
    at: usize,
    /// What comes after the records that are readable.
    damage: Option<CloudError>,
}

impl Chunk {
    /// `told` makes the error of what is wrong with it.
    pub(super) fn new(unpacked: Unpacked, told: impl FnOnce(String) -> CloudError) -> Self {
        let damage = unpacked.damage.map(told);
        Self { bytes: Arc::new(unpacked.bytes), at: 0, damage }
    }

    /// A record outside of chunks.
    pub(super) fn of_one(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(bytes), at: 0, damage: None }
    }

    /// The records that are not read yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Passes over the next `length` bytes; the last `kept` of them, for a message.
    pub(super) fn pass(&mut self, length: usize, kept: usize) -> RecordedBytes {
        self.at += length;
        RecordedBytes { whole: Arc::clone(&self.bytes), part: self.at - kept..self.at }
    }

    /// Ends with what is wrong, if anything is; `cut` where records end in the middle of one.
    pub(super) fn end(self, cut: impl FnOnce() -> CloudError) -> Option<CloudError> {
        self.damage.or_else(|| (self.at < self.bytes.len()).then(cut))
    }
}
