//! Saving an episode: its own data file and videos, so that nothing older is written again.

use std::path::{Path, PathBuf};

use crate::agree;
use crate::column::Column;
use crate::commit::PendingCommit;
use crate::data;
use crate::dataset::Dataset;
use crate::episodes::{self, EPISODES_PER_FILE, EpisodeMeta, VideoSpan};
use crate::error::{LerobotError, Result, invalid};
use crate::files;
use crate::image_stats::ImageStats;
use crate::info::Info;
use crate::paths::FileId;
use crate::stats::{self, FeatureStats, Stats};
use crate::table;
use crate::tasks;

/// A finished video of one camera.
#[derive(Clone, Debug)]
pub struct NewVideo {
    /// Name of the feature.
    pub key: String,
    /// The mp4; it is moved into the dataset.
    pub path: PathBuf,
    /// Statistics of its pictures.
    pub stats: ImageStats,
}

/// Pictures of one camera, stored one by one.
#[derive(Clone, Debug)]
pub struct NewImages {
    /// Name of the feature.
    pub key: String,
    /// The bytes of a PNG file per frame.
    pub png: Vec<Vec<u8>>,
    /// Statistics of the pictures.
    pub stats: ImageStats,
}

/// An episode to save.
#[derive(Clone, Debug, Default)]
pub struct NewEpisode {
    /// What was to be done, in words.
    pub task: String,
    /// Frames.
    pub length: usize,
    /// Every feature that is neither a camera nor one of the five all datasets have.
    pub columns: Vec<(String, Column)>,
    /// Every `video` feature.
    pub videos: Vec<NewVideo>,
    /// Every `image` feature.
    pub images: Vec<NewImages>,
    /// Files of others that become visible together with the episode: where each is, and its
    /// path inside the dataset. They are linked or copied, not moved.
    pub side: Vec<(PathBuf, String)>,
}

impl Dataset {
    /// A dataset that does not exist yet. Nothing is written before the first episode: lerobot
    /// cannot load a dataset without any.
    ///
    /// # Errors
    /// When there is a dataset already, or the description makes no sense.
    pub fn create(root: impl AsRef<Path>, info: Info) -> Result<Self> {
        let root = root.as_ref();
        info.validate().map_err(LerobotError::Invalid)?;
        data::schema(&info.features)?;
        if root.join("meta/info.json").exists() {
            return invalid(format!("{} is a dataset already; open it", root.display()));
        }
        let mut info = info;
        info.set_totals(0, 0, 0);
        Ok(Self {
            root: root.into(),
            info,
            tasks: Vec::new(),
            episodes: Vec::new(),
            stats: Stats::new(),
            meta_like: None,
            meta_ours: true,
        })
    }

    /// Opens the dataset, which must agree with `info`, or begins it.
    ///
    /// # Errors
    /// As [`Dataset::open`] and [`Dataset::create`]; [`LerobotError::Disagrees`] lists every
    /// difference.
    pub fn open_or_create(root: impl AsRef<Path>, info: Info) -> Result<Self> {
        let root = root.as_ref();
        if root.is_dir() {
            // A first save that was interrupted is a dataset once it is finished.
            crate::commit::recover(root)?;
        }
        if !root.join("meta/info.json").exists() {
            return Self::create(root, info);
        }
        let dataset = Self::open(root)?;
        agree::require(&info, &dataset.info, root)?;
        Ok(dataset)
    }

    /// Saves an episode and gives its number. When it fails nothing has changed, and the videos
    /// are where they were.
    ///
    /// # Errors
    /// When the episode does not fit the dataset, another process has changed the dataset
    /// meanwhile, or the disk is full.
    pub fn append(&mut self, episode: NewEpisode) -> Result<usize> {
        let _span = tracing::debug_span!("append_episode").entered();
        let (stage, next) = self.prepare(&episode)?;
        stage.commit()?;
        *self = next;
        for video in &episode.videos {
            // The dataset has its own link; one that stays costs nothing but its name.
            let _ = std::fs::remove_file(&video.path);
        }
        Ok(self.episodes.len() - 1)
    }

