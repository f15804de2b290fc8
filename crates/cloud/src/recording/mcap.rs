//! MCAP: records of a byte, a length and their contents, most of them in chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk::{Chunk, MOST_RECORD_BYTES};
use super::compression::{Compression, Unpacked};
use super::source::Source;
use super::{Channel, MCAP_MAGIC, RecordedMessage};
use crate::error::CloudError;
use crate::messages::MessageEncoding;
use crate::wire::WireReader;

pub(super) const OP_HEADER: u8 = 0x01;
pub(super) const OP_FOOTER: u8 = 0x02;
pub(super) const OP_SCHEMA: u8 = 0x03;
pub(super) const OP_CHANNEL: u8 = 0x04;
pub(super) const OP_MESSAGE: u8 = 0x05;
pub(super) const OP_CHUNK: u8 = 0x06;
pub(super) const OP_MESSAGE_INDEX: u8 = 0x07;
pub(super) const OP_CHUNK_INDEX: u8 = 0x08;
pub(super) const OP_STATISTICS: u8 = 0x0b;
pub(super) const OP_METADATA: u8 = 0x0c;
pub(super) const OP_METADATA_INDEX: u8 = 0x0d;
pub(super) const OP_SUMMARY_OFFSET: u8 = 0x0e;
pub(super) const OP_DATA_END: u8 = 0x0f;

/// Bytes of a record before its contents.
const RECORD_HEADER_BYTES: usize = 9;
/// Bytes of a message before its data: channel, number, two times.
const MESSAGE_HEADER_BYTES: usize = 22;
/// No chunk's header is longer: times, sizes, a word.
const MOST_CHUNK_HEADER_BYTES: u32 = 64;

/// A definition of messages.
#[derive(Clone, Debug)]
struct Schema {
    name: String,
    encoding: String,
    data: Vec<u8>,
}

/// What is known of the channels so far.
#[derive(Default)]
struct Known {
    schemas: BTreeMap<u16, Schema>,
    channels: BTreeMap<u16, Arc<Channel>>,
}

/// Reads a file behind its magic.
pub(super) struct McapReader {
    source: Source,
    known: Known,
    chunk: Option<(u64, Chunk)>,
    /// Nobody writes files of which a part is in chunks.
    has_chunks: bool,
    is_over: bool,
}

impl McapReader {
    pub(super) fn new(source: Source) -> Self {
        Self { source, known: Known::default(), chunk: None, has_chunks: false, is_over: false }
    }

