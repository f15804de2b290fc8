//! What every reader of files hands over.

use crate::cloud::Cloud;

/// What a file holds.
pub(super) struct Contents {
    pub(super) cloud: Cloud,
    pub(super) labels: Option<Vec<u8>>,
    /// Whether the file says itself that it is a picture.
    pub(super) organised: bool,
}
