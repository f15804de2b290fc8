//! `meta/info.json`: what the dataset is. Keys this crate does not know are kept.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::{LerobotError, Result, damaged, io};
use crate::paths::{FileId, fill};

/// The format version this crate reads and writes.
pub const CODEBASE_VERSION: &str = "v3.0";
/// Features every dataset has, with their dtypes.
pub const DEFAULT_FEATURES: [(&str, &str); 5] = [
    ("timestamp", "float32"),
    ("frame_index", "int64"),
    ("episode_index", "int64"),
    ("index", "int64"),
    ("task_index", "int64"),
];
/// More components than any robot has; guards sizes computed from files.
const MAX_WIDTH: usize = 1 << 24;

/// One feature of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// `float32`, `int64`, `bool`, `string`, `image`, `video`, …
    pub dtype: String,
    /// Shape of one frame's value; `[1]` is a plain number.
    pub shape: Vec<usize>,
    /// Names of the components: a list, a map of lists, or null.
    #[serde(default)]
    pub names: Value,
    /// For videos: size, codec and rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Map<String, Value>>,
    /// Keys this crate does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Feature {
    /// A plain feature without names.
    #[must_use]
    pub fn new(dtype: &str, shape: &[usize]) -> Self {
        Self {
            dtype: dtype.into(),
            shape: shape.to_vec(),
            names: Value::Null,
            info: None,
            extra: Map::new(),
        }
    }

    /// A float32 vector with a name per component.
    #[must_use]
    pub fn vector<S: AsRef<str>>(names: &[S]) -> Self {
        let list: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        Self { names: json!(list), ..Self::new("float32", &[names.len()]) }
    }

    /// PNG pictures in the data files.
    #[must_use]
    pub fn image(height: usize, width: usize) -> Self {
        let names = json!(["height", "width", "channels"]);
        Self { names, ..Self::new("image", &[height, width, 3]) }
    }

    /// A camera whose frames are in mp4 files.
    #[must_use]
    pub fn video(height: usize, width: usize, fps: u32, codec: &str) -> Self {
        let info = json!({
            "video.height": height, "video.width": width, "video.codec": codec,
            "video.pix_fmt": "yuv420p", "video.is_depth_map": false, "video.fps": fps,
            "video.channels": 3, "has_audio": false
        });
        let info = if let Value::Object(map) = info { Some(map) } else { None };
        Self { dtype: "video".into(), info, ..Self::image(height, width) }
    }

    /// True for cameras of either kind.
    #[must_use]
    pub fn is_camera(&self) -> bool {
        matches!(self.dtype.as_str(), "image" | "video")
    }

    /// True when the frames are in mp4 files.
    #[must_use]
    pub fn is_video(&self) -> bool {
        self.dtype == "video"
    }

    /// Numbers (or texts, or pictures) per frame.
    ///
    /// # Errors
    /// When the shape is empty, has a zero, or is impossibly large.
    pub fn width(&self) -> std::result::Result<usize, String> {
        if self.is_camera() {
            return Ok(1);
        }
        self.shape
            .iter()
            .try_fold(1usize, |product, n| product.checked_mul(*n))
            .filter(|n| !self.shape.is_empty() && (1..=MAX_WIDTH).contains(n))
            .ok_or_else(|| format!("its shape {:?} is empty or too large", self.shape))
    }

    /// Shape of its statistics: one number per channel for cameras, else the feature's shape.
    #[must_use]
    pub fn stats_shape(&self) -> Vec<usize> {
        if self.is_camera() { vec![3, 1, 1] } else { self.shape.clone() }
    }

    /// Component names as one flat list; empty when there are none.
    #[must_use]
    pub fn component_names(&self) -> Vec<String> {
        fn walk(value: &Value, out: &mut Vec<String>) {
            match value {
                Value::String(name) => out.push(name.clone()),
                Value::Array(list) => list.iter().for_each(|v| walk(v, out)),
                Value::Object(map) => map.values().for_each(|v| walk(v, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        walk(&self.names, &mut out);
        out
    }
}

/// Features in the order of the file: the order of cameras decides what a policy sees first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features(pub Vec<(String, Feature)>);

impl Features {
    /// The feature of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Feature> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, feature)| feature)
    }

    /// Names and features in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Feature)> {
        self.0.iter().map(|(name, feature)| (name.as_str(), feature))
    }

    /// Names of the features whose frames are in mp4 files.
    pub fn video_keys(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|(_, f)| f.is_video()).map(|(name, _)| name)
    }
}

