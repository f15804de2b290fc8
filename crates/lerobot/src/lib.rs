//! LeRobotDataset v3.0 on disk: write, read, check, edit.

mod agree;
mod append;
mod arrays;
mod column;
mod commit;
mod data;
mod dataset;
mod episodes;
mod error;
mod files;
mod image_stats;
mod info;
mod movie;
mod stats;
mod table;
mod tasks;

pub use agree::differences;
pub use append::{NewEpisode, NewImages, NewVideo};
pub use column::Column;
pub use dataset::{Dataset, EpisodeData, VideoFrames};
pub use episodes::{EpisodeMeta, VideoSpan};
pub use error::{LerobotError, Result};
pub use image_stats::ImageStats;
pub use info::{CODEBASE_VERSION, DEFAULT_FEATURES, Feature, Features, FileId, Info};
pub use stats::{FeatureStats, QUANTILES, Stats};
