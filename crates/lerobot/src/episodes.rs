//! `meta/episodes/`: a row per episode with its length, its files, its tasks and statistics.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{Field, SchemaRef};

use crate::arrays;
use crate::error::{LerobotError, Result, damaged};
use crate::info::Features;
use crate::paths::FileId;
use crate::stats::{FeatureStats, LISTS, Stats, has_integer_bounds};
use crate::table;

/// Rows of a meta file of ours; small, because a file is written again at each save.
pub(crate) const EPISODES_PER_FILE: usize = 500;

/// Where an episode lies in a video file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoSpan {
    /// The file.
    pub file: FileId,
    /// Start in the file, seconds.
    pub from_s: f64,
    /// End in the file, seconds.
    pub to_s: f64,
}

/// One row of `meta/episodes`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodeMeta {
    /// Number of the episode.
    pub index: usize,
    /// Task texts; mostly one.
    pub tasks: Vec<String>,
    /// Frames.
    pub length: usize,
    /// Its data file.
    pub data: FileId,
    /// Number of its first frame in the dataset.
    pub from_index: usize,
    /// Number after its last frame in the dataset.
    pub to_index: usize,
    /// Where its frames are, by camera.
    pub videos: BTreeMap<String, VideoSpan>,
    /// Statistics by feature.
    pub stats: Stats,
    /// The meta file of this row.
    pub meta: FileId,
}

/// Path of a meta file, relative to the dataset.
pub(crate) fn file_name(id: FileId) -> String {
    format!("meta/episodes/chunk-{:03}/file-{:03}.parquet", id.chunk, id.file)
}

/// The file of that path, the other way round.
pub(crate) fn file_id(name: &str) -> Option<FileId> {
    let (chunk, file) = name.strip_prefix("meta/episodes/chunk-")?.split_once("/file-")?;
    let file = file.strip_suffix(".parquet")?;
    Some(FileId { chunk: chunk.parse().ok()?, file: file.parse().ok()? })
}

/// What a meta file holds.
pub(crate) struct MetaFile {
    pub(crate) rows: Vec<EpisodeMeta>,
    pub(crate) schema: SchemaRef,
    pub(crate) ours: bool,
}

/// Reads one meta file.
pub(crate) fn read(path: &Path, features: &Features) -> Result<MetaFile> {
    let table = table::read(path, None)?;
    let mut rows = Vec::new();
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            rows.push(
                read_row(batch, row, features)
                    .map_err(|e| damaged(path, format!("row {}: {e}", rows.len())))?,
            );
        }
    }
    Ok(MetaFile { rows, schema: table.schema, ours: table.ours })
}

fn read_row(
    batch: &RecordBatch,
    row: usize,
    features: &Features,
) -> std::result::Result<EpisodeMeta, String> {
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| format!("column {name:?} is missing"))
    };
    let cell = |name: &str| -> std::result::Result<f64, String> {
        let values = arrays::floats64(&column(name)?.slice(row, 1));
        values.map_err(|e| format!("{name:?}: {e}"))?.first().copied().ok_or("no value".into())
    };
    let count = |name: &str| -> std::result::Result<usize, String> {
        let values = arrays::integers(&column(name)?.slice(row, 1));
        let value = values.map_err(|e| format!("{name:?}: {e}"))?.first().copied().unwrap_or(-1);
        usize::try_from(value).map_err(|_| format!("{name:?} is {value}"))
    };
    let file = |kind: &str| -> std::result::Result<FileId, String> {
        Ok(FileId {
            chunk: count(&format!("{kind}/chunk_index"))?,
            file: count(&format!("{kind}/file_index"))?,
        })
    };
    let mut meta = EpisodeMeta {
        index: count("episode_index")?,
        tasks: arrays::row_texts(column("tasks")?, row).map_err(|e| format!("\"tasks\": {e}"))?,
        length: count("length")?,
        data: file("data")?,
        from_index: count("dataset_from_index")?,
        to_index: count("dataset_to_index")?,
        ..EpisodeMeta::default()
    };
    for key in features.video_keys() {
        let kind = format!("videos/{key}");
        meta.videos.insert(
            key.into(),
            VideoSpan {
                file: file(&kind)?,
                from_s: cell(&format!("{kind}/from_timestamp"))?,
                to_s: cell(&format!("{kind}/to_timestamp"))?,
            },
        );
    }
    for (name, feature) in features.iter() {
        let mut stats = FeatureStats::default();
        for list in LISTS {
            let Some(array) = batch.column_by_name(&format!("stats/{name}/{list}")) else {
                continue;
            };
            let values =
                arrays::row_numbers(array, row).map_err(|e| format!("{name} {list}: {e}"))?;
            if list == "count" {
                stats.count = values.first().map_or(0, |n| *n as u64);
            } else if !values.is_empty() {
                stats.set_list(list, values);
            }
        }
        let width = if feature.is_camera() { 3 } else { feature.width()? };
        if stats.has_width(width) {
            meta.stats.insert(name.into(), stats);
        }
    }
    Ok(meta)
}

