//! Append-only file of checksummed records.
//!
//! `CITRTAPE`, format version (u32), then records: mark (u32), payload length (u32), kind (u8),
//! payload, crc32 of length, kind and payload (u32); all little endian. A reader takes what is
//! whole and says what is not: a torn tail costs the torn record, damage in the middle costs the
//! records it touches (the mark finds the next whole one).

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::TapeError;

const MAGIC: &[u8; 8] = b"CITRTAPE";
const FORMAT_VERSION: u32 = 1;
const MARK: [u8; 4] = *b"\xc1trr";
/// Bytes before the first record.
pub(crate) const PREFIX: usize = MAGIC.len() + 4;
/// Mark, length, kind.
const HEAD: usize = 9;
const CRC: usize = 4;
/// No record is larger; a larger length is damage.
const MAX_PAYLOAD: usize = 256 << 20;

/// Writes records.
#[derive(Debug)]
pub(crate) struct LogWriter {
    file: BufWriter<File>,
    path: PathBuf,
    at: u64,
}

impl LogWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, TapeError> {
        let fail = |e| TapeError::file("create", path, e);
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        file.write_all(MAGIC).map_err(fail)?;
        file.write_all(&FORMAT_VERSION.to_le_bytes()).map_err(fail)?;
        Ok(Self { file, path: path.to_owned(), at: PREFIX as u64 })
    }

    /// Appends a record whose payload is `parts` one after the other; answers where it begins.
    pub(crate) fn append(&mut self, kind: u8, parts: &[&[u8]]) -> Result<u64, TapeError> {
        let length: usize = parts.iter().map(|p| p.len()).sum();
        if length > MAX_PAYLOAD {
            let reason = format!("a record of {length} bytes; the largest is {MAX_PAYLOAD}");
            return Err(TapeError::Log { path: self.path.clone(), reason });
        }
        let mut crc = crc32fast::Hasher::new();
        let length_bytes = (length as u32).to_le_bytes();
        crc.update(&length_bytes);
        crc.update(&[kind]);
        let begins = self.at + HEAD as u64;
        let mut write = |bytes: &[u8]| {
            self.file.write_all(bytes).map_err(|e| TapeError::file("write", &self.path, e))
        };
        write(&MARK)?;
        write(&length_bytes)?;
        write(&[kind])?;
        for part in parts {
            crc.update(part);
            write(part)?;
        }
        write(&crc.finalize().to_le_bytes())?;
        self.at = begins + (length + CRC) as u64;
        Ok(begins)
    }

    /// Hands everything to the system: a killed process loses nothing of it.
    pub(crate) fn flush(&mut self) -> Result<(), TapeError> {
        self.file.flush().map_err(|e| TapeError::file("write", &self.path, e))
    }

    /// Hands everything to the disk: a power cut loses nothing of it.
    pub(crate) fn sync(&mut self) -> Result<(), TapeError> {
        self.flush()?;
        self.file.get_ref().sync_data().map_err(|e| TapeError::file("sync", &self.path, e))
    }
}

/// A whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Where it is in the file.
    pub(crate) begins: usize,
    pub(crate) kind: u8,
    pub(crate) payload: &'a [u8],
}

impl Record<'_> {
    /// Where its payload is in the file.
    pub(crate) fn payload_begins(&self) -> usize {
        self.begins + HEAD
    }
}

/// Bytes of a log that are no whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where they begin.
    pub from: usize,
    /// Where the next whole record begins, or the file ends.
    pub to: usize,
    /// Whether they are the end of the file: what a killed recorder leaves.
    pub is_tail: bool,
}

/// The whole records of a log and what lies between them.
pub(crate) fn read_records<'a>(
    bytes: &'a [u8],
    path: &Path,
) -> Result<(Vec<Record<'a>>, Vec<Damage>), TapeError> {
    let fail = |reason: String| TapeError::Log { path: path.to_owned(), reason };
    if bytes.len() < PREFIX || &bytes[..MAGIC.len()] != MAGIC {
        return Err(fail("it does not begin like a tape".into()));
    }
    let version = le_u32(&bytes[MAGIC.len()..]);
    if version != Some(FORMAT_VERSION) {
        let version = version.unwrap_or_default();
        return Err(fail(format!(
            "it has format {version}; this Citrange reads format {FORMAT_VERSION}: update it"
        )));
    }
    let (mut records, mut damages) = (Vec::new(), Vec::new());
    let mut at = PREFIX;
    while at < bytes.len() {
        if let Some((record, end)) = record_at(bytes, at) {
            records.push(record);
            at = end;
            continue;
        }
        let next = next_record(bytes, at + 1);
        let to = next.unwrap_or(bytes.len());
        damages.push(Damage { from: at, to, is_tail: next.is_none() });
        at = to;
    }
    Ok((records, damages))
}

