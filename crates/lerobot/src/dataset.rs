//! An open dataset: its meta data in memory, its frames read on demand.

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;

use crate::column::Column;
use crate::commit;
use crate::data;
use crate::episodes::{self, EpisodeMeta};
use crate::error::{LerobotError, Result, damaged, io};
use crate::files;
use crate::info::Info;
use crate::paths::FileId;
use crate::staging;
use crate::stats::{self, Stats};
use crate::tasks;

/// A LeRobotDataset v3.0 folder.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) root: PathBuf,
    pub(crate) info: Info,
    pub(crate) tasks: Vec<String>,
    pub(crate) episodes: Vec<EpisodeMeta>,
    pub(crate) stats: Stats,
    /// Columns of the meta files when others wrote them; ours must then have the same.
    pub(crate) meta_like: Option<SchemaRef>,
    /// The last meta file is ours and can be written again.
    pub(crate) meta_ours: bool,
}

/// The frames of one episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeData {
    /// Number of the episode.
    pub episode: usize,
    /// Frames.
    pub length: usize,
    /// Task text of each frame's task number; mostly one.
    pub tasks: Vec<String>,
    /// All features but videos, in the order of info.json.
    pub columns: Vec<(String, Column)>,
}

impl EpisodeData {
    /// The column of that feature.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(key, _)| key == name).map(|(_, column)| column)
    }

    /// Seconds since the start of the episode, a value per frame.
    #[must_use]
    pub fn timestamps(&self) -> &[f32] {
        self.column("timestamp").and_then(Column::floats).unwrap_or_default()
    }
}

/// Where the frames of an episode are in a video file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoFrames {
    /// The file.
    pub path: PathBuf,
    /// Number of the episode's first frame in it.
    pub first_frame: usize,
    /// Frames of the episode.
    pub count: usize,
}

