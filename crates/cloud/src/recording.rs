//! What a running system sent, in one file: ROS 1 bags and MCAP.
//!
//! Read front to back without their index, so that files of programs that were killed, cut off or
//! damaged give what is readable in them; what is not comes as an error in its place. Messages come
//! in the order of the file, which is that of their arrival but for a few that overtook others.

mod chunk;
mod compression;
mod mcap;
mod mcap_writer;
mod rosbag;
mod source;
mod summary;

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use crate::error::CloudError;
use crate::messages::{MessageEncoding, RosMessage};

use mcap::McapReader;
use rosbag::BagReader;
use source::Source;

pub use compression::Compression;
pub use mcap_writer::{McapSettings, McapWriter};
pub use summary::{RecordedTopic, RecordingSummary};

const BAG_MAGIC: &[u8] = b"#ROSBAG V2.0\n";
const BAG_OF_ANY_VERSION: &[u8] = b"#ROSBAG V";
const MCAP_MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// A file of messages, read front to back. An iterator: after an error there may be more to read.
pub struct Recording {
    format: Format,
}

enum Format {
    Bag(BagReader),
    Mcap(McapReader),
}

/// Which kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingKind {
    /// A bag of ROS 1, version 2.0.
    RosBag,
    /// MCAP, of ROS 2 or of anybody.
    Mcap,
}

/// A message as it was sent.
#[derive(Clone, Debug)]
pub struct RecordedMessage {
    /// Where it was sent.
    pub channel: Arc<Channel>,
    /// Number of the message on its channel, where the file counts.
    pub sequence: u32,
    /// When it was recorded.
    pub log_ns: u64,
    /// When it was sent; as `log_ns` where nobody wrote it down.
    pub publish_ns: u64,
    /// The message as it went over the wire; for CDR with its encapsulation header.
    pub data: RecordedBytes,
}

/// A topic, what its messages are, and who defines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its number in the file. Several may have the same topic.
    pub id: u32,
    /// Name of the topic.
    pub topic: String,
    /// Type of the messages as the file says it: `sensor_msgs/PointCloud2`, or in ROS 2
    /// `sensor_msgs/msg/PointCloud2`.
    pub type_name: String,
    /// How they are serialised.
    pub encoding: MessageEncoding,
    /// How the definition is written: `ros1msg`, `ros2msg`, `jsonschema`, …; empty without one.
    pub schema_encoding: String,
    /// The definition.
    pub schema: Vec<u8>,
    /// Sum of the definition, in bags.
    pub md5sum: Option<String>,
    /// Whether the last message is for those who come later, too.
    pub is_latching: bool,
}

/// Bytes of a message; cheap to keep and to give to others.
#[derive(Clone)]
pub struct RecordedBytes {
    whole: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl Deref for RecordedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.whole[self.part.clone()]
    }
}

impl std::fmt::Debug for RecordedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl Channel {
    /// Whether its messages are of a type, whichever generation of ROS writes it.
    #[must_use]
    pub fn is_of(&self, [package, name]: [&str; 2]) -> bool {
        let mut parts = self.type_name.split('/');
        let found = [parts.next(), parts.next(), parts.next(), parts.next()];
        match found {
            [Some(p), Some(n), None, None] => p == package && n == name,
            [Some(p), Some("msg"), Some(n), None] => p == package && n == name,
            _ => false,
        }
    }
}

impl RecordedMessage {
    /// The message, if it is of the type `M`.
    ///
    /// # Errors
    /// Names the topic, and what is wrong with the message.
    pub fn decode<'a, M: RosMessage<'a>>(&'a self) -> Result<M, CloudError> {
        let Channel { topic, type_name, encoding, .. } = &*self.channel;
        let told = |reason: String| CloudError::bad(format!("topic {topic}"), reason);
        if !self.channel.is_of(M::TYPE) {
            let [package, name] = M::TYPE;
            return Err(told(format!("carries {type_name}, not {package}/{name}")));
        }
        M::decode(encoding, &self.data).map_err(|error| told(error.to_string()))
    }
}

impl Recording {
    /// Whether a file begins like a recording.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn is_one(path: &Path) -> Result<bool, CloudError> {
        let io = |cause| CloudError::Io { path: path.display().to_string(), cause };
        let mut begin = Vec::new();
        File::open(path).map_err(io)?.take(13).read_to_end(&mut begin).map_err(io)?;
        Ok(begin.starts_with(BAG_OF_ANY_VERSION) || begin.starts_with(MCAP_MAGIC))
    }

    /// Begins to read a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no recording.
    pub fn open(path: &Path) -> Result<Self, CloudError> {
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|cause| CloudError::Io { path: name.clone(), cause })?;
        Self::from_reader(&name, file)
    }

    /// The same of anything that gives bytes; `name` is for errors.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Result<Self, CloudError> {
        let mut source = Source::new(name, Box::new(reader));
        let begin = source.take(MCAP_MAGIC.len())?;
        if begin == MCAP_MAGIC {
            return Ok(Self { format: Format::Mcap(McapReader::new(source)) });
        }
        let rest = source.take(BAG_MAGIC.len() - MCAP_MAGIC.len())?;
        let begin = [begin, rest].concat();
        if begin == BAG_MAGIC {
            return Ok(Self { format: Format::Bag(BagReader::new(source)) });
        }
        if begin.starts_with(BAG_OF_ANY_VERSION) {
            let version = String::from_utf8_lossy(&begin[BAG_OF_ANY_VERSION.len()..]);
            let reason = format!(
                "is a bag of version {}, 2.0 is read; `rosbag fix` makes new ones of old ones",
                version.trim()
            );
            return Err(CloudError::bad(name, reason));
        }
        let reason = "byte 0: a bag begins with #ROSBAG V2.0, an MCAP file with \\x89MCAP0";
        Err(CloudError::bad(name, reason))
    }

    /// Which kind of file it is.
    #[must_use]
    pub fn kind(&self) -> RecordingKind {
        match self.format {
            Format::Bag(_) => RecordingKind::RosBag,
            Format::Mcap(_) => RecordingKind::Mcap,
        }
    }
}

impl Iterator for Recording {
    type Item = Result<RecordedMessage, CloudError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.format {
            Format::Bag(bag) => bag.next(),
            Format::Mcap(mcap) => mcap.next(),
        }
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("kind", &self.kind()).finish_non_exhaustive()
    }
}
