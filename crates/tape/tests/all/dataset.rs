//! Recording, saving, reading back, replaying: with a rig that needs no engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use citrange_core::RunSettings;
use citrange_core::run::run;
use citrange_tape::{Dataset, Episode, ExactReplay, TapeError, Unit, Verifier};

use crate::common::{header, open, record, recorded, script, settings, toy};

#[test]
fn what_was_recorded_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    assert_eq!(record(&mut dataset, 10), 0);
    assert_eq!(record(&mut dataset, 7), 1);
    drop(dataset);

    let dataset = Dataset::open(&root).unwrap();
    assert_eq!(dataset.len(), 2);
    let (tape, range) = dataset.tape(1).unwrap().unwrap();
    assert_eq!((range.clone(), tape.len(), tape.ticks.len()), (0..7, 7, 28));
    assert_eq!(tape.model, [7; 1000]);
    assert!(tape.damage.is_empty());
    // The script asks for 2.5, the rig allows 2: all three stages are kept.
    let limited = tape.ticks.iter().find(|t| t.requested[0] > 2.1).unwrap();
    assert_eq!((limited.limited[0], limited.executed[0]), (2.0, 2.0));
    assert_eq!(tape.events.len(), 2);
    assert_eq!(tape.outcome().reason, "script_end");
    assert!(
        tape.frames.windows(2).all(|w| w[0].wall_ns < w[1].wall_ns && w[0].step + 8 == w[1].step)
    );

    // The LeRobot row: joints in degrees, the action is the last target of the frame.
    let rows = dataset.lerobot.read_episode(1).unwrap();
    let action = rows.column("action").unwrap().floats().unwrap();
    let wanted = tape.action(3).unwrap()[0].to_degrees() as f32;
    assert_eq!(action[2 * 3], wanted);
    let state = rows.column("observation.state").unwrap().floats().unwrap();
    assert_eq!(state[2 * 3], tape.frames[3].joint_pos[0].to_degrees() as f32);
    assert_eq!(dataset.lerobot.tasks(), ["wave"]);
    assert!(dataset.tape(2).is_err());
}

#[test]
fn replay_is_bitwise_from_any_frame_and_differences_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = open(&folder.path().join("set"));
    record(&mut dataset, 12);
    let (tape, _) = dataset.tape(0).unwrap().unwrap();
    let tape = Arc::new(tape);
    let replay = |from: usize, nudge: f64| {
        let mut rig = toy();
        let start = tape.snapshot(from).unwrap();
        rig.numbers = start.fields["toy/numbers"].clone();
        rig.numbers[2] += nudge;
        rig.ticks = start.step / 2;
        let mut verifier = Verifier::new(Arc::clone(&tape), from..tape.len());
        let mut pilot = ExactReplay::new(Arc::clone(&tape), from..tape.len());
        run(&mut pilot, &mut rig, &mut verifier, &RunSettings::default()).unwrap();
        verifier.into_report()
    };
    for from in [0, 1, 11] {
        let report = replay(from, 0.0);
        assert!(report.is_bitwise(), "{report}");
        // Every frame from there on, and the end.
        assert_eq!((report.frames, report.steps), (13 - from as u64, (12 - from as u64) * 8));
    }
    let report = replay(2, 1e-13);
    let first = report.first.clone().unwrap();
    assert_eq!((first.frame, first.step, first.field.as_deref()), (2, 16, Some("toy/numbers[2]")));
    assert!(report.to_string().contains("start state"), "{report}");
}

#[test]
fn a_recorder_that_vanished_is_saved_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 5);
    // Everything is written, nobody saved it.
    let left = recorded(&dataset, 9).finish().unwrap();
    assert_eq!(left.frames(), 9);
    drop((left, dataset));
    let dataset = open(&root);
    assert_eq!(dataset.len(), 2);
    assert_eq!(dataset.lerobot.episodes()[1].length, 9);
    let (tape, range) = dataset.tape(1).unwrap().unwrap();
    assert_eq!((range.len(), tape.outcome().reason.as_str()), (9, "script_end"));
    assert!(!root.join("citrange/recording").read_dir().unwrap().any(|_| true));
}

