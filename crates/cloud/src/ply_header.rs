//! The header of a `.ply` file: which elements follow and what they are made of.

use super::scalar::Scalar;
use crate::error::CloudError;

const END: &[u8] = b"end_header";
/// A header that does not end within this is none.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// How the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Binary { big_endian: bool },
}

/// Something that the file has many of.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<(String, Property)>,
}

/// What an element has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Property {
    Single(Scalar),
    List { length: Scalar, item: Scalar },
}

impl Property {
    /// Bytes that it has at least.
    pub(super) fn least_size(self) -> usize {
        match self {
            Self::Single(scalar) => scalar.size(),
            Self::List { length, .. } => length.size(),
        }
    }
}

impl Element {
    pub(super) fn has_lists(&self) -> bool {
        self.properties.iter().any(|(_, p)| matches!(p, Property::List { .. }))
    }
}

/// All that is said before the body.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Size of the picture, where the file says it.
    pub(super) columns: Option<usize>,
    pub(super) rows: Option<usize>,
    pub(super) stamp_ns: u64,
    /// First byte after the header.
    pub(super) body_at: usize,
    /// Lines of the header.
    pub(super) lines: usize,
}

impl Header {
    /// Reads up to `end_header`.
    ///
    /// # Errors
    /// Names the line.
    pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Self, CloudError> {
        let mut encoding = None;
        let mut header = Self {
            encoding: Encoding::Text,
            elements: Vec::new(),
            columns: None,
            rows: None,
            stamp_ns: 0,
            body_at: 0,
            lines: 0,
        };
        let head = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
        for line in head.split_inclusive(|b| *b == b'\n') {
            header.body_at += line.len();
            header.lines += 1;
            let line = line.trim_ascii();
            if line == END {
                let Some(encoding) = encoding else {
                    return Err(CloudError::bad(file, "the header has no line \"format\""));
                };
                header.encoding = encoding;
                return Ok(header);
            }
            let bad =
                |reason: &str| CloudError::bad(file, format!("line {}: {reason}", header.lines));
            let line = std::str::from_utf8(line).map_err(|_| bad("is not text"))?;
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match *words.as_slice() {
                ["format", name, "1.0"] => {
                    encoding = Some(encoding_of(name).ok_or_else(|| {
                        bad("must be ascii, binary_little_endian or binary_big_endian")
                    })?)
                }
                ["element", name, count] => {
                    let count = count.parse().map_err(|_| bad("the count is no number"))?;
                    let (name, properties) = (name.to_owned(), Vec::new());
                    header.elements.push(Element { name, count, properties });
                }
                ["property", ref rest @ ..] => {
                    let wrong =
                        "must be \"property TYPE NAME\" or \"property list TYPE TYPE NAME\"";
                    let property = property_of(rest).ok_or_else(|| bad(wrong))?;
                    let Some(element) = header.elements.last_mut() else {
                        return Err(bad("a property before the first element"));
                    };
                    element.properties.push(property);
                }
                ["obj_info", "num_cols", count] => header.columns = count.parse().ok(),
                ["obj_info", "num_rows", count] => header.rows = count.parse().ok(),
                ["comment", "stamp_ns", stamp] => header.stamp_ns = stamp.parse().unwrap_or(0),
                ["ply"] if header.lines == 1 => {}
                ["comment" | "obj_info", ..] | [] => {}
                _ => return Err(bad("is no line of a .ply header")),
            }
        }
        Err(CloudError::bad(file, "the header does not end with a line \"end_header\""))
    }
}

fn encoding_of(name: &str) -> Option<Encoding> {
    match name {
        "ascii" => Some(Encoding::Text),
        "binary_little_endian" => Some(Encoding::Binary { big_endian: false }),
        "binary_big_endian" => Some(Encoding::Binary { big_endian: true }),
        _ => None,
    }
}

fn property_of(words: &[&str]) -> Option<(String, Property)> {
    match *words {
        ["list", length, item, name] => {
            let (length, item) = (scalar_of(length)?, scalar_of(item)?);
            let whole = !matches!(length, Scalar::F32 | Scalar::F64);
            whole.then(|| (name.to_owned(), Property::List { length, item }))
        }
        [kind, name] => Some((name.to_owned(), Property::Single(scalar_of(kind)?))),
        _ => None,
    }
}

fn scalar_of(name: &str) -> Option<Scalar> {
    Some(match name {
        "char" | "int8" => Scalar::I8,
        "uchar" | "uint8" => Scalar::U8,
        "short" | "int16" => Scalar::I16,
        "ushort" | "uint16" => Scalar::U16,
        "int" | "int32" => Scalar::I32,
        "uint" | "uint32" => Scalar::U32,
        "float" | "float32" => Scalar::F32,
        "double" | "float64" => Scalar::F64,
        _ => return None,
    })
}
