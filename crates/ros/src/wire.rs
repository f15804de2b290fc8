//! Numbers and strings in and out of serialised messages: ROS 1's layout and ROS 2's (CDR).

use crate::error::RosError;

/// How a message is serialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ROS 1: little-endian, packed, strings without end mark.
    Ros1,
    /// ROS 2 (CDR, version 1): numbers aligned to their size, strings end with a zero; four bytes
    /// of encapsulation in front say the byte order. Written little-endian.
    Cdr,
}

/// Reads a message front to back; what a message claims is held against the bytes that are there.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where alignment counts from.
    origin: usize,
    format: Format,
    is_big_endian: bool,
    what: &'static str,
}

macro_rules! number {
    ($name:ident, $type:ty, $size:literal) => {
        /// A number.
        ///
        /// # Errors
        /// When the message ends before.
        pub fn $name(&mut self, of: &str) -> Result<$type, RosError> {
            self.align($size, of)?;
            let bytes = self.take($size, of)?;
            let mut own = [0; $size];
            own.copy_from_slice(bytes);
            Ok(if self.is_big_endian {
                <$type>::from_be_bytes(own)
            } else {
                <$type>::from_le_bytes(own)
            })
        }
    };
}

impl<'a> Reader<'a> {
    /// Of a message called `what`.
    ///
    /// # Errors
    /// When CDR's encapsulation is missing or of another kind.
    pub fn new(bytes: &'a [u8], format: Format, what: &'static str) -> Result<Self, RosError> {
        let mut own = Self { bytes, at: 0, origin: 0, format, is_big_endian: false, what };
        if format == Format::Cdr {
            let header = own.take(4, "the encapsulation")?;
            own.is_big_endian = match (header[0], header[1]) {
                (0, 0) => true,
                (0, 1) => false,
                (a, b) => {
                    let reason = format!(
                        "encapsulation {a:#04x} {b:#04x}, must be 0x00 0x00 or 0x00 0x01 (CDR)"
                    );
                    return Err(own.bad(&reason));
                }
            };
            own.origin = 4;
        }
        Ok(own)
    }

    /// How it is serialised.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// An error at the place that is read.
    #[must_use]
    pub fn bad(&self, reason: &str) -> RosError {
        RosError::bad(self.what, format!("byte {}: {reason}", self.at))
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn align(&mut self, size: usize, of: &str) -> Result<(), RosError> {
        if self.format == Format::Cdr {
            let past = (self.at - self.origin) % size;
            self.take((size - past) % size, of)?;
        }
        Ok(())
    }

    /// The next bytes.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn take(&mut self, count: usize, of: &str) -> Result<&'a [u8], RosError> {
        if count > self.left() {
            let reason = format!("{of} needs {count} bytes, the message has {} left", self.left());
            return Err(self.bad(&reason));
        }
        let found = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(found)
    }

    number!(u8, u8, 1);
    number!(i8, i8, 1);
    number!(u32, u32, 4);
    number!(i32, i32, 4);
    number!(u64, u64, 8);
    number!(f64, f64, 8);

    /// A truth value.
    ///
    /// # Errors
    /// When it is neither 0 nor 1.
    pub fn bool(&mut self, of: &str) -> Result<bool, RosError> {
        match self.u8(of)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.bad(&format!("{of} is {other}, must be 0 or 1"))),
        }
    }

    /// A text; what is no UTF-8 in it is replaced, as nobody promises that it is.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn string(&mut self, of: &str) -> Result<String, RosError> {
        let length = self.u32(of)? as usize;
        let mut bytes = self.take(length, of)?;
        if self.format == Format::Cdr && length > 0 {
            let Some((0, text)) = bytes.split_last() else {
                return Err(self.bad(&format!("{of} must end with a zero byte")));
            };
            bytes = text;
        }
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// A number of things that need at least `least` bytes each, so that a lie is found before
    /// memory is taken for it.
    ///
    /// # Errors
    /// When so many cannot follow.
    pub fn count(&mut self, of: &str, least: usize) -> Result<usize, RosError> {
        let count = self.u32(of)? as usize;
        if count > self.left() / least.max(1) {
            let reason =
                format!("{count} {of} cannot be in the {} bytes that are left", self.left());
            return Err(self.bad(&reason));
        }
        Ok(count)
    }

    /// A sequence of numbers.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn f64s(&mut self, of: &str) -> Result<Vec<f64>, RosError> {
        let count = self.count(of, 8)?;
        (0..count).map(|_| self.f64(of)).collect()
    }

    /// So many numbers, without a count in front.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn f64_array<const N: usize>(&mut self, of: &str) -> Result<[f64; N], RosError> {
        let mut own = [0.0; N];
        for number in &mut own {
            *number = self.f64(of)?;
        }
        Ok(own)
    }

    /// A sequence of texts.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn strings(&mut self, of: &str) -> Result<Vec<String>, RosError> {
        let count = self.count(of, 4)?;
        (0..count).map(|_| self.string(of)).collect()
    }

    /// A sequence of bytes, where it stands.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn blob(&mut self, of: &str) -> Result<&'a [u8], RosError> {
        let count = self.count(of, 1)?;
        self.take(count, of)
    }

    /// A sequence of things.
    ///
    /// # Errors
    /// Those of its things.
    pub fn list<T>(
        &mut self,
        of: &str,
        least: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, RosError>,
    ) -> Result<Vec<T>, RosError> {
        let count = self.count(of, least)?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Nothing may follow, but for CDR's padding. (ROS 2 types that grew at their end are read to
    /// where this version knows them: they do not ask.)
    ///
    /// # Errors
    /// When something does.
    pub fn finish(&self) -> Result<(), RosError> {
        let allowed = if self.format == Format::Ros1 { 0 } else { 3 };
        if self.left() > allowed {
            return Err(self.bad(&format!("{} bytes too many follow the message", self.left())));
        }
        Ok(())
    }
}

