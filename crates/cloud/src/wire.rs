//! Numbers and strings in and out of serialised messages.

use crate::error::CloudError;

/// How a message is serialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// ROS 1: little-endian, packed, strings without end mark.
    Ros1,
    /// ROS 2 (CDR): numbers aligned to their size, strings end with a zero.
    Cdr {
        /// Whether numbers begin with their highest byte.
        big_endian: bool,
    },
}

/// Reads a message front to back.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where alignment counts from.
    origin: usize,
    format: Format,
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn ros1(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, at: 0, origin: 0, format: Format::Ros1, what }
    }

    /// Reads the encapsulation header, which says the byte order.
    pub(super) fn cdr(bytes: &'a [u8], what: &'static str) -> Result<Self, CloudError> {
        let mut reader = Self { bytes, at: 0, origin: 4, format: Format::Ros1, what };
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
        reader.format = Format::Cdr { big_endian };
        Ok(reader)
    }

    /// An error at the place that is read.
    pub(super) fn bad(&self, reason: &str) -> CloudError {
        CloudError::bad(self.what, format!("byte {}: {reason}", self.at))
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn take(&mut self, count: usize, of: &str) -> Result<&'a [u8], CloudError> {
        if count > self.left() {
            let reason = format!("{of} needs {count} bytes, the message has {} left", self.left());
            return Err(self.bad(&reason));
        }
        let found = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(found)
    }

    pub(super) fn u8(&mut self, of: &str) -> Result<u8, CloudError> {
        Ok(self.take(1, of)?[0])
    }

    pub(super) fn u32(&mut self, of: &str) -> Result<u32, CloudError> {
        if self.format != Format::Ros1 {
            let past = (self.at - self.origin) % 4;
            self.take((4 - past) % 4, of)?;
        }
        let bytes = self.take(4, of)?;
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        Ok(match self.format {
            Format::Cdr { big_endian: true } => u32::from_be_bytes(bytes),
            _ => u32::from_le_bytes(bytes),
        })
    }

    pub(super) fn bool(&mut self, of: &str) -> Result<bool, CloudError> {
        match self.u8(of)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.bad(&format!("{of} is {other}, must be 0 or 1"))),
        }
    }

    pub(super) fn string(&mut self, of: &str) -> Result<String, CloudError> {
        let length = self.u32(of)? as usize;
        let mut bytes = self.take(length, of)?;
        if let (Format::Cdr { .. }, true) = (self.format, length > 0) {
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
    pub(super) fn count(&mut self, of: &str, least: usize) -> Result<usize, CloudError> {
        let count = self.u32(of)? as usize;
        if count > self.left() / least {
            let reason =
                format!("{count} {of} cannot be in the {} bytes that are left", self.left());
            return Err(self.bad(&reason));
        }
        Ok(count)
    }

    /// Nothing may follow, but for CDR's padding to four bytes.
    pub(super) fn finish(&self) -> Result<(), CloudError> {
        let allowed = if self.format == Format::Ros1 { 0 } else { 3 };
        if self.left() > allowed {
            return Err(self.bad(&format!("{} bytes too many follow the message", self.left())));
        }
        Ok(())
    }
}

/// Writes a message front to back.
pub(super) struct Writer {
    bytes: Vec<u8>,
    format: Format,
}

impl Writer {
    pub(super) fn new(format: Format, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        if let Format::Cdr { big_endian } = format {
            bytes.extend([0, u8::from(!big_endian), 0, 0]);
        }
        Self { bytes, format }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        match self.format {
            Format::Ros1 => self.bytes.extend(value.to_le_bytes()),
            Format::Cdr { big_endian } => {
                // The encapsulation header has four bytes: alignment is that of the whole.
                self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
                let bytes = if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
                self.bytes.extend(bytes);
            }
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        let ends = matches!(self.format, Format::Cdr { .. });
        self.u32((text.len() + usize::from(ends)) as u32);
        self.bytes.extend(text.as_bytes());
        if ends {
            self.bytes.push(0);
        }
    }

    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes.extend(bytes);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
