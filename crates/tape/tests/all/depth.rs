//! Depths of a recorder: lost pictures are counted and replaced, and what a cut-off recorder left
//! is usable wherever it was cut.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use citrange_core::tape::FrameRecord;
use citrange_core::{
    CameraImage, CameraKind, DepthPicture, Observation, Outcome, Rig as _, Tape as _, Want,
};
use citrange_tape::{Dataset, DepthFormat, Recorder, TapeHeader, Unit, all_depths};

use crate::common::{self, Toy, header, settings, toy};

const FORMAT: DepthFormat = DepthFormat { metres_per_unit: 0.0005 };

fn rig() -> Toy {
    let mut rig = toy();
    rig.spec.cameras[0].kind = CameraKind::RgbDepth;
    rig
}

/// Depths of a frame: every pixel another, some of them none.
fn depths(frame: u64) -> Vec<f32> {
    let depth = |at: usize| match at % 5 {
        0 => f32::NAN,
        _ => 0.4 + 0.000_5 * ((at as u64 * 7 + frame * 131) % 9000) as f32,
    };
    (0..64 * 48).map(depth).collect()
}

fn units(frame: u64) -> Vec<u16> {
    depths(frame).into_iter().map(|depth_m| FORMAT.units(depth_m)).collect()
}

/// Records frames by hand, the pictures of some left out; without an end it is cut off.
fn recorded(dataset: &Dataset, frames: u64, left_out: &[u64], ends: bool) -> (Recorder, PathBuf) {
    let mut rig = rig();
    let plain = header(&rig.spec, "wave");
    let depth = all_depths(&rig.spec).into_keys().map(|name| (name, FORMAT)).collect();
    let header = TapeHeader { depth, ..plain };
    let folder = dataset.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&folder, header, &[7; 1000], &settings()).unwrap();
    let mut seen = Observation::default();
    for tick in 0..frames * 4 {
        let index = tick / 4;
        if tick % 4 == 0 {
            rig.observe(Want::Images, &mut seen).unwrap();
            seen.images[0].depth = Some(DepthPicture::ready(depths(index)));
            if left_out.contains(&index) {
                seen.images = vec![CameraImage::left_out(0); 2];
            }
            let snapshot = rig.snapshot().unwrap();
            let frame =
                FrameRecord { index, wall_ns: tick, seen: &seen, snapshot: snapshot.as_ref() };
            recorder.frame(&frame).unwrap();
        }
        common::tick(&mut recorder, &mut rig, tick);
    }
    if ends {
        recorder.end(&Outcome::unjudged("done"), None).unwrap();
    }
    (recorder, folder)
}

fn open(root: &Path) -> Dataset {
    Dataset::record(root, &rig().spec, Unit::Degrees, &BTreeSet::new()).unwrap().0
}

#[test]
fn lost_depths_are_counted_and_the_one_before_stands_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = open(folder.path());
    let (recorder, _) = recorded(&dataset, 12, &[3, 4, 9], true);
    let dropped: Vec<_> = recorder.dropped().map(|(n, count)| (n.to_owned(), count)).collect();
    let expected = [("front", 3), ("wrist", 3), ("front.depth", 3)];
    assert_eq!(dropped, expected.map(|(name, count)| (name.to_owned(), count)));
    dataset.save(recorder.finish().unwrap()).unwrap();
    let front = dataset.depth(0, "front").unwrap();
    assert_eq!((front.len(), front.lost()), (12, &[3, 4, 9][..]));
    for frame in 0..12 {
        let shown = [0, 1, 2, 2, 2, 5, 6, 7, 8, 8, 10, 11][frame];
        assert!(front.units(frame).unwrap() == units(shown), "frame {frame}");
    }
    assert_eq!(front.format(), FORMAT);
    let metres = front.metres(6).unwrap();
    let off = metres.iter().zip(depths(6)).filter(|(_, was)| !was.is_nan());
    assert!(
        off.clone().count() > 2000 && off.clone().all(|(is, was)| (is - was).abs() <= 0.000_26)
    );
    assert!(dataset.check_tape(0, true).iter().all(|finding| finding.code == "lost-pictures"));
    assert!(front.units(12).is_err());
}

#[test]
fn a_depth_log_may_be_cut_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let (recorder, recording) = recorded(&open(&whole), 8, &[], false);
    drop(recorder);
    let name = recording.file_name().unwrap().to_owned();
    let log = std::fs::read(recording.join("front.depth.camera")).unwrap();
    let mut kept = BTreeSet::new();
    for part in 0..=30 {
        let root = folder.path().join(format!("cut-{part}"));
        let to = root.join("citrange/recording").join(&name);
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(&recording).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
        std::fs::write(to.join("front.depth.camera"), &log[..log.len() * part / 30]).unwrap();
        let repaired = Dataset::repair(&root).unwrap();
        assert_eq!((repaired.len(), &repaired[0].problem), (1, &None), "cut {part}");
        kept.insert(repaired[0].frames);
        let Some(episode) = repaired[0].episode else { continue };
        let dataset = Dataset::open(&root).unwrap();
        let front = dataset.depth(episode, "front").unwrap();
        assert_eq!(front.len(), repaired[0].frames);
        for frame in 0..front.len() {
            assert!(front.units(frame).unwrap() == units(frame as u64), "cut {part}, {frame}");
        }
        assert!(dataset.check_tape(episode, true).is_empty());
    }
    assert_eq!(kept, (0..=8).collect::<BTreeSet<_>>(), "every length came up");
}

#[test]
fn depths_that_nobody_measures_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |camera: &str, metres_per_unit: f64| {
        let depth = [(camera.to_owned(), DepthFormat { metres_per_unit })].into();
        let header = TapeHeader { depth, ..header(&rig().spec, "wave") };
        let to = folder.path().join(&header.uid);
        Recorder::begin(&to, header, &[], &settings()).err().unwrap().to_string()
    };
    assert!(begin("wrist", 0.001).contains("wrist measures no depths"));
    assert!(begin("nose", 0.001).contains("nose"));
    assert!(begin("front", 0.0).contains("no unit"));
}
