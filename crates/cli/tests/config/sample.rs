//! Documents made from a schema: one that names every key, and for every mapping one with a key
//! too many.

use serde_json::{Map, Value, json};

/// Which of several forms a value takes, and which name a key has.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// Of forms that exclude each other, this one (counted round).
    pub(crate) form: usize,
    /// Keys under their old names, where they have one.
    pub(crate) old_names: bool,
}

/// A document that names every key of a schema.
pub(crate) fn whole(root: &Value, choice: Choice) -> Value {
    sample(root, root, choice)
}

fn sample(root: &Value, schema: &Value, choice: Choice) -> Value {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        return sample(root, root.pointer(pointer.trim_start_matches('#')).unwrap(), choice);
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(forms) = schema.get(word).and_then(Value::as_array) {
            let real: Vec<&Value> = forms.iter().filter(|form| form["type"] != "null").collect();
            return sample(root, real[choice.form % real.len()], choice);
        }
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[choice.form % values.len()].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap().clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("object") => mapping(root, schema, choice),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(1);
            let items = (0..least).map(|at| match sample(root, &schema["items"], choice) {
                // Ranges rise.
                Value::Number(_) => json!(at + 1),
                other => other,
            });
            items.collect()
        }
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        _ => json!("x"),
    }
}

fn mapping(root: &Value, schema: &Value, choice: Choice) -> Value {
    let mut map = Map::new();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        // Old names come in place of the ones of today.
        let old = |name: &str| {
            let text = format!("Old name of `{name}`.");
            properties.iter().find(|(_, field)| field["description"] == *text)
        };
        for (name, field) in properties.iter().filter(|(_, field)| field["deprecated"] != true) {
            let name = match old(name).filter(|_| choice.old_names) {
                Some((old, _)) => old,
                None => name,
            };
            map.insert(name.clone(), sample(root, field, choice));
        }
    }
    if let Some(others @ Value::Object(_)) = schema.get("additionalProperties") {
        map.insert("any_name".to_owned(), sample(root, others, choice));
    }
    Value::Object(map)
}

/// Places of mappings in a document whose keys the schema lists, as JSON pointers.
pub(crate) fn closed_mappings(root: &Value, document: &Value) -> Vec<String> {
    let mut all = Vec::new();
    walk(document, String::new(), &mut all);
    // A mapping that takes one more key is open: a map of names.
    all.retain(|pointer| {
        !super::validator::problems(root, &with_one_more(document, pointer)).is_empty()
    });
    all
}

fn walk(value: &Value, pointer: String, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                walk(below, format!("{pointer}/{key}"), all);
            }
            all.push(pointer);
        }
        Value::Array(items) => {
            for (at, below) in items.iter().enumerate() {
                walk(below, format!("{pointer}/{at}"), all);
            }
        }
        _ => {}
    }
}

/// The document with a key that nobody knows.
pub(crate) fn with_one_more(document: &Value, pointer: &str) -> Value {
    let mut document = document.clone();
    document.pointer_mut(pointer).unwrap()["not_a_key"] = json!(1);
    document
}
