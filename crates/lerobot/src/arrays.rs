//! Arrow arrays to plain vectors and back, for the few shapes datasets have.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};

type Reason<T> = Result<T, String>;

fn no_nulls(array: &dyn Array) -> Reason<()> {
    if array.null_count() > 0 {
        return Err(format!("{} values are missing (null)", array.null_count()));
    }
    Ok(())
}

/// Takes lists apart until plain values are left; every list must have the same length.
pub(crate) fn leaf(array: &ArrayRef) -> Reason<ArrayRef> {
    no_nulls(array)?;
    let inner = match array.data_type() {
        DataType::FixedSizeList(_, size) => {
            let list = array.as_fixed_size_list();
            let size = usize::try_from(*size).map_err(|e| e.to_string())?;
            let count = list.len().checked_mul(size).ok_or("impossible list length")?;
            if list.is_empty() {
                list.values().slice(0, 0)
            } else {
                let start = list.value_offset_at(0);
                if start.checked_add(count).is_none_or(|end| end > list.values().len()) {
                    return Err("a list is shorter than it claims".into());
                }
                list.values().slice(start, count)
            }
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            uniform(list.value_offsets().iter().map(|o| i64::from(*o)), list.values())?
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            uniform(list.value_offsets().iter().copied(), list.values())?
        }
        _ => return Ok(array.clone()),
    };
    leaf(&inner)
}

fn uniform(offsets: impl Iterator<Item = i64> + Clone, values: &ArrayRef) -> Reason<ArrayRef> {
    let mut steps = offsets.clone().zip(offsets.clone().skip(1)).map(|(a, b)| b - a);
    let first = steps.next();
    if steps.any(|s| Some(s) != first) {
        return Err("lists of different lengths in one column".into());
    }
    let start = usize::try_from(offsets.clone().next().unwrap_or(0)).map_err(|e| e.to_string())?;
    let end = usize::try_from(offsets.last().unwrap_or(0)).map_err(|e| e.to_string())?;
    if start > end || end > values.len() {
        return Err("a list lies beyond its values".into());
    }
    Ok(values.slice(start, end - start))
}

/// Integers of any width.
pub(crate) fn integers(array: &dyn Array) -> Reason<Vec<i64>> {
    no_nulls(array)?;
    macro_rules! all {
        ($kind:ty) => {
            array.as_primitive::<$kind>().values().iter().map(|v| i64::from(*v)).collect()
        };
    }
    Ok(match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().values().to_vec(),
        DataType::Int32 => all!(Int32Type),
        DataType::Int16 => all!(Int16Type),
        DataType::Int8 => all!(Int8Type),
        DataType::UInt32 => all!(UInt32Type),
        DataType::UInt16 => all!(UInt16Type),
        DataType::UInt8 => all!(UInt8Type),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            let whole: Result<Vec<i64>, _> = values.iter().map(|v| i64::try_from(*v)).collect();
            whole.map_err(|_| "a value is larger than an int64".to_string())?
        }
        other => return Err(format!("it holds {other}, integers are expected")),
    })
}

/// 32-bit floats, from 16-bit ones too.
pub(crate) fn floats32(array: &dyn Array) -> Reason<Vec<f32>> {
    no_nulls(array)?;
    Ok(match array.data_type() {
        DataType::Float32 => array.as_primitive::<Float32Type>().values().to_vec(),
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().values().iter().map(|v| *v as f32).collect()
        }
        DataType::Float16 => {
            array.as_primitive::<Float16Type>().values().iter().map(|v| v.to_f32()).collect()
        }
        other => return Err(format!("it holds {other}, floats are expected")),
    })
}

