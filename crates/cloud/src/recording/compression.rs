//! Chunks of messages, packed and unpacked.

use std::io::{Cursor, Read};

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A window of zstd takes at most so much memory.
const MOST_WINDOW_BYTES: u64 = 1 << 27;
/// Memory that is taken before the bytes are there.
const AHEAD_BYTES: usize = 1 << 24;

/// How a chunk is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4's frames: quick.
    Lz4,
    /// Zstandard: small.
    #[default]
    Zstd,
    /// bzip2: slow; bags only, and only to be read.
    Bzip2,
}

/// What is readable of a chunk, and why it ends before its end.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    pub(super) damage: Option<String>,
}

impl Unpacked {
    /// Of a chunk that cannot be trusted.
    pub(super) fn nothing(damage: &str) -> Self {
        let damage = format!("{damage}: none of its messages is given");
        Self { bytes: Vec::new(), damage: Some(damage) }
    }
}

impl Compression {
    /// By the word in a file.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "" | "none" => Self::None,
            "lz4" => Self::Lz4,
            "zstd" => Self::Zstd,
            "bz2" => Self::Bzip2,
            _ => return None,
        })
    }

    /// The word for it in MCAP.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bz2",
        }
    }

    /// Unpacks what should be `size` bytes. More are not taken, whatever they would become. Of one
    /// whose end is missing (`is_cut`) there is its beginning; of one that is wrong nothing, since
    /// wrong bytes come out long before anything is noticed.
    pub(super) fn unpack(self, packed: Vec<u8>, size: usize, is_cut: bool) -> Unpacked {
        let unpacked = self.readable(packed, size);
        match unpacked.damage {
            Some(damage) if !is_cut && self != Self::None => Unpacked::nothing(&damage),
            _ => unpacked,
        }
    }

    fn readable(self, packed: Vec<u8>, size: usize) -> Unpacked {
        match self {
            Self::None => of_size(packed, size),
            Self::Lz4 => read(FrameDecoder::new(Cursor::new(packed)), size),
            Self::Zstd => {
                let packed = Cursor::new(packed);
                match StreamingDecoder::new_with_max_window_size(packed, MOST_WINDOW_BYTES) {
                    Ok(decoder) => read(decoder, size),
                    Err(error) => Unpacked { bytes: Vec::new(), damage: Some(error.to_string()) },
                }
            }
            Self::Bzip2 => read(bzip2_rs::DecoderReader::new(Cursor::new(packed)), size),
        }
    }

    /// Packs a chunk.
    pub(super) fn pack(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(bytes.to_vec()),
            Self::Lz4 => {
                let mut encoder = FrameEncoder::new(Vec::new());
                std::io::Write::write_all(&mut encoder, bytes)?;
                Ok(encoder.finish()?)
            }
            Self::Zstd => Ok(compress_to_vec(bytes, CompressionLevel::Fastest)),
            Self::Bzip2 => {
                Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "bzip2 is not written"))
            }
        }
    }
}

/// Reads until the end, an error, or more bytes than there should be.
fn read(mut reader: impl Read, size: usize) -> Unpacked {
    let mut bytes = Vec::with_capacity(size.min(AHEAD_BYTES));
    match reader.by_ref().take(size as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) => of_size(bytes, size),
        Err(error) => Unpacked { bytes, damage: Some(error.to_string()) },
    }
}

fn of_size(mut bytes: Vec<u8>, size: usize) -> Unpacked {
    let found = bytes.len();
    let damage = match found.cmp(&size) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some(format!("has {found} bytes, {size} are said")),
        std::cmp::Ordering::Greater => {
            bytes.truncate(size);
            Some(format!("has more than the {size} bytes that are said"))
        }
    };
    Unpacked { bytes, damage }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_and_cut_ones_give_their_beginning() {
        let bytes: Vec<u8> = (0..400_000_u32).map(|i| (i / 7 * 31 % 251) as u8).collect();
        for how in [Compression::None, Compression::Lz4, Compression::Zstd] {
            let packed = how.pack(&bytes).unwrap();
            let again = how.unpack(packed.clone(), bytes.len(), false);
            assert!(again.damage.is_none() && again.bytes == bytes, "{how:?}");
            let cut = how.unpack(packed[..packed.len() / 2].to_vec(), bytes.len(), true);
            assert!(cut.damage.is_some() && bytes.starts_with(&cut.bytes), "{how:?}");
            let more = how.unpack(packed, 1000, true);
            assert!(more.damage.is_some() && more.bytes == bytes[..1000], "{how:?}");
        }
        assert!(Compression::Bzip2.pack(&bytes).is_err());
    }
}
