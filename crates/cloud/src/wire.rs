//! Numbers and strings in and out of serialised messages.

use crate::error::CloudError;

/// How a message is serialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// ROS 1: little-endian, packed, strings without end mark.
    Ros1,
    /// ROS 2 (CDR, version 1): numbers aligned to their size, strings end with a zero.
    Cdr {
        /// Whether numbers begin with their highest byte.
        big_endian: bool,
    },
}

impl WireFormat {
    /// What ROS 2 writes on the machines of today.
    pub const CDR: Self = Self::Cdr { big_endian: false };
}

/// Reads a message front to back.
#[derive(Clone, Debug)]
pub struct WireReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where alignment counts from.
    origin: usize,
    format: WireFormat,
    what: &'static str,
}

/// Numbers of the types that messages have.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        /// The next number; `of` names it in errors.
        ///
        /// # Errors
        /// When the message is cut off.
        pub fn $name(&mut self, of: &str) -> Result<$type, CloudError> {
            let bytes = self.number(of)?;
            Ok(match self.format {
                WireFormat::Cdr { big_endian: true } => <$type>::from_be_bytes(bytes),
                _ => <$type>::from_le_bytes(bytes),
            })
        }
    )*};
}

impl<'a> WireReader<'a> {
    /// Of ROS 1; `what` names the message in errors.
    #[must_use]
    pub fn ros1(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, at: 0, origin: 0, format: WireFormat::Ros1, what }
    }

    /// Of ROS 2: reads the encapsulation header, which says the byte order.
    ///
    /// # Errors
    /// When there is none, or it is of another encoding than CDR version 1.
    pub fn cdr(bytes: &'a [u8], what: &'static str) -> Result<Self, CloudError> {
        let mut reader = Self { bytes, at: 0, origin: 4, format: WireFormat::Ros1, what };
        let header = reader.take(4, "the encapsulation header")?;
        let big_endian = match (header[0], header[1]) {
            (0, 0) => true,
            (0, 1) => false,
            (a, b) => {
                let reason = format!(
                    "encapsulation {a:#04x} {b:#04x} at byte 0, must be 0x00 0x00 (CDR, \
                     big-endian) or 0x00 0x01 (CDR, little-endian)"
                );
                return Err(CloudError::bad(what, reason));
            }
        };
        reader.format = WireFormat::Cdr { big_endian };
        Ok(reader)
    }

    /// How the message is serialised.
    #[must_use]
    pub fn format(&self) -> WireFormat {
        self.format
    }

    /// An error at the place that is read.
    #[must_use]
    pub fn bad(&self, reason: &str) -> CloudError {
        CloudError::bad(self.what, format!("byte {}: {reason}", self.at))
    }

    /// Bytes that are not read yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes as they are.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn take(&mut self, count: usize, of: &str) -> Result<&'a [u8], CloudError> {
        if count > self.left() {
            let reason = format!("{of} needs {count} bytes, the message has {} left", self.left());
            return Err(self.bad(&reason));
        }
        let found = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(found)
    }

    /// Bytes of a number, at its place.
    fn number<const N: usize>(&mut self, of: &str) -> Result<[u8; N], CloudError> {
        if self.format != WireFormat::Ros1 {
            let past = (self.at - self.origin) % N;
            self.take((N - past) % N, of)?;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N, of)?);
        Ok(bytes)
    }

    numbers!(u8: u8, u16: u16, u32: u32, u64: u64, i32: i32, f32: f32, f64: f64);

    /// The next `bool`.
    ///
    /// # Errors
    /// When it is neither 0 nor 1, or the message is cut off.
    pub fn bool(&mut self, of: &str) -> Result<bool, CloudError> {
        match self.u8(of)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.bad(&format!("{of} is {other}, must be 0 or 1"))),
        }
    }

    /// The next `string`.
    ///
    /// # Errors
    /// When it is no UTF-8, has no end mark where it needs one, or the message is cut off.
    pub fn string(&mut self, of: &str) -> Result<String, CloudError> {
        let length = self.u32(of)? as usize;
        let mut bytes = self.take(length, of)?;
        if let (WireFormat::Cdr { .. }, true) = (self.format, length > 0) {
            let Some((0, text)) = bytes.split_last() else {
                return Err(self.bad(&format!("{of} must end with a zero byte")));
            };
            bytes = text;
        }
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned).map_err(|_| self.bad(&format!("{of} is not UTF-8")))
    }

    /// A number of things that need at least `least` bytes each, so that a lie is found before
    /// memory is taken for it.
    ///
    /// # Errors
    /// When so many cannot be in what is left.
    pub fn count(&mut self, of: &str, least: usize) -> Result<usize, CloudError> {
        let count = self.u32(of)? as usize;
        if count > self.left() / least.max(1) {
            let reason =
                format!("{count} {of} cannot be in the {} bytes that are left", self.left());
            return Err(self.bad(&reason));
        }
        Ok(count)
    }

    /// The next `float64[]`.
    ///
    /// # Errors
    /// When the message is cut off.
    pub fn f64s(&mut self, of: &str) -> Result<Vec<f64>, CloudError> {
        let count = self.count(of, 8)?;
        (0..count).map(|_| self.f64(of)).collect()
    }

    /// The next `string[]`.
    ///
    /// # Errors
    /// As [`Self::string`].
    pub fn strings(&mut self, of: &str) -> Result<Vec<String>, CloudError> {
        let count = self.count(of, 4)?;
        (0..count).map(|_| self.string(of)).collect()
    }

    /// The next `uint8[]`, where it lies.
    ///
    /// # Errors
    /// When the message is cut off.
    pub fn blob(&mut self, of: &str) -> Result<&'a [u8], CloudError> {
        let length = self.count(of, 1)?;
        self.take(length, of)
    }

    /// Nothing may follow, but for CDR's padding to four bytes.
    ///
    /// # Errors
    /// When something does.
    pub fn finish(&self) -> Result<(), CloudError> {
        let allowed = if self.format == WireFormat::Ros1 { 0 } else { 3 };
        if self.left() > allowed {
            return Err(self.bad(&format!("{} bytes too many follow the message", self.left())));
        }
        Ok(())
    }
}

