//! A small validator for the part of JSON schema (draft 2020-12) that our schemas use. It refuses
//! words that it does not know, so that nothing is passed over.

use serde_json::{Map, Value};

/// Words that say nothing about a value.
const NOTES: [&str; 8] =
    ["$schema", "$defs", "title", "description", "default", "format", "deprecated", "$comment"];

/// What is wrong with a value; empty if nothing.
pub(crate) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    check(schema, schema, value, "")
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let Value::Object(words) = schema else {
        let is_right = schema.as_bool().expect("a schema is an object or a boolean");
        return if is_right { Vec::new() } else { vec![format!("{path}: nothing may stand here")] };
    };
    let mut all = Vec::new();
    for (word, said) in words {
        let wrong = |what: String| vec![format!("{path}: {value} {what}")];
        all.extend(match word.as_str() {
            word if NOTES.contains(&word) => Vec::new(),
            "$ref" => {
                let pointer = said.as_str().unwrap().trim_start_matches('#');
                check(root, root.pointer(pointer).unwrap(), value, path)
            }
            "type" if !is_type(said, value) => wrong(format!("is not of type {said}")),
            "enum" if !said.as_array().unwrap().contains(value) => wrong(format!("not in {said}")),
            "const" if said != value => wrong(format!("is not {said}")),
            "minimum" if value.as_f64() < said.as_f64() => wrong(format!("is below {said}")),
            "maximum" if value.as_f64() > said.as_f64() => wrong(format!("is above {said}")),
            "minItems" if count(value) < said.as_u64() => wrong(format!("has under {said}")),
            "maxItems" if count(value) > said.as_u64() => wrong(format!("has over {said}")),
            "type" | "enum" | "const" | "minimum" | "maximum" | "minItems" | "maxItems" => {
                Vec::new()
            }
            "allOf" => each(said).flat_map(|one| check(root, one, value, path)).collect(),
            "anyOf" | "oneOf" => {
                let answers: Vec<_> = each(said).map(|one| check(root, one, value, path)).collect();
                let right = answers.iter().filter(|answer| answer.is_empty()).count();
                match right {
                    0 => answers.concat(),
                    1 => Vec::new(),
                    _ if word == "anyOf" => Vec::new(),
                    _ => wrong("fits several".to_owned()),
                }
            }
            "required" => {
                let Value::Object(map) = value else { continue };
                let missing = each(said).filter(|key| !map.contains_key(key.as_str().unwrap()));
                missing.map(|key| format!("{path}: lacks {key}")).collect()
            }
            "properties" | "additionalProperties" => Vec::new(),
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                let one = |(at, item)| check(root, said, item, &format!("{path}[{at}]"));
                items.flat_map(one).collect()
            }
            other => panic!("the validator does not know {other:?}"),
        });
    }
    if let Value::Object(map) = value {
        all.extend(keys(root, words, map, path));
    }
    all
}

/// Keys of a mapping: named ones by their schema, others by `additionalProperties`.
fn keys(
    root: &Value,
    words: &Map<String, Value>,
    map: &Map<String, Value>,
    path: &str,
) -> Vec<String> {
    let named = words.get("properties").and_then(Value::as_object);
    let others = words.get("additionalProperties").unwrap_or(&Value::Bool(true));
    let one = |(key, value): (&String, &Value)| {
        let schema = named.and_then(|named| named.get(key)).unwrap_or(others);
        check(root, schema, value, &format!("{path}.{key}"))
    };
    map.iter().flat_map(|pair| one((pair.0, pair.1))).collect()
}

fn is_type(said: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("there is no type {other}"),
    };
    match said {
        Value::Array(names) => names.iter().any(one),
        name => one(name),
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_array().map(|all| all.len() as u64)
}

fn each(list: &Value) -> std::slice::Iter<'_, Value> {
    list.as_array().unwrap().iter()
}
