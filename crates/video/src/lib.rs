//! Pictures to H.264 and back, and the mp4 files around them.
//!
//! # Words
//! * An [`Encoder`] turns the pictures of one camera into samples: one for each picture, never a
//!   skipped one. Key frames come every [`EncoderSettings::gop`] frames and after
//!   [`restart`](Encoder::restart), so that each episode can be decoded on its own.
//! * A [`Decoder`] turns samples back into pictures.
//! * [`mp4::write`] makes a film of samples, [`mp4::Movie`] opens films, ours and others'.
//! * [`join`] puts [`MoviePart`]s of films one after the other without encoding them again.
//!
//! # A first film
//! ```
//! use citrange_video::{Encoder, EncoderSettings, mp4};
//!
//! let mut encoder = Encoder::new(64, 48, EncoderSettings::default())?;
//! let mut samples = Vec::new();
//! for frame in 0..10 {
//!     let grey = vec![25 * frame; 64 * 48 * 3];
//!     let sample = encoder.encode(&grey)?;
//!     samples.push((sample.data.to_vec(), sample.key));
//! }
//!
//! let format = mp4::avc_format(64, 48, 30, encoder.avc_config().unwrap_or_default());
//! let infos: Vec<_> = samples
//!     .iter()
//!     .map(|(data, key)| mp4::SampleInfo { size: data.len() as u32, key: *key })
//!     .collect();
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("film.mp4");
//! mp4::write(&path, &format, &infos, |i, buffer| {
//!     buffer.extend_from_slice(&samples[i].0);
//!     Ok(())
//! })?;
//!
//! let movie = mp4::Movie::open(&path)?;
//! assert_eq!((movie.frame_count(), movie.codec.as_str()), (10, "h264"));
//! movie.is_constant_rate(30)?;
//! # Ok::<(), citrange_video::VideoError>(())
//! ```
//!
//! # What the films are
//! H.264 baseline at a constant QP, yuv420p, BT.601 in limited range, said so in the stream and in
//! the file. Frame `k` is at exactly `k / fps`. The same pictures give the same bytes.
//!
//! # Limits
//! Only H.264 is encoded and decoded, and decoded only without B-frames; films of other codecs are
//! opened, copied and cut at key frames. One video track; sound is left out. Films with several
//! sample descriptions or several edits are not read. Damaged samples go to the C library as they
//! are: read films from strangers with care.

mod cut;
mod decoder;
mod encoder;
mod error;
mod join;
pub mod mp4;
mod nal;
mod planes;

pub use decoder::Decoder;
pub use encoder::{Encoder, EncoderSettings, Sample};
pub use error::VideoError;
pub use join::{JoinReport, MoviePart, can_join, join};