impl Serialize for Features {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, feature) in &self.0 {
            map.serialize_entry(name, feature)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Features;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map of features")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Features, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(Features(list))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The content of `meta/info.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// `v3.0`.
    pub codebase_version: String,
    /// Name of the robot, if known.
    #[serde(default)]
    pub robot_type: Option<String>,
    /// Number of episodes.
    pub total_episodes: usize,
    /// Number of frames of all episodes.
    pub total_frames: usize,
    /// Number of different task texts.
    pub total_tasks: usize,
    /// Files per chunk folder.
    #[serde(default = "default_chunks_size")]
    pub chunks_size: usize,
    /// A data file that has grown to this is not continued.
    #[serde(default = "default_data_mb")]
    pub data_files_size_in_mb: u64,
    /// A video file that has grown to this is not continued.
    #[serde(default = "default_video_mb")]
    pub video_files_size_in_mb: u64,
    /// Frames per second.
    #[serde(deserialize_with = "whole_number")]
    pub fps: u32,
    /// Ranges of episodes by name.
    #[serde(default)]
    pub splits: BTreeMap<String, Value>,
    /// Where data files are.
    pub data_path: String,
    /// Where videos are; null when there are none.
    #[serde(default)]
    pub video_path: Option<String>,
    /// What a frame holds.
    pub features: Features,
    /// Keys this crate does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

fn default_chunks_size() -> usize {
    1000
}
fn default_data_mb() -> u64 {
    100
}
fn default_video_mb() -> u64 {
    200
}

/// Some writers put 30.0 for 30.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<u32, D::Error> {
    let fps = f64::deserialize(deserializer)?;
    if fps.fract() == 0.0 && (1.0..=100_000.0).contains(&fps) {
        Ok(fps as u32)
    } else {
        Err(serde::de::Error::custom(format!("fps is {fps}; a whole number from 1 on is expected")))
    }
}

impl Info {
    /// A dataset without episodes: the given features and the five every dataset has.
    #[must_use]
    pub fn new(robot_type: Option<&str>, fps: u32, features: Vec<(String, Feature)>) -> Self {
        let mut features = features;
        let has_video = features.iter().any(|(_, f)| f.is_video());
        for (name, dtype) in DEFAULT_FEATURES {
            features.push((name.into(), Feature::new(dtype, &[1])));
        }
        let file = "chunk-{chunk_index:03d}/file-{file_index:03d}";
        Self {
            codebase_version: CODEBASE_VERSION.into(),
            robot_type: robot_type.map(Into::into),
            total_episodes: 0,
            total_frames: 0,
            total_tasks: 0,
            chunks_size: default_chunks_size(),
            data_files_size_in_mb: default_data_mb(),
            video_files_size_in_mb: default_video_mb(),
            fps,
            splits: BTreeMap::new(),
            data_path: format!("data/{file}.parquet"),
            video_path: has_video.then(|| format!("videos/{{video_key}}/{file}.mp4")),
            features: Features(features),
            extra: Map::new(),
        }
    }

