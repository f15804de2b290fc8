//! Two seconds of damaged messages and files; `examples/fuzz_clouds.rs` runs for longer.

use std::time::Duration;

use crate::fuzz;

#[test]
fn damage_is_refused_without_panics() {
    let tally = fuzz::run(1, 0, Duration::from_secs(2), |_| ());
    assert!(tally.findings.is_empty(), "cases {:?} of seed 1 panicked", tally.findings);
    for (name, accepted, refused) in tally.kinds {
        assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused");
    }
}
