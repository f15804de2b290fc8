//! Values, and the two documents that carry them.

use std::fmt::Write as _;

use super::xml::{Token, Tokens, escape_into};
use crate::error::RosError;

/// How deep values may lie in each other.
const DEEPEST: usize = 32;

/// A value of XML-RPC.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `int` or `i4`.
    Int(i32),
    /// `boolean`.
    Bool(bool),
    /// `double`.
    Double(f64),
    /// `string`; also what only others send: dates and base64, as they are written.
    Text(String),
    /// `array`.
    Array(Vec<Value>),
    /// `struct`, in the order that it was written in.
    Struct(Vec<(String, Value)>),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i32> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The values in an array, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        out.push_str("<value>");
        match self {
            // Writing to a String cannot fail.
            Self::Int(number) => drop(write!(out, "<int>{number}</int>")),
            Self::Bool(is) => drop(write!(out, "<boolean>{}</boolean>", u8::from(*is))),
            Self::Double(number) => drop(write!(out, "<double>{number:?}</double>")),
            Self::Text(text) => {
                out.push_str("<string>");
                escape_into(text, out);
                out.push_str("</string>");
            }
            Self::Array(values) => {
                out.push_str("<array><data>");
                values.iter().for_each(|value| value.write(out));
                out.push_str("</data></array>");
            }
            Self::Struct(members) => {
                out.push_str("<struct>");
                for (name, value) in members {
                    out.push_str("<member><name>");
                    escape_into(name, out);
                    out.push_str("</name>");
                    value.write(out);
                    out.push_str("</member>");
                }
                out.push_str("</struct>");
            }
        }
        out.push_str("</value>");
    }
}

/// A call of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name.
    pub method: String,
    /// What it is given.
    pub params: Vec<Value>,
}

/// A call as XML.
#[must_use]
pub fn write_call(method: &str, params: &[Value]) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?><methodCall><methodName>");
    escape_into(method, &mut out);
    out.push_str("</methodName><params>");
    for param in params {
        out.push_str("<param>");
        param.write(&mut out);
        out.push_str("</param>");
    }
    out.push_str("</params></methodCall>");
    out
}

/// An answer as XML.
#[must_use]
pub fn write_answer(value: &Value) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?><methodResponse><params><param>");
    value.write(&mut out);
    out.push_str("</param></params></methodResponse>");
    out
}

/// Reads a call.
///
/// # Errors
/// Names the byte where it is none.
pub fn parse_call(text: &str) -> Result<Call, RosError> {
    let mut tokens = Tokens::new(text);
    tokens.open("methodCall")?;
    tokens.open("methodName")?;
    let method = tokens.text_until("methodName")?.trim().to_owned();
    let mut params = Vec::new();
    match tokens.next_tag()? {
        Some(Token::Open("params")) => loop {
            match tokens.next_tag()? {
                Some(Token::Open("param")) => {
                    params.push(value(&mut tokens, 0)?);
                    tokens.close("param")?;
                }
                Some(Token::Close("params")) => break,
                other => return Err(tokens.bad(&format!("{other:?} among params"))),
            }
        },
        Some(Token::Empty("params")) => {}
        Some(Token::Close("methodCall")) => return Ok(Call { method, params }),
        other => return Err(tokens.bad(&format!("{other:?} after methodName"))),
    }
    tokens.close("methodCall")?;
    Ok(Call { method, params })
}

/// Reads an answer; a `fault` is an error.
///
/// # Errors
/// Names the byte where it is none, or what the fault says.
pub fn parse_answer(text: &str) -> Result<Value, RosError> {
    let mut tokens = Tokens::new(text);
    tokens.open("methodResponse")?;
    match tokens.next_tag()? {
        Some(Token::Open("params")) => {
            tokens.open("param")?;
            let value = value(&mut tokens, 0)?;
            tokens.close("param")?;
            tokens.close("params")?;
            tokens.close("methodResponse")?;
            Ok(value)
        }
        Some(Token::Open("fault")) => {
            let fault = value(&mut tokens, 0)?;
            let said = match &fault {
                Value::Struct(members) => members
                    .iter()
                    .find(|(name, _)| name == "faultString")
                    .and_then(|(_, value)| value.as_text()),
                _ => None,
            };
            let reason = said.map_or_else(|| format!("{fault:?}"), str::to_owned);
            Err(RosError::bad("XML-RPC", format!("a fault was answered: {reason}")))
        }
        other => Err(tokens.bad(&format!("{other:?} where <params> must be"))),
    }
}

fn value(tokens: &mut Tokens<'_>, depth: usize) -> Result<Value, RosError> {
    match tokens.next_tag()? {
        Some(Token::Open("value")) => inside_value(tokens, depth),
        Some(Token::Empty("value")) => Ok(Value::Text(String::new())),
        other => Err(tokens.bad(&format!("{other:?} where <value> must be"))),
    }
}

