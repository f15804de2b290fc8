//! Part of a run: for many machines, each of which makes one.

use std::str::FromStr;

use super::goal::Goal;

/// Part `index` of `of`: episodes that follow one another, as many in each part as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// Index of its first episode and how many it has, of a run that begins with `first`.
    #[must_use]
    pub fn part(&self, first: u64, episodes: u64) -> (u64, u64) {
        let until = |index: u64| {
            // Of very many episodes the product is large.
            let upto = u128::from(episodes) * u128::from(index) / u128::from(self.of);
            u64::try_from(upto).unwrap_or(u64::MAX)
        };
        let (from, to) = (until(self.index), until(self.index + 1));
        (first.saturating_add(from), to - from)
    }

    /// What it has to have in the end: its own episodes. One that cannot be made is missing; none
    /// of the next part takes its place.
    #[must_use]
    pub fn goal(&self, first: u64, episodes: u64) -> Goal {
        let (_, count) = self.part(first, episodes);
        Goal::episodes(count, Some(count))
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("\"{text}\" is no part; give I/N with I from 0 to N - 1, such as 0/4");
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let (index, of) = (index.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if index < of { Ok(Self { index, of }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_it_and_nothing_twice() {
        for (episodes, of) in [(10, 3), (2, 5), (7, 7), (200, 16), (0, 4), (u64::MAX, 3)] {
            let mut next = 5;
            for index in 0..of {
                let shard: Shard = format!("{index}/{of}").parse().unwrap();
                let (first, count) = shard.part(5, episodes);
                assert_eq!(first, next);
                assert!(count.abs_diff(episodes / of) <= 1, "{count} of {episodes} in {of}");
                next = first.saturating_add(count);
            }
            assert_eq!(next, episodes.saturating_add(5));
        }
    }

    #[test]
    fn what_is_no_part_is_said() {
        for text in ["", "3", "4/4", "1/0", "-1/2", "a/b", "1/2/3", "1.5/2"] {
            let why = text.parse::<Shard>().unwrap_err();
            assert!(why.contains("such as 0/4"), "{why}");
        }
    }
}
