//! Episodes and frames as people name them: lists, ranges, parts of a dataset.

use std::ops::Range;

use citrange_tape::Dataset;

use crate::error::{EpisodesError, Result};

fn wrong<T>(text: &str) -> Result<T> {
    Err(EpisodesError::BadInput(text.to_owned()))
}

/// Numbers of episodes, rising: `1,3,5-7`.
///
/// # Errors
/// When it is no such list.
pub fn episode_numbers(text: &str) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to && to - from < 1_000_000 => all.extend(from..=to),
            _ => return wrong(&format!("\"{part}\" is no episode; give numbers like 1,3,5-7")),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The same, of a dataset that must have them.
///
/// # Errors
/// When it is no such list, or there is no such episode.
pub fn episodes_of(dataset: &Dataset, text: &str) -> Result<Vec<usize>> {
    let episodes = episode_numbers(text)?;
    for episode in &episodes {
        dataset.check_episode(*episode)?;
    }
    Ok(episodes)
}

/// Frames of an episode of some length: `7:40`, `:40`, `7:`.
///
/// # Errors
/// When it is no such range.
pub fn frame_range(text: &str, length: usize) -> Result<Range<usize>> {
    let number = |part: &str, empty: usize| match part.trim() {
        "" => Some(empty),
        part => part.parse().ok(),
    };
    let parts = text.split_once(':').map(|(a, b)| (number(a, 0), number(b, length)));
    match parts {
        Some((Some(from), Some(to))) => Ok(from..to),
        _ => wrong(&format!("\"{text}\" is no range of frames; give FROM:TO, for example 7:40")),
    }
}

/// `train=0.8,val=0.2` as numbers of episodes: each its fraction, the last takes the rest.
///
/// # Errors
/// When a part has no name, or would get no episode.
pub fn split_parts(text: &str, episodes: usize) -> Result<Vec<(String, usize)>> {
    let mut parts: Vec<(String, f64)> = Vec::new();
    for part in text.split(',') {
        let Some((name, fraction)) = part.split_once('=') else {
            return wrong(&format!("\"{part}\": give NAME=PART, for example train=0.8"));
        };
        let plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
        if parts.iter().any(|(known, _)| known == name.trim()) {
            return wrong(&format!("{name} is named twice"));
        }
        match fraction.trim().parse::<f64>() {
            Ok(fraction) if plain && fraction > 0.0 && fraction.is_finite() => {
                parts.push((name.trim().to_owned(), fraction));
            }
            _ => return wrong(&format!("\"{part}\": give a name and a part above 0")),
        }
    }
    let sum: f64 = parts.iter().map(|(_, fraction)| fraction).sum();
    let (mut done, mut so_far) = (0, 0.0);
    let mut counted = Vec::new();
    for (name, fraction) in parts {
        so_far += fraction;
        let until = (so_far / sum * episodes as f64).round() as usize;
        if until == done {
            return wrong(&format!("{name} would get none of {episodes} episodes"));
        }
        counted.push((name, until - done));
        done = until;
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(episode_numbers("5-7, 1,3").unwrap(), [1, 3, 5, 6, 7]);
        assert!(
            episode_numbers("2-1").is_err()
                && episode_numbers("x").is_err()
                && episode_numbers("").is_err()
        );
        assert_eq!(frame_range("7:", 40).unwrap(), 7..40);
        assert_eq!(frame_range(":9", 40).unwrap(), 0..9);
        assert!(frame_range("9", 40).is_err());
    }

    #[test]
    fn parts_cover_all_episodes() {
        let parts = split_parts("train=0.8,val=0.2", 11).unwrap();
        assert_eq!(parts, [("train".to_owned(), 9), ("val".to_owned(), 2)]);
        assert!(split_parts("a=1,b=0.01", 3).is_err());
        assert!(split_parts("../a=1", 3).is_err() && split_parts("a=1,a=1", 3).is_err());
    }
}