impl Dataset {
    /// Opens a dataset. An interrupted save of this program is finished first.
    ///
    /// # Errors
    /// When the folder is no dataset, has another version, or its meta files are damaged.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        staging::put_back(root)?;
        if !root.is_dir() {
            let reason = if root.exists() { "it is a file" } else { "there is no such folder" };
            return Err(LerobotError::NotADataset { path: root.into(), reason: reason.into() });
        }
        commit::recover(root)?;
        let info = Info::read(root)?;
        let missing = |name: &str| LerobotError::NotADataset {
            path: root.into(),
            reason: format!("{name} is missing"),
        };
        let tasks_path = root.join("meta/tasks.parquet");
        if !tasks_path.exists() {
            return Err(missing("meta/tasks.parquet"));
        }
        let tasks = tasks::read(&tasks_path)?;
        let meta_files = files::list(root, "meta/episodes")?;
        let meta_files: Vec<&String> =
            meta_files.iter().filter(|name| name.ends_with(".parquet")).collect();
        if meta_files.is_empty() && info.total_episodes > 0 {
            return Err(missing("meta/episodes/*/*.parquet"));
        }
        let mut episodes = Vec::new();
        let (mut meta_like, mut meta_ours) = (None, false);
        for name in meta_files {
            let path = root.join(name);
            let file = episodes::read(&path, &info.features)?;
            let id = episodes::file_id(name).ok_or_else(|| {
                damaged(&path, "its name is not meta/episodes/chunk-000/file-000.parquet or so")
            })?;
            for mut row in file.rows {
                // Where a row is decides, not where it says it is.
                row.meta = id;
                if row.index != episodes.len() {
                    let at = episodes.len();
                    let reason = format!("episode {} where episode {at} belongs", row.index);
                    return Err(damaged(&path, reason));
                }
                if row.to_index.checked_sub(row.from_index) != Some(row.length) {
                    let (a, b) = (row.from_index, row.to_index);
                    let reason = format!(
                        "episode {} has frames {a}..{b} but length {}",
                        row.index, row.length
                    );
                    return Err(damaged(&path, reason));
                }
                episodes.push(row);
            }
            meta_ours = file.ours;
            if !file.ours {
                meta_like = Some(file.schema);
            }
        }
        if episodes.len() < info.total_episodes {
            let path = root.join("meta/info.json");
            let reason = format!(
                "it counts {} episodes, meta/episodes has {}",
                info.total_episodes,
                episodes.len()
            );
            return Err(damaged(&path, reason));
        }
        // Rows beyond the count belong to a save of another program that did not end.
        episodes.truncate(info.total_episodes);
        let stats_path = root.join("meta/stats.json");
        let stats = match std::fs::read(&stats_path) {
            Ok(text) => stats::from_json(&text).map_err(|e| damaged(&stats_path, e))?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Stats::new(),
            Err(e) => return Err(io("read", &stats_path)(e)),
        };
        Ok(Self { root: root.into(), info, tasks, episodes, stats, meta_like, meta_ours })
    }

    /// Finishes an interrupted save of this program, if there is one. [`Dataset::open`] does it
    /// too; this is for who must know what the folder holds before there is a dataset to open.
    ///
    /// # Errors
    /// When files cannot be moved to their places, or the list of moves is damaged.
    pub fn finish_interrupted(root: &Path) -> Result<()> {
        commit::recover(root)
    }

    /// Puts a key of one's own into info.json; lerobot ignores keys it does not know.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_extra(&mut self, key: &str, value: serde_json::Value) -> Result<()> {
        let mut info = self.info.clone();
        info.extra.insert(key.into(), value);
        files::write_replacing(&self.root.join("meta/info.json"), &info.to_json())?;
        self.info = info;
        Ok(())
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The content of info.json.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Task texts by number.
    #[must_use]
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// What is known of each episode.
    #[must_use]
    pub fn episodes(&self) -> &[EpisodeMeta] {
        &self.episodes
    }

    /// Statistics over all episodes.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The episode's row, or an error that says which there are.
    pub(crate) fn episode(&self, index: usize) -> Result<&EpisodeMeta> {
        self.episodes.get(index).ok_or_else(|| {
            let valid = match self.episodes.len() {
                0 => "there are none".to_string(),
                n => format!("there are 0 to {}", n - 1),
            };
            let root = self.root.display();
            LerobotError::Invalid(format!("{root} has no episode {index}; {valid}"))
        })
    }

    /// All frames of an episode, without videos.
    ///
    /// # Errors
    /// When there is no such episode, or its file is missing, damaged, or holds other rows.
    pub fn read_episode(&self, index: usize) -> Result<EpisodeData> {
        self.read_some(index, None)
    }

    /// Some features of all frames of an episode; those that are no column are left out.
    ///
    /// # Errors
    /// As [`Dataset::read_episode`].
    pub fn read_columns(&self, index: usize, names: &[&str]) -> Result<EpisodeData> {
        let names: Vec<&str> = names.iter().copied().chain(["index"]).collect();
        self.read_some(index, Some(&names))
    }

    fn read_some(&self, index: usize, names: Option<&[&str]>) -> Result<EpisodeData> {
        let meta = self.episode(index)?;
        let path = self.data_path(meta.data)?;
        let rows = Some(self.rows_in_file(meta));
        let columns = data::read_some(&path, &self.info.features, rows, names)?.columns;
        let data =
            EpisodeData { episode: index, length: meta.length, tasks: meta.tasks.clone(), columns };
        let first = meta.from_index as i64;
        let expected = first..first + meta.length as i64;
        let found = data.column("index").and_then(Column::integers).unwrap_or_default();
        if !found.iter().copied().eq(expected.clone()) {
            return Err(damaged(
                &path,
                format!(
                    "the rows of episode {index} should have index {} to {}; found {} rows, from {}",
                    expected.start,
                    expected.end - 1,
                    found.len(),
                    found.first().map_or("nothing".to_string(), ToString::to_string),
                ),
            ));
        }
        Ok(data)
    }

    /// Rows of an episode in its file: files hold whole episodes in order.
    pub(crate) fn rows_in_file(&self, meta: &EpisodeMeta) -> Range<usize> {
        let before = self.episodes[..meta.index.min(self.episodes.len())]
            .iter()
            .rev()
            .take_while(|e| e.data == meta.data)
            .map(|e| e.length)
            .sum::<usize>();
        before..before.saturating_add(meta.length)
    }

    /// The video file of a camera and where the episode is in it.
    ///
    /// # Errors
    /// When there is no such episode, camera or file.
    pub fn video_of(&self, index: usize, key: &str) -> Result<VideoFrames> {
        let meta = self.episode(index)?;
        let Some(span) = meta.videos.get(key) else {
            let keys: Vec<&str> = self.info.features.video_keys().collect();
            let root = self.root.display();
            return Err(LerobotError::Invalid(format!(
                "{root} has no video {key:?}; there are {keys:?}"
            )));
        };
        let path = self.video_path(key, span.file)?;
        if !path.is_file() {
            let e = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(io("open", &path)(e));
        }
        let first = (span.from_s * f64::from(self.info.fps)).round();
        if !(0.0..1e15).contains(&first) {
            let reason = format!("episode {index} of {key:?} starts at {} s", span.from_s);
            return Err(damaged(&path, reason));
        }
        Ok(VideoFrames { path, first_frame: first as usize, count: meta.length })
    }

    pub(crate) fn data_path(&self, id: FileId) -> Result<PathBuf> {
        let name = self.info.data_file(id).map_err(LerobotError::Invalid)?;
        Ok(self.root.join(name))
    }

    pub(crate) fn video_path(&self, key: &str, id: FileId) -> Result<PathBuf> {
        let name = self.info.video_file(key, id).map_err(LerobotError::Invalid)?;
        Ok(self.root.join(name))
    }
}
