//! Parquet files in and out. The one place that touches the parquet reader, so that whatever a
//! damaged file makes it do ends here as an error.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::error::{LerobotError, Result, damaged, io};
use crate::footer;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1024;
/// No table here packs more rows than this into a byte (each has a column that counts up).
const MAX_ROWS_PER_BYTE: u64 = 64;
/// Who wrote a file; tells our files from others'.
const CREATED_BY: &str = concat!("citrange ", env!("CARGO_PKG_VERSION"));

/// What was read of a file.
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    /// Rows of the whole file.
    pub(crate) file_rows: usize,
    /// Written by this program.
    pub(crate) ours: bool,
}

/// Reads the given rows (all when `None`) of a parquet file. A range beyond the end gives what
/// is there.
pub(crate) fn read(path: &Path, rows: Option<Range<usize>>) -> Result<Table> {
    read_columns(path, rows, None)
}

/// The same, of some columns only (all when `None`).
pub(crate) fn read_columns(
    path: &Path,
    rows: Option<Range<usize>>,
    columns: Option<&[&str]>,
) -> Result<Table> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) => return Err(io("open", path)(e)),
    };
    let bytes = file.metadata().map_err(io("read", path))?.len();
    footer::check(&file, bytes)
        .map_err(|reason| damaged(path, format!("not a complete parquet file ({reason})")))?;
    // The reader is written for files it wrote itself: a flipped bit can make it panic.
    match catch_unwind(AssertUnwindSafe(|| read_unguarded(file, bytes, rows, columns))) {
        Ok(Ok(table)) => Ok(table),
        Ok(Err(reason)) => Err(damaged(path, reason)),
        Err(_) => Err(damaged(path, "the parquet reader gave up on it")),
    }
}

fn read_unguarded(
    file: File,
    bytes: u64,
    rows: Option<Range<usize>>,
    columns: Option<&[&str]>,
) -> std::result::Result<Table, String> {
    let text = |e: &dyn std::fmt::Display| format!("not a complete parquet file ({e})");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| text(&e))?;
    let metadata = builder.metadata().clone();
    let mut starts = vec![0usize];
    for group in metadata.row_groups() {
        let count = usize::try_from(group.num_rows()).map_err(|e| text(&e))?;
        let end = starts[starts.len() - 1].checked_add(count).ok_or("impossible row counts")?;
        starts.push(end);
        for column in group.columns() {
            let (start, length) = column.byte_range();
            if start.checked_add(length).is_none_or(|end| end > bytes) {
                return Err("a column lies beyond the end of the file; it is cut off".into());
            }
        }
    }
    let file_rows = starts[starts.len() - 1];
    if file_rows as u64 > bytes.saturating_mul(MAX_ROWS_PER_BYTE) {
        return Err(format!("it claims {file_rows} rows in {bytes} bytes"));
    }
    let wanted = rows.unwrap_or(0..file_rows);
    let wanted = wanted.start.min(file_rows)..wanted.end.min(file_rows);
    let groups: Vec<usize> = (0..starts.len() - 1)
        .filter(|g| starts[*g] < wanted.end && starts[g + 1] > wanted.start)
        .collect();
    let skipped = groups.first().map_or(0, |g| wanted.start - starts[*g]);
    let ours = metadata.file_metadata().created_by().is_some_and(|w| w.starts_with("citrange"));
    let schema = builder.schema().clone();
    check_notes(&schema)?;
    let mask = columns.map_or_else(ProjectionMask::all, |columns| {
        let fields = builder.parquet_schema().root_schema().get_fields().iter().enumerate();
        let wanted = fields.filter(|(_, field)| columns.contains(&field.name()));
        ProjectionMask::roots(builder.parquet_schema(), wanted.map(|(index, _)| index))
    });
    let reader = builder
        .with_projection(mask)
        .with_row_groups(groups)
        .with_offset(skipped)
        .with_limit(wanted.len())
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|e| text(&e))?;
    let mut batches = Vec::new();
    let mut left = wanted.len();
    for batch in reader {
        let batch = batch.map_err(|e| text(&e))?;
        left = left.checked_sub(batch.num_rows()).ok_or("more rows than it claims")?;
        batches.push(batch);
    }
    if left > 0 {
        return Err(format!("{left} rows fewer than it claims"));
    }
    Ok(Table { schema, batches, file_rows, ours })
}

