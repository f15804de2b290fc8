//! Clouds in `.pcd` (versions 0.5 to 0.7): text, binary, or binary packed with LZF.

use std::borrow::Cow;

use super::contents::Contents;
use super::layout::{Field, Layout};
use super::lzf;
use super::scalar::Scalar;
use crate::cloud::{Cloud, Points};
use crate::error::CloudError;

/// A header that does not end within this is none.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// Reads the file.
///
/// # Errors
/// Names the line or byte and what would be right.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Contents, CloudError> {
    let header = Header::read(file, bytes)?;
    let fields = header.fields(file)?;
    let last = fields.last();
    let step = last.map_or(0, |f| f.offset + f.scalar.size() * f.count);
    let layout = Layout::of(file, &fields, step, false)?;
    let points = header.points(file)?;
    let at = header.body_at;
    let body = &bytes[at..];
    let too_short = |size: String| {
        let left = body.len();
        CloudError::bad(file, format!("byte {at}: {size} cannot be in the {left} that follow"))
    };
    let total = points.checked_mul(step).filter(|n| header.data != "binary" || *n <= body.len());
    let total = total.ok_or_else(|| too_short(format!("{points} points of {step} bytes")))?;
    let rows: Cow<'_, [u8]> = match header.data {
        "binary" => body[..total].into(),
        "binary_compressed" => {
            let columns = unpack(file, body, at, total)?;
            rows_of(&fields, &columns, points, step).into()
        }
        "ascii" => {
            // At least a character and a separator for each number.
            let numbers: usize = fields.iter().map(|f| f.count).sum();
            let need = numbers.checked_mul(2).and_then(|n| n.checked_mul(points));
            if need.is_none_or(|need| need > body.len() + 1) {
                return Err(too_short(format!("{points} rows of {numbers} numbers")));
            }
            text_rows(file, body, header.lines, &fields, points)?.into()
        }
        other => {
            let reason = format!(
                "line {}: DATA is {other}, must be ascii, binary or binary_compressed",
                header.lines
            );
            return Err(CloudError::bad(file, reason));
        }
    };
    let (xyz_m, rgb) = layout.read_all(&rows);
    let cloud = Cloud::new(xyz_m, rgb, header.width(), header.stamp_ns)?;
    Ok(Contents { cloud, labels: None, organised: header.height > 1 })
}