fn next_record(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = bytes.get(at..)?.windows(MARK.len()).position(|w| w == MARK)?;
        at += found;
        if record_at(bytes, at).is_some() {
            return Some(at);
        }
        at += 1;
    }
}

fn record_at(bytes: &[u8], at: usize) -> Option<(Record<'_>, usize)> {
    let head = bytes.get(at..at + HEAD)?;
    if head[..4] != MARK {
        return None;
    }
    let length = le_u32(&head[4..])? as usize;
    if length > MAX_PAYLOAD {
        return None;
    }
    let end = at + HEAD + length;
    let payload = bytes.get(at + HEAD..end)?;
    let crc = le_u32(bytes.get(end..end + CRC)?)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&head[4..]);
    hasher.update(payload);
    (hasher.finalize() == crc).then_some((Record { begins: at, kind: head[8], payload }, end + CRC))
}

fn le_u32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?))
}

/// The whole file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, TapeError> {
    std::fs::read(path).map_err(|e| TapeError::file("read", path, e))
}

/// sha256 of a file's bytes, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub fn file_sha256(path: &Path) -> Result<String, TapeError> {
    use sha2::{Digest as _, Sha256};
    let fail = |e| TapeError::file("read", path, e);
    let mut file = File::open(path).map_err(fail)?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash).map_err(fail)?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads part of a file.
pub(crate) fn read_at(file: &mut File, at: u64, out: &mut [u8]) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::rng::Rng;

    fn sample(folder: &Path) -> (PathBuf, Vec<u8>) {
        let path = folder.join("log");
        let mut log = LogWriter::create(&path).unwrap();
        for i in 0..20u8 {
            let begins = log.append(i, &[&[i; 3], &vec![i; usize::from(i) * 5]]).unwrap();
            log.flush().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes[begins as usize..][..3], [i; 3]);
        }
        log.sync().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    }

    #[test]
    fn every_cut_gives_every_whole_record() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = sample(folder.path());
        let (all, damage) = read_records(&bytes, &path).unwrap();
        assert_eq!((all.len(), damage.len()), (20, 0));
        let ends: Vec<usize> = (0..=all.len())
            .scan(PREFIX, |at, i| {
                let end = *at;
                *at += all.get(i).map_or(0, |r| HEAD + r.payload.len() + CRC);
                Some(end)
            })
            .collect();
        for length in PREFIX..bytes.len() {
            let (records, damage) = read_records(&bytes[..length], &path).unwrap();
            let whole = ends.iter().filter(|end| **end <= length).count() - 1;
            assert_eq!(records, all[..whole], "cut at {length}");
            assert_eq!(damage.is_empty(), ends.contains(&length));
            assert!(damage.iter().all(|d| d.is_tail));
        }
        assert!(read_records(&bytes[..5], &path).is_err());
    }

    #[test]
    fn flipped_bits_cost_only_the_records_they_touch() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = sample(folder.path());
        let (all, _) = read_records(&bytes, &path).unwrap();
        let mut rng = Rng::new(1);
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            let at = PREFIX + (rng.next_u64() as usize) % (bytes.len() - PREFIX);
            damaged[at] ^= 1 << (rng.next_u64() % 8);
            let (records, damage) = read_records(&damaged, &path).unwrap();
            assert_eq!(records.len(), all.len() - 1, "byte {at}");
            assert!(records.iter().all(|r| all.contains(r)));
            assert_eq!(damage.len(), 1);
            assert!(damage[0].from <= at && at < damage[0].to);
        }
    }

    #[test]
    fn other_files_and_newer_formats_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut bytes) = sample(folder.path());
        bytes[8] = 7;
        let error = read_records(&bytes, &path).unwrap_err().to_string();
        assert!(error.contains("format 7") && error.contains("update"), "{error}");
        assert!(read_records(b"PK\x03\x04 something else", &path).is_err());
        assert!(LogWriter::create(&path).is_err(), "an existing log is never overwritten");
    }
}