/// What pandas and the reader of lerobot read beside the columns: where it is there it must be
/// right, or they take none of the file.
fn check_notes(schema: &Schema) -> std::result::Result<(), String> {
    let note = |key: &str| {
        let text = schema.metadata().get(key);
        let json = text.map(|text| serde_json::from_str::<serde_json::Value>(text));
        json.transpose().map_err(|e| format!("its note {key:?} is no JSON ({e})"))
    };
    note("huggingface")?;
    let Some(pandas) = note("pandas")? else { return Ok(()) };
    let list = |key: &str| pandas.get(key).and_then(|list| list.as_array());
    let (Some(columns), Some(index)) = (list("columns"), list("index_columns")) else {
        return Err("its note \"pandas\" has no columns or no index_columns".into());
    };
    let of_names = list("column_indexes").map(Vec::as_slice).unwrap_or_default();
    let is_column = |column: &serde_json::Value| {
        let said = |key: &str| column.get(key).is_some_and(|said| said.is_string());
        column.get("name").is_some() && said("pandas_type") && said("numpy_type")
    };
    // An index that is only counted is no column.
    let is_there = |name: &str| {
        let named = |column: &serde_json::Value| {
            column.get("field_name").is_none_or(|field| field.as_str() == Some(name))
        };
        schema.field_with_name(name).is_ok() && columns.iter().any(named)
    };
    if !columns.iter().chain(of_names).all(is_column)
        || !index.iter().filter_map(|n| n.as_str()).all(is_there)
    {
        return Err("its note \"pandas\" does not describe its columns".into());
    }
    Ok(())
}

/// A parquet file being written: snappy, a row group per [`Writer::end_group`].
pub(crate) struct Writer {
    inner: ArrowWriter<File>,
    path: std::path::PathBuf,
}

impl Writer {
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(CREATED_BY.into())
            .build();
        let file = File::create(path).map_err(io("create", path))?;
        let inner = ArrowWriter::try_new(file, schema, Some(properties))
            .map_err(|e| write_error(path, &e))?;
        Ok(Self { inner, path: path.to_path_buf() })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.inner.write(batch).map_err(|e| write_error(&self.path, &e))
    }

    pub(crate) fn end_group(&mut self) -> Result<()> {
        self.inner.flush().map_err(|e| write_error(&self.path, &e))
    }

    /// Bytes written so far, without the group in progress.
    pub(crate) fn bytes_written(&self) -> usize {
        self.inner.bytes_written()
    }

    /// Finishes the file and syncs it.
    pub(crate) fn finish(self) -> Result<()> {
        let path = self.path;
        let file = self.inner.into_inner().map_err(|e| write_error(&path, &e))?;
        file.sync_all().map_err(io("sync", &path))
    }
}

/// Keeps the system's own error (a full disk) where it is the cause.
fn write_error(path: &Path, e: &ParquetError) -> LerobotError {
    let cause = match e {
        ParquetError::External(inner) => inner.downcast_ref::<std::io::Error>(),
        _ => None,
    };
    let code = cause.and_then(std::io::Error::raw_os_error);
    io("write", path)(match code {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => std::io::Error::other(e.to_string()),
    })
}

/// A schema with one text attached, which pyarrow reads from the Arrow schema only.
pub(crate) fn schema(fields: Vec<Field>, note: Option<(&str, String)>) -> SchemaRef {
    let notes: HashMap<String, String> =
        note.into_iter().map(|(key, text)| (key.to_string(), text)).collect();
    Arc::new(Schema::new_with_metadata(fields, notes))
}
