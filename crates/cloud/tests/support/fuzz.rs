//! A seeded fuzzer of everything that reads clouds from outside.
//!
//! A case is a function of (seed, number): a valid input of some kind is damaged and given to its
//! reader; when that accepts it, every point and colour is read. A panic is a finding.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;

use crate::fuzz_kinds::{Kind, kinds};

/// What a run has seen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Cases tried.
    pub(crate) cases: u64,
    /// Per kind: name, accepted, refused.
    pub(crate) kinds: Vec<(&'static str, u64, u64)>,
    /// Cases that panicked.
    pub(crate) findings: Vec<u64>,
    /// The case that took longest.
    pub(crate) slowest: (Duration, u64),
}

/// Runs cases from `first` on until the time is up, but at least one; `progress` is called about
/// once a second.
pub(crate) fn run(
    seed: u64,
    first: u64,
    limit: Duration,
    mut progress: impl FnMut(&Tally),
) -> Tally {
    let kinds = kinds();
    let mut tally =
        Tally { kinds: kinds.iter().map(|k| (k.name, 0, 0)).collect(), ..Tally::default() };
    let start = Instant::now();
    let mut shown = start;
    loop {
        one(&kinds, seed, first + tally.cases, &mut tally);
        tally.cases += 1;
        if start.elapsed() >= limit {
            return tally;
        }
        if shown.elapsed() > Duration::from_secs(1) {
            shown = Instant::now();
            progress(&tally);
        }
    }
}

/// Runs one case.
fn one(kinds: &[Kind], seed: u64, case: u64, tally: &mut Tally) {
    let mut rng = Rng::for_episode(seed, case, "fuzz");
    let which = below(&mut rng, kinds.len());
    let kind = &kinds[which];
    let mut bytes = kind.seeds[below(&mut rng, kind.seeds.len())].clone();
    for _ in 0..1 + below(&mut rng, 4) {
        damage(&mut rng, &mut bytes, kinds);
    }
    let start = Instant::now();
    match catch_unwind(AssertUnwindSafe(|| (kind.feed)(&bytes))) {
        Ok(true) => tally.kinds[which].1 += 1,
        Ok(false) => tally.kinds[which].2 += 1,
        Err(_) => tally.findings.push(case),
    }
    tally.slowest = tally.slowest.max((start.elapsed(), case));
}

fn below(rng: &mut Rng, limit: usize) -> usize {
    (rng.next_u64() % limit.max(1) as u64) as usize
}

/// Whole numbers at which readers break.
fn boundary(rng: &mut Rng) -> u64 {
    let base = 1_u64.checked_shl(below(rng, 65) as u32).unwrap_or(0);
    base.wrapping_add([0, 1, u64::MAX, 2, 7][below(rng, 5)])
}

/// Changes the bytes in one of the ways that break readers.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>, kinds: &[Kind]) {
    let at = below(rng, bytes.len());
    let length = below(rng, 64.min(bytes.len() - at.min(bytes.len())) + 1);
    match below(rng, 10) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << below(rng, 8),
        1 if !bytes.is_empty() => bytes[at] = rng.next_u64() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + length)),
        4 => {
            let copy = bytes[at..at + length].to_vec();
            let to = below(rng, bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        5 => {
            let other = &kinds[below(rng, kinds.len())];
            let other = &other.seeds[below(rng, other.seeds.len())];
            let from = below(rng, other.len());
            let end = (from + below(rng, 64)).min(other.len());
            bytes.splice(at..at + length, other[from..end].iter().copied());
        }
        6 => bytes.extend((0..below(rng, 9)).map(|_| rng.next_u64() as u8)),
        7 => {
            // A number in a text becomes another.
            let Some(first) = bytes[at..].iter().position(u8::is_ascii_digit) else { return };
            let first = at + first;
            let count = bytes[first..].iter().take_while(|b| b.is_ascii_digit()).count();
            let text = [boundary(rng).to_string(), "-1".into(), "nan".into(), "1e39".into()];
            let text = text[below(rng, 8).saturating_sub(4)].clone();
            bytes.splice(first..first + count, text.into_bytes());
        }
        _ => {
            let size = 1 << below(rng, 4);
            let mut number = boundary(rng).to_le_bytes()[..size].to_vec();
            if below(rng, 4) == 0 {
                number.reverse();
            }
            let end = (at + size).min(bytes.len());
            bytes.splice(at..end, number);
        }
    }
}
