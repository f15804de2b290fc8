//! One HTTP message in, one out: as much as XML-RPC needs, with limits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::LARGEST_BODY;

/// Largest header.
const LARGEST_HEADER: usize = 64 << 10;

/// The body of the message that comes over a stream, whole before `end`; and its first line.
pub(super) fn read(stream: &mut TcpStream, end: Instant) -> io::Result<(String, String)> {
    let mut bytes = Vec::new();
    let header = loop {
        if let Some(at) = find(&bytes, b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > LARGEST_HEADER {
            return Err(bad("its header is larger than 64 KiB"));
        }
        if more(stream, &mut bytes, end)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..header]).into_owned();
    let length = head.lines().skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let length = length.transpose().map_err(|_| bad("its Content-Length is no number"))?;
    let mut body = bytes.split_off(header + 4);
    match length {
        Some(length) if length > LARGEST_BODY => return Err(bad("its body is larger than 4 MiB")),
        Some(length) => {
            while body.len() < length {
                if more(stream, &mut body, end)? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            body.truncate(length);
        }
        None => {
            while more(stream, &mut body, end)? > 0 {
                if body.len() > LARGEST_BODY {
                    return Err(bad("its body is larger than 4 MiB"));
                }
            }
        }
    }
    let first = head.lines().next().unwrap_or_default().to_owned();
    let body = String::from_utf8(body).map_err(|_| bad("its body is not UTF-8"))?;
    Ok((first, body))
}

/// Sends a message whose first line is given.
pub(super) fn write(stream: &mut TcpStream, head: &str, body: &str) -> io::Result<()> {
    let text = format!(
        "{head}\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes())
}

/// What came, appended.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, end: Instant) -> io::Result<usize> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    let mut some = [0; 8192];
    loop {
        match stream.read(&mut some) {
            Ok(count) => {
                bytes.extend_from_slice(&some[..count]);
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn bad(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
