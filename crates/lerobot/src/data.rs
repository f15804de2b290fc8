//! `data/`: a row per frame, all features but the videos.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float16Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, SchemaRef};
use serde_json::{Map, Value, json};

use crate::arrays;
use crate::column::Column;
use crate::error::{LerobotError, Result, damaged};
use crate::info::{Feature, Features};
use crate::table;

/// Rows handed to the parquet writer at a time; keeps pictures of one batch far below 2 GB.
const WRITE_ROWS: usize = 256;

/// Features that are columns of the data files, in order.
pub(crate) fn stored(features: &Features) -> impl Iterator<Item = (&str, &Feature)> {
    features.iter().filter(|(_, feature)| !feature.is_video())
}

/// The Arrow schema, with the note from which the reader of lerobot takes its features.
pub(crate) fn schema(features: &Features) -> Result<SchemaRef> {
    let mut fields = Vec::new();
    let mut note = Map::new();
    for (name, feature) in stored(features) {
        let empty = to_array(&empty_column(feature)?, feature, 0..0)
            .map_err(|e| LerobotError::Invalid(format!("feature {name:?}: {e}")))?;
        fields.push(Field::new(name, arrow_array::Array::data_type(&empty).clone(), true));
        note.insert(name.into(), hugging_face(feature));
    }
    let note = json!({ "info": { "features": note } }).to_string();
    Ok(table::schema(fields, Some(("huggingface", note))))
}

fn hugging_face(feature: &Feature) -> Value {
    let value = json!({ "dtype": feature.dtype, "_type": "Value" });
    match (feature.dtype.as_str(), feature.shape.as_slice()) {
        ("image", _) => json!({ "_type": "Image" }),
        (_, [1]) => value,
        (_, [n]) => json!({ "feature": value, "length": n, "_type": "List" }),
        (dtype, shape) => {
            json!({ "shape": shape, "dtype": dtype, "_type": format!("Array{}D", shape.len()) })
        }
    }
}

fn empty_column(feature: &Feature) -> Result<Column> {
    Ok(match feature.dtype.as_str() {
        "float16" | "float32" => Column::F32(Vec::new()),
        "float64" => Column::F64(Vec::new()),
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => {
            Column::I64(Vec::new())
        }
        "bool" => Column::Bool(Vec::new()),
        "string" => Column::Text(Vec::new()),
        "image" => Column::Png(Vec::new()),
        other => {
            return Err(LerobotError::Invalid(format!(
                "dtype {other:?} is not known; float32, float64, int64, bool, string, image and \
                 video are, among others"
            )));
        }
    })
}

/// Writes an episode as one row group. `columns` are those of [`stored`], in that order.
pub(crate) fn write_episode(
    writer: &mut table::Writer,
    schema: &SchemaRef,
    features: &Features,
    columns: &[&Column],
    frames: usize,
) -> Result<()> {
    let mut start = 0;
    while start < frames {
        let rows = start..(start + WRITE_ROWS).min(frames);
        let arrays: Result<Vec<ArrayRef>> = stored(features)
            .zip(columns)
            .map(|((name, feature), column)| {
                to_array(column, feature, rows.clone())
                    .map_err(|e| LerobotError::Invalid(format!("feature {name:?}: {e}")))
            })
            .collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays?)
            .map_err(|e| LerobotError::Invalid(format!("the columns do not fit: {e}")))?;
        writer.write(&batch)?;
        start = rows.end;
    }
    writer.end_group()
}

