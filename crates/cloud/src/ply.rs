//! Clouds in `.ply`: text or binary of either order; elements and lists that are no points are
//! skipped.

use super::contents::Contents;
use super::layout::{Field, Layout};
use super::ply_header::{Element, Encoding, Header, Property};
use super::scalar::Scalar;
use crate::cloud::{Cloud, Points};
use crate::error::CloudError;

/// Reads the element `vertex`.
///
/// # Errors
/// Names the line or byte and what would be right.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Contents, CloudError> {
    let header = Header::read(file, bytes)?;
    let body = &bytes[header.body_at..];
    let Some(vertex_at) = header.elements.iter().position(|e| e.name == "vertex") else {
        return Err(CloudError::bad(file, "has no element vertex"));
    };
    let (before, rest) = header.elements.split_at(vertex_at);
    let vertex = &rest[0];
    let fields = fields(vertex);
    let step = fields.last().map_or(0, |f| f.offset + f.scalar.size());
    let mut compact = Vec::new();
    let (rows, big_endian) = match header.encoding {
        Encoding::Text => {
            let mut lines = Lines::new(file, body, header.lines);
            for element in before {
                lines.check_count(element)?;
                (0..element.count).try_for_each(|_| lines.row(element, None))?;
            }
            lines.check_count(vertex)?;
            compact.reserve(vertex.count * step);
            (0..vertex.count).try_for_each(|_| lines.row(vertex, Some(&mut compact)))?;
            (compact.as_slice(), false)
        }
        Encoding::Binary { big_endian } => {
            let mut bytes = Binary { file, body, at: 0, body_at: header.body_at, big_endian };
            for element in before {
                bytes.element(element, None)?;
            }
            if vertex.has_lists() {
                bytes.element(vertex, Some(&mut compact))?;
                (compact.as_slice(), big_endian)
            } else {
                (bytes.element(vertex, None)?, big_endian)
            }
        }
    };
    let layout = Layout::of(file, &fields, step, big_endian)?;
    let (xyz_m, rgb) = layout.read_all(rows);
    let points = xyz_m.len();
    let picture =
        header.columns.zip(header.rows).filter(|(c, r)| c.checked_mul(*r) == Some(points));
    let width = picture.map_or(points, |(columns, _)| columns);
    let cloud = Cloud::new(xyz_m, rgb, width, header.stamp_ns)?;
    Ok(Contents { cloud, labels: None, organised: picture.is_some() })
}

/// Single numbers of a point, packed without its lists.
fn fields(vertex: &Element) -> Vec<Field<'_>> {
    let mut fields: Vec<Field<'_>> = Vec::with_capacity(vertex.properties.len());
    for (name, property) in &vertex.properties {
        if let Property::Single(scalar) = *property {
            let offset = fields.last().map_or(0, |f| f.offset + f.scalar.size());
            fields.push(Field { name, offset, scalar, count: 1 });
        }
    }
    fields
}

/// Lines of a text body.
struct Lines<'a> {
    file: &'a str,
    rest: &'a [u8],
    /// Number of the last line that was taken.
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(file: &'a str, body: &'a [u8], header_lines: usize) -> Self {
        Self { file, rest: body, line: header_lines }
    }

    fn bad(&self, reason: &str) -> CloudError {
        CloudError::bad(self.file, format!("line {}: {reason}", self.line))
    }

    /// Finds a lie about the number of rows before memory is taken for it.
    fn check_count(&self, element: &Element) -> Result<(), CloudError> {
        let Element { name, count, properties } = element;
        // At least a character and a separator for each.
        let need = (2 * properties.len()).checked_mul(*count);
        if need.is_none_or(|need| need > self.rest.len() + 1)
            || (properties.is_empty() && *count > 0)
        {
            let left = self.rest.len();
            let reason = format!("{count} of {name} cannot be in the {left} bytes that follow");
            return Err(self.bad(&reason));
        }
        Ok(())
    }

    /// The next line that is not empty.
    fn next(&mut self) -> Result<&'a str, CloudError> {
        while !self.rest.is_empty() {
            self.line += 1;
            let end = self.rest.iter().position(|b| *b == b'\n').unwrap_or(self.rest.len());
            let line = self.rest[..end].trim_ascii();
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !line.is_empty() {
                return std::str::from_utf8(line).map_err(|_| self.bad("is not text"));
            }
        }
        Err(self.bad("the file ends here, more rows must follow"))
    }

    /// Takes a row; its single numbers are appended to `out`.
    fn row(&mut self, element: &Element, mut out: Option<&mut Vec<u8>>) -> Result<(), CloudError> {
        let mut words = self.next()?.split_ascii_whitespace();
        let mut skipped = Vec::new();
        for (name, property) in &element.properties {
            let missing = || self.bad(&format!("{name} is missing"));
            let word = words.next().ok_or_else(missing)?;
            match property {
                Property::Single(scalar) => {
                    let out = out.as_deref_mut().unwrap_or(&mut skipped);
                    let wrong = || {
                        let wanted = scalar.name();
                        self.bad(&format!("{name} is \"{word}\", must be {wanted}"))
                    };
                    scalar.push_text(word, out).ok_or_else(wrong)?;
                    skipped.clear();
                }
                Property::List { .. } => {
                    let wrong = || self.bad(&format!("length of {name} is \"{word}\""));
                    let length = word.parse::<usize>().map_err(|_| wrong())?;
                    if length > 0 && words.nth(length - 1).is_none() {
                        return Err(missing());
                    }
                }
            }
        }
        if let Some(word) = words.next() {
            return Err(self.bad(&format!("\"{word}\" follows the last property")));
        }
        Ok(())
    }
}

