//! NumPy's `.npy`: one array, its header a Python literal.

use super::scalar::Scalar;
use crate::error::CloudError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array whose header was checked against the bytes that are there.
pub(super) struct Array<'a> {
    what: String,
    scalar: Scalar,
    big_endian: bool,
    fortran: bool,
    /// Sizes, slowest first in C order.
    pub(super) shape: Vec<usize>,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    /// Takes the header off.
    ///
    /// # Errors
    /// When it is no array of plain numbers or has more or fewer bytes than it says.
    pub(super) fn read(what: String, bytes: &'a [u8]) -> Result<Self, CloudError> {
        let bad = |reason: String| CloudError::bad(what.clone(), reason);
        let cut = || bad("is cut off within its header".to_owned());
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or_else(|| bad("byte 0: is no .npy array (must begin with \\x93NUMPY)".into()))?;
        let (&[major, _minor], rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
        let (length, rest) = match major {
            1 => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
            2 | 3 => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (u32::from_le_bytes(*length) as usize, rest)
            }
            other => return Err(bad(format!("byte 6: version {other}, must be 1, 2 or 3"))),
        };
        let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
        let header = std::str::from_utf8(header).ok();
        let header = header.and_then(Header::parse).ok_or_else(|| {
            bad("the header must be {'descr': ..., 'fortran_order': ..., 'shape': (...)}".into())
        })?;
        let (scalar, big_endian) = kind(header.descr).ok_or_else(|| {
            bad(format!("type '{}' is no plain number, such as '<f4' or '|u1'", header.descr))
        })?;
        let need = header.shape.iter().try_fold(scalar.size(), |n, s| n.checked_mul(*s));
        if need != Some(data.len()) {
            let need = need.map_or_else(|| "more than memory".to_owned(), |n| n.to_string());
            let reason = format!(
                "shape {:?} of '{}' needs {need} bytes, has {}",
                header.shape,
                header.descr,
                data.len()
            );
            return Err(bad(reason));
        }
        let (fortran, shape) = (header.fortran, header.shape);
        Ok(Self { what, scalar, big_endian, fortran, shape, data })
    }

    /// An error about this array.
    pub(super) fn bad(&self, reason: impl Into<String>) -> CloudError {
        CloudError::bad(self.what.clone(), reason)
    }

    /// For people.
    pub(super) fn kind(&self) -> &'static str {
        self.scalar.name()
    }

    /// Whether it holds bytes.
    pub(super) fn is_u8(&self) -> bool {
        self.scalar == Scalar::U8
    }

    /// Whether it holds floats.
    pub(super) fn is_float(&self) -> bool {
        matches!(self.scalar, Scalar::F32 | Scalar::F64)
    }

    /// Number of rows and columns of pixels, where the last size is the channels. `None` if it
    /// is neither (N, channels) nor (H, W, channels).
    pub(super) fn pixels(&self, channels: usize) -> Option<(usize, usize)> {
        match *self.shape.as_slice() {
            [points, last] if last == channels => Some((1, points)),
            [rows, columns, last] if last == channels => Some((rows, columns)),
            _ => None,
        }
    }

    /// Where the number of a pixel's channel is, whatever the order in memory.
    fn place(&self, pixel: usize, channel: usize, channels: usize) -> usize {
        if !self.fortran {
            return pixel * channels + channel;
        }
        let Some((rows, columns)) = self.pixels(channels) else { return 0 };
        let (row, column) = (pixel / columns, pixel % columns);
        row + rows * (column + columns * channel)
    }

    /// Whether it holds whole numbers of 16 bits.
    pub(super) fn is_u16(&self) -> bool {
        self.scalar == Scalar::U16
    }

    /// Rows and columns of a picture with one number per pixel.
    pub(super) fn picture(&self) -> Option<[usize; 2]> {
        match *self.shape.as_slice() {
            [rows, columns] | [rows, columns, 1] => Some([rows, columns]),
            _ => None,
        }
    }

    /// Where a pixel's number is, whatever the order in memory.
    fn pixel_place(&self, pixel: usize, columns: usize) -> usize {
        let rows = self.shape.first().copied().unwrap_or(0);
        let fortran = self.fortran.then(|| pixel / columns + rows * (pixel % columns));
        fortran.unwrap_or(pixel) * self.scalar.size()
    }

    /// A float of a picture; only for arrays of floats.
    pub(super) fn float_at(&self, pixel: usize, columns: usize) -> f32 {
        let at = self.pixel_place(pixel, columns);
        self.float_of(at)
    }

    /// A whole number of a picture; only for arrays of 16 bits.
    pub(super) fn u16_at(&self, pixel: usize, columns: usize) -> u16 {
        let bytes = self.bytes(self.pixel_place(pixel, columns));
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// A float of a pixel; only for arrays of floats.
    pub(super) fn float(&self, pixel: usize, channel: usize, channels: usize) -> f32 {
        self.float_of(self.place(pixel, channel, channels) * self.scalar.size())
    }

    fn float_of(&self, at: usize) -> f32 {
        match (self.scalar, self.big_endian) {
            (Scalar::F64, false) => f64::from_le_bytes(self.bytes(at)) as f32,
            (Scalar::F64, true) => f64::from_be_bytes(self.bytes(at)) as f32,
            (_, false) => f32::from_le_bytes(self.bytes(at)),
            (_, true) => f32::from_be_bytes(self.bytes(at)),
        }
    }

    /// A byte of a pixel; only for arrays of bytes.
    pub(super) fn byte(&self, pixel: usize, channel: usize, channels: usize) -> u8 {
        self.data[self.place(pixel, channel, channels)]
    }

    /// Bytes of an array of bytes with one size, or of several in C order.
    pub(super) fn flat_bytes(&self) -> Option<&'a [u8]> {
        (self.is_u8() && (!self.fortran || self.shape.len() < 2)).then_some(self.data)
    }

    /// The only number of an array of one u64.
    pub(super) fn single_u64(&self) -> Option<u64> {
        let bytes = self.data.try_into().ok().filter(|_| self.scalar == Scalar::U64)?;
        Some(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|i| self.data[at + i])
    }
}

