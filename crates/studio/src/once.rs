//! Codes that open the page once.
//!
//! The token stands in the link that people open, and browsers write down what is opened. So the
//! link leads on to an address with a code that is worth nothing a moment later; the page takes
//! the token out of its own text, keeps it in the memory of its tab, and clears the address. The
//! link is then in no list of visited pages, but browsers still have it in their files as an
//! address that led on (Chromium also offers it when it is typed again). It is worth nothing once
//! the program has ended. Nothing stays of a token that is pasted into the bare page.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StudioError;
use crate::guard::random_hex;

/// Longest between the link and the page; also for a slow line.
const LONGEST: Duration = Duration::from_secs(60);
/// Codes that wait; the oldest goes when there are more.
const MOST: usize = 64;

/// Codes given out and not used.
#[derive(Debug, Default)]
pub(crate) struct Codes(Mutex<VecDeque<(String, Instant)>>);

impl Codes {
    /// A new code.
    pub(crate) fn give(&self) -> Result<String, StudioError> {
        let code = random_hex()?;
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if codes.len() >= MOST {
            codes.pop_front();
        }
        codes.push_back((code.clone(), Instant::now()));
        Ok(code)
    }

    /// Whether the query of a request carries a code that was not used before; it is now.
    pub(crate) fn take(&self, query: Option<&str>) -> bool {
        let Some(found) = query.and_then(|query| query.strip_prefix("once=")) else { return false };
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, given)| given.elapsed() < LONGEST);
        let at = codes.iter().position(|(code, _)| code == found);
        at.is_some_and(|at| codes.remove(at).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_opens_once() {
        let codes = Codes::default();
        let code = codes.give().unwrap();
        let query = format!("once={code}");
        assert!(!codes.take(None) && !codes.take(Some("once=")) && !codes.take(Some(&code)));
        assert!(codes.take(Some(&query)));
        assert!(!codes.take(Some(&query)), "it was used");
        let first = codes.give().unwrap();
        for _ in 0..MOST {
            codes.give().unwrap();
        }
        assert!(!codes.take(Some(&format!("once={first}"))), "the oldest went");
    }
}