    /// Everything but the renames.
    pub(crate) fn prepare(&self, episode: &NewEpisode) -> Result<(PendingCommit, Self)> {
        self.validate(episode)?;
        let mut next = self.clone();
        let codecs = next.look_at_videos(episode)?;
        files::create_dir(&self.root)?;
        let mut stage = PendingCommit::begin(&self.root)?;
        self.require_unchanged()?;

        let index = self.episodes.len();
        let mut meta = EpisodeMeta {
            index,
            tasks: vec![episode.task.clone()],
            length: episode.length,
            from_index: self.info.total_frames,
            to_index: self.info.total_frames + episode.length,
            data: self.next_file(|e| Some(e.data), |id| self.info.data_file(id))?,
            ..EpisodeMeta::default()
        };
        for (video, codec) in episode.videos.iter().zip(codecs) {
            let key = &video.key;
            let file = self.next_file(
                |e| e.videos.get(key).map(|v| v.file),
                |id| self.info.video_file(key, id),
            )?;
            let to_s = episode.length as f64 / f64::from(self.info.fps);
            meta.videos.insert(key.clone(), VideoSpan { file, from_s: 0.0, to_s });
            let name = self.info.video_file(key, file).map_err(LerobotError::Invalid)?;
            files::link_or_copy(&video.path, &stage.add(name))?;
            if index == 0 {
                next.set_codec(key, &codec);
            }
        }
        let task = match self.tasks.iter().position(|t| *t == episode.task) {
            Some(at) => at,
            None => {
                next.tasks.push(episode.task.clone());
                tasks::write(&stage.add("meta/tasks.parquet".into()), &next.tasks)?;
                self.tasks.len()
            }
        };
        let defaults = default_columns(&meta, task, self.info.fps);
        meta.stats = next.episode_stats(episode, &defaults);
        next.stats = if self.episodes.iter().all(|e| e.stats.len() == meta.stats.len()) {
            stats::over_episodes(self.episodes.iter().map(|e| &e.stats).chain([&meta.stats]))
        } else {
            // Episodes without statistics of their own are only in the sum.
            stats::over_episodes([&self.stats, &meta.stats].into_iter())
        };
        next.place_meta(&mut meta);
        let data_name = self.info.data_file(meta.data).map_err(LerobotError::Invalid)?;
        next.episodes.push(meta);
        let meta_file = next.episodes[index].meta;
        let first = next.episodes.iter().position(|e| e.meta == meta_file).unwrap_or(index);
        episodes::write(
            &stage.add(episodes::file_name(meta_file)),
            &next.episodes[first..],
            &self.info.features,
            self.meta_like.as_ref(),
        )?;
        self.write_data(&stage.add(data_name), episode, &defaults)?;
        for (from, to) in &episode.side {
            files::link_or_copy(from, &stage.add(to.clone()))?;
        }
        let frames = self.info.total_frames + episode.length;
        next.info.set_totals(next.episodes.len(), frames, next.tasks.len());
        let text = stats::to_json(&next.stats, &next.info.features);
        files::write_synced(&stage.add("meta/stats.json".into()), &text)?;
        files::write_synced(&stage.add("meta/info.json".into()), &next.info.to_json())?;
        Ok((stage, next))
    }

    /// The row's place: our last meta file while it is short, else a new one.
    fn place_meta(&mut self, meta: &mut EpisodeMeta) {
        let Some(last) = self.episodes.last().map(|e| e.meta) else { return };
        let rows = self.episodes.iter().rev().take_while(|e| e.meta == last).count();
        meta.meta = if self.meta_ours && rows < EPISODES_PER_FILE {
            last
        } else {
            last.next(self.info.chunks_size)
        };
        self.meta_ours = true;
    }