/// Some rows of a column as the array the feature is stored as.
fn to_array(
    column: &Column,
    feature: &Feature,
    rows: Range<usize>,
) -> std::result::Result<ArrayRef, String> {
    let width = feature.width()?;
    let range = rows.start * width..rows.end * width;
    macro_rules! whole {
        ($values:expr, $array:ty, $native:ty) => {{
            let values: std::result::Result<Vec<$native>, _> =
                $values.iter().map(|v| <$native>::try_from(*v)).collect();
            let values = values.map_err(|_| format!("a value is not a {}", feature.dtype))?;
            Arc::new(<$array>::from(values)) as ArrayRef
        }};
    }
    let values: ArrayRef = match (column, feature.dtype.as_str()) {
        (Column::F32(v), "float32") => Arc::new(Float32Array::from(v[range].to_vec())),
        (Column::F64(v), "float32") => {
            Arc::new(Float32Array::from_iter_values(v[range].iter().map(|x| *x as f32)))
        }
        (Column::F64(v), "float64") => Arc::new(Float64Array::from(v[range].to_vec())),
        (Column::F32(v), "float64") => {
            Arc::new(Float64Array::from_iter_values(v[range].iter().map(|x| f64::from(*x))))
        }
        (Column::F32(v), "float16") => {
            type Half = <Float16Type as ArrowPrimitiveType>::Native;
            Arc::new(Float16Array::from_iter_values(v[range].iter().map(|x| Half::from_f32(*x))))
        }
        (Column::I64(v), "int64") => Arc::new(Int64Array::from(v[range].to_vec())),
        (Column::I64(v), "int32") => whole!(v[range], Int32Array, i32),
        (Column::I64(v), "int16") => whole!(v[range], Int16Array, i16),
        (Column::I64(v), "int8") => whole!(v[range], Int8Array, i8),
        (Column::I64(v), "uint64") => whole!(v[range], UInt64Array, u64),
        (Column::I64(v), "uint32") => whole!(v[range], UInt32Array, u32),
        (Column::I64(v), "uint16") => whole!(v[range], UInt16Array, u16),
        (Column::I64(v), "uint8") => whole!(v[range], UInt8Array, u8),
        (Column::Bool(v), "bool") => Arc::new(BooleanArray::from(v[range].to_vec())),
        (Column::Text(v), "string") => Arc::new(StringArray::from_iter_values(&v[range])),
        (Column::Png(v), "image") => return png_array(&v[range], rows.start),
        (column, dtype) => return Err(format!("{} cannot be stored as {dtype}", column.kind())),
    };
    match feature.shape.as_slice() {
        [1] => Ok(values),
        [n] => arrays::fixed(values, *n),
        shape => arrays::nested(values, shape),
    }
}

fn png_array(pictures: &[Vec<u8>], first: usize) -> std::result::Result<ArrayRef, String> {
    let total: usize = pictures.iter().map(Vec::len).sum();
    if i32::try_from(total).is_err() {
        return Err(format!("{} pictures are more than 2 GB", pictures.len()));
    }
    let bytes = BinaryArray::from_iter_values(pictures);
    let names = (first..first + pictures.len()).map(|i| format!("frame-{i:06}.png"));
    let path = StringArray::from_iter_values(names);
    let field = |name, kind| Arc::new(Field::new(name, kind, true));
    Ok(Arc::new(StructArray::from(vec![
        (field("bytes", DataType::Binary), Arc::new(bytes) as ArrayRef),
        (field("path", DataType::Utf8), Arc::new(path) as ArrayRef),
    ])))
}

/// Columns of some rows of a data file, and the rows the file has.
pub(crate) struct Rows {
    pub(crate) columns: Vec<(String, Column)>,
    pub(crate) file_rows: usize,
}

/// Reads rows (all when `None`) of a data file: every stored feature, in order.
pub(crate) fn read(path: &Path, features: &Features, rows: Option<Range<usize>>) -> Result<Rows> {
    read_some(path, features, rows, None)
}

/// The same, of the stored features that are named (all when `None`).
pub(crate) fn read_some(
    path: &Path,
    features: &Features,
    rows: Option<Range<usize>>,
    wanted: Option<&[&str]>,
) -> Result<Rows> {
    let table = table::read_columns(path, rows, wanted)?;
    let mut columns = Vec::new();
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(&name));
    for (name, feature) in stored(features).filter(|(name, _)| is_wanted(name)) {
        let bad = |reason: String| damaged(path, format!("column {name:?}: {reason}"));
        let mut column = empty_column(feature)?;
        let width = feature.width().map_err(&bad)?;
        for batch in &table.batches {
            let array = batch
                .column_by_name(name)
                .ok_or_else(|| bad("it is missing, though info.json lists it".into()))?;
            let part = from_array(array, feature).map_err(&bad)?;
            if batch.num_rows().checked_mul(width) != Some(part.len()) {
                let found = part.len() / batch.num_rows().max(1);
                return Err(bad(format!("{found} values per row, info.json says {width}")));
            }
            if !column.extend(part) {
                return Err(bad(format!("it does not hold {}", feature.dtype)));
            }
        }
        columns.push((name.to_string(), column));
    }
    Ok(Rows { columns, file_rows: table.file_rows })
}

fn from_array(array: &ArrayRef, feature: &Feature) -> std::result::Result<Column, String> {
    if feature.dtype == "image" {
        return Ok(Column::Png(arrays::pictures(array)?));
    }
    let leaf = arrays::leaf(array)?;
    Ok(match feature.dtype.as_str() {
        "float16" | "float32" => Column::F32(arrays::floats32(&leaf)?),
        "float64" => Column::F64(arrays::floats64(&leaf)?),
        "bool" => Column::Bool(arrays::booleans(&leaf)?),
        "string" => Column::Text(arrays::texts(&leaf)?),
        _ => Column::I64(arrays::integers(&leaf)?),
    })
}
