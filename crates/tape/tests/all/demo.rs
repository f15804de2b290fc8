//! Demonstration files from tapes and back, also damaged ones.

use citrange_hdf5::{Demo, read_demo, write_demo};
use citrange_tape::{DemoEpisode, DemoExtras, Episode, export_demo};

use crate::common::{self, open, record, toy};

fn recorded(frames: u64) -> (tempfile::TempDir, Episode) {
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = open(&folder.path().join("data"));
    let number = record(&mut dataset, frames);
    let (tape, shown) = dataset.tape(number).unwrap().unwrap();
    assert_eq!(shown, 0..tape.len());
    (folder, tape)
}

fn extras() -> DemoExtras {
    DemoExtras { robot: "robot0".into(), ..DemoExtras::default() }
}

#[test]
fn the_tape_inside_comes_back_byte_for_byte_with_its_part() {
    let (folder, tape) = recorded(10);
    let path = folder.path().join("demo.h5");
    write_demo(&path, &export_demo(&tape, 3..8, extras()).unwrap()).unwrap();
    let demo = DemoEpisode::read(&path).unwrap().remove(0);
    let (back, shown) = demo.tape.as_ref().unwrap();
    assert_eq!((shown.clone(), &back.ticks), (3..8, &tape.ticks));
    assert_eq!(demo.tape_bytes, std::fs::read(&tape.path).unwrap());
    assert_eq!(demo.start.snapshot, tape.snapshot(3));
    assert_eq!(demo.rate_hz, Some(30.0));
    let motion = demo.motion(&toy().spec, &[0, 1]).unwrap();
    let targets: Vec<&[f64]> = (3..8).map(|f| tape.action(f).unwrap()).collect();
    assert_eq!(motion.targets, targets);
    assert_eq!(motion.seen[0], tape.frames[3].joint_pos);
    assert_eq!(motion.source, "recorded joint targets");
}

#[test]
fn frames_that_are_not_there_are_refused() {
    let (_folder, tape) = recorded(4);
    let error = |range: std::ops::Range<usize>| {
        export_demo(&tape, range, extras()).unwrap_err().to_string()
    };
    assert!(error(2..99).contains("frames 2 to 99") && error(2..99).contains("it has"));
    assert!(error(2..2).contains("frames 2 to 2"));
}

fn with_blob(name: &str, bytes: &[u8]) -> DemoEpisode {
    let (folder, tape) = recorded(4);
    let mut demo: Demo = export_demo(&tape, 0..tape.len(), extras()).unwrap();
    demo.blobs.insert(name.into(), bytes.to_vec());
    let path = folder.path().join("demo.h5");
    write_demo(&path, &demo).unwrap();
    DemoEpisode::read(&path).unwrap().remove(0)
}

#[test]
fn a_tape_that_cannot_be_used_is_said_and_the_rest_is_read() {
    for (name, bytes, why) in [
        ("frames", &b"{\"start\": 2, \"end\": 900}"[..], "frames 2 to 900"),
        ("frames", b"{\"start\": 3, \"end\": 1}", "frames 3 to 1"),
        ("frames", b"often", "not a range of frames"),
        ("tape", b"not a tape", "demo.h5"),
    ] {
        let demo = with_blob(name, bytes);
        assert!(demo.tape.is_none());
        assert!(demo.tape_problem.as_ref().unwrap().contains(why), "{:?}", demo.tape_problem);
        assert!(demo.motion(&toy().spec, &[0, 1]).is_ok());
    }
}

#[test]
fn names_that_would_leave_the_folder_are_refused() {
    let cases = [("../outside", "front", "../outside"), (".hidden", "front", ".hidden")];
    for (uid, camera, odd) in cases.into_iter().chain([("fine", "a\\b", "a\\b")]) {
        let folder = tempfile::tempdir().unwrap();
        let mut rig = toy();
        let mut header = common::header(&rig.spec, "wave");
        header.uid = uid.into();
        header.rig.cameras[0].name = camera.into();
        let mut recorder =
            citrange_tape::Recorder::begin(folder.path(), header, &[], &common::settings())
                .unwrap();
        let how = citrange_core::RunSettings { pictures: true, ..Default::default() };
        let mut script = common::script(4);
        citrange_core::run(&mut script, &mut rig, &mut recorder, &how).unwrap();
        recorder.finish().unwrap();
        let log = std::fs::read(folder.path().join("tape.log")).unwrap();
        let problem = with_blob("tape", &log).tape_problem.unwrap();
        assert!(problem.contains(&format!("\"{odd}\" is no name")), "{problem}");
    }
}

#[test]
fn damaged_files_are_errors_or_poorer_episodes_never_crashes() {
    let (folder, tape) = recorded(6);
    let path = folder.path().join("demo.h5");
    write_demo(&path, &export_demo(&tape, 1..5, extras()).unwrap()).unwrap();
    assert!(read_demo(&path).is_ok());
    let whole = std::fs::read(&path).unwrap();
    let bad = folder.path().join("bad.h5");
    let mut rng = citrange_core::rng::Rng::new(0x5eed);
    let (mut refused, mut read) = (0, 0);
    for round in 0..400 {
        let mut bytes = whole.clone();
        if round % 4 == 0 {
            bytes.truncate(rng.below(whole.len()));
        } else {
            for _ in 0..=rng.below(8) {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
        }
        std::fs::write(&bad, &bytes).unwrap();
        match DemoEpisode::read(&bad) {
            Err(_) => refused += 1,
            Ok(demos) => {
                read += 1;
                for demo in demos {
                    // Either way is fine; it must come to an end.
                    let _either = demo.motion(&toy().spec, &[0, 1]);
                }
            }
        }
    }
    assert!(refused > 50 && read > 50, "{refused} refused, {read} read");
}