/// A binary body.
struct Binary<'a> {
    file: &'a str,
    body: &'a [u8],
    at: usize,
    /// Where the body begins in the file, for errors.
    body_at: usize,
    big_endian: bool,
}

impl<'a> Binary<'a> {
    fn take(&mut self, count: Option<usize>, of: &str) -> Result<&'a [u8], CloudError> {
        let left = self.body.len() - self.at;
        let Some(count) = count.filter(|count| *count <= left) else {
            let at = self.body_at + self.at;
            let reason = format!("byte {at}: {of} needs more than the {left} bytes that are left");
            return Err(CloudError::bad(self.file, reason));
        };
        self.at += count;
        Ok(&self.body[self.at - count..self.at])
    }

    /// Takes all rows of an element. Without lists their bytes come back in one piece; with
    /// lists the single numbers are appended to `out`.
    fn element(
        &mut self,
        element: &Element,
        mut out: Option<&mut Vec<u8>>,
    ) -> Result<&'a [u8], CloudError> {
        let Element { name, count, properties } = element;
        let least: usize = properties.iter().map(|(_, p)| p.least_size()).sum();
        let need = least.checked_mul(*count);
        let start = self.at;
        let bytes = self.take(need, name)?;
        if !element.has_lists() {
            return Ok(bytes);
        }
        self.at = start;
        for _ in 0..*count {
            for (name, property) in properties {
                match *property {
                    Property::Single(scalar) => {
                        let bytes = self.take(Some(scalar.size()), name)?;
                        if let Some(out) = out.as_deref_mut() {
                            out.extend(bytes);
                        }
                    }
                    Property::List { length, item } => {
                        let bytes = self.take(Some(length.size()), name)?;
                        let mut wide = [0; 8];
                        for (slot, i) in wide.iter_mut().zip(0..bytes.len()) {
                            *slot = bytes[if self.big_endian { bytes.len() - 1 - i } else { i }];
                        }
                        let signed = matches!(length, Scalar::I8 | Scalar::I16 | Scalar::I32);
                        if signed && wide[length.size() - 1] >= 0x80 {
                            let at = self.body_at + self.at;
                            let reason = format!("byte {at}: the length of {name} is negative");
                            return Err(CloudError::bad(self.file, reason));
                        }
                        let count = usize::try_from(u64::from_le_bytes(wide)).ok();
                        self.take(count.and_then(|n| n.checked_mul(item.size())), name)?;
                    }
                }
            }
        }
        Ok(&[])
    }
}

/// A cloud as binary `.ply`, little-endian; the picture's size stands in the header.
pub(super) fn write(cloud: &Cloud) -> Vec<u8> {
    let mut header = String::from("ply\nformat binary_little_endian 1.0\n");
    header += &format!("comment stamp_ns {}\n", cloud.stamp_ns);
    header += &format!("obj_info num_cols {}\n", cloud.width);
    header += &format!("obj_info num_rows {}\n", cloud.height());
    header += &format!("element vertex {}\n", cloud.xyz_m.len());
    header += "property float x\nproperty float y\nproperty float z\n";
    if !cloud.rgb.is_empty() {
        header += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    }
    header += "end_header\n";
    let mut bytes = header.into_bytes();
    bytes.reserve(cloud.xyz_m.len() * 15);
    for (i, point) in cloud.xyz_m.iter().enumerate() {
        bytes.extend(point.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(cloud.rgb.get(i).into_iter().flatten());
    }
    bytes
}
