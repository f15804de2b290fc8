//! Whether what a session is told makes sense, in the words of the command line.

use super::session::DriveOptions;
use crate::error::{EpisodesError, Result, bad_input};

/// The longest time that can be meant.
const DAY_S: f64 = 86_400.0;

impl DriveOptions {
    /// Checks every number.
    ///
    /// # Errors
    /// Names what is out of range, and what would be right.
    pub fn check(&self) -> Result<()> {
        let lost_percent = (1e9 * 100.0 * self.max_lost).round() / 1e9;
        if !(0.0..=100.0).contains(&lost_percent) {
            bad_input!("--max-lost-pictures {lost_percent}: give percent from 0 to 100");
        }
        for (name, seconds, least) in [
            ("--episode-time", self.episode_s.unwrap_or(1.0), 0.1),
            ("--reset-time", self.reset_s, 0.0),
            ("--countdown", self.countdown_s, 0.0),
            ("--ask-time", self.ask_s, 0.1),
        ] {
            if !(least..=DAY_S).contains(&seconds) {
                bad_input!("{name} {seconds}: give seconds from {least} to {DAY_S}");
            }
        }
        if self.dataset.is_none() && (self.episodes.is_some() || self.episode_s.is_some()) {
            let text = "--episodes and --episode-time need --record DATASET";
            return Err(EpisodesError::Usage(text.to_owned()));
        }
        Ok(())
    }
}
