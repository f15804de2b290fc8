//! Calls to others.

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::http;
use super::value::{Value, parse_answer, write_call};
use crate::error::RosError;

/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(2);
/// Longest time for a whole call.
const ANSWER: Duration = Duration::from_secs(5);

/// Where an API is served: `http://host:port/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uri {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl FromStr for Uri {
    type Err = RosError;

    fn from_str(text: &str) -> Result<Self, RosError> {
        let bad = || RosError::bad(text, "is no URI like http://host:11311");
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("rosrpc://"));
        let place = rest.ok_or_else(bad)?.trim_end_matches('/');
        let (host, port) = place.rsplit_once(':').ok_or_else(bad)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().map_err(|_| bad())?;
        if host.is_empty() || port == 0 {
            return Err(bad());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "http://[{}]:{}/", self.host, self.port),
            false => write!(f, "http://{}:{}/", self.host, self.port),
        }
    }
}

/// A connection to `host:port`, by whichever of its addresses answers first.
pub(crate) fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Calls a method of an API and unpacks ROS's answer `[code, text, value]`.
///
/// # Errors
/// When it is not reached, does not answer in 5 s, or says no.
pub fn call(uri: &Uri, method: &str, params: &[Value]) -> Result<Value, RosError> {
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => RosError::Late {
            whom: uri.to_string(),
            what: method.to_owned(),
            seconds: ANSWER.as_secs_f64(),
        },
        _ => RosError::io(format!("{uri}: {method}"), cause),
    };
    let end = Instant::now() + ANSWER;
    let mut stream = connect(&uri.host, uri.port).map_err(failed)?;
    stream.set_write_timeout(Some(ANSWER)).map_err(failed)?;
    let head = format!("POST / HTTP/1.1\r\nHost: {}:{}", uri.host, uri.port);
    http::write(&mut stream, &head, &write_call(method, params)).map_err(failed)?;
    let (first, body) = http::read(&mut stream, end).map_err(failed)?;
    let refused = |reason: String| RosError::Refused {
        whom: uri.to_string(),
        what: method.to_owned(),
        reason,
    };
    if first.split_whitespace().nth(1) != Some("200") {
        return Err(refused(format!("it answered \"{first}\"")));
    }
    let answer = parse_answer(&body)?;
    match answer.as_array() {
        Some([Value::Int(1), _, value]) => Ok(value.clone()),
        Some([Value::Int(_), said, _]) => {
            Err(refused(said.as_text().unwrap_or("without a reason").to_owned()))
        }
        _ => Err(refused(format!("its answer has not three parts: {answer:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written() {
        for (text, host, port) in [
            ("http://localhost:11311", "localhost", 11311),
            ("http://127.0.0.1:5/", "127.0.0.1", 5),
            ("rosrpc://robot.local:60001", "robot.local", 60001),
            ("http://[::1]:80/", "::1", 80),
        ] {
            let uri: Uri = text.parse().unwrap();
            assert_eq!((uri.host.as_str(), uri.port), (host, port));
            assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri);
        }
        for text in ["", "localhost:11311", "http://:1", "http://a", "http://a:x", "http://a:0"] {
            assert!(text.parse::<Uri>().is_err(), "{text}");
        }
    }
}
