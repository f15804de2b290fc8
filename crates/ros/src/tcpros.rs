//! What goes over a connection between two nodes: a header of fields, then messages.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::error::RosError;

/// Largest header: definitions of messages are in it.
pub const LARGEST_HEADER: usize = 1 << 20;
/// How much memory a message's length takes before its bytes come.
const STEP: usize = 1 << 20;

/// Fields of a connection's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Of these.
    #[must_use]
    pub fn new(fields: &[(&str, &str)]) -> Self {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Self(fields.iter().map(own).collect())
    }

    /// A field; empty where there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> &str {
        self.0.get(key).map_or("", String::as_str)
    }

    /// Whether there is such a field.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The header with its length.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for (key, value) in &self.0 {
            let length = u32::try_from(key.len() + 1 + value.len()).unwrap_or(u32::MAX);
            bytes.extend(length.to_le_bytes());
            bytes.extend(key.as_bytes());
            bytes.push(b'=');
            bytes.extend(value.as_bytes());
        }
        let total = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&total.to_le_bytes());
        bytes
    }

    /// Reads the fields of a header, without its length.
    ///
    /// # Errors
    /// When a field reaches beyond the end, or is none.
    pub fn parse(mut bytes: &[u8]) -> Result<Self, RosError> {
        let bad = |reason: &str| RosError::bad("TCPROS header", reason);
        let mut fields = BTreeMap::new();
        while !bytes.is_empty() {
            let (length, rest) =
                bytes.split_first_chunk::<4>().ok_or_else(|| bad("a length is cut off"))?;
            let length = u32::from_le_bytes(*length) as usize;
            if length > rest.len() {
                let reason = format!("a field of {length} bytes in {} that are left", rest.len());
                return Err(bad(&reason));
            }
            let (field, rest) = rest.split_at(length);
            let text = String::from_utf8_lossy(field);
            let (key, value) = text.split_once('=').ok_or_else(|| bad("a field without ="))?;
            fields.insert(key.to_owned(), value.to_owned());
            bytes = rest;
        }
        Ok(Self(fields))
    }
}

/// Reads a header that must be there before `end`.
pub(crate) fn read_header(stream: &mut TcpStream, end: Instant) -> Result<Fields, RosError> {
    let failed = |cause| RosError::io("reading a TCPROS header", cause);
    let mut bytes = Vec::new();
    let wait = |stream: &TcpStream| {
        let left = end.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))
    };
    wait(stream).map_err(failed)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).map_err(failed)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST_HEADER {
        let reason = format!("{length} bytes, at most {LARGEST_HEADER} are taken");
        return Err(RosError::bad("TCPROS header", reason));
    }
    while bytes.len() < length {
        wait(stream).map_err(failed)?;
        let mut some = [0; 8192];
        let want = some.len().min(length - bytes.len());
        match stream.read(&mut some[..want]).map_err(failed)? {
            0 => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
            got => bytes.extend_from_slice(&some[..got]),
        }
        if Instant::now() > end {
            return Err(failed(io::ErrorKind::TimedOut.into()));
        }
    }
    stream.set_read_timeout(None).map_err(failed)?;
    Fields::parse(&bytes)
}

/// Reads the next message into a buffer that is used again; at most `limit` bytes.
pub(crate) fn read_message<'a>(
    stream: &mut impl Read,
    buffer: &'a mut Vec<u8>,
    limit: usize,
) -> Result<&'a [u8], RosError> {
    let failed = |cause| RosError::io("reading a message", cause);
    let mut length = [0; 4];
    stream.read_exact(&mut length).map_err(failed)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > limit {
        let reason = format!("{length} bytes, at most {limit} are taken on this topic");
        return Err(RosError::bad("TCPROS message", reason));
    }
    let mut have = 0;
    while have < length {
        let until = length.min(have + STEP);
        if buffer.len() < until {
            buffer.resize(until, 0);
        }
        stream.read_exact(&mut buffer[have..until]).map_err(failed)?;
        have = until;
    }
    Ok(&buffer[..length])
}

/// A message with its length in front.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.len() + 4);
    bytes.extend(u32::try_from(message.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(message);
    bytes
}

/// Answers that a connection cannot be, and why.
pub(crate) fn refuse(stream: &mut TcpStream, reason: &str) {
    let _whoever_left = stream.write_all(&Fields::new(&[("error", reason)]).to_bytes());
}

/// Notices within seconds that the other side's machine or network is gone.
pub(crate) fn watch_over(stream: &TcpStream) {
    use rustix::net::sockopt;
    let _best_effort = sockopt::set_socket_keepalive(stream, true)
        .and_then(|()| sockopt::set_tcp_keepidle(stream, Duration::from_secs(2)))
        .and_then(|()| sockopt::set_tcp_keepintvl(stream, Duration::from_secs(1)))
        .and_then(|()| sockopt::set_tcp_keepcnt(stream, 3))
        .and_then(|()| sockopt::set_tcp_user_timeout(stream, 5_000));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_as_ros_writes_them() {
        let fields = Fields::new(&[("type", "a/B"), ("topic", "/t=1")]);
        let bytes = fields.to_bytes();
        assert_eq!(bytes, b"\x1a\0\0\0\x0a\0\0\0topic=/t=1\x08\0\0\0type=a/B");
        assert_eq!(Fields::parse(&bytes[4..]).unwrap(), fields);
        assert!(Fields::parse(&bytes[4..bytes.len() - 1]).is_err());
    }

    #[test]
    fn a_length_that_lies_takes_no_more_memory_than_comes() {
        let mut lie = Vec::from(60_000_000_u32.to_le_bytes());
        lie.extend([1; 100]);
        let mut buffer = Vec::new();
        assert!(read_message(&mut lie.as_slice(), &mut buffer, 64 << 20).is_err());
        assert!(buffer.len() <= STEP);
        let mut huge: &[u8] = &[255; 8];
        let error = read_message(&mut huge, &mut buffer, 64 << 20).unwrap_err().to_string();
        assert!(error.contains("4294967295 bytes"), "{error}");
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8),
        ) {
            let sent: Vec<u8> = messages.iter().flat_map(|message| framed(message)).collect();
            let (mut stream, mut buffer) = (sent.as_slice(), Vec::new());
            for message in &messages {
                prop_assert_eq!(read_message(&mut stream, &mut buffer, 300).unwrap(), &message[..]);
            }
            prop_assert!(stream.is_empty());
        }
    }
}
