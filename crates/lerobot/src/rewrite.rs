//! A new dataset out of pieces of others: what every edit, merge and split comes down to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use arrow_schema::SchemaRef;

use crate::agree;
use crate::append::default_columns;
use crate::column::Column;
use crate::data;
use crate::dataset::{Dataset, EpisodeData};
use crate::episodes::{self, EPISODES_PER_FILE, EpisodeMeta, VideoSpan};
use crate::error::{LerobotError, Result, damaged, invalid};
use crate::files;
use crate::films::{self, Film};
use crate::image_stats::ImageStats;
use crate::info::Info;
use crate::movie;
use crate::paths::FileId;
use crate::staging::Staging;
use crate::stats::{self, FeatureStats};
use crate::table;
use crate::tasks;

/// Some frames of an episode, which become an episode.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// Where it comes from.
    pub dataset: &'a Dataset,
    /// Number of the episode there.
    pub episode: usize,
    /// Which of its frames.
    pub frames: Range<usize>,
    /// A new task text; else it keeps its own.
    pub task: Option<String>,
    /// Features whose values change their unit.
    pub rescale: &'a [Rescale],
}

/// A change of unit: every value becomes `value * factor + offset`, component by component.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescale {
    /// Which feature; it must hold floats.
    pub feature: String,
    /// A factor per component.
    pub factors: Vec<f64>,
    /// An offset per component.
    pub offsets: Vec<f64>,
}

impl Rescale {
    fn apply(&self, column: &mut Column) {
        let pairs = || self.factors.iter().zip(&self.offsets).cycle();
        match column {
            Column::F32(values) => {
                for (value, (factor, offset)) in values.iter_mut().zip(pairs()) {
                    *value = (f64::from(*value) * factor + offset) as f32;
                }
            }
            Column::F64(values) => {
                for (value, (factor, offset)) in values.iter_mut().zip(pairs()) {
                    *value = *value * factor + offset;
                }
            }
            _ => {}
        }
    }
}

impl<'a> Piece<'a> {
    /// A whole episode.
    ///
    /// # Errors
    /// When there is no such episode.
    pub fn whole(dataset: &'a Dataset, episode: usize) -> Result<Self> {
        let length = dataset.episode(episode)?.length;
        Ok(Self { dataset, episode, frames: 0..length, task: None, rescale: &[] })
    }
}

/// How episodes are laid into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A file per episode, as recording does; whole files of a source stay as they are.
    PerEpisode,
    /// Many episodes per file, up to the sizes in info.json: fewer files for the hub.
    Packed,
}

