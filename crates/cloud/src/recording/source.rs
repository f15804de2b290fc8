//! Bytes of a file front to back, with the place and an end that may come too early.

use std::io::{BufReader, Read};

use crate::error::CloudError;

/// Bytes at a time, so that a claimed length takes no memory before its bytes are there.
const BUFFER_BYTES: usize = 1 << 16;

/// A file that is read once.
pub(super) struct Source {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    at: u64,
}

impl Source {
    pub(super) fn new(name: &str, reader: Box<dyn Read + Send>) -> Self {
        let reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        Self { name: name.to_owned(), reader, at: 0 }
    }

    /// Bytes read so far.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// An error in the file.
    pub(super) fn bad(&self, at: u64, reason: &str) -> CloudError {
        CloudError::bad(&self.name, format!("byte {at}: {reason}"))
    }

    /// Up to `length` bytes: fewer where the file ends.
    pub(super) fn take(&mut self, length: usize) -> Result<Vec<u8>, CloudError> {
        let mut bytes = Vec::with_capacity(length.min(BUFFER_BYTES));
        let read = (&mut self.reader).take(length as u64).read_to_end(&mut bytes);
        self.at += bytes.len() as u64;
        read.map_err(|cause| CloudError::Io { path: self.name.clone(), cause })?;
        Ok(bytes)
    }

    /// Exactly these bytes, or none where the file ends before them.
    pub(super) fn exactly<const N: usize>(&mut self) -> Result<Option<[u8; N]>, CloudError> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().ok())
    }

    /// Passes over bytes; whether they all were there.
    pub(super) fn skip(&mut self, length: u64) -> Result<bool, CloudError> {
        let skipped = std::io::copy(&mut (&mut self.reader).take(length), &mut std::io::sink());
        let skipped = skipped.map_err(|cause| CloudError::Io { path: self.name.clone(), cause })?;
        self.at += skipped;
        Ok(skipped == length)
    }
}