    /// The first free file after all that episodes use.
    fn next_file(
        &self,
        used: impl Fn(&EpisodeMeta) -> Option<FileId>,
        name: impl Fn(FileId) -> std::result::Result<String, String>,
    ) -> Result<FileId> {
        let mut id = match self.episodes.iter().filter_map(used).max() {
            Some(last) => last.next(self.info.chunks_size),
            None => FileId::default(),
        };
        while self.root.join(name(id).map_err(LerobotError::Invalid)?).exists() {
            id = id.next(self.info.chunks_size);
        }
        Ok(id)
    }

    fn require_unchanged(&self) -> Result<()> {
        let path = self.root.join("meta/info.json");
        let (episodes, frames, texts) = if path.exists() {
            let info = Info::read(&self.root)?;
            let texts = tasks::read(&self.root.join("meta/tasks.parquet"))?;
            (info.total_episodes, info.total_frames, texts)
        } else {
            (0, 0, Vec::new())
        };
        let known = (self.info.total_episodes, self.info.total_frames, &self.tasks);
        if (episodes, frames, &texts) != known {
            return invalid(format!(
                "{} was changed by another process: it has {episodes} episodes now, {} were \
                 known; open it again",
                self.root.display(),
                self.info.total_episodes
            ));
        }
        Ok(())
    }

    fn set_codec(&mut self, key: &str, codec: &str) {
        let feature = self.info.features.0.iter_mut().find(|(name, _)| name == key);
        if let Some(info) = feature.and_then(|(_, f)| f.info.as_mut()) {
            info.insert("video.codec".into(), codec.into());
        }
    }

