//! YAML into types, with errors that say the file, the line, the key and the nearest known key.

use std::collections::BTreeMap;
use std::fmt;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use crate::names::suggestion;

/// A value that is not as it should be, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The file (or a name for the text).
    pub file: String,
    /// Line, counted from 1, when known.
    pub line: Option<usize>,
    /// Key path, for example `objects.orange_1.place`.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for YamlError {}

impl de::Error for YamlError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { file: String::new(), line: None, key: String::new(), message: message.to_string() }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!(
            "unknown key \"{field}\", {}",
            suggestion(field, expected.iter().copied())
        ))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!(
            "unknown value \"{variant}\", {}",
            suggestion(variant, expected.iter().copied())
        ))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key \"{field}\" is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key \"{field}\" is given twice"))
    }
}

/// Reads one YAML document.
///
/// # Errors
/// When the text is not YAML, has more or less than one document, or does not fit the type.
pub fn from_yaml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, YamlError> {
    let whole = |message: String| YamlError {
        file: file.to_owned(),
        line: None,
        key: String::new(),
        message,
    };
    let documents = MarkedYaml::load_from_str(text).map_err(|e| whole(e.to_string()))?;
    let [document] = documents.as_slice() else {
        return Err(whole(format!("expected one YAML document, found {}", documents.len())));
    };
    T::deserialize(Node(document)).map_err(|e| YamlError { file: file.to_owned(), ..e })
}

/// The line of every value of a YAML document, by JSON pointer; of a mapping that of its key.
///
/// # Errors
/// When the text is not YAML.
pub fn lines(text: &str, file: &str) -> Result<BTreeMap<String, usize>, YamlError> {
    let documents = MarkedYaml::load_from_str(text).map_err(|e| YamlError {
        file: file.to_owned(),
        line: None,
        key: String::new(),
        message: e.to_string(),
    })?;
    let mut found = BTreeMap::new();
    documents.iter().for_each(|document| note_lines(document, "", &mut found));
    Ok(found)
}

fn note_lines(node: &MarkedYaml<'_>, pointer: &str, found: &mut BTreeMap<String, usize>) {
    let YamlData::Mapping(pairs) = &node.data else { return };
    for (key, value) in pairs {
        let Some(name) = key.data.as_str() else { continue };
        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        found.insert(pointer.clone(), key.span.start.line());
        note_lines(value, &pointer, found);
    }
}

/// A YAML node as a serde deserializer.
#[derive(Clone, Copy)]
struct Node<'a>(&'a MarkedYaml<'a>);

impl Node<'_> {
    /// Fills in the line where none is known yet: the innermost node wins.
    fn locate<T>(self, result: Result<T, YamlError>) -> Result<T, YamlError> {
        result.map_err(|e| YamlError { line: e.line.or(Some(self.0.span.start.line())), ..e })
    }
}

/// A mapping value that knows its key, so that errors carry the path.
struct Keyed<'a> {
    key: String,
    node: Node<'a>,
}

impl<'de> IntoDeserializer<'de, YamlError> for Keyed<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// A key that knows its line, so that one that is not known is found.
struct Key<'a> {
    text: String,
    node: Node<'a>,
}

impl<'de> IntoDeserializer<'de, YamlError> for Key<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = YamlError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        self.node.locate(visitor.visit_string(self.text))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        self.node.locate(visitor.visit_enum(self.text.into_deserializer()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct option identifier ignored_any
    }
}

/// Puts `key` in front of an error's path.
fn under<T>(key: &str, result: Result<T, YamlError>) -> Result<T, YamlError> {
    result.map_err(|e| {
        let joint = if e.key.is_empty() || e.key.starts_with('[') { "" } else { "." };
        YamlError { key: format!("{key}{joint}{}", e.key), ..e }
    })
}