#[test]
fn every_torn_tail_keeps_the_whole_frames() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    record(&mut dataset, 3);
    let left = recorded(&dataset, 6).finish().unwrap();
    drop((left, dataset));
    let uid = std::fs::read_dir(root.join("citrange/recording")).unwrap().next().unwrap().unwrap();
    let uid = uid.file_name().into_string().unwrap();
    let tape = std::fs::read(root.join(format!("citrange/recording/{uid}/tape.log"))).unwrap();
    let camera =
        std::fs::read(root.join(format!("citrange/recording/{uid}/wrist.camera"))).unwrap();
    let mut seen = BTreeSet::new();
    for cut in 0..40 {
        let copy = folder.path().join(format!("copy{cut}"));
        copy_tree(&root, &copy);
        let place = copy.join(format!("citrange/recording/{uid}"));
        // Cut the tape, or a camera, or flip a bit near the end.
        match cut % 3 {
            0 => std::fs::write(place.join("tape.log"), &tape[..tape.len() * cut / 40]).unwrap(),
            1 => std::fs::write(place.join("wrist.camera"), &camera[..camera.len() * cut / 40])
                .unwrap(),
            _ => {
                let mut bytes = tape.clone();
                let at = bytes.len() - 1 - cut * 20;
                bytes[at] ^= 4;
                std::fs::write(place.join("tape.log"), bytes).unwrap();
            }
        }
        let repaired = Dataset::repair(&copy).unwrap();
        assert_eq!(repaired.len(), 1);
        let dataset = Dataset::open(&copy).unwrap();
        // The earlier episode is as it was.
        assert_eq!(dataset.lerobot.read_episode(0).unwrap().length, 3);
        assert!(dataset.tape(0).unwrap().is_some());
        let frames = repaired[0].frames;
        seen.insert(frames);
        match repaired[0].episode {
            Some(number) => {
                assert_eq!((number, dataset.len()), (1, 2));
                assert_eq!(dataset.lerobot.episodes()[1].length, frames);
                for key in ["observation.images.front", "observation.images.wrist"] {
                    let video = dataset.lerobot.video_of(1, key).unwrap();
                    let movie = citrange_video::mp4::Movie::open(&video.path).unwrap();
                    assert_eq!(movie.frame_count() as usize, frames);
                }
            }
            None => assert_eq!(dataset.len(), 1),
        }
    }
    assert!(seen.len() > 4, "{seen:?}");
}

#[test]
fn two_writers_and_other_robots_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut dataset = open(&root);
    let none = BTreeSet::new();
    let second = Dataset::record(&root, &toy().spec, Unit::Degrees, &none);
    assert!(matches!(second, Err(TapeError::Busy(_))), "{second:?}");
    record(&mut dataset, 3);
    drop(dataset);
    let mut other = toy().spec;
    other.rates.frame_hz = 15;
    other.joints[1].name = "c".into();
    let error = Dataset::record(&root, &other, Unit::Degrees, &none).unwrap_err().to_string();
    assert!(error.contains("fps") && error.contains("c.pos"), "{error}");
    let error = Dataset::record(&root, &toy().spec, Unit::Percent, &none).unwrap_err().to_string();
    assert!(error.contains("units") && error.contains("deg"), "{error}");
    let camera = BTreeSet::from(["frnt".to_owned()]);
    let error =
        Dataset::record(&root, &toy().spec, Unit::Degrees, &camera).unwrap_err().to_string();
    assert!(error.contains("did you mean \"front\""), "{error}");
}

#[test]
fn images_are_kept_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let images = BTreeSet::from(["wrist".to_owned()]);
    let (mut dataset, _) = Dataset::record(&root, &toy().spec, Unit::Degrees, &images).unwrap();
    let mut rig = toy();
    let mut header = header(&rig.spec, "wave");
    header.images = images;
    let place = dataset.recording_folder(&header.uid);
    let mut recorder = citrange_tape::Recorder::begin(&place, header, &[], &settings()).unwrap();
    let how = RunSettings { pictures: true, ..RunSettings::default() };
    run(&mut script(4), &mut rig, &mut recorder, &how).unwrap();
    dataset.save(recorder.finish().unwrap()).unwrap();
    let rows = dataset.lerobot.read_episode(0).unwrap();
    let Some(citrange_lerobot::Column::Png(pictures)) = rows.column("observation.images.wrist")
    else {
        panic!("no pictures in {:?}", rows.columns);
    };
    let mut reader = png::Decoder::new(std::io::Cursor::new(&pictures[2])).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgb).unwrap();
    assert_eq!(rgb, vec![255 - 8; 64 * 48 * 3]);
}

#[test]
fn discarded_recordings_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let dataset = open(&root);
    recorded(&dataset, 4).discard().unwrap();
    drop(dataset);
    assert!(Dataset::repair(&root).unwrap().is_empty());
    assert!(Episode::read(&root.join("nothing")).is_err());
}

fn copy_tree(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