    /// Reads `meta/info.json` of a dataset folder.
    ///
    /// # Errors
    /// When there is none, it has another format version, or it makes no sense.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("meta/info.json");
        let no = |reason: &str| LerobotError::NotADataset {
            path: root.to_path_buf(),
            reason: reason.into(),
        };
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(no("meta/info.json is missing"));
            }
            Err(e) => return Err(io("read", &path)(e)),
        };
        let value: Value =
            serde_json::from_slice(&text).map_err(|e| damaged(&path, format!("not JSON: {e}")))?;
        match value.get("codebase_version") {
            Some(Value::String(version)) if version == CODEBASE_VERSION => {}
            Some(Value::String(version)) => {
                return Err(LerobotError::OtherVersion { path, version: version.clone() });
            }
            _ => return Err(no("meta/info.json has no codebase_version")),
        }
        // From the text again: a parsed value has lost the order of the features.
        let info: Self =
            serde_json::from_slice(&text).map_err(|e| damaged(&path, e.to_string()))?;
        info.validate().map_err(|reason| damaged(&path, reason))?;
        Ok(info)
    }

    /// What every later step relies on.
    pub(crate) fn validate(&self) -> std::result::Result<(), String> {
        if self.chunks_size == 0 {
            return Err("chunks_size is 0; it must be at least 1".into());
        }
        if self.fps == 0 {
            return Err("fps is 0; it must be at least 1".into());
        }
        for (index, (name, feature)) in self.features.0.iter().enumerate() {
            if name.is_empty() || name.contains('/') {
                return Err(format!("feature {name:?} is empty or has a slash in its name"));
            }
            if self.features.0[..index].iter().any(|(other, _)| other == name) {
                return Err(format!("feature {name:?} is there twice"));
            }
            feature.width().map_err(|e| format!("feature {name:?}: {e}"))?;
            if feature.is_camera() && feature.shape.len() != 3 {
                return Err(format!(
                    "camera {name:?} has shape {:?}, not [h, w, 3]",
                    feature.shape
                ));
            }
        }
        for (name, dtype) in DEFAULT_FEATURES {
            let found = self.features.get(name).map(|f| (f.dtype.as_str(), f.shape.as_slice()));
            if found != Some((dtype, &[1][..])) {
                return Err(format!("feature {name:?} must be there as {dtype} of shape [1]"));
            }
        }
        if self.features.video_keys().next().is_some() && self.video_path.is_none() {
            return Err("there are video features, but video_path is null".into());
        }
        self.data_file(FileId::default())?;
        self.features.video_keys().try_for_each(|k| self.video_file(k, FileId::default()).map(drop))
    }

    /// Totals and the split that follows from them.
    pub(crate) fn set_totals(&mut self, episodes: usize, frames: usize, tasks: usize) {
        (self.total_episodes, self.total_frames, self.total_tasks) = (episodes, frames, tasks);
        self.splits = BTreeMap::from([("train".into(), json!(format!("0:{episodes}")))]);
    }

    /// The text of the file, indented by four as lerobot does.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        pretty(self)
    }

    /// Path of a data file, relative to the dataset.
    pub(crate) fn data_file(&self, id: FileId) -> std::result::Result<String, String> {
        fill(&self.data_path, None, id)
    }

    /// Path of a video file, relative to the dataset.
    pub(crate) fn video_file(&self, key: &str, id: FileId) -> std::result::Result<String, String> {
        fill(self.video_path.as_deref().ok_or("video_path is null")?, Some(key), id)
    }
}

pub(crate) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, format);
    // Strings, numbers and maps with string keys always have a JSON form.
    let _ = value.serialize(&mut serializer);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_and_the_order_of_features_stay() {
        let mut info = Info::new(
            Some("so101"),
            30,
            vec![
                ("zeta".into(), Feature::vector(&["a", "b"])),
                ("alpha".into(), Feature::video(32, 48, 30, "h264")),
            ],
        );
        info.extra.insert("unit".into(), json!("rad"));
        info.features.0[0].1.extra.insert("fps".into(), json!(30));
        let text = info.to_json();
        let back: Info = serde_json::from_slice(&text).unwrap();
        assert_eq!(back, info);
        assert_eq!(back.to_json(), text);
        assert_eq!(back.features.iter().next().unwrap().0, "zeta");
    }
}