    pub(super) fn next(&mut self) -> Option<Result<RecordedMessage, CloudError>> {
        loop {
            if let Some((at, chunk)) = &mut self.chunk {
                let at = *at;
                match self.known.next_in(chunk) {
                    Some(Ok(Some(message))) => return Some(Ok(message)),
                    Some(Ok(None)) => {}
                    Some(Err(reason)) => {
                        return Some(Err(self.source.bad(at, &format!("in a chunk: {reason}"))));
                    }
                    None => {
                        let (_, chunk) = self.chunk.take()?;
                        let cut =
                            || self.source.bad(at, "the chunk ends in the middle of a record");
                        if let Some(damage) = chunk.end(cut) {
                            return Some(Err(damage));
                        }
                    }
                }
                continue;
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.next_outer() {
                return Some(Err(error));
            }
        }
    }

    /// The next record of the file itself; a chunk is opened.
    fn next_outer(&mut self) -> Result<(), CloudError> {
        let begin = self.source.at();
        let head = self.source.exactly::<RECORD_HEADER_BYTES>()?;
        let Some([op, length @ ..]) = head else { return Err(self.cut(begin)) };
        let length = u64::from_le_bytes(length);
        match op {
            OP_CHUNK => self.open_chunk(begin, length),
            OP_SCHEMA | OP_CHANNEL | OP_MESSAGE
                if length <= MOST_RECORD_BYTES && !(op == OP_MESSAGE && self.has_chunks) =>
            {
                let data = self.source.take(length as usize)?;
                if (data.len() as u64) < length {
                    return Err(self.cut(begin));
                }
                let parts = [&[op][..], &length.to_le_bytes(), &data].concat();
                self.chunk = Some((begin, Chunk::of_one(parts)));
                Ok(())
            }
            OP_FOOTER => {
                let rest = self.source.take(length.min(1 << 10) as usize + MCAP_MAGIC.len())?;
                self.is_over = true;
                if rest.ends_with(MCAP_MAGIC) { Ok(()) } else { Err(self.cut(begin)) }
            }
            // A length was wrong, and these are the bytes of something else.
            0 | OP_MESSAGE | 0x10..0x80 => {
                self.is_over = true;
                let reason = format!("a record of kind {op}, {length} bytes: damaged from here on");
                Err(self.source.bad(begin, &reason))
            }
            _ => {
                if self.source.skip(length)? {
                    Ok(())
                } else {
                    Err(self.cut(begin))
                }
            }
        }
    }

    fn open_chunk(&mut self, begin: u64, length: u64) -> Result<(), CloudError> {
        self.has_chunks = true;
        // Two times, size, checksum, the word for the compression, size packed.
        let head = self.source.take(32)?;
        let numbers = (head.len() == 32).then(|| {
            let number = |at: usize| {
                let bytes = std::array::from_fn(|i| head[at + i]);
                u64::from_le_bytes(bytes)
            };
            (number(16), number(24) as u32, (number(24) >> 32) as u32)
        });
        let Some((size, crc, word)) = numbers else { return Err(self.cut(begin)) };
        let most = MOST_RECORD_BYTES;
        let fits = 40 + u64::from(word) <= length && word <= MOST_CHUNK_HEADER_BYTES;
        if !fits || size > most || length > most {
            let reason =
                format!("a chunk of {length} bytes that claims {size}: {most} are the most");
            self.is_over |= !self.source.skip(length.saturating_sub(32))?;
            return Err(self.source.bad(begin, &reason));
        }
        let word = self.source.take(word as usize)?;
        let packed = self.source.exactly::<8>()?.map(u64::from_le_bytes);
        let Some(claimed) = packed else { return Err(self.cut(begin)) };
        let word = String::from_utf8_lossy(&word).into_owned();
        let left = length - 40 - word.len() as u64;
        let packed = self.source.take(left as usize)?;
        let is_cut = (packed.len() as u64) < left;
        self.is_over |= is_cut;
        let Some(compression) = Compression::of_word(&word).filter(|_| claimed == left) else {
            let reason = format!(
                "a chunk of {claimed} bytes in a record with {left}, packed as \"{word}\": must be \
                 lz4, zstd or \"\""
            );
            return Err(self.source.bad(begin, &reason));
        };
        let mut unpacked = compression.unpack(packed, size as usize, is_cut);
        if unpacked.damage.is_none() && crc != 0 && crc32fast::hash(&unpacked.bytes) != crc {
            unpacked = Unpacked::nothing("its checksum is another");
        }
        let told = |damage: String| {
            let what = if is_cut { "the file ends in a chunk" } else { "a damaged chunk" };
            self.source.bad(begin, &format!("{what}: {damage}"))
        };
        self.chunk = Some((begin, Chunk::new(unpacked, told)));
        Ok(())
    }

    /// The file ends where a record does not.
    fn cut(&mut self, begin: u64) -> CloudError {
        self.is_over = true;
        self.source.bad(begin, "the file ends here, in the middle of a record or without its end")
    }
}

impl Known {
    /// The next record of a chunk; none at its end. Of a message, the message.
    fn next_in(&mut self, chunk: &mut Chunk) -> Option<Result<Option<RecordedMessage>, String>> {
        let (head, rest) = chunk.rest().split_first_chunk::<RECORD_HEADER_BYTES>()?;
        let [op, length @ ..] = *head;
        let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
        let data = rest.get(..length)?;
        let found = match op {
            OP_SCHEMA => self.schema(data).map(|()| None).map_err(|e| e.to_string()),
            OP_CHANNEL => self.channel(data).map(|()| None).map_err(|e| e.to_string()),
            OP_MESSAGE => self.message(data).map(Some),
            _ => Ok(None),
        };
        let kept = length.saturating_sub(MESSAGE_HEADER_BYTES);
        let bytes = chunk.pass(RECORD_HEADER_BYTES + length, kept);
        Some(found.map(|found| {
            found.map(|(channel, sequence, log_ns, publish_ns)| RecordedMessage {
                channel,
                sequence,
                log_ns,
                publish_ns,
                data: bytes,
            })
        }))
    }

    fn schema(&mut self, data: &[u8]) -> Result<(), CloudError> {
        let mut reader = WireReader::ros1(data, "schema");
        let id = reader.u16("id")?;
        let (name, encoding) = (reader.string("name")?, reader.string("encoding")?);
        let data = reader.blob("bytes of data")?.to_vec();
        self.schemas.insert(id, Schema { name, encoding, data });
        Ok(())
    }

    fn channel(&mut self, data: &[u8]) -> Result<(), CloudError> {
        let mut reader = WireReader::ros1(data, "channel");
        let [id, schema] = [reader.u16("id")?, reader.u16("schema_id")?];
        let (topic, encoding) = (reader.string("topic")?, reader.string("message_encoding")?);
        let schema = self.schemas.get(&schema);
        let channel = Channel {
            id: u32::from(id),
            topic,
            type_name: schema.map(|s| s.name.clone()).unwrap_or_default(),
            encoding: match encoding.as_str() {
                "ros1" => MessageEncoding::Ros1,
                "cdr" => MessageEncoding::Cdr,
                _ => MessageEncoding::Other(encoding),
            },
            schema_encoding: schema.map(|s| s.encoding.clone()).unwrap_or_default(),
            schema: schema.map(|s| s.data.clone()).unwrap_or_default(),
            md5sum: None,
            is_latching: false,
        };
        self.channels.entry(id).or_insert_with(|| Arc::new(channel));
        Ok(())
    }

    /// Channel, number, and times of a message.
    fn message(&self, data: &[u8]) -> Result<(Arc<Channel>, u32, u64, u64), String> {
        let mut reader = WireReader::ros1(data, "message");
        let cut = |error: CloudError| error.to_string();
        let id = reader.u16("channel_id").map_err(cut)?;
        let sequence = reader.u32("sequence").map_err(cut)?;
        let log_ns = reader.u64("log_time").map_err(cut)?;
        let publish_ns = reader.u64("publish_time").map_err(cut)?;
        let channel = self.channels.get(&id);
        let channel = channel
            .ok_or_else(|| format!("a message of channel {id}, which nobody has described"))?;
        Ok((Arc::clone(channel), sequence, log_ns, publish_ns))
    }
}
