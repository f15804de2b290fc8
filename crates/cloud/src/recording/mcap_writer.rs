//! Writes MCAP: chunked, packed, with summary and index, as viewers of recordings want it.

use std::collections::BTreeMap;
use std::io::Write;

use super::MCAP_MAGIC;
use super::compression::Compression;
use super::mcap::{
    OP_CHANNEL, OP_CHUNK, OP_CHUNK_INDEX, OP_DATA_END, OP_FOOTER, OP_HEADER, OP_MESSAGE,
    OP_MESSAGE_INDEX, OP_METADATA, OP_METADATA_INDEX, OP_SCHEMA, OP_STATISTICS, OP_SUMMARY_OFFSET,
};
use crate::error::CloudError;
use crate::wire::{WireFormat, WireWriter};

/// How a file is written.
#[derive(Clone, Debug, PartialEq)]
pub struct McapSettings {
    /// What the messages are of: `ros1`, `ros2`, or nothing.
    pub profile: String,
    /// How chunks are packed.
    pub compression: Compression,
    /// A chunk ends when it has so many bytes: what a crash can lose.
    pub chunk_bytes: usize,
}

impl Default for McapSettings {
    fn default() -> Self {
        let (profile, compression) = ("ros2".to_owned(), Compression::Zstd);
        Self { profile, compression, chunk_bytes: 1 << 20 }
    }
}

/// Writes a file front to back. Chunks go out as they fill, so that what a crash leaves can be read
/// but for the last one; without [`Self::finish`] the file has no index.
pub struct McapWriter<W: Write> {
    out: W,
    name: String,
    /// Bytes written.
    at: u64,
    settings: McapSettings,
    schemas: Vec<Vec<u8>>,
    channels: Vec<Vec<u8>>,
    chunk: OpenChunk,
    indices: Vec<ChunkIndex>,
    metadata: Vec<Vec<u8>>,
    /// Messages of each channel.
    counts: BTreeMap<u16, u64>,
    times_ns: Option<[u64; 2]>,
}

/// The chunk that is being filled.
#[derive(Default)]
struct OpenChunk {
    records: Vec<u8>,
    times_ns: Option<[u64; 2]>,
    /// Of each channel: log time and place of its messages.
    index: BTreeMap<u16, Vec<[u64; 2]>>,
}

/// Where a chunk is.
struct ChunkIndex {
    times_ns: [u64; 2],
    start: u64,
    length: u64,
    /// Of each channel: where its index is.
    index_at: Vec<(u16, u64)>,
    index_bytes: u64,
    packed: u64,
    unpacked: u64,
}

fn record() -> WireWriter {
    WireWriter::new(WireFormat::Ros1, 64)
}

fn widened(times_ns: Option<[u64; 2]>, log_ns: u64) -> [u64; 2] {
    let [first, last] = times_ns.unwrap_or([log_ns; 2]);
    [first.min(log_ns), last.max(log_ns)]
}