macro_rules! forward_keyed {
    ($($method:ident($($arg:ident: $kind:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($arg: $kind,)* visitor: V) -> Result<V::Value, YamlError> {
            under(&self.key, self.node.$method($($arg,)* visitor))
        }
    )*};
}

impl<'de> Deserializer<'de> for Keyed<'_> {
    type Error = YamlError;
    forward_keyed! {
        deserialize_any();
        deserialize_option();
        deserialize_f64();
        deserialize_f32();
        deserialize_newtype_struct(name: &'static str);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, YamlError> for Node<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = YamlError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        let result = match &self.0.data {
            YamlData::Value(Scalar::Null) => visitor.visit_unit(),
            YamlData::Value(Scalar::Boolean(v)) => visitor.visit_bool(*v),
            YamlData::Value(Scalar::Integer(v)) => visitor.visit_i64(*v),
            YamlData::Value(Scalar::FloatingPoint(v)) => visitor.visit_f64(v.into_inner()),
            YamlData::Value(Scalar::String(v)) => visitor.visit_str(v),
            YamlData::Sequence(items) => {
                let keyed = items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| Keyed { key: format!("[{i}]"), node: Node(item) });
                visitor.visit_seq(SeqDeserializer::new(keyed))
            }
            YamlData::Mapping(pairs) => {
                let keyed = pairs.iter().map(|(k, v)| {
                    let key = match &k.data {
                        YamlData::Value(Scalar::String(s)) => s.to_string(),
                        YamlData::Value(Scalar::Integer(i)) => i.to_string(),
                        other => format!("{other:?}"),
                    };
                    (Key { text: key.clone(), node: Node(k) }, Keyed { key, node: Node(v) })
                });
                visitor.visit_map(MapDeserializer::new(keyed))
            }
            other => Err(de::Error::custom(format_args!("cannot read this value: {other:?}"))),
        };
        self.locate(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match &self.0.data {
            YamlData::Value(Scalar::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// Whole numbers are fine where a fraction may stand; not-a-number and infinity are not.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        let result = match &self.0.data {
            YamlData::Value(Scalar::Integer(v)) => visitor.visit_f64(*v as f64),
            YamlData::Value(Scalar::FloatingPoint(v)) if !v.is_finite() => {
                Err(de::Error::custom("must be a finite number"))
            }
            _ => return self.deserialize_any(visitor),
        };
        self.locate(result)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        if !matches!(self.0.data, YamlData::Mapping(_)) {
            return self.locate(Err(de::Error::custom("expected keys with values here")));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        let result = match &self.0.data {
            YamlData::Value(Scalar::String(v)) => visitor.visit_enum(v.clone().into_deserializer()),
            YamlData::Mapping(pairs) if pairs.len() == 1 => {
                let keyed = pairs.iter().map(|(k, v)| {
                    let key = k.data.as_str().unwrap_or_default().to_owned();
                    (key.clone(), Keyed { key, node: Node(v) })
                });
                visitor
                    .visit_enum(de::value::MapAccessDeserializer::new(MapDeserializer::new(keyed)))
            }
            _ => Err(de::Error::custom("expected a name here")),
        };
        self.locate(result)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Ball {
        radius_m: f64,
        #[serde(default)]
        color: Option<Color>,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        Orange,
        Green,
    }

    fn read(text: &str) -> Result<BTreeMap<String, Vec<Ball>>, YamlError> {
        from_yaml(text, "balls.yaml")
    }

    #[test]
    fn values_arrive_and_whole_numbers_serve_as_fractions() {
        let balls = read("a:\n  - {radius_m: 1}\n  - {radius_m: 0.5, color: orange}\n").unwrap();
        assert_eq!(balls["a"][0].radius_m, 1.0);
        assert_eq!(balls["a"][1].color, Some(Color::Orange));
    }

    #[test]
    fn errors_say_file_line_key_and_nearest_name() {
        let cases = [
            (
                "a:\n  - {radius: 1}\n",
                "balls.yaml:2: a[0]: unknown key \"radius\", did you mean \"radius_m\"?",
            ),
            (
                "a:\n  - radius_m: 1\n    colour: green\n",
                "balls.yaml:3: a[0]: unknown key \"colour\", did you mean \"color\"?",
            ),
            (
                "a:\n  - {radius_m: 1,\n     color: ornge}\n",
                "balls.yaml:3: a[0].color: unknown value \"ornge\", did you mean \"orange\"?",
            ),
            ("a:\n  - {radius_m: .nan}\n", "balls.yaml:2: a[0].radius_m: must be a finite number"),
            (
                "a:\n  - {radius_m: big}\n",
                "balls.yaml:2: a[0].radius_m: invalid type: string \"big\", expected f64",
            ),
            ("a:\n  - {}\n", "balls.yaml:2: a[0]: the key \"radius_m\" is missing"),
            ("a: [", "balls.yaml: "),
            ("", "balls.yaml: expected one YAML document, found 0"),
        ];
        for (text, wanted) in cases {
            let got = read(text).unwrap_err().to_string();
            assert!(got.starts_with(wanted), "{text:?}: {got}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_answer_never_a_panic(text in ".{0,200}") {
            let _answer = read(&text);
        }
    }
}
