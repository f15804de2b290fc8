//! `-v` and `CITRANGE_LOG`: on stderr, never among the data; nothing unless asked for.

mod common;

use common::{citrange, stderr, temp};

const SHOW: [&str; 4] = ["scene", "show", "block_box", "--json"];

#[test]
fn more_is_told_on_stderr_and_the_data_stays_the_same() {
    let folder = temp();
    let plain = citrange(folder.path(), &SHOW, &[]);
    assert!(plain.status.success(), "{}", stderr(&plain));
    assert!(!stderr(&plain).contains("compile_scene"), "{}", stderr(&plain));
    for (words, variables) in [
        (&["-v"][..], &[][..]),
        (&["--verbose"], &[]),
        (&[], &[("CITRANGE_LOG", "citrange_sim=info")]),
    ] {
        let told = citrange(folder.path(), &[words, &SHOW].concat(), variables);
        assert_eq!(told.stdout, plain.stdout, "{words:?}");
        let lines = stderr(&told);
        let line = lines.lines().find(|line| line.contains("compile_scene")).unwrap();
        assert!(line.contains("time.busy") && line.contains("block_box"), "{line}");
    }
    // Parts that are not asked for say nothing.
    let other = citrange(folder.path(), &SHOW, &[("CITRANGE_LOG", "citrange_tape=trace")]);
    assert!(!stderr(&other).contains("compile_scene"), "{}", stderr(&other));
}

#[test]
fn what_cannot_be_understood_is_told_with_what_would_be_right() {
    let folder = temp();
    let wrong = citrange(folder.path(), &SHOW, &[("CITRANGE_LOG", "citrange_sim=loud")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("citrange_sim=debug would be right"), "{}", stderr(&wrong));
}
