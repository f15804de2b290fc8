//! Every example runs and prints what it promises.

use std::process::Command;

fn printed(program: &str, words: &[&str]) -> String {
    let done = Command::new(program).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program}: {said}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn quick_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("front.png");
    let text = printed(env!("CARGO_BIN_EXE_quick_start"), &[path.to_str().unwrap()]);
    assert!(text.contains("joints of robot0: shoulder_pan"), "{text}");
    assert!(text.contains("world 1: orange_1 is at"), "{text}");
    assert!(text.contains("restored to the bit"), "{text}");
    assert!(std::fs::read(path).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn own_pilot() {
    let text = printed(env!("CARGO_BIN_EXE_own_pilot"), &[]);
    assert!(text.contains("swung after"), "{text}");
    // Back where it began.
    assert!(text.contains("the first joint is at 0.0") || text.contains("at -0.0"), "{text}");
}

#[test]
fn own_rig() {
    let text = printed(env!("CARGO_BIN_EXE_own_rig"), &[]);
    assert_eq!(text, "halted: Ended\n20 frames, the joint is at 1.00 rad\n");
}

#[test]
fn record_and_replay() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let text = printed(env!("CARGO_BIN_EXE_record_and_replay"), &[root.to_str().unwrap()]);
    assert!(text.starts_with("episode 0: 30 frames in "), "{text}");
    assert!(text.contains("bitwise equal: 31 frames, 180 ticks, 360 physics steps"), "{text}");
    assert!(root.join("meta/info.json").exists() && root.join("videos").exists());
}

#[test]
fn map_and_plan() {
    let text = printed(env!("CARGO_BIN_EXE_map_and_plan"), &[]);
    assert!(text.starts_with("441 points, "), "{text}");
    let number = |line: &str| -> f64 {
        let line = text.lines().find(|l| l.starts_with(line)).unwrap();
        let words: Vec<&str> = line.split([' ', ',']).collect();
        words[words.iter().position(|word| *word == "rad").unwrap() - 1].parse().unwrap()
    };
    // The board makes the way longer.
    let (free, around) = (number("nothing in the way:"), number("the board in the way:"));
    assert!((1.59..1.62).contains(&free) && around > free + 0.1, "{text}");
}

/// An example is short enough to be read at once.
#[test]
fn examples_are_short() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 80, "{}: {lines} lines", path.display());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}