/// Writes one meta file. With `like`, its columns are those of another file of the dataset:
/// lerobot reads all of them as one table.
pub(crate) fn write(
    path: &Path,
    rows: &[EpisodeMeta],
    features: &Features,
    like: Option<&SchemaRef>,
) -> Result<()> {
    let bad = |e: String| LerobotError::Invalid(format!("meta/episodes: {e}"));
    let mut columns = columns(rows, features).map_err(bad)?;
    if let Some(like) = like {
        columns = like
            .fields()
            .iter()
            .map(|field| {
                let found = columns.iter().find(|(name, _)| name == field.name());
                found.cloned().unwrap_or_else(|| {
                    (field.name().clone(), new_null_array(field.data_type(), rows.len()))
                })
            })
            .collect();
    }
    let fields = columns
        .iter()
        .map(|(name, array)| Field::new(name, arrow_array::Array::data_type(array).clone(), true))
        .collect();
    let schema = table::schema(fields, None);
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|e| bad(e.to_string()))?;
    let mut writer = table::Writer::create(path, schema)?;
    writer.write(&batch)?;
    writer.finish()
}

fn columns(
    rows: &[EpisodeMeta],
    features: &Features,
) -> std::result::Result<Vec<(String, ArrayRef)>, String> {
    let mut out: Vec<(String, ArrayRef)> = Vec::new();
    let count = |get: &dyn Fn(&EpisodeMeta) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| get(r) as i64)))
    };
    out.push(("episode_index".into(), count(&|r| r.index)));
    let texts = StringArray::from_iter_values(rows.iter().flat_map(|r| &r.tasks));
    let lengths: Vec<usize> = rows.iter().map(|r| r.tasks.len()).collect();
    out.push(("tasks".into(), arrays::lists(Arc::new(texts), &lengths)?));
    out.push(("length".into(), count(&|r| r.length)));
    out.push(("data/chunk_index".into(), count(&|r| r.data.chunk)));
    out.push(("data/file_index".into(), count(&|r| r.data.file)));
    out.push(("dataset_from_index".into(), count(&|r| r.from_index)));
    out.push(("dataset_to_index".into(), count(&|r| r.to_index)));
    for key in features.video_keys() {
        let span = |r: &EpisodeMeta| r.videos.get(key).copied().unwrap_or_default();
        let secs = |get: &dyn Fn(&EpisodeMeta) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(rows.iter().map(get)))
        };
        out.push((format!("videos/{key}/chunk_index"), count(&|r| span(r).file.chunk)));
        out.push((format!("videos/{key}/file_index"), count(&|r| span(r).file.file)));
        out.push((format!("videos/{key}/from_timestamp"), secs(&|r| span(r).from_s)));
        out.push((format!("videos/{key}/to_timestamp"), secs(&|r| span(r).to_s)));
    }
    for (name, feature) in features.iter().filter(|(_, f)| f.dtype != "string") {
        for list in LISTS {
            let column = format!("stats/{name}/{list}");
            if list == "count" {
                let counts = rows.iter().map(|r| r.stats.get(name).map_or(0, |s| s.count) as i64);
                let counts: ArrayRef = Arc::new(Int64Array::from_iter_values(counts));
                out.push((column, arrays::lists(counts, &vec![1; rows.len()])?));
                continue;
            }
            let parts: Option<Vec<&[f64]>> =
                rows.iter().map(|r| r.stats.get(name).and_then(|s| s.list(list))).collect();
            // A column only some rows could fill is left out, as older datasets do.
            let Some(parts) = parts else { continue };
            let values = parts.concat();
            let values: ArrayRef = if has_integer_bounds(feature, list) {
                Arc::new(Int64Array::from_iter_values(values.iter().map(|x| *x as i64)))
            } else {
                Arc::new(Float64Array::from(values))
            };
            out.push((column, arrays::nested(values, &feature.stats_shape())?));
        }
    }
    out.push(("meta/episodes/chunk_index".into(), count(&|r| r.meta.chunk)));
    out.push(("meta/episodes/file_index".into(), count(&|r| r.meta.file)));
    Ok(out)
}