/// Writes a new dataset of the pieces, in order. Sources are not changed; whole video files are
/// linked, not copied, where the file system can. `progress` gets steps done and steps in all.
///
/// # Errors
/// When the sources do not agree, a piece is not there, the target exists, or a file cannot be
/// read or written. The target then does not exist.
pub fn rewrite(
    pieces: &[Piece<'_>],
    out: &Path,
    packing: Packing,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Dataset> {
    let staging = Staging::begin(out)?;
    rewrite_into(pieces, staging.path(), packing, progress)?;
    staging.publish()?;
    Dataset::open(out)
}

/// Like [`rewrite`], but into a folder that is there and that somebody else publishes.
///
/// # Errors
/// As [`rewrite`].
pub fn rewrite_into(
    pieces: &[Piece<'_>],
    folder: &Path,
    packing: Packing,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<()> {
    Build::new(pieces, folder, packing)?.run(progress)
}

/// Checks pieces as far as it can be done without reading frames.
pub(crate) fn validate(pieces: &[Piece<'_>]) -> Result<()> {
    let Some(first) = pieces.first() else {
        return invalid("nothing would be left: a dataset needs at least one episode");
    };
    for piece in pieces {
        let meta = piece.dataset.episode(piece.episode)?;
        let (a, b) = (piece.frames.start, piece.frames.end);
        if a >= b || b > meta.length {
            return invalid(format!(
                "frames {a}..{b} of episode {} do not exist or are none; it has 0..{}",
                piece.episode, meta.length
            ));
        }
        if piece.task.as_ref().is_some_and(|t| t.trim().is_empty()) {
            return invalid("the new task text is empty");
        }
        if !std::ptr::eq(piece.dataset, first.dataset) {
            agree::require(&piece.dataset.info, &first.dataset.info, first.dataset.root())?;
        }
    }
    Ok(())
}

struct Build<'a> {
    pieces: &'a [Piece<'a>],
    root: &'a Path,
    packing: Packing,
    info: Info,
    films: Vec<(String, Vec<Film>)>,
    tasks: Vec<String>,
    episodes: Vec<EpisodeMeta>,
}

/// The data file being filled.
struct DataFile {
    writer: table::Writer,
    id: FileId,
    frames: usize,
}

impl<'a> Build<'a> {
    fn new(pieces: &'a [Piece<'a>], root: &'a Path, packing: Packing) -> Result<Self> {
        validate(pieces)?;
        let info = pieces[0].dataset.info.clone();
        let mut plans = Vec::new();
        for key in info.features.video_keys() {
            let limit = info.video_files_size_in_mb.saturating_mul(1 << 20);
            plans.push((key.to_string(), films::plan(pieces, key, packing, limit)?));
        }
        let (tasks, episodes) = (Vec::new(), Vec::new());
        Ok(Self { pieces, root, packing, info, films: plans, tasks, episodes })
    }

    fn run(mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<()> {
        let total = self.pieces.len() + self.films.iter().map(|(_, f)| f.len()).sum::<usize>();
        let mut done = 0;
        let mut step = || {
            done += 1;
            progress(done, total);
        };
        files::create_dir(&self.root.join("meta"))?;
        self.write_frames(&mut step)?;
        self.write_films(&mut step)?;
        self.write_meta()
    }

    fn write_frames(&mut self, step: &mut dyn FnMut()) -> Result<()> {
        let schema = data::schema(&self.info.features)?;
        let mut open: Option<DataFile> = None;
        for (index, piece) in self.pieces.iter().enumerate() {
            let source = piece.dataset.read_episode(piece.episode)?;
            let length = piece.frames.len();
            let mut file = self.data_file(open.take(), length, &schema)?;
            let from_index = self.episodes.last().map_or(0, |e| e.to_index);
            let mut meta = EpisodeMeta {
                index,
                length,
                data: file.id,
                from_index,
                to_index: from_index + length,
                ..EpisodeMeta::default()
            };
            let columns = self.columns(piece, &source, &mut meta)?;
            let refs: Vec<&Column> = columns.iter().map(|(_, column)| column).collect();
            data::write_episode(&mut file.writer, &schema, &self.info.features, &refs, length)?;
            file.frames += length;
            open = Some(file);
            for (name, column) in &columns {
                let width = self.info.features.get(name).and_then(|f| f.width().ok()).unwrap_or(1);
                if let Some(stats) = FeatureStats::of(column, width) {
                    meta.stats.insert(name.clone(), stats);
                }
            }
            self.camera_stats(piece, &columns, &mut meta)?;
            self.episodes.push(meta);
            step();
        }
        open.map_or(Ok(()), |file| file.writer.finish())
    }

    /// The file for the next episode: the open one while there is room.
    fn data_file(
        &self,
        open: Option<DataFile>,
        length: usize,
        schema: &SchemaRef,
    ) -> Result<DataFile> {
        let limit = self.info.data_files_size_in_mb.saturating_mul(1 << 20);
        let mut id = FileId::default();
        if let Some(file) = open {
            let written = file.writer.bytes_written() as u64;
            let expected = written / file.frames.max(1) as u64 * length as u64;
            if self.packing == Packing::Packed && written.saturating_add(expected) < limit {
                return Ok(file);
            }
            id = file.id.next(self.info.chunks_size);
            file.writer.finish()?;
        }
        let path = self.root.join(self.info.data_file(id).map_err(LerobotError::Invalid)?);
        path.parent().map_or(Ok(()), files::create_dir)?;
        Ok(DataFile { writer: table::Writer::create(&path, schema.clone())?, id, frames: 0 })
    }

    /// The columns of a piece in its new place, in the order they are stored.
    fn columns(
        &mut self,
        piece: &Piece<'_>,
        source: &EpisodeData,
        meta: &mut EpisodeMeta,
    ) -> Result<Vec<(String, Column)>> {
        let numbers = self.task_numbers(piece, source, meta)?;
        let mut defaults = default_columns(meta, 0, self.info.fps);
        defaults[4].1 = Column::I64(numbers);
        let mut out = Vec::new();
        for (name, feature) in data::stored(&self.info.features) {
            if let Some((_, column)) = defaults.iter().find(|(n, _)| *n == name) {
                out.push((name.to_string(), column.clone()));
                continue;
            }
            let width = feature.width().map_err(LerobotError::Invalid)?;
            let column = source.column(name).ok_or_else(|| {
                LerobotError::Invalid(format!("episode {} has no {name:?}", piece.episode))
            })?;
            let mut part = column.part(piece.frames.start * width..piece.frames.end * width);
            for rescale in piece.rescale.iter().filter(|r| r.feature == name) {
                if rescale.factors.len() != width || rescale.offsets.len() != width {
                    return invalid(format!("{name} has {width} components to rescale"));
                }
                rescale.apply(&mut part);
            }
            out.push((name.to_string(), part));
        }
        Ok(out)
    }

    /// New task numbers of a piece's frames; the texts go into the row of the episode.
    fn task_numbers(
        &mut self,
        piece: &Piece<'_>,
        source: &EpisodeData,
        meta: &mut EpisodeMeta,
    ) -> Result<Vec<i64>> {
        let old = source.column("task_index").and_then(Column::integers).unwrap_or_default();
        let mut numbers = Vec::with_capacity(piece.frames.len());
        let mut known: BTreeMap<i64, i64> = BTreeMap::new();
        for number in old.get(piece.frames.clone()).unwrap_or_default() {
            if let Some(new) = known.get(number) {
                numbers.push(*new);
                continue;
            }
            let own = usize::try_from(*number).ok().and_then(|n| piece.dataset.tasks.get(n));
            let text = piece.task.as_ref().or(own).ok_or_else(|| {
                let path = piece.dataset.root().join("meta/tasks.parquet");
                damaged(&path, format!("episode {} uses task {number}", piece.episode))
            })?;
            let new = self.tasks.iter().position(|t| t == text).unwrap_or_else(|| {
                self.tasks.push(text.clone());
                self.tasks.len() - 1
            });
            if !meta.tasks.contains(text) {
                meta.tasks.push(text.clone());
            }
            known.insert(*number, new as i64);
            numbers.push(new as i64);
        }
        Ok(numbers)
    }

    /// Cameras keep their statistics; those of a part are measured again where it can be decoded.
    fn camera_stats(
        &self,
        piece: &Piece<'_>,
        columns: &[(String, Column)],
        meta: &mut EpisodeMeta,
    ) -> Result<()> {
        let old = piece.dataset.episode(piece.episode)?;
        for (name, feature) in self.info.features.iter().filter(|(_, f)| f.is_camera()) {
            let mut stats = old.stats.get(name).cloned();
            if piece.frames.len() != old.length && feature.is_video() {
                let video = piece.dataset.video_of(piece.episode, name)?;
                let first = video.first_frame;
                let frames = first + piece.frames.start..first + piece.frames.end;
                let measured = movie::image_stats(&video.path, frames);
                stats = measured.and_then(|s| s.finish()).or(stats);
            } else if piece.frames.len() != old.length
                && let Some((_, Column::Png(pictures))) = columns.iter().find(|(n, _)| n == name)
            {
                let measured = ImageStats::of_png(pictures);
                stats = measured.and_then(|s| s.finish()).or(stats);
            }
            if let Some(mut stats) = stats {
                stats.count = meta.length as u64;
                meta.stats.insert(name.into(), stats);
            }
        }
        Ok(())
    }

    fn write_films(&mut self, step: &mut dyn FnMut()) -> Result<()> {
        let fps = f64::from(self.info.fps);
        for (key, films) in &self.films {
            let mut id = FileId::default();
            for film in films {
                let name = self.info.video_file(key, id).map_err(LerobotError::Invalid)?;
                let path = self.root.join(name);
                path.parent().map_or(Ok(()), files::create_dir)?;
                film.make(&path)?;
                let mut at = 0;
                for meta in &mut self.episodes[film.pieces.clone()] {
                    let from_s = at as f64 / fps;
                    at += meta.length;
                    let to_s = at as f64 / fps;
                    meta.videos.insert(key.clone(), VideoSpan { file: id, from_s, to_s });
                }
                id = id.next(self.info.chunks_size);
                step();
            }
        }
        Ok(())
    }

    fn write_meta(mut self) -> Result<()> {
        let features = &self.info.features;
        tasks::write(&self.root.join("meta/tasks.parquet"), &self.tasks)?;
        let mut id = FileId::default();
        for rows in self.episodes.chunks_mut(EPISODES_PER_FILE) {
            rows.iter_mut().for_each(|row| row.meta = id);
            let path = self.root.join(episodes::file_name(id));
            path.parent().map_or(Ok(()), files::create_dir)?;
            episodes::write(&path, rows, features, None)?;
            id = id.next(self.info.chunks_size);
        }
        let all = stats::over_episodes(self.episodes.iter().map(|e| &e.stats));
        let text = stats::to_json(&all, features);
        files::write_synced(&self.root.join("meta/stats.json"), &text)?;
        let frames = self.episodes.last().map_or(0, |e| e.to_index);
        self.info.set_totals(self.episodes.len(), frames, self.tasks.len());
        files::write_synced(&self.root.join("meta/info.json"), &self.info.to_json())?;
        // Folders last, so that a name on the disk never stands for a file that is not.
        let dirs = ["meta", "data", "videos"].map(|d| files::list(self.root, d));
        let names = dirs.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let folders: BTreeSet<_> = names.iter().filter_map(|n| Path::new(n).parent()).collect();
        for folder in folders {
            files::sync_dir(&self.root.join(folder))?;
        }
        files::sync_dir(self.root)
    }
}