impl<W: Write> McapWriter<W> {
    /// Begins a file; `name` is for errors.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, name: &str, settings: McapSettings) -> Result<Self, CloudError> {
        let mut writer = Self {
            out,
            name: name.to_owned(),
            at: 0,
            settings,
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk: OpenChunk::default(),
            indices: Vec::new(),
            metadata: Vec::new(),
            counts: BTreeMap::new(),
            times_ns: None,
        };
        writer.bytes(MCAP_MAGIC)?;
        let mut head = record();
        head.string(&writer.settings.profile);
        head.string(concat!("citrange ", env!("CARGO_PKG_VERSION")));
        writer.record(OP_HEADER, &head.finish())?;
        Ok(writer)
    }

    /// A definition of messages: type, how the definition is written (`ros1msg`, `ros2msg`), and
    /// its text. Gives its number.
    ///
    /// # Errors
    /// When the file cannot be written, or there are 65,534 already.
    pub fn add_schema(
        &mut self,
        name: &str,
        encoding: &str,
        data: &[u8],
    ) -> Result<u16, CloudError> {
        // 0 stands for none.
        let id = self.next_id("schemas", self.schemas.len() + 1)?;
        let mut schema = record();
        schema.u16(id);
        schema.string(name);
        schema.string(encoding);
        schema.blob(data);
        let schema = schema.finish();
        self.record(OP_SCHEMA, &schema)?;
        self.schemas.push(schema);
        Ok(id)
    }

    /// A topic, how its messages are serialised (`ros1`, `cdr`), and the number of their
    /// definition (0 for none). Gives its number.
    ///
    /// # Errors
    /// When there is no such definition, the file cannot be written, or there are 65,534 already.
    pub fn add_channel(
        &mut self,
        topic: &str,
        encoding: &str,
        schema: u16,
    ) -> Result<u16, CloudError> {
        if usize::from(schema) > self.schemas.len() {
            let reason = format!("schema {schema} for topic {topic}: {} are", self.schemas.len());
            return Err(CloudError::bad(&self.name, format!("{reason} there")));
        }
        let id = self.next_id("channels", self.channels.len() + 1)?;
        let mut channel = record();
        channel.u16(id);
        channel.u16(schema);
        channel.string(topic);
        channel.string(encoding);
        channel.u32(0);
        let channel = channel.finish();
        self.record(OP_CHANNEL, &channel)?;
        self.channels.push(channel);
        Ok(id)
    }

    fn next_id(&self, of: &str, next: usize) -> Result<u16, CloudError> {
        let id = u16::try_from(next).ok().filter(|id| *id < u16::MAX);
        id.ok_or_else(|| CloudError::bad(&self.name, format!("more than 65534 {of}")))
    }

    /// Appends a message.
    ///
    /// # Errors
    /// When there is no such channel, or the file cannot be written.
    pub fn write(
        &mut self,
        channel: u16,
        sequence: u32,
        [log_ns, publish_ns]: [u64; 2],
        data: &[u8],
    ) -> Result<(), CloudError> {
        if channel == 0 || usize::from(channel) > self.channels.len() {
            let reason = format!("channel {channel}: there are 1 to {}", self.channels.len());
            return Err(CloudError::bad(&self.name, reason));
        }
        let place = self.chunk.records.len() as u64;
        let records = &mut self.chunk.records;
        records.push(OP_MESSAGE);
        records.extend((data.len() as u64 + 22).to_le_bytes());
        records.extend(channel.to_le_bytes());
        records.extend(sequence.to_le_bytes());
        records.extend(log_ns.to_le_bytes());
        records.extend(publish_ns.to_le_bytes());
        records.extend(data);
        self.chunk.index.entry(channel).or_default().push([log_ns, place]);
        self.chunk.times_ns = Some(widened(self.chunk.times_ns, log_ns));
        self.times_ns = Some(widened(self.times_ns, log_ns));
        *self.counts.entry(channel).or_default() += 1;
        if self.chunk.records.len() >= self.settings.chunk_bytes { self.flush() } else { Ok(()) }
    }

    /// What is to be known of the file as a whole: names and values.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_metadata(
        &mut self,
        name: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<(), CloudError> {
        let mut map = record();
        for (key, value) in values {
            map.string(key);
            map.string(value);
        }
        let map = map.finish();
        let mut metadata = record();
        metadata.string(name);
        metadata.blob(&map);
        let mut index = record();
        index.u64(self.at);
        let length = self.record(OP_METADATA, &metadata.finish())?;
        index.u64(length);
        index.string(name);
        self.metadata.push(index.finish());
        Ok(())
    }

    /// Ends the chunk and gives everything to the system.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> Result<(), CloudError> {
        let OpenChunk { records, times_ns, index } = std::mem::take(&mut self.chunk);
        if let Some(times_ns) = times_ns {
            let packed = self.settings.compression.pack(&records).map_err(|e| self.io(e))?;
            let mut chunk = record();
            times_ns.iter().for_each(|time| chunk.u64(*time));
            chunk.u64(records.len() as u64);
            chunk.u32(crc32fast::hash(&records));
            chunk.string(self.settings.compression.word());
            chunk.u64(packed.len() as u64);
            let mut chunk = chunk.finish();
            chunk.extend(&packed);
            let start = self.at;
            let length = self.record(OP_CHUNK, &chunk)?;
            let (mut index_at, indices_start) = (Vec::new(), self.at);
            for (channel, entries) in index {
                index_at.push((channel, self.at));
                let mut written = record();
                written.u16(channel);
                written.u32(16 * entries.len() as u32);
                entries.as_flattened().iter().for_each(|value| written.u64(*value));
                self.record(OP_MESSAGE_INDEX, &written.finish())?;
            }
            self.indices.push(ChunkIndex {
                times_ns,
                start,
                length,
                index_at,
                index_bytes: self.at - indices_start,
                packed: packed.len() as u64,
                unpacked: records.len() as u64,
            });
            // Its memory is used again.
            self.chunk.records = records;
            self.chunk.records.clear();
        }
        self.out.flush().map_err(|e| self.io(e))
    }

    /// Writes the rest and the index; gives back what was written to.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> Result<W, CloudError> {
        self.flush()?;
        self.record(OP_DATA_END, &0_u32.to_le_bytes())?;
        let summary_start = self.at;
        let (schemas, channels) =
            (std::mem::take(&mut self.schemas), std::mem::take(&mut self.channels));
        let statistics = self.statistics(schemas.len(), channels.len());
        let indices: Vec<Vec<u8>> =
            self.indices.iter().map(|i| i.written(self.settings.compression)).collect();
        let metadata = std::mem::take(&mut self.metadata);
        let mut groups = Vec::new();
        for (op, records) in [
            (OP_SCHEMA, schemas),
            (OP_CHANNEL, channels),
            (OP_STATISTICS, vec![statistics]),
            (OP_CHUNK_INDEX, indices),
            (OP_METADATA_INDEX, metadata),
        ] {
            let start = self.at;
            for one in &records {
                self.record(op, one)?;
            }
            if self.at > start {
                groups.push((op, start, self.at - start));
            }
        }
        let offsets_start = self.at;
        for (op, start, length) in groups {
            let mut offset = record();
            offset.u8(op);
            offset.u64(start);
            offset.u64(length);
            self.record(OP_SUMMARY_OFFSET, &offset.finish())?;
        }
        let mut footer = record();
        footer.u64(summary_start);
        footer.u64(offsets_start);
        // No checksum of the summary.
        footer.u32(0);
        self.record(OP_FOOTER, &footer.finish())?;
        self.bytes(MCAP_MAGIC)?;
        self.out.flush().map_err(|e| self.io(e))?;
        Ok(self.out)
    }

    fn statistics(&self, schemas: usize, channels: usize) -> Vec<u8> {
        let mut statistics = record();
        statistics.u64(self.counts.values().sum());
        statistics.u16(schemas as u16);
        statistics.u32(channels as u32);
        statistics.u32(0);
        statistics.u32(self.metadata.len() as u32);
        statistics.u32(self.indices.len() as u32);
        self.times_ns.unwrap_or_default().iter().for_each(|time| statistics.u64(*time));
        statistics.u32(10 * self.counts.len() as u32);
        for (channel, count) in &self.counts {
            statistics.u16(*channel);
            statistics.u64(*count);
        }
        statistics.finish()
    }

    /// Writes a record; its length with its header.
    fn record(&mut self, op: u8, data: &[u8]) -> Result<u64, CloudError> {
        let start = self.at;
        self.bytes(&[op])?;
        self.bytes(&(data.len() as u64).to_le_bytes())?;
        self.bytes(data)?;
        Ok(self.at - start)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), CloudError> {
        self.out.write_all(bytes).map_err(|e| self.io(e))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn io(&self, cause: std::io::Error) -> CloudError {
        CloudError::Io { path: self.name.clone(), cause }
    }
}

impl<W: Write> std::fmt::Debug for McapWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McapWriter").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ChunkIndex {
    fn written(&self, compression: Compression) -> Vec<u8> {
        let mut index = record();
        self.times_ns.iter().for_each(|time| index.u64(*time));
        index.u64(self.start);
        index.u64(self.length);
        index.u32(10 * self.index_at.len() as u32);
        for (channel, at) in &self.index_at {
            index.u16(*channel);
            index.u64(*at);
        }
        index.u64(self.index_bytes);
        index.string(compression.word());
        index.u64(self.packed);
        index.u64(self.unpacked);
        index.finish()
    }
}
