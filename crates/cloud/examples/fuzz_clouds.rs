//! Damages messages and files and gives them to their readers, until the time is up.
//!
//! `fuzz_clouds [--seconds N] [--seed S] [--first CASE]`: progress on stderr, counts at the end on
//! stdout; exit code 1 if a reader panicked, with the random seed and the numbers of the cases. The
//! panic's own message, with its place, was printed when it happened. `--seconds 0 --first CASE`
//! repeats one case.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its product is a report")]
#![allow(clippy::unwrap_used, reason = "the valid inputs are made by code that tests share")]

#[path = "../tests/support/fuzz.rs"]
mod fuzz;
#[path = "../tests/support/fuzz_kinds.rs"]
mod fuzz_kinds;
#[path = "../tests/support/picture.rs"]
mod picture;
#[path = "../tests/support/recordings.rs"]
mod recordings;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut first) = (10, 1, 0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|n| n.parse::<u64>().ok());
        match (word.as_str(), number) {
            ("--seconds", Some(number)) => seconds = number,
            ("--seed", Some(number)) => seed = number,
            ("--first", Some(number)) => first = number,
            _ => {
                eprintln!("fuzz_clouds [--seconds N] [--seed S] [--first CASE], not {word}");
                return ExitCode::from(2);
            }
        }
    }
    let tally = fuzz::run(seed, first, Duration::from_secs(seconds), |tally| {
        eprint!("\r{} cases, {} findings", tally.cases, tally.findings.len());
    });
    eprintln!();
    println!("seed {seed}: {} cases in {seconds} s", tally.cases);
    for (name, accepted, refused) in &tally.kinds {
        println!("{name:>8}: {accepted} accepted, {refused} refused");
    }
    println!("slowest: case {} took {:?}", tally.slowest.1, tally.slowest.0);
    println!("findings: {:?}", tally.findings);
    ExitCode::from(u8::from(!tally.findings.is_empty()))
}
