//! Files of ours in bytes: numbers in little endian, a checksum at the end, written beside and
//! renamed.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use crate::error::PolicyError;

/// Longest text or list that a file may have.
const MOST: usize = 1 << 28;

/// Puts a file together.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(magic: [u8; 8]) -> Self {
        Self(magic.to_vec())
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn f64(&mut self, number: f64) {
        self.u64(number.to_bits());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn f32s(&mut self, numbers: &[f32]) {
        self.u64(numbers.len() as u64);
        for number in numbers {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// All bytes with their checksum.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let sum = crc32fast::hash(&self.0);
        self.0.extend_from_slice(&sum.to_le_bytes());
        self.0
    }
}

/// Takes a file apart.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    left: &'a [u8],
    what: &'a str,
}

impl<'a> Reader<'a> {
    /// Checks magic and checksum. `what`: what the file should be, for errors.
    pub(crate) fn new(bytes: &'a [u8], magic: [u8; 8], what: &'a str) -> Result<Self, PolicyError> {
        let bad = |reason: &str| PolicyError::bad(what, reason);
        let body = bytes.strip_prefix(&magic).ok_or_else(|| bad("it does not begin like one"))?;
        let Some((body, sum)) = body.split_last_chunk::<4>() else {
            return Err(bad("it ends too early"));
        };
        if crc32fast::hash(&bytes[..bytes.len() - 4]) != u32::from_le_bytes(*sum) {
            return Err(bad("its checksum is wrong: it is damaged or was not written wholly"));
        }
        Ok(Self { left: body, what })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], PolicyError> {
        match self.left.split_at_checked(count) {
            Some((taken, left)) => {
                self.left = left;
                Ok(taken)
            }
            None => Err(PolicyError::bad(self.what, "it ends too early")),
        }
    }

    pub(crate) fn u64(&mut self) -> Result<u64, PolicyError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default()))
    }

    pub(crate) fn f64(&mut self) -> Result<f64, PolicyError> {
        Ok(f64::from_bits(self.u64()?))
    }

    fn count(&mut self) -> Result<usize, PolicyError> {
        let count = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        if count > MOST {
            return Err(PolicyError::bad(self.what, format!("it says it has {count} numbers")));
        }
        Ok(count)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, PolicyError> {
        let count = self.count()?;
        let bytes = self.take(count)?;
        std::str::from_utf8(bytes).map_err(|e| PolicyError::bad(self.what, e.to_string()))
    }

    pub(crate) fn f32s(&mut self) -> Result<Vec<f32>, PolicyError> {
        let count = self.count()?;
        let bytes = self.take(4 * count)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    /// As many as are expected.
    pub(crate) fn f32s_into(&mut self, to: &mut [f32]) -> Result<(), PolicyError> {
        let numbers = self.f32s()?;
        if numbers.len() != to.len() {
            let reason = format!("{} numbers where {} belong", numbers.len(), to.len());
            return Err(PolicyError::bad(self.what, reason));
        }
        to.copy_from_slice(&numbers);
        Ok(())
    }

    pub(crate) fn end(self) -> Result<(), PolicyError> {
        if self.left.is_empty() {
            return Ok(());
        }
        Err(PolicyError::bad(self.what, format!("{} bytes too many", self.left.len())))
    }
}

/// Writes a file wholly or not at all.
pub(crate) fn write_renamed(path: &Path, bytes: &[u8]) -> Result<(), PolicyError> {
    let beside = path.with_extension("part");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(PolicyError::file(path))
}
