//! LeRobotDataset v3.0 on disk: write, read, check, edit.
//!
//! # Words
//! * A [`Dataset`] is a folder; [`Info`] says what its frames hold, one [`Feature`] each.
//! * An episode is a run of frames at a fixed rate, for one task. [`NewEpisode`] goes in,
//!   [`EpisodeData`] comes out, [`EpisodeMeta`] is what is known without reading frames.
//! * A [`Column`] is one feature over an episode. Videos are files of their own.
//! * A [`Piece`] is some frames of an episode; [`rewrite()`] makes a dataset of pieces. Every
//!   [`Edit`] is a [`Plan`] of pieces, carried out by [`apply`].
//! * A [`Finding`] is something wrong, from [`check()`].
//!
//! # A first dataset
//! ```
//! use citrange_lerobot::{Column, Dataset, Feature, Info, NewEpisode};
//! # let dir = tempfile::tempdir()?;
//! # let root = dir.path().join("oranges");
//! let info = Info::new(Some("so101"), 30, vec![
//!     ("observation.state".into(), Feature::vector(&["pan.pos", "gripper.pos"])),
//!     ("action".into(), Feature::vector(&["pan.pos", "gripper.pos"])),
//! ]);
//! let mut dataset = Dataset::open_or_create(&root, info)?;
//! dataset.append(NewEpisode {
//!     task: "pick the orange".into(),
//!     length: 2,
//!     columns: vec![
//!         ("observation.state".into(), Column::F32(vec![0.0, 1.0, 0.1, 1.0])),
//!         ("action".into(), Column::F32(vec![0.1, 1.0, 0.2, 1.0])),
//!     ],
//!     ..NewEpisode::default()
//! })?;
//! let data = Dataset::open(&root)?.read_episode(0)?;
//! assert_eq!(data.timestamps(), [0.0, 1.0 / 30.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # On disk
//! An episode is saved in a data file and a video per camera of its own, so that a save costs the
//! same at the thousandth episode as at the first and never touches older frames. Only the small
//! files in `meta/` are written again. `commit` says how a save survives a crash. Any layout of
//! the format is read, also many episodes per file.
//!
//! # Limits
//! Statistics of a trimmed camera are measured again for H.264 without B-frames; for other codecs
//! and for PNG features those of the whole episode stay. Quantiles over episodes follow lerobot's
//! rule and are not exact. Of pictures in data files only embedded ones are read.

#[cfg(test)]
extern crate self as citrange_lerobot;
#[cfg(test)]
#[path = "../tests/support/synthetic.rs"]
mod synthetic;

mod admit;
mod agree;
mod append;
mod arrays;
mod av1;
mod check;
mod check_rows;
mod check_videos;
mod column;
mod commit;
mod data;
mod dataset;
mod edit;
mod episodes;
mod error;
mod files;
mod films;
mod findings;
mod footer;
mod image_stats;
mod info;
mod movie;
mod paths;
mod rewrite;
mod staging;
mod stats;
mod table;
mod tasks;
mod thrift;

pub use agree::differences;
pub use append::{NewEpisode, NewImages, NewVideo};
pub use check::{CheckOptions, check, check_all};
pub use column::Column;
pub use dataset::{Dataset, EpisodeData, VideoFrames};
pub use edit::{Applied, Edit, Origin, Plan, SideFiles, apply, default_trash, plan};
pub use episodes::{EpisodeMeta, VideoSpan};
pub use error::{LerobotError, Result};
pub use findings::{Checked, Finding, Severity};
pub use image_stats::ImageStats;
pub use info::{CODEBASE_VERSION, DEFAULT_FEATURES, Feature, Features, Info};
pub use paths::FileId;
pub use rewrite::{Packing, Piece, Rescale, rewrite, rewrite_into};
pub use staging::{Leftover, Staging, clear, clear_inside, staging_name};
pub use stats::{FeatureStats, QUANTILES, Stats};
