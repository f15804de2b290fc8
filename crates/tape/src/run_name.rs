//! Names of episodes that can be made again: equal names are equal bytes.

use sha2::{Digest, Sha256};

/// Digits of the checksum in a name.
const DIGITS: usize = 12;

/// What the episodes of one run have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName {
    seed: u64,
    checksum: String,
}

impl RunName {
    /// The run that is decided by `seed` and all that is in `settings`.
    #[must_use]
    pub fn new(seed: u64, settings: &serde_json::Value) -> Self {
        let digest = Sha256::digest(settings.to_string().as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { seed, checksum: hex[..DIGITS].to_owned() }
    }

    /// The name of one of its episodes.
    #[must_use]
    pub fn uid(&self, episode: u64) -> String {
        format!("ep-{}-{episode:06}-{}", self.seed, self.checksum)
    }

    /// The run and the index that a name of an episode says; `None` for other names.
    #[must_use]
    pub fn split(uid: &str) -> Option<(Self, u64)> {
        let mut parts = uid.strip_prefix("ep-")?.split('-');
        let seed = parts.next()?.parse().ok()?;
        let episode = parts.next()?.parse().ok()?;
        let run = Self { seed, checksum: parts.next()?.to_owned() };
        (run.uid(episode) == uid).then_some((run, episode))
    }

    /// Which episode of this run has a name; `None` for a name of something else.
    #[must_use]
    pub fn episode_of(&self, uid: &str) -> Option<u64> {
        let episode = uid.split('-').nth(2)?.parse().ok()?;
        (self.uid(episode) == uid).then_some(episode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_belong_to_one_run() {
        let run = RunName::new(7, &json!({"scene": "oranges"}));
        let other = RunName::new(7, &json!({"scene": "cubes"}));
        for episode in [0, 17, 1_234_567_890] {
            let uid = run.uid(episode);
            assert_eq!(run.episode_of(&uid), Some(episode));
            assert_eq!(other.episode_of(&uid), None, "{uid}");
            assert_eq!(RunName::split(&uid), Some((run.clone(), episode)));
        }
        for uid in ["", "ep-7-x-1", "20251115-120000-01234567", "ep-7-17-"] {
            assert_eq!(run.episode_of(uid), None, "{uid}");
            assert_eq!(RunName::split(uid), None, "{uid}");
        }
    }
}
