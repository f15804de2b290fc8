//! Whether an episode fits the dataset it shall be saved in.

use crate::append::{NewEpisode, NewVideo};
use crate::dataset::Dataset;
use crate::error::{LerobotError, Result, invalid};
use crate::info::DEFAULT_FEATURES;
use crate::movie;

impl Dataset {
    /// Everything that can be said without touching the disk.
    pub(crate) fn validate(&self, episode: &NewEpisode) -> Result<()> {
        if episode.length == 0 {
            return invalid("an episode needs at least one frame");
        }
        if episode.task.trim().is_empty() {
            return invalid("an episode needs a task text");
        }
        let length = episode.length;
        let mut given: Vec<&str> = Vec::new();
        given.extend(episode.columns.iter().map(|(name, _)| name.as_str()));
        given.extend(episode.videos.iter().map(|v| v.key.as_str()));
        given.extend(episode.images.iter().map(|v| v.key.as_str()));
        let is_default = |name: &str| DEFAULT_FEATURES.iter().any(|(d, _)| *d == name);
        for (at, name) in given.iter().enumerate() {
            if is_default(name) || self.info.features.get(name).is_none() {
                let known: Vec<&str> =
                    self.info.features.iter().map(|(n, _)| n).filter(|n| !is_default(n)).collect();
                return invalid(format!("{name:?} is not a feature to give; those are {known:?}"));
            }
            if given[..at].contains(name) {
                return invalid(format!("feature {name:?} is given twice"));
            }
        }
        for (name, feature) in self.info.features.iter().filter(|(n, _)| !is_default(n)) {
            if !given.contains(&name) {
                return invalid(format!("feature {name:?} is missing in the new episode"));
            }
            let wrong = match feature.dtype.as_str() {
                "video" => !episode.videos.iter().any(|v| v.key == name),
                "image" => !episode.images.iter().any(|v| v.key == name),
                _ => !episode.columns.iter().any(|(key, _)| key == name),
            };
            if wrong {
                return invalid(format!("feature {name:?} is of dtype {}", feature.dtype));
            }
        }
        for (name, column) in &episode.columns {
            let Some(feature) = self.info.features.get(name) else { continue };
            let width = feature.width().map_err(LerobotError::Invalid)?;
            if !column.fits(&feature.dtype) {
                let (kind, dtype) = (column.kind(), &feature.dtype);
                return invalid(format!("feature {name:?} is {dtype}; {kind} do not fit"));
            }
            if length.checked_mul(width) != Some(column.len()) {
                return invalid(format!(
                    "feature {name:?} has {} values; {length} frames of {width} are expected",
                    column.len()
                ));
            }
            let bad =
                (0..column.len()).find(|at| column.number(*at).is_some_and(|x| !x.is_finite()));
            if let Some(at) = bad {
                return invalid(format!("feature {name:?} is not finite at frame {}", at / width));
            }
        }
        for images in &episode.images {
            if images.png.len() != length {
                let (name, n) = (&images.key, images.png.len());
                return invalid(format!("feature {name:?} has {n} pictures for {length} frames"));
            }
        }
        let cameras = episode.videos.iter().map(|v| (&v.key, &v.stats));
        for (key, stats) in cameras.chain(episode.images.iter().map(|v| (&v.key, &v.stats))) {
            if stats.finish().is_none() {
                return invalid(format!("camera {key:?} has no statistics"));
            }
        }
        Ok(())
    }

    /// The videos must be what the dataset says; gives their codecs.
    pub(crate) fn look_at_videos(&self, episode: &NewEpisode) -> Result<Vec<String>> {
        let codec = |video: &NewVideo| {
            let Some(feature) = self.info.features.get(&video.key) else {
                return Ok(String::new());
            };
            movie::require(&video.path, feature, self.info.fps, episode.length)
        };
        episode.videos.iter().map(codec).collect()
    }
}
