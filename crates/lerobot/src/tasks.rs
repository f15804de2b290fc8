//! `meta/tasks.parquet`: the task texts, in the order of their numbers.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field};
use serde_json::json;

use crate::arrays;
use crate::error::{LerobotError, Result, damaged};
use crate::table;

/// Name pandas gives an index without a name.
const INDEX: &str = "__index_level_0__";

pub(crate) fn write(path: &Path, tasks: &[String]) -> Result<()> {
    // lerobot looks tasks up by the index of a pandas frame; this note makes it one.
    let pandas = json!({
        "index_columns": [INDEX],
        "column_indexes": [{
            "name": null, "field_name": null, "pandas_type": "unicode", "numpy_type": "object",
            "metadata": { "encoding": "UTF-8" }
        }],
        "columns": [
            { "name": "task_index", "field_name": "task_index", "pandas_type": "int64",
              "numpy_type": "int64", "metadata": null },
            { "name": null, "field_name": INDEX, "pandas_type": "unicode",
              "numpy_type": "object", "metadata": null }
        ],
        "attributes": {},
        "creator": { "library": "citrange", "version": env!("CARGO_PKG_VERSION") },
        "pandas_version": "2.2.0"
    });
    let fields = vec![
        Field::new("task_index", DataType::Int64, true),
        Field::new(INDEX, DataType::LargeUtf8, true),
    ];
    let schema = table::schema(fields, Some(("pandas", pandas.to_string())));
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..tasks.len() as i64));
    let texts: ArrayRef = Arc::new(LargeStringArray::from_iter_values(tasks));
    let batch = RecordBatch::try_new(schema.clone(), vec![numbers, texts])
        .map_err(|e| LerobotError::Invalid(format!("tasks: {e}")))?;
    let mut writer = table::Writer::create(path, schema)?;
    writer.write(&batch)?;
    writer.finish()
}

/// Texts by position. lerobot goes by position too, so numbers out of order are an error.
pub(crate) fn read(path: &Path) -> Result<Vec<String>> {
    let table = table::read(path, None)?;
    let bad = |reason: String| damaged(path, reason);
    let text_column = [INDEX, "task", "tasks"]
        .into_iter()
        .find(|name| table.schema.column_with_name(name).is_some())
        .ok_or_else(|| bad("there is no column with the task texts".into()))?;
    let mut tasks = Vec::new();
    for batch in &table.batches {
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| bad(format!("column {name:?} is missing")))
        };
        let numbers = arrays::integers(column("task_index")?).map_err(&bad)?;
        let texts = arrays::texts(column(text_column)?).map_err(&bad)?;
        for (number, text) in numbers.into_iter().zip(texts) {
            if number != tasks.len() as i64 {
                return Err(bad(format!("task_index {number} at row {}", tasks.len())));
            }
            tasks.push(text);
        }
    }
    Ok(tasks)
}
