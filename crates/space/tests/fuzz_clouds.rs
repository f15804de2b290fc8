//! Two seconds of damaged messages and files; `examples/fuzz_clouds.rs` runs for longer.

#[path = "support/fuzz.rs"]
mod fuzz;
#[path = "support/fuzz_kinds.rs"]
mod fuzz_kinds;
#[path = "support/picture.rs"]
mod picture;

use std::time::Duration;

#[test]
fn damage_is_refused_without_panics() {
    let tally = fuzz::run(1, Duration::from_secs(2), |_| ());
    assert!(tally.findings.is_empty(), "cases {:?} of seed 1 panicked", tally.findings);
    for (name, accepted, refused) in tally.kinds {
        assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused");
    }
}
