//! JSON schemas (draft 2020-12) of the files that people write, made from the types that read them.
//!
//! Editors complete keys and show their meaning with such a schema; `citrange config schema` prints
//! it. A field with old names says them twice, for the reader (`serde(alias)`) and for the schema
//! (`schemars(extend("x-aliases"))`); a test holds both against each other.

use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Where a field lists its old names.
const ALIASES: &str = "x-aliases";

/// The schema of a file that is read as `T`.
#[must_use]
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    name_aliases(&mut schema);
    schema
}

/// Old names of keys, with their names of today.
#[must_use]
pub fn aliases_of<T: JsonSchema>() -> BTreeMap<String, String> {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut found = BTreeMap::new();
    note_aliases(&generator.into_root_schema_for::<T>().to_value(), &mut found);
    found
}

fn note_aliases(schema: &Value, found: &mut BTreeMap<String, String>) {
    match schema {
        Value::Array(all) => all.iter().for_each(|part| note_aliases(part, found)),
        Value::Object(object) => {
            for (name, part) in object {
                let aliases = part.get(ALIASES).and_then(Value::as_array).into_iter().flatten();
                let aliases = aliases.filter_map(Value::as_str);
                found.extend(aliases.map(|alias| (alias.to_owned(), name.clone())));
                note_aliases(part, found);
            }
        }
        _ => {}
    }
}

/// The schema of a file that changes some values of a profile, and may name it.
#[must_use]
pub fn overrides_of<T: JsonSchema>(title: &str, profiles: &[&str]) -> Value {
    let mut schema = schema_of::<T>(title);
    require_nothing(&mut schema);
    schema["properties"]["profile"] = json!({
        "description": "The built-in profile to start from; default when absent.",
        "enum": profiles,
    });
    schema
}

/// Old names of keys become keys of their own.
fn name_aliases(schema: &mut Value) {
    let Value::Object(object) = schema else {
        schema.as_array_mut().into_iter().flatten().for_each(name_aliases);
        return;
    };
    object.values_mut().for_each(name_aliases);
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    let mut old = Map::new();
    let mut either = Vec::new();
    for (name, field) in properties.iter_mut() {
        let listed = field.as_object_mut().and_then(|field| field.remove(ALIASES));
        let Some(Value::Array(aliases)) = listed else { continue };
        let names: Vec<&str> = aliases.iter().filter_map(Value::as_str).collect();
        for alias in &names {
            let mut same = field.clone();
            same["description"] = json!(format!("Old name of `{name}`."));
            same["deprecated"] = json!(true);
            old.insert((*alias).to_owned(), same);
        }
        let all = std::iter::once(name.as_str()).chain(names);
        let all: Vec<Value> = all.map(|name| json!({"required": [name]})).collect();
        either.push((name.clone(), json!({ "anyOf": all })));
    }
    properties.extend(old);
    // A key that must be there may be there under any of its names.
    let Some(Value::Array(required)) = object.get_mut("required") else { return };
    let is_required = |name: &str| required.iter().any(|key| key.as_str() == Some(name));
    let (needed, all): (Vec<String>, Vec<Value>) =
        either.into_iter().filter(|(name, _)| is_required(name)).unzip();
    required.retain(|key| !needed.iter().any(|name| key.as_str() == Some(name)));
    if !all.is_empty() {
        object.insert("allOf".to_owned(), Value::Array(all));
    }
}

/// No key of a mapping must be there.
fn require_nothing(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.remove("required");
                object.remove("allOf");
            }
            object.values_mut().for_each(require_nothing);
        }
        Value::Array(all) => all.iter_mut().for_each(require_nothing),
        _ => {}
    }
}
