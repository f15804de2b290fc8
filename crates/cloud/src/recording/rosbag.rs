//! Bags of ROS 1, version 2.0: records with a header of named fields, most of them in chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk::{Chunk, MOST_RECORD_BYTES};
use super::compression::Compression;
use super::source::Source;
use super::{Channel, RecordedMessage};
use crate::error::CloudError;
use crate::messages::MessageEncoding;

/// No header is longer: the fields of one are short.
const MOST_HEADER_BYTES: u32 = 1 << 20;
const NS_PER_S: u64 = 1_000_000_000;

const OP_MESSAGE: u8 = 2;
const OP_BAG: u8 = 3;
const OP_CHUNK: u8 = 5;
const OP_CONNECTION: u8 = 7;

/// Reads a bag behind its first line.
pub(super) struct BagReader {
    source: Source,
    channels: BTreeMap<u32, Arc<Channel>>,
    chunk: Option<(u64, Chunk)>,
    is_over: bool,
}

/// Fields of a header by their names.
struct Fields<'a>(BTreeMap<&'a [u8], &'a [u8]>);

impl<'a> Fields<'a> {
    /// None where it is no header.
    fn of(mut bytes: &'a [u8]) -> Option<Self> {
        let mut fields = BTreeMap::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk()?;
            let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let equals = field.iter().position(|b| *b == b'=')?;
            fields.insert(&field[..equals], &field[equals + 1..]);
            bytes = rest;
        }
        Some(Self(fields))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let bytes = self.0.get(name.as_bytes())?;
        Some(u32::from_le_bytes((*bytes).try_into().ok()?))
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.0.get(name.as_bytes())?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn op(&self) -> Option<u8> {
        match self.0.get(b"op".as_slice()) {
            Some([op]) => Some(*op),
            _ => None,
        }
    }

    fn time_ns(&self) -> Option<u64> {
        let (seconds, rest) = self.0.get(b"time".as_slice())?.split_first_chunk()?;
        let nanoseconds = u32::from_le_bytes(rest.try_into().ok()?);
        Some(u64::from(u32::from_le_bytes(*seconds)) * NS_PER_S + u64::from(nanoseconds))
    }
}

/// Header and data of the record at the beginning of some bytes, and its length.
fn split_record(bytes: &[u8]) -> Option<(&[u8], &[u8], usize)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (header, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (length, rest) = rest.split_first_chunk()?;
    let data = rest.get(..u32::from_le_bytes(*length) as usize)?;
    Some((header, data, 8 + header.len() + data.len()))
}

impl BagReader {
    pub(super) fn new(source: Source) -> Self {
        Self { source, channels: BTreeMap::new(), chunk: None, is_over: false }
    }