/// Writes a message front to back.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    format: Format,
}

impl Writer {
    /// An empty message.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let bytes = if format == Format::Cdr { vec![0, 1, 0, 0] } else { Vec::new() };
        Self { bytes, format }
    }

    /// How it is serialised.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    fn number<const N: usize>(&mut self, bytes: [u8; N]) {
        if self.format == Format::Cdr {
            // The encapsulation has four bytes: eight count from behind it.
            let past = (self.bytes.len() - 4) % N;
            self.bytes.resize(self.bytes.len() + (N - past) % N, 0);
        }
        self.bytes.extend(bytes);
    }

    /// A byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A number.
    pub fn u32(&mut self, value: u32) {
        self.number(value.to_le_bytes());
    }

    /// A number.
    pub fn i32(&mut self, value: i32) {
        self.number(value.to_le_bytes());
    }

    /// A number.
    pub fn f64(&mut self, value: f64) {
        self.number(value.to_le_bytes());
    }

    /// How many things follow.
    pub fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// A text.
    pub fn string(&mut self, text: &str) {
        let ends = self.format == Format::Cdr;
        self.count(text.len() + usize::from(ends));
        self.bytes.extend(text.as_bytes());
        if ends {
            self.bytes.push(0);
        }
    }

    /// A sequence of bytes.
    pub fn blob(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend(bytes);
    }

    /// A sequence of numbers.
    pub fn f64s(&mut self, values: &[f64]) {
        self.count(values.len());
        self.f64_array(values);
    }

    /// Numbers without a count in front.
    pub fn f64_array(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.f64(*value));
    }

    /// A sequence of texts.
    pub fn strings(&mut self, texts: &[String]) {
        self.count(texts.len());
        texts.iter().for_each(|text| self.string(text));
    }

    /// A sequence of things.
    pub fn list<T>(&mut self, things: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.count(things.len());
        things.iter().for_each(|thing| write(self, thing));
    }

    /// The message.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdr_is_aligned_and_ros_1_is_packed() {
        let write = |format| {
            let mut writer = Writer::new(format);
            writer.u8(7);
            writer.f64(1.0);
            writer.string("ab");
            writer.u32(9);
            writer.finish()
        };
        assert_eq!(write(Format::Ros1).len(), 1 + 8 + 4 + 2 + 4);
        // 4 encapsulation, 1 + 7 padding, 8, 4 + 3, 1 padding, 4.
        assert_eq!(write(Format::Cdr).len(), 4 + 8 + 8 + 7 + 1 + 4);
        for format in [Format::Ros1, Format::Cdr] {
            let bytes = write(format);
            let mut reader = Reader::new(&bytes, format, "test").unwrap();
            assert_eq!(reader.u8("a").unwrap(), 7);
            assert_eq!(reader.f64("b").unwrap(), 1.0);
            assert_eq!(reader.string("c").unwrap(), "ab");
            assert_eq!(reader.u32("d").unwrap(), 9);
            reader.finish().unwrap();
            assert!(reader.u8("e").is_err());
        }
    }

    #[test]
    fn a_count_that_lies_takes_no_memory() {
        let mut reader = Reader::new(&[255; 8], Format::Ros1, "test").unwrap();
        let error = reader.f64s("numbers").unwrap_err().to_string();
        assert!(error.contains("4294967295 numbers cannot be in the 4 bytes"), "{error}");
    }
}
