//! Services: one question, one answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::error::RosError;
use crate::tcpros::{Fields, framed, read_header, read_message, refuse};
use crate::xmlrpc::{Uri, Value, call, connect};

/// Largest question and answer.
const LARGEST: usize = 1 << 20;

/// Answers the bytes of a question, or says why not.
pub type ServiceHandler = dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync;

pub(super) struct Service {
    pub(super) name: String,
    pub(super) type_name: &'static str,
    pub(super) md5: &'static str,
    pub(super) handler: Box<ServiceHandler>,
}

/// Answers until the caller leaves.
pub(super) fn serve(service: &Service, mut stream: TcpStream, fields: &Fields, me: &str) {
    let md5 = fields.get("md5sum");
    if md5 != "*" && md5 != service.md5 {
        let reason = format!("{}: md5sum {md5}, must be {}", service.name, service.md5);
        return refuse(&mut stream, &reason);
    }
    let answer = Fields::new(&[
        ("callerid", me),
        ("md5sum", service.md5),
        ("service", &service.name),
        ("type", service.type_name),
    ]);
    if stream.write_all(&answer.to_bytes()).is_err() || fields.get("probe") == "1" {
        return;
    }
    let mut buffer = Vec::new();
    loop {
        let Ok(question) = read_message(&mut stream, &mut buffer, LARGEST) else { return };
        let (is_ok, body) = match (service.handler)(question) {
            Ok(body) => (1, body),
            Err(reason) => (0, reason.into_bytes()),
        };
        let mut bytes = vec![is_ok];
        bytes.extend(framed(&body));
        if stream.write_all(&bytes).is_err() || fields.get("persistent") != "1" {
            return;
        }
    }
}

/// Asks a service.
pub(super) fn call_service(
    master: &Uri,
    [me, name, md5]: [&str; 3],
    request: &[u8],
    within: Duration,
) -> Result<Vec<u8>, RosError> {
    let end = Instant::now() + within;
    let found = call(master, "lookupService", &[Value::text(me), Value::text(name)])?;
    let uri: Uri = found.as_text().unwrap_or_default().parse()?;
    let failed = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => RosError::Late {
            whom: uri.to_string(),
            what: name.to_owned(),
            seconds: within.as_secs_f64(),
        },
        _ => RosError::io(name, cause),
    };
    let mut stream = connect(&uri.host, uri.port).map_err(failed)?;
    let fields = Fields::new(&[("callerid", me), ("md5sum", md5), ("service", name)]);
    stream.set_write_timeout(Some(within)).map_err(failed)?;
    stream.write_all(&fields.to_bytes()).map_err(failed)?;
    let refused =
        |reason: String| RosError::Refused { whom: uri.to_string(), what: name.to_owned(), reason };
    let theirs = read_header(&mut stream, end)?;
    if theirs.has("error") {
        return Err(refused(theirs.get("error").to_owned()));
    }
    stream.write_all(&framed(request)).map_err(failed)?;
    let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    stream.set_read_timeout(Some(left)).map_err(failed)?;
    let mut is_ok = [0];
    stream.read_exact(&mut is_ok).map_err(failed)?;
    let mut buffer = Vec::new();
    let answer = read_message(&mut stream, &mut buffer, LARGEST)?.to_vec();
    match is_ok {
        [0] => Err(refused(String::from_utf8_lossy(&answer).into_owned())),
        _ => Ok(answer),
    }
}