    pub(super) fn next(&mut self) -> Option<Result<RecordedMessage, CloudError>> {
        loop {
            if let Some((at, chunk)) = &mut self.chunk {
                let at = *at;
                match Self::next_in(&mut self.channels, chunk) {
                    Some(Ok(Some(message))) => return Some(Ok(message)),
                    Some(Ok(None)) => {}
                    Some(Err(reason)) => return Some(Err(self.source.bad(at, &reason))),
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

    /// The next record of a chunk; none at its end. Of a message, the message.
    fn next_in(
        channels: &mut BTreeMap<u32, Arc<Channel>>,
        chunk: &mut Chunk,
    ) -> Option<Result<Option<RecordedMessage>, String>> {
        let (header, data, length) = split_record(chunk.rest())?;
        let kept = data.len();
        let found = Self::inner(channels, header, data);
        let data = chunk.pass(length, kept);
        Some(found.map(|found| {
            found.map(|(channel, log_ns)| RecordedMessage {
                channel,
                sequence: 0,
                log_ns,
                publish_ns: log_ns,
                data,
            })
        }))
    }

    /// Takes in a connection; of a message, its channel and time.
    fn inner(
        channels: &mut BTreeMap<u32, Arc<Channel>>,
        header: &[u8],
        data: &[u8],
    ) -> Result<Option<(Arc<Channel>, u64)>, String> {
        let fields = Fields::of(header).ok_or("a record's header is no list of fields")?;
        match fields.op() {
            Some(OP_CONNECTION) => {
                let channel = connection(&fields, data).ok_or("a connection without its fields")?;
                channels.entry(channel.id).or_insert_with(|| Arc::new(channel));
                Ok(None)
            }
            Some(OP_MESSAGE) => {
                let id = fields.number("conn").ok_or("a message without its connection")?;
                let time = fields.time_ns().ok_or("a message without its time")?;
                let channel = channels.get(&id);
                let channel = channel.ok_or_else(|| {
                    format!("a message of connection {id}, which nobody has described")
                })?;
                Ok(Some((Arc::clone(channel), time)))
            }
            // Indices, and what later versions may add.
            Some(_) => Ok(None),
            None => Err("a record without its kind".to_owned()),
        }
    }

    /// The next record of the file itself; a chunk is opened.
    fn next_outer(&mut self) -> Result<(), CloudError> {
        let begin = self.source.at();
        let length = self.source.take(4)?;
        if length.is_empty() {
            self.is_over = true;
            return Ok(());
        }
        let Ok(length) = length.try_into().map(u32::from_le_bytes) else {
            return Err(self.cut(begin));
        };
        if length > MOST_HEADER_BYTES {
            self.is_over = true;
            let reason = format!(
                "a record's header of {length} bytes, {MOST_HEADER_BYTES} are the most: the file \
                 is damaged from here on"
            );
            return Err(self.source.bad(begin, &reason));
        }
        let header = self.source.take(length as usize)?;
        let size = self.source.exactly::<4>()?.map(u32::from_le_bytes);
        let Some(size) = size.filter(|_| header.len() == length as usize) else {
            return Err(self.cut(begin));
        };
        let Some(fields) = Fields::of(&header) else {
            self.is_over = true;
            let reason = "a record's header is no list of fields: damaged from here on";
            return Err(self.source.bad(begin, reason));
        };
        match fields.op() {
            Some(OP_CHUNK) => self.open_chunk(begin, &fields, size),
            Some(OP_CONNECTION | OP_MESSAGE) if u64::from(size) <= MOST_RECORD_BYTES => {
                let data = self.source.take(size as usize)?;
                if data.len() < size as usize {
                    return Err(self.cut(begin));
                }
                let parts =
                    [&length.to_le_bytes(), &header[..], &size.to_le_bytes(), &data].concat();
                self.chunk = Some((begin, Chunk::of_one(parts)));
                Ok(())
            }
            Some(OP_BAG) if fields.text("encryptor").is_some_and(|name| !name.is_empty()) => {
                self.is_over = true;
                Err(self.source.bad(begin, "the bag is encrypted: decrypt it with rosbag first"))
            }
            _ => {
                if self.source.skip(u64::from(size))? {
                    Ok(())
                } else {
                    Err(self.cut(begin))
                }
            }
        }
    }

    fn open_chunk(&mut self, begin: u64, fields: &Fields<'_>, size: u32) -> Result<(), CloudError> {
        let word = fields.text("compression").unwrap_or_default();
        let unpacked = fields.number("size");
        let most = MOST_RECORD_BYTES;
        let known = Compression::of_word(&word).zip(unpacked);
        let known = known.filter(|(_, unpacked)| u64::from((*unpacked).max(size)) <= most);
        let Some((compression, unpacked)) = known else {
            let reason = format!(
                "a chunk of {size} bytes, packed as \"{word}\", {} unpacked: must be none, lz4 or \
                 bz2, and at most {most} bytes",
                unpacked.map_or_else(|| "of unknown size".to_owned(), |size| size.to_string())
            );
            self.is_over |= !self.source.skip(u64::from(size))?;
            return Err(self.source.bad(begin, &reason));
        };
        let packed = self.source.take(size as usize)?;
        let is_cut = packed.len() < size as usize;
        self.is_over |= is_cut;
        let unpacked = compression.unpack(packed, unpacked as usize, is_cut);
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
        self.source.bad(begin, "the file ends in the middle of this record")
    }
}

/// A topic as the one who sent it described it.
fn connection(fields: &Fields<'_>, data: &[u8]) -> Option<Channel> {
    let described = Fields::of(data)?;
    Some(Channel {
        id: fields.number("conn")?,
        topic: fields.text("topic")?,
        type_name: described.text("type")?,
        encoding: MessageEncoding::Ros1,
        schema_encoding: "ros1msg".to_owned(),
        schema: described.text("message_definition").unwrap_or_default().into_bytes(),
        md5sum: described.text("md5sum"),
        is_latching: described.text("latching").as_deref() == Some("1"),
    })
}
