//! Lists, ranges and shares on the command line.

use std::ops::Range;

use crate::exit::bad_input;

fn wrong<T>(text: &str) -> anyhow::Result<T> {
    Err(bad_input(text))
}

/// `1,3,5-7`.
pub(crate) fn numbers(text: &str) -> anyhow::Result<Vec<usize>> {
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

/// `7:40`, `:40`, `7:`.
pub(super) fn range(text: &str, length: usize) -> anyhow::Result<Range<usize>> {
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

/// `train=0.8,val=0.2` as numbers of episodes: each its share, the last takes the rest.
pub(super) fn parts(text: &str, episodes: usize) -> anyhow::Result<Vec<(String, usize)>> {
    let mut parts: Vec<(String, f64)> = Vec::new();
    for part in text.split(',') {
        let Some((name, share)) = part.split_once('=') else {
            return wrong(&format!("\"{part}\": give NAME=PART, for example train=0.8"));
        };
        let plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
        if parts.iter().any(|(known, _)| known == name.trim()) {
            return wrong(&format!("{name} is named twice"));
        }
        match share.trim().parse::<f64>() {
            Ok(share) if plain && share > 0.0 && share.is_finite() => {
                parts.push((name.trim().to_owned(), share));
            }
            _ => return wrong(&format!("\"{part}\": give a name and a part above 0")),
        }
    }
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    let (mut done, mut so_far) = (0, 0.0);
    let mut counted = Vec::new();
    for (name, share) in parts {
        so_far += share;
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
        assert_eq!(numbers("5-7, 1,3").unwrap(), [1, 3, 5, 6, 7]);
        assert!(numbers("2-1").is_err() && numbers("x").is_err() && numbers("").is_err());
        assert_eq!(range("7:", 40).unwrap(), 7..40);
        assert_eq!(range(":9", 40).unwrap(), 0..9);
        assert!(range("9", 40).is_err());
    }

    #[test]
    fn shares_cover_all_episodes() {
        let parts = parts("train=0.8,val=0.2", 11).unwrap();
        assert_eq!(parts, [("train".to_owned(), 9), ("val".to_owned(), 2)]);
        assert!(super::parts("a=1,b=0.01", 3).is_err());
        assert!(super::parts("../a=1", 3).is_err() && super::parts("a=1,a=1", 3).is_err());
    }
}