/// What stands between `<value>` and `</value>`, and the latter.
fn inside_value(tokens: &mut Tokens<'_>, depth: usize) -> Result<Value, RosError> {
    if depth >= DEEPEST {
        return Err(tokens.bad(&format!("values lie more than {DEEPEST} deep in each other")));
    }
    let mut bare = String::new();
    loop {
        let value = match tokens.next()? {
            Some(Token::Text(text)) => {
                bare.push_str(&super::xml::unescaped(text));
                continue;
            }
            // A text without a type around it.
            Some(Token::Close("value")) => return Ok(Value::Text(bare)),
            Some(Token::Empty("string")) => Value::Text(String::new()),
            Some(Token::Empty("array")) => Value::Array(Vec::new()),
            Some(Token::Empty("struct")) => Value::Struct(Vec::new()),
            Some(Token::Open(kind)) => typed(tokens, kind, depth)?,
            other => return Err(tokens.bad(&format!("{other:?} in a value"))),
        };
        if !bare.trim().is_empty() {
            return Err(tokens.bad("text beside a typed value"));
        }
        tokens.close("value")?;
        return Ok(value);
    }
}

fn typed(tokens: &mut Tokens<'_>, kind: &str, depth: usize) -> Result<Value, RosError> {
    match kind {
        "array" => array(tokens, depth),
        "struct" => members(tokens, depth),
        "string" | "dateTime.iso8601" | "base64" => Ok(Value::Text(tokens.text_until(kind)?)),
        "int" | "i4" | "boolean" | "double" => {
            let text = tokens.text_until(kind)?;
            let value = match (kind, text.trim()) {
                ("double", text) => text.parse().ok().map(Value::Double),
                ("boolean", "0") => Some(Value::Bool(false)),
                ("boolean", "1") => Some(Value::Bool(true)),
                ("boolean", _) => None,
                (_, text) => text.parse().ok().map(Value::Int),
            };
            value.ok_or_else(|| tokens.bad(&format!("\"{}\" is no {kind}", text.trim())))
        }
        other => Err(tokens.bad(&format!("<{other}> is no kind of value"))),
    }
}

fn array(tokens: &mut Tokens<'_>, depth: usize) -> Result<Value, RosError> {
    let mut values = Vec::new();
    match tokens.next_tag()? {
        Some(Token::Empty("data")) => {}
        Some(Token::Open("data")) => loop {
            match tokens.next_tag()? {
                Some(Token::Open("value")) => values.push(inside_value(tokens, depth + 1)?),
                Some(Token::Empty("value")) => values.push(Value::Text(String::new())),
                Some(Token::Close("data")) => break,
                other => return Err(tokens.bad(&format!("{other:?} in an array"))),
            }
        },
        other => return Err(tokens.bad(&format!("{other:?} where <data> must be"))),
    }
    tokens.close("array")?;
    Ok(Value::Array(values))
}

fn members(tokens: &mut Tokens<'_>, depth: usize) -> Result<Value, RosError> {
    let mut members = Vec::new();
    loop {
        match tokens.next_tag()? {
            Some(Token::Open("member")) => {
                tokens.open("name")?;
                let name = tokens.text_until("name")?;
                let value = value(tokens, depth + 1)?;
                tokens.close("member")?;
                members.push((name, value));
            }
            Some(Token::Close("struct")) => return Ok(Value::Struct(members)),
            other => return Err(tokens.bad(&format!("{other:?} in a struct"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_python_writes_is_read() {
        // As xmlrpc.client and xmlrpc.server format it.
        let text = "<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n<value><array>\
                    <data>\n<value><int>1</int></value>\n<value><string></string></value>\n\
                    <value><array><data>\n<value><string>http://a:1/</string></value>\n\
                    </data></array></value>\n</data></array></value>\n</param>\n</params>\n\
                    </methodResponse>\n";
        let uris = Value::Array(vec![Value::text("http://a:1/")]);
        let all = Value::Array(vec![Value::Int(1), Value::text(""), uris]);
        assert_eq!(parse_answer(text).unwrap(), all);
        let bare = "<methodResponse><params><param><value>a &lt; b &amp;amp; c</value></param>\
                    </params></methodResponse>";
        assert_eq!(parse_answer(bare).unwrap(), Value::text("a < b &amp; c"));
        let fault = "<methodResponse><fault><value><struct><member><name>faultCode</name><value>\
                     <int>4</int></value></member><member><name>faultString</name><value><string>\
                     Too many</string></value></member></struct></value></fault></methodResponse>";
        assert!(parse_answer(fault).unwrap_err().to_string().contains("Too many"));
    }

    #[test]
    fn values_that_lie_too_deep_are_refused() {
        let text =
            format!("<methodResponse><params><param>{}", "<value><array><data>".repeat(100_000));
        assert!(parse_answer(&text).unwrap_err().to_string().contains("more than 32 deep"));
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = "[ -~äß\n]{0,12}";
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::Int),
            any::<bool>().prop_map(Value::Bool),
            (-1e12..1e12_f64).prop_map(Value::Double),
            text.prop_map(Value::Text),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let members = prop::collection::vec((text, inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::Array),
                members.prop_map(Value::Struct),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            params in prop::collection::vec(values(), 0..4), method in "[a-zA-Z.]{1,12}",
        ) {
            let call = parse_call(&write_call(&method, &params)).unwrap();
            prop_assert_eq!(&call, &Call { method, params });
            for param in &call.params {
                prop_assert_eq!(&parse_answer(&write_answer(param)).unwrap(), param);
            }
        }
    }
}
