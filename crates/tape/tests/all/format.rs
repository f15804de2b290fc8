//! The tape format: files of every version stay readable, and outside bytes never crash.

use std::path::Path;

use citrange_core::Command;
use citrange_core::rng::Rng;
use citrange_tape::Episode;

use crate::common;

const GOLDEN: &str = "tests/golden/format1.tape";

#[test]
fn tapes_of_format_1_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let tape = Episode::read(&path).unwrap();
    assert_eq!((tape.len(), tape.ticks.len(), tape.events.len()), (3, 12, 2));
    assert_eq!(tape.header.task, "wave");
    assert_eq!(tape.model, [7; 1000]);
    assert_eq!(tape.outcome().reason, "script_end");
    assert!(tape.damage.is_empty());
    let last = tape.snapshot(3).unwrap();
    assert_eq!((last.step, last.fields["toy/numbers"].len()), (24, 3));
    // What the rig does with these commands is what the tape says it did.
    let mut rig = common::toy();
    let mut commanded = citrange_core::Commanded::default();
    for tick in &tape.ticks {
        citrange_core::Rig::tick(&mut rig, &Command::at(&tick.limited), &mut commanded).unwrap();
        assert_eq!(commanded.digests, tick.digests, "tick {}", tick.index);
    }
    assert_eq!(rig.numbers, last.fields["toy/numbers"]);
}

/// Run by hand after a change of the format: `cargo test -p citrange-tape -- --ignored golden`.
#[test]
#[ignore = "writes the golden file"]
fn write_the_golden_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = common::open(&folder.path().join("set"));
    common::record(&mut dataset, 3);
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    std::fs::copy(&tape.path, Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN)).unwrap();
}

#[test]
fn any_damage_is_an_answer_and_never_invents_numbers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let bytes = std::fs::read(&path).unwrap();
    let whole = Episode::from_bytes(&bytes, &path).unwrap();
    let mut rng = Rng::new(9);
    let (mut read, mut refused) = (0, 0);
    for round in 0..4000 {
        let mut damaged = bytes.clone();
        if round % 2 == 0 {
            damaged.truncate((rng.next_u64() as usize) % bytes.len());
        }
        for _ in 0..rng.next_u64() % 4 {
            if let Some(last) = damaged.len().checked_sub(1) {
                let at = (rng.next_u64() as usize) % (last + 1);
                damaged[at] ^= 1 << (rng.next_u64() % 8);
            }
        }
        match Episode::from_bytes(&damaged, &path) {
            Ok(tape) => {
                read += 1;
                // Whatever is left is what was written.
                assert_eq!(tape.ticks[..], whole.ticks[..tape.ticks.len()]);
                for (a, b) in tape.frames.iter().zip(&whole.frames) {
                    assert_eq!(
                        (a.index, &a.state, &a.joint_pos),
                        (b.index, &b.state, &b.joint_pos)
                    );
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("format1.tape"), "{error}");
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}