/// Any numbers as 64-bit floats.
pub(crate) fn floats64(array: &dyn Array) -> Reason<Vec<f64>> {
    match array.data_type() {
        DataType::Float64 => {
            no_nulls(array)?;
            Ok(array.as_primitive::<Float64Type>().values().to_vec())
        }
        DataType::Float32 | DataType::Float16 => {
            Ok(floats32(array)?.into_iter().map(f64::from).collect())
        }
        DataType::Boolean => {
            Ok(booleans(array)?.into_iter().map(|b| f64::from(u8::from(b))).collect())
        }
        _ => Ok(integers(array)?.into_iter().map(|v| v as f64).collect()),
    }
}

pub(crate) fn booleans(array: &dyn Array) -> Reason<Vec<bool>> {
    no_nulls(array)?;
    let values = array
        .as_boolean_opt()
        .ok_or_else(|| format!("it holds {}, not booleans", array.data_type()))?;
    Ok((0..values.len()).map(|i| values.value(i)).collect())
}

pub(crate) fn texts(array: &dyn Array) -> Reason<Vec<String>> {
    no_nulls(array)?;
    let count = 0..array.len();
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            count.map(|i| values.value(i).to_string()).collect()
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            count.map(|i| values.value(i).to_string()).collect()
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            count.map(|i| values.value(i).to_string()).collect()
        }
        other => return Err(format!("it holds {other}, texts are expected")),
    })
}

/// Pictures: `struct<bytes, path>` with the bytes inside.
pub(crate) fn pictures(array: &dyn Array) -> Reason<Vec<Vec<u8>>> {
    no_nulls(array)?;
    let fields = array.as_struct_opt().ok_or("it is not a struct of bytes and path")?;
    let bytes = fields.column_by_name("bytes").ok_or("it lacks the field bytes")?;
    if bytes.null_count() > 0 {
        return Err("pictures outside the file (bytes null) are not read".into());
    }
    let count = 0..bytes.len();
    Ok(match bytes.data_type() {
        DataType::Binary => {
            let values = bytes.as_binary::<i32>();
            count.map(|i| values.value(i).to_vec()).collect()
        }
        DataType::LargeBinary => {
            let values = bytes.as_binary::<i64>();
            count.map(|i| values.value(i).to_vec()).collect()
        }
        other => return Err(format!("its bytes are {other}")),
    })
}

/// One row of a column of lists, however deep, as flat numbers. Null is an empty list.
pub(crate) fn row_numbers(array: &ArrayRef, row: usize) -> Reason<Vec<f64>> {
    if row >= array.len() || array.is_null(row) {
        return Ok(Vec::new());
    }
    floats64(&leaf(&array.slice(row, 1))?)
}

/// One row of a column of lists of texts.
pub(crate) fn row_texts(array: &ArrayRef, row: usize) -> Reason<Vec<String>> {
    texts(&leaf(&array.slice(row, 1))?)
}

fn element(array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("element", array.data_type().clone(), true))
}

/// Wraps values into lists of the given lengths, one after the other.
pub(crate) fn lists(values: ArrayRef, lengths: &[usize]) -> Reason<ArrayRef> {
    let total = lengths.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
    if total != Some(values.len()) || i32::try_from(values.len()).is_err() {
        return Err(format!("{} values do not fit the lists", values.len()));
    }
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    let list = ListArray::try_new(element(&values), offsets, values, None);
    Ok(Arc::new(list.map_err(|e| e.to_string())?))
}

/// Wraps values into nested lists: `shape` is the shape of a row, innermost last.
pub(crate) fn nested(values: ArrayRef, shape: &[usize]) -> Reason<ArrayRef> {
    let mut level = values;
    for size in shape.iter().rev() {
        let rows = level.len().checked_div(*size).ok_or("a shape with 0")?;
        level = lists(level, &vec![*size; rows])?;
    }
    Ok(level)
}

/// Wraps values into lists of one fixed length.
pub(crate) fn fixed(values: ArrayRef, size: usize) -> Reason<ArrayRef> {
    let size = i32::try_from(size).map_err(|e| e.to_string())?;
    let list = FixedSizeListArray::try_new(element(&values), size, values, None);
    Ok(Arc::new(list.map_err(|e| e.to_string())?))
}