/// Writes a message front to back.
#[derive(Clone, Debug)]
pub struct WireWriter {
    bytes: Vec<u8>,
    format: WireFormat,
}

/// As [`numbers`], for writing.
macro_rules! written {
    ($($name:ident: $type:ty),*) => {$(
        /// Appends a number.
        pub fn $name(&mut self, value: $type) {
            match self.format {
                WireFormat::Ros1 => self.bytes.extend(value.to_le_bytes()),
                WireFormat::Cdr { big_endian } => {
                    // CDR aligns to at most 8; the header's four bytes do not count.
                    let past = (self.bytes.len() - 4) % size_of::<$type>();
                    let pad = (size_of::<$type>() - past) % size_of::<$type>();
                    self.bytes.resize(self.bytes.len() + pad, 0);
                    if big_endian {
                        self.bytes.extend(value.to_be_bytes());
                    } else {
                        self.bytes.extend(value.to_le_bytes());
                    }
                }
            }
        }
    )*};
}

impl WireWriter {
    /// Begins a message of about `capacity` bytes.
    #[must_use]
    pub fn new(format: WireFormat, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        if let WireFormat::Cdr { big_endian } = format {
            bytes.extend([0, u8::from(!big_endian), 0, 0]);
        }
        Self { bytes, format }
    }

    /// How the message is serialised.
    #[must_use]
    pub fn format(&self) -> WireFormat {
        self.format
    }

    written!(u8: u8, u16: u16, u32: u32, u64: u64, i32: i32, f32: f32, f64: f64);

    /// Appends a `bool`.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// Appends a `string`.
    pub fn string(&mut self, text: &str) {
        let ends = matches!(self.format, WireFormat::Cdr { .. });
        self.u32((text.len() + usize::from(ends)) as u32);
        self.bytes.extend(text.as_bytes());
        if ends {
            self.bytes.push(0);
        }
    }

    /// Appends a `string[]`.
    pub fn strings(&mut self, texts: &[String]) {
        self.u32(texts.len() as u32);
        texts.iter().for_each(|text| self.string(text));
    }

    /// Appends a `float64[]`.
    pub fn f64s(&mut self, values: &[f64]) {
        self.u32(values.len() as u32);
        values.iter().for_each(|value| self.f64(*value));
    }

    /// Appends a `uint8[]`.
    pub fn blob(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes.extend(bytes);
    }

    /// The message.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