/// Unpacks a body that says its sizes first.
fn unpack(file: &str, body: &[u8], at: usize, total: usize) -> Result<Vec<u8>, CloudError> {
    let bad = |reason: String| CloudError::bad(file, format!("byte {at}: {reason}"));
    let cut = || bad("the packed data is cut off".to_owned());
    let (packed, rest) = body.split_first_chunk().ok_or_else(cut)?;
    let (size, rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let (packed, size) = (u32::from_le_bytes(*packed) as usize, u32::from_le_bytes(*size) as usize);
    if size != total {
        return Err(bad(format!("unpacks to {size} bytes, but the points need {total}")));
    }
    let packed = rest.get(..packed).ok_or_else(cut)?;
    lzf::unpack(packed, size).ok_or_else(|| bad(format!("does not unpack to {size} bytes")))
}

/// Packed files keep all x, then all y, ...: puts points together again.
fn rows_of(fields: &[Field<'_>], columns: &[u8], points: usize, step: usize) -> Vec<u8> {
    let mut rows = vec![0; columns.len()];
    let mut rest = columns;
    for field in fields {
        let size = field.scalar.size() * field.count;
        let (column, after) = rest.split_at(size * points);
        rest = after;
        if size == 0 {
            continue;
        }
        for (row, value) in rows.chunks_exact_mut(step).zip(column.chunks_exact(size)) {
            row[field.offset..field.offset + size].copy_from_slice(value);
        }
    }
    rows
}

fn text_rows(
    file: &str,
    body: &[u8],
    header_lines: usize,
    fields: &[Field<'_>],
    points: usize,
) -> Result<Vec<u8>, CloudError> {
    let mut rows = Vec::new();
    let mut found = 0;
    for (i, line) in body.split(|b| *b == b'\n').enumerate() {
        let bad = |reason: String| {
            CloudError::bad(file, format!("line {}: {reason}", header_lines + 1 + i))
        };
        let line = line.trim_ascii();
        if line.is_empty() || found == points {
            continue;
        }
        let line = std::str::from_utf8(line).map_err(|_| bad("is not text".to_owned()))?;
        let mut words = line.split_ascii_whitespace();
        for field in fields {
            for _ in 0..field.count {
                let name = field.name;
                let word = words.next().ok_or_else(|| bad(format!("{name} is missing")))?;
                push_word(field, word, &mut rows).ok_or_else(|| {
                    bad(format!("{name} is \"{word}\", must be {}", field.scalar.name()))
                })?;
            }
        }
        found += 1;
    }
    if found != points {
        let reason = format!("has {found} rows of the {points} points it claims");
        return Err(CloudError::bad(file, reason));
    }
    Ok(rows)
}

/// Packed colours are often declared as floats but written as whole numbers: the bits count.
fn push_word(field: &Field<'_>, word: &str, rows: &mut Vec<u8>) -> Option<()> {
    let packed = field.scalar == Scalar::F32 && matches!(field.name, "rgb" | "rgba");
    if let (true, Ok(bits)) = (packed, word.parse::<u32>()) {
        rows.extend(bits.to_le_bytes());
        return Some(());
    }
    field.scalar.push_text(word, rows)
}

/// What stands before the points.
#[derive(Default)]
struct Header<'a> {
    names: Vec<&'a str>,
    sizes: Vec<&'a str>,
    types: Vec<&'a str>,
    counts: Vec<&'a str>,
    width: Option<usize>,
    height: usize,
    points: Option<usize>,
    data: &'a str,
    stamp_ns: u64,
    body_at: usize,
    lines: usize,
}

impl<'a> Header<'a> {
    fn read(file: &str, bytes: &'a [u8]) -> Result<Self, CloudError> {
        let mut header = Self { height: 1, ..Self::default() };
        let head = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
        for line in head.split_inclusive(|b| *b == b'\n') {
            header.body_at += line.len();
            header.lines += 1;
            let bad =
                |reason: String| CloudError::bad(file, format!("line {}: {reason}", header.lines));
            let line = std::str::from_utf8(line).map_err(|_| bad("is not text".to_owned()))?;
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let number = |word: &str| {
                word.parse::<usize>().map_err(|_| bad(format!("\"{word}\" is no whole number")))
            };
            match *words.as_slice() {
                ["VERSION", "0.7" | ".7" | "0.6" | ".6" | "0.5" | ".5"]
                | ["VIEWPOINT", ..]
                | [] => {}
                ["VERSION", other] => {
                    return Err(bad(format!("version {other}, must be 0.5, 0.6 or 0.7")));
                }
                ["FIELDS" | "COLUMNS", ref rest @ ..] => header.names = rest.to_vec(),
                ["SIZE", ref rest @ ..] => header.sizes = rest.to_vec(),
                ["TYPE", ref rest @ ..] => header.types = rest.to_vec(),
                ["COUNT", ref rest @ ..] => header.counts = rest.to_vec(),
                ["WIDTH", word] => header.width = Some(number(word)?),
                ["HEIGHT", word] => header.height = number(word)?,
                ["POINTS", word] => header.points = Some(number(word)?),
                ["DATA", word] => {
                    header.data = word;
                    return Ok(header);
                }
                ["#", "stamp_ns", stamp] => header.stamp_ns = stamp.parse().unwrap_or(0),
                [word, ..] if word.starts_with('#') => {}
                [word, ..] => return Err(bad(format!("{word} is no line of a .pcd header"))),
            }
        }
        Err(CloudError::bad(file, "the header does not end with a line \"DATA\""))
    }

    /// Columns; all points where old files do not say.
    fn width(&self) -> usize {
        self.width.or(self.points).unwrap_or(0)
    }

    fn points(&self, file: &str) -> Result<usize, CloudError> {
        let (width, height) = (self.width(), self.height);
        let points = width.checked_mul(height);
        points.filter(|n| self.points.is_none_or(|said| said == *n)).ok_or_else(|| {
            let said = self.points.unwrap_or_default();
            let reason = format!("POINTS {said} is not WIDTH {width} times HEIGHT {height}");
            CloudError::bad(file, reason)
        })
    }

    fn fields(&self, file: &str) -> Result<Vec<Field<'a>>, CloudError> {
        let names = self.names.len();
        // Before version 0.6 they may be missing: floats of 4 bytes.
        let or_names = |given: usize| if given == 0 { names } else { given };
        let (sizes, types) = (or_names(self.sizes.len()), or_names(self.types.len()));
        let counts = if self.counts.is_empty() { names } else { self.counts.len() };
        if sizes != names || types != names || counts != names {
            let reason = format!(
                "{names} FIELDS, {sizes} SIZE, {types} TYPE and {counts} COUNT: must be as many"
            );
            return Err(CloudError::bad(file, reason));
        }
        let mut fields = Vec::with_capacity(names);
        let mut offset = 0_usize;
        for (i, name) in self.names.iter().enumerate() {
            let word = |words: &[&'a str], other| words.get(i).copied().unwrap_or(other);
            let kind = (word(&self.types, "F"), word(&self.sizes, "4"));
            let scalar = scalar_of(kind).ok_or_else(|| {
                let (kind, size) = kind;
                let reason = format!(
                    "field {name} is TYPE {kind} SIZE {size}, must be I or U of 1, 2, 4, 8 or F \
                     of 4, 8"
                );
                CloudError::bad(file, reason)
            })?;
            let count = self.counts.get(i).copied().unwrap_or("1");
            let end = count.parse::<usize>().ok().and_then(|count| {
                let end = count.checked_mul(scalar.size())?.checked_add(offset)?;
                Some((count, end))
            });
            let Some((count, end)) = end else {
                let reason = format!("field {name} has COUNT {count}, must be a whole number");
                return Err(CloudError::bad(file, reason));
            };
            fields.push(Field { name, offset, scalar, count });
            offset = end;
        }
        Ok(fields)
    }
}

fn scalar_of(kind: (&str, &str)) -> Option<Scalar> {
    Some(match kind {
        ("I", "1") => Scalar::I8,
        ("U", "1") => Scalar::U8,
        ("I", "2") => Scalar::I16,
        ("U", "2") => Scalar::U16,
        ("I", "4") => Scalar::I32,
        ("U", "4") => Scalar::U32,
        ("I", "8") => Scalar::I64,
        ("U", "8") => Scalar::U64,
        ("F", "4") => Scalar::F32,
        ("F", "8") => Scalar::F64,
        _ => return None,
    })
}

/// A cloud as binary `.pcd`.
pub(super) fn write(cloud: &Cloud) -> Vec<u8> {
    let colours = !cloud.rgb.is_empty();
    let (rgb, four, float, one) =
        if colours { (" rgb", " 4", " F", " 1") } else { ("", "", "", "") };
    let mut header = String::from("# .PCD v0.7 - Point Cloud Data file format\n");
    header += &format!("# stamp_ns {}\nVERSION 0.7\n", cloud.stamp_ns);
    header += &format!("FIELDS x y z{rgb}\nSIZE 4 4 4{four}\nTYPE F F F{float}\n");
    header += &format!("COUNT 1 1 1{one}\nWIDTH {}\nHEIGHT {}\n", cloud.width, cloud.height());
    header += &format!("VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {}\nDATA binary\n", cloud.xyz_m.len());
    let mut bytes = header.into_bytes();
    bytes.reserve(cloud.xyz_m.len() * 16);
    for (i, point) in cloud.xyz_m.iter().enumerate() {
        bytes.extend(point.iter().flat_map(|v| v.to_le_bytes()));
        if let Some([r, g, b]) = cloud.rgb.get(i) {
            bytes.extend([*b, *g, *r, 0]);
        }
    }
    bytes
}