    fn episode_stats(&self, episode: &NewEpisode, defaults: &[(&'static str, Column)]) -> Stats {
        let mut all = Stats::new();
        let columns = episode.columns.iter().map(|(name, column)| (name.as_str(), column));
        for (name, column) in columns.chain(defaults.iter().map(|(name, c)| (*name, c))) {
            let width = self.info.features.get(name).and_then(|f| f.width().ok()).unwrap_or(1);
            if let Some(stats) = FeatureStats::of(column, width) {
                all.insert(name.into(), stats);
            }
        }
        let videos = episode.videos.iter().map(|v| (&v.key, &v.stats));
        for (key, stats) in videos.chain(episode.images.iter().map(|v| (&v.key, &v.stats))) {
            if let Some(mut stats) = stats.finish() {
                stats.count = episode.length as u64;
                all.insert(key.clone(), stats);
            }
        }
        all
    }

    fn write_data(
        &self,
        path: &Path,
        episode: &NewEpisode,
        defaults: &[(&'static str, Column)],
    ) -> Result<()> {
        let pictures: Vec<(&str, Column)> = episode
            .images
            .iter()
            .map(|images| (images.key.as_str(), Column::Png(images.png.clone())))
            .collect();
        let mut columns = Vec::new();
        for (name, _) in data::stored(&self.info.features) {
            let given = episode.columns.iter().map(|(n, c)| (n.as_str(), c));
            let found = given
                .chain(defaults.iter().map(|(n, c)| (*n, c)))
                .chain(pictures.iter().map(|(n, c)| (*n, c)))
                .find(|(n, _)| *n == name);
            match found {
                Some((_, column)) => columns.push(column),
                None => return invalid(format!("feature {name:?} is missing")),
            }
        }
        let schema = data::schema(&self.info.features)?;
        let mut writer = table::Writer::create(path, schema.clone())?;
        let features = &self.info.features;
        data::write_episode(&mut writer, &schema, features, &columns, episode.length)?;
        writer.finish()
    }
}

/// The five columns that follow from the episode's place.
pub(crate) fn default_columns(
    meta: &EpisodeMeta,
    task: usize,
    fps: u32,
) -> [(&'static str, Column); 5] {
    let n = meta.length;
    let from = meta.from_index as i64;
    [
        ("timestamp", Column::F32((0..n).map(|k| (k as f64 / f64::from(fps)) as f32).collect())),
        ("frame_index", Column::I64((0..n as i64).collect())),
        ("episode_index", Column::I64(vec![meta.index as i64; n])),
        ("index", Column::I64((from..from + n as i64).collect())),
        ("task_index", Column::I64(vec![task as i64; n])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CheckOptions, check};
    use crate::commit::full_disk;
    use crate::synthetic;

    /// Everything a reader of lerobot does with the files, as far as order matters: all data
    /// rows that are there find their row in meta/episodes, their task and their videos.
    fn loads(root: &Path) {
        let info = Info::read(root).unwrap();
        let tasks = tasks::read(&root.join("meta/tasks.parquet")).unwrap();
        let mut metas = Vec::new();
        for name in files::list(root, "meta/episodes").unwrap() {
            metas.extend(episodes::read(&root.join(name), &info.features).unwrap().rows);
        }
        assert!(metas.len() >= info.total_episodes);
        let text = std::fs::read(root.join("meta/stats.json")).unwrap();
        stats::from_json(&text).unwrap();
        let mut rows = 0;
        for name in files::list(root, "data").unwrap() {
            let columns = data::read(&root.join(name), &info.features, None).unwrap().columns;
            let column = |key: &str| {
                let (_, c) = columns.iter().find(|(n, _)| n == key).unwrap();
                c.integers().unwrap().to_vec()
            };
            for (episode, task) in column("episode_index").iter().zip(column("task_index")) {
                rows += 1;
                let meta = &metas[*episode as usize];
                assert!(meta.tasks.contains(&tasks[task as usize]));
                for (key, span) in &meta.videos {
                    let film = root.join(info.video_file(key, span.file).unwrap());
                    assert!(film.is_file(), "{film:?}");
                }
            }
        }
        assert!(rows >= info.total_frames);
    }

    #[test]
    fn a_crash_at_any_rename_leaves_a_dataset_and_opening_finishes_it() {
        let dir = tempfile::tempdir().unwrap();
        synthetic::dataset(dir.path());
        for renames in 0..=7 {
            let root = dir.path().join(format!("copy{renames}"));
            synthetic::copy(&dir.path().join("set"), &root);
            let set = Dataset::open(&root).unwrap();
            let mut episode = synthetic::episode(&dir.path().join("scratch"), 3, 11);
            episode.task = "something new".into();
            let (stage, next) = set.prepare(&episode).unwrap();
            stage.commit_up_to(renames).unwrap();
            loads(&root);
            let opened = Dataset::open(&root).unwrap();
            assert_eq!(opened.episodes, next.episodes, "after {renames} renames");
            assert_eq!(opened.tasks.len(), 3);
            assert_eq!(check(&opened, &CheckOptions::default(), &mut |_, _| {}), []);
            assert!(!root.join("citrange/commit").exists());
        }
    }

    #[test]
    fn a_crash_in_the_first_save_is_finished_too() {
        for renames in 0..=7 {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("set");
            let set = Dataset::create(&root, synthetic::info()).unwrap();
            assert!(!root.exists());
            let episode = synthetic::episode(&dir.path().join("scratch"), 0, 11);
            set.prepare(&episode).unwrap().0.commit_up_to(renames).unwrap();
            let opened = Dataset::open_or_create(&root, synthetic::info()).unwrap();
            assert_eq!(opened.episodes.len(), 1, "after {renames} renames");
        }
    }

    #[test]
    fn a_full_disk_changes_nothing_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut set = synthetic::dataset(dir.path());
        let before = synthetic::contents(set.root());
        let mut episode = synthetic::episode(&dir.path().join("scratch"), 3, 11);
        episode.task = "something new".into();
        for files in 0..7 {
            full_disk::after(Some(files));
            let error = set.append(episode.clone()).unwrap_err().to_string();
            assert!(error.contains("No space left"), "{files}: {error}");
            full_disk::after(None);
            assert_eq!(synthetic::contents(set.root()), before, "{files}");
            assert!(!set.root().join("citrange/commit").exists());
        }
        assert_eq!(set.append(episode).unwrap(), 3);
        assert_eq!(check(&set, &CheckOptions::default(), &mut |_, _| {}), []);
    }
}
