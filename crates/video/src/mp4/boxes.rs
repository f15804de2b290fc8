//! Boxes: the nested pieces of an mp4, each with its length and four letters.

/// Why bytes were refused; the path is added further up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BoxError {
    Damaged(String),
    Unsupported(String),
}

pub(super) type Parsed<T> = Result<T, BoxError>;

pub(super) fn damaged<T>(what: impl Into<String>) -> Parsed<T> {
    Err(BoxError::Damaged(what.into()))
}

pub(super) fn unsupported<T>(what: impl Into<String>) -> Parsed<T> {
    Err(BoxError::Unsupported(what.into()))
}

/// Four letters.
pub(super) type Kind = [u8; 4];

pub(super) fn letters(kind: Kind) -> String {
    kind.escape_ascii().to_string()
}

/// Big-endian numbers, one after the other, of one box.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    kind: Kind,
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(kind: Kind, rest: &'a [u8]) -> Self {
        Self { kind, rest }
    }

    /// Version and flags, with which many boxes begin.
    pub(super) fn version(&mut self) -> Parsed<(u8, u32)> {
        let word = self.u32()?;
        Ok(((word >> 24) as u8, word & 0xff_ffff))
    }

    pub(super) fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => damaged(format!("box {} is too short", letters(self.kind))),
        }
    }

    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u16(&mut self) -> Parsed<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Parsed<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Parsed<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A number of 8 bytes in version 1, of 4 before.
    pub(super) fn u32_or_u64(&mut self, version: u8) -> Parsed<u64> {
        if version == 0 { self.u32().map(u64::from) } else { self.u64() }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A count, and so many entries of `size` bytes. Never more than the box holds.
    pub(super) fn table(&mut self, size: usize) -> Parsed<std::slice::ChunksExact<'a, u8>> {
        let count = self.u32()?;
        let bytes = usize::try_from(count).ok().and_then(|n| n.checked_mul(size));
        match bytes.and_then(|n| self.rest.get(..n)) {
            Some(table) => Ok(table.chunks_exact(size)),
            None => damaged(format!(
                "box {} says {count} entries and has bytes for {}",
                letters(self.kind),
                self.rest.len() / size
            )),
        }
    }
}

/// The number at `at` of a table's entry.
pub(super) fn word(entry: &[u8], at: usize) -> u32 {
    entry.iter().skip(at).take(4).fold(0, |n, &byte| n << 8 | u32::from(byte))
}

/// The boxes inside a box. Up to seven bytes after the last are let pass, as some writers do.
pub(super) fn children(inside: &[u8]) -> Parsed<Vec<(Kind, &[u8])>> {
    let mut rest = inside;
    let mut found = Vec::new();
    while rest.len() >= 8 {
        let (kind, whole, body) = first_box(rest)?;
        found.push((kind, body));
        rest = rest.get(whole.len()..).unwrap_or_default();
    }
    Ok(found)
}

/// The first box of `bytes`: its letters, all of it, and what is inside.
pub(super) fn first_box(bytes: &[u8]) -> Parsed<(Kind, &[u8], &[u8])> {
    let mut header = Bytes::new(*b"    ", bytes);
    let short = header.u32()?;
    let kind: Kind = header.array()?;
    let (size, header_bytes) = match short {
        0 => (bytes.len() as u64, 8),
        1 => (header.u64()?, 16),
        n => (u64::from(n), 8),
    };
    let whole = usize::try_from(size).ok().and_then(|size| bytes.get(..size));
    match whole.and_then(|whole| Some((whole, whole.get(header_bytes..)?))) {
        Some((whole, body)) => Ok((kind, whole, body)),
        None => {
            damaged(format!("box {} says {size} bytes where {} are", letters(kind), bytes.len()))
        }
    }
}

/// The first box of that kind.
pub(super) fn find<'a>(boxes: &[(Kind, &'a [u8])], kind: &Kind) -> Option<Bytes<'a>> {
    boxes.iter().find(|(k, _)| k == kind).map(|(k, body)| Bytes::new(*k, body))
}

/// The first box of that kind, which has to be there.
pub(super) fn need<'a>(boxes: &[(Kind, &'a [u8])], kind: &Kind) -> Parsed<Bytes<'a>> {
    match find(boxes, kind) {
        Some(found) => Ok(found),
        None => damaged(format!("box {} is missing", letters(*kind))),
    }
}

/// The boxes inside the first box of that kind, which has to be there.
pub(super) fn need_children<'a>(
    boxes: &[(Kind, &'a [u8])],
    kind: &Kind,
) -> Parsed<Vec<(Kind, &'a [u8])>> {
    children(need(boxes, kind)?.rest)
}

/// Writes a box around what `inside` writes.
pub(super) fn put(out: &mut Vec<u8>, kind: &Kind, inside: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(kind);
    inside(out);
    let size = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// Writes a box with a version and flags.
pub(super) fn put_full(
    out: &mut Vec<u8>,
    kind: &Kind,
    flags: u32,
    inside: impl FnOnce(&mut Vec<u8>),
) {
    put(out, kind, |out| {
        out.extend(flags.to_be_bytes());
        inside(out);
    });
}

/// Writes numbers of four bytes.
pub(super) fn put_words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u32>) {
    for word in words {
        out.extend(word.to_be_bytes());
    }
}
