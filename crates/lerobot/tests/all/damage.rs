//! Files from outside, cut off and with flipped bits: an answer always, a panic never.

use std::path::Path;

use citrange_core::rng::Rng;
use citrange_lerobot::{CheckOptions, Dataset, check};

use crate::synthetic;

fn look_at(root: &Path) -> bool {
    let Ok(set) = Dataset::open(root) else { return false };
    let options = CheckOptions { deep: true, ..CheckOptions::default() };
    let clean = check(&set, &options, &mut |_, _| {}).is_empty();
    let read = (0..set.episodes().len()).all(|e| set.read_episode(e).is_ok());
    clean && read
}

#[test]
fn cuts_and_flips_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let set = synthetic::dataset(dir.path());
    let root = set.root().to_path_buf();
    let mut chance = Rng::new(0x5EED_1E0B07);
    let mut noticed = 0;
    let mut tries = 0;
    for (name, bytes) in synthetic::contents(&root) {
        let path = root.join(&name);
        for round in 0..14 {
            let mut damaged = bytes.clone();
            if round % 3 == 0 {
                damaged.truncate(chance.below(bytes.len()));
            } else {
                for _ in 0..=chance.below(3) {
                    let at = chance.below(damaged.len());
                    damaged[at] ^= 1 << chance.below(8);
                }
            }
            std::fs::write(&path, &damaged).unwrap();
            tries += 1;
            noticed += usize::from(!look_at(&root));
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(look_at(&root), "whole again");
    // Some flips hit padding, unused keys or pixels; most must be seen.
    assert!(noticed * 2 > tries, "{noticed} of {tries}");
}
