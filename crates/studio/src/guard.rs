//! Who may speak to the server: the token, the Host header, the Origin header.
//!
//! The token keeps other people out. Host and Origin keep other pages in the same browser out:
//! a foreign page cannot read the token, but it can make a browser send requests here, under its
//! own name (Origin) or under a name that it made point here (Host).

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, header};

use crate::error::StudioError;

const LEAST_TOKEN: usize = 16;
const MOST_TOKEN: usize = 128;

/// Where our own page says the token: a foreign page's request with it is not even sent.
const TOKEN_HEADER: HeaderName = HeaderName::from_static("citrange-token");

/// The secret in the link.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// The given one, or 128 random bits.
    pub(crate) fn new(given: Option<&str>) -> Result<Self, StudioError> {
        if let Some(given) = given {
            let fits = (LEAST_TOKEN..=MOST_TOKEN).contains(&given.len())
                && given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            let (length, least, most) = (given.chars().count(), LEAST_TOKEN, MOST_TOKEN);
            let wrong = StudioError::Token { length, least, most };
            return if fits { Ok(Self(given.to_owned())) } else { Err(wrong) };
        }
        Ok(Self(random_hex()?))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether the query of a request carries it.
    pub(crate) fn is_in(&self, query: Option<&str>) -> bool {
        token_of(query).is_some_and(|found| self.is(found))
    }

    /// Whether a header of a request carries it, as our own page sends it.
    pub(crate) fn is_in_header(&self, headers: &HeaderMap) -> bool {
        single(headers, &TOKEN_HEADER).is_some_and(|found| self.is(found))
    }

    /// Whether this is it. Takes the same time wherever they differ.
    fn is(&self, found: &str) -> bool {
        if found.len() != self.0.len() {
            return false;
        }
        let differing = found
            .bytes()
            .zip(self.0.bytes())
            .fold(0_u8, |all, (a, b)| all | std::hint::black_box(a ^ b));
        std::hint::black_box(differing) == 0
    }
}

/// 128 random bits.
pub(crate) fn random_hex() -> Result<String, StudioError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| StudioError::Random(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The token in a query, right or wrong.
pub(crate) fn token_of(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Names under which the server may be called.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(crate) fn new(extra: &[String]) -> Result<Self, StudioError> {
        let mut names: Vec<String> = ["127.0.0.1", "localhost", "[::1]"].map(String::from).into();
        for name in extra {
            let plain = name.trim_start_matches('[').trim_end_matches(']');
            let address = plain.parse::<IpAddr>();
            let good = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_' || b == b'.';
            if address.is_err() && (name.is_empty() || !name.bytes().all(good)) {
                return Err(StudioError::Host(name.clone()));
            }
            names.push(match address {
                Ok(address) => host_of_address(address),
                Err(_) => name.to_ascii_lowercase(),
            });
        }
        Ok(Self(names))
    }

    /// Whether the Host header names this server; the port may be any, tunnels change it.
    /// `local` is the address the connection came in on.
    pub(crate) fn allow(&self, headers: &HeaderMap, local: IpAddr) -> bool {
        let Some(host) = single(headers, &header::HOST) else { return false };
        let host = host.to_ascii_lowercase();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                name
            }
            _ => &host,
        };
        self.0.iter().any(|known| known == name) || name == host_of_address(local)
    }
}

fn host_of_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    }
}

/// Whether the Origin header is a page of this very server, as Host calls it.
pub(crate) fn same_origin(headers: &HeaderMap) -> bool {
    let Some(host) = single(headers, &header::HOST) else { return false };
    let Some(origin) = single(headers, &header::ORIGIN) else { return false };
    let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    from.is_some_and(|from| from.eq_ignore_ascii_case(host))
}

/// A header that is there exactly once and readable.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(host: &str, origin: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        headers
    }

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let (a, b) = (Token::new(None).unwrap(), Token::new(None).unwrap());
        assert_eq!(a.text().len(), 32);
        assert_ne!(a.text(), b.text());
        assert!(a.is_in(Some(&format!("x=1&token={}", a.text()))));
        for query in [None, Some(""), Some("token="), Some("token"), Some(&a.text()[..31])] {
            assert!(!a.is_in(query), "{query:?}");
        }
        assert!(!a.is_in(Some(&format!("token={}", b.text()))));
        assert!(!a.is_in(Some(&format!("token={}0", a.text()))));
    }

    #[test]
    fn weak_tokens_are_refused() {
        assert_eq!(
            Token::new(Some("a-long_enough-secret")).unwrap().text(),
            "a-long_enough-secret"
        );
        for weak in ["", "short", "has spaces in the middle", "a&token=bbbbbbbbbbbbbbbb"] {
            assert!(Token::new(Some(weak)).is_err(), "{weak}");
        }
    }

    #[test]
    fn only_known_names_reach_the_server() {
        let names = Names::new(&["Robot.local".into(), "fe80::7".into()]).unwrap();
        let local: IpAddr = [192, 168, 1, 5].into();
        for host in [
            "127.0.0.1",
            "localhost:8420",
            "LOCALHOST:9",
            "[::1]:8420",
            "[::1]",
            "robot.local:80",
            "192.168.1.5:8420",
            "[fe80::7]:1",
        ] {
            assert!(names.allow(&headers(host, "x"), local), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8420",
            "127.0.0.1.evil.example",
            "localhost.",
            "192.168.1.6",
            "localhost:8420:1",
            "127.0.0.1@evil.example",
            "localhost:x",
        ] {
            assert!(!names.allow(&headers(host, "x"), local), "{host}");
        }
        let mut twice = headers("localhost", "x");
        twice.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(!names.allow(&twice, local) && !names.allow(&HeaderMap::new(), local));
        for bad in ["", "http://robot", "robot:80", "a b"] {
            assert!(Names::new(&[bad.into()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_our_own_page_may_open_a_socket() {
        assert!(same_origin(&headers("localhost:8420", "http://localhost:8420")));
        assert!(same_origin(&headers("robot.local", "https://robot.local")));
        for origin in [
            "",
            "null",
            "http://localhost",
            "http://localhost:8421",
            "http://evil.example",
            "localhost:8420",
            "ftp://localhost:8420",
            "http://localhost:8420/",
        ] {
            assert!(!same_origin(&headers("localhost:8420", origin)), "{origin}");
        }
        let mut without = headers("localhost:8420", "x");
        without.remove(header::ORIGIN);
        assert!(!same_origin(&without));
    }
}
