//! What can go wrong with pictures and films.

use std::path::{Path, PathBuf};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The operating system said no.
    #[error("cannot {doing}: {source}: {path}")]
    Io {
        /// What was being done: `open`, `read`, `write`, …
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A picture size that H.264 in yuv420 or the encoder cannot have.
    #[error(
        "pictures of {width}x{height} cannot be encoded: both sides must be even, at least 16, \
         the longer at most 3840 and the shorter at most 2160"
    )]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// An encoder setting out of its range.
    #[error("encoder setting {name} is {value}; it must be from {min} to {max}")]
    Setting {
        /// Which one.
        name: &'static str,
        /// What was asked for.
        value: u32,
        /// Least allowed.
        min: u32,
        /// Most allowed.
        max: u32,
    },
    /// A picture with too few or too many bytes.
    #[error("the picture has {found} bytes; {width}x{height} rgb8 has {}", *width as usize * *height as usize * 3)]
    PictureLength {
        /// Bytes there are.
        found: usize,
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// [`repeat`](crate::Encoder::repeat) before any picture.
    #[error("there is no picture to repeat yet: encode one first")]
    NothingToRepeat,
    /// The encoder failed, or gave something else than one picture.
    #[error("the H.264 encoder failed: {0}")]
    Encode(String),
    /// The decoder failed, or gave no picture.
    #[error("the H.264 decoder failed: {0}")]
    Decode(String),
    /// The decoder's configuration is not an `avcC` payload.
    #[error("the H.264 configuration (avcC) is damaged: {0}")]
    AvcConfig(&'static str),
    /// Bytes that are not an mp4, or one that contradicts itself.
    #[error("the film is damaged: {what}: {path}")]
    Damaged {
        /// What does not fit.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A correct mp4 of a kind that is not read.
    #[error("the film is of a kind that is not read: {what}: {path}")]
    Unsupported {
        /// What it has.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A film to write that cannot be.
    #[error("cannot write the film: {what}: {path}")]
    Unwritable {
        /// What does not fit.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// Pictures not at multiples of 1/fps.
    #[error(
        "frame {frame} is at {found_s:.6} s; at {fps} frames per second it must be at \
         {:.6} s: {path}", f64::from(*frame) / f64::from(*fps)
    )]
    NotConstantRate {
        /// First frame that is off.
        frame: u32,
        /// Where it is.
        found_s: f64,
        /// The rate asked for.
        fps: u32,
        /// The file.
        path: PathBuf,
    },
    /// A sample number beyond the end.
    #[error("there is no sample {index}; the film has {count}: {path}")]
    NoSample {
        /// What was asked for.
        index: usize,
        /// Samples there are.
        count: usize,
        /// The file.
        path: PathBuf,
    },
    /// Two films that cannot be one.
    #[error("the films cannot be joined: {what}: {a} and {b}")]
    Differ {
        /// What differs, and how.
        what: String,
        /// First file.
        a: PathBuf,
        /// Second file.
        b: PathBuf,
    },
    /// A range of frames that is empty or reaches beyond the end.
    #[error("frames {from}..{to} are not in the film of {count} frames: {path}")]
    NoRange {
        /// First frame asked for.
        from: u32,
        /// One after the last.
        to: u32,
        /// Frames there are.
        count: u32,
        /// The file.
        path: PathBuf,
    },
    /// A range that cannot be taken out without encoding everything again.
    #[error("frames {from}..{to} cannot be cut out: {why}; {hint}: {path}")]
    Cut {
        /// First frame asked for.
        from: u32,
        /// One after the last.
        to: u32,
        /// Why not.
        why: String,
        /// Where a cut is possible.
        hint: String,
        /// The file.
        path: PathBuf,
    },
    /// Nothing to join.
    #[error("no parts to join: give at least one range of frames: {0}")]
    NoParts(PathBuf),
}

impl VideoError {
    pub(crate) fn io(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
