//! mp4 files: one video track, written progressively, read progressively or in fragments.
//!
//! What is written has the index in front, a time scale of `fps * 512` and one time step for all
//! samples, so that frame `k` is at exactly `k / fps` for every reader. What is read may come from
//! other programs: with B-frames, edit lists, fragments, other codecs, other tracks beside.

mod boxes;
mod edits;
mod entry;
mod fragments;
mod movie;
mod tables;
mod track;
mod write;

pub use movie::{Movie, MovieSample};
pub use write::write;

pub(crate) use entry::differences;
pub(crate) use write::write_in_order;

/// What the samples of a film are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Frames per second. Of a film that was read: the nearest whole number.
    pub fps: u32,
    /// The whole entry of the `stsd` box, as `avc1` with its `avcC` and `colr` inside.
    pub sample_entry: Vec<u8>,
}

/// The format of films from our [`Encoder`](crate::Encoder): H.264, BT.601, limited range.
#[must_use]
pub fn avc_format(width: u32, height: u32, fps: u32, avc_config: &[u8]) -> Format {
    let sample_entry = entry::avc1(width, height, avc_config);
    Format { width, height, fps, sample_entry }
}

/// What has to be known of a sample before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInfo {
    /// Bytes.
    pub size: u32,
    /// Whether decoding can begin here.
    pub key: bool,
}