/// An array's header and bytes, version 1.
pub(super) fn write(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|s| format!("{s}, ")).collect();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        sizes.trim_end()
    );
    // The data begins at a multiple of 64 bytes; the header ends with a line feed.
    let plain = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', plain.next_multiple_of(64) - plain));
    header.push('\n');
    let mut out = Vec::with_capacity(plain + 64 + data.len());
    out.extend(MAGIC);
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// Kind of number and whether it is big-endian.
fn kind(descr: &str) -> Option<(Scalar, bool)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let scalar = match kind {
        "i1" => Scalar::I8,
        "u1" => Scalar::U8,
        "i2" => Scalar::I16,
        "u2" => Scalar::U16,
        "i4" => Scalar::I32,
        "u4" => Scalar::U32,
        "i8" => Scalar::I64,
        "u8" => Scalar::U64,
        "f4" => Scalar::F32,
        "f8" => Scalar::F64,
        _ => return None,
    };
    match order {
        "<" => Some((scalar, false)),
        ">" => Some((scalar, true)),
        "|" => (scalar.size() == 1).then_some((scalar, false)),
        _ => None,
    }
}

/// What the Python literal says.
struct Header<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            match key {
                "descr" => {
                    let (value, after) = quoted(rest)?;
                    (descr, rest) = (Some(value), after);
                }
                "fortran_order" => {
                    let word = if rest.starts_with("True") { "True" } else { "False" };
                    (fortran, rest) = (Some(word == "True"), rest.strip_prefix(word)?);
                }
                "shape" => {
                    let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
                    let sizes = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
                    shape = Some(sizes.map(|s| s.parse().ok()).collect::<Option<Vec<_>>>()?);
                    rest = after;
                }
                _ => return None,
            }
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// A word in quotes and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text.get(1..)?.split_once(quote)
}
