//! Depths on tapes, as a user has them: asked for by `--depth`, read back bit for bit, kept by
//! edits and by a kill.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use citrange_core::Want;
use citrange_core::{Command as Targets, Observation, Rig as _};
use citrange_episodes::{EpisodeRig, rig_of};
use citrange_tape::{Dataset, DepthFormat};

mod common;

use common::{citrange, fails, json, ok, small_scene, stdout, temp};

/// What the cameras of a recording measure at a frame, drawn anew, in the unit of the tape.
fn drawn(rig: &mut dyn EpisodeRig, dataset: &Dataset, frame: usize, camera: &str) -> Vec<u16> {
    let (tape, shown) = dataset.tape(0).unwrap().unwrap();
    rig.go_to(&tape, shown.start + frame).unwrap();
    let mut seen = Observation::default();
    rig.begin(&mut Targets::default()).unwrap();
    rig.observe(Want::Images, &mut seen).unwrap();
    let at = rig.spec().cameras.iter().position(|spec| spec.name == camera).unwrap();
    let depth = seen.images[at].depth.as_ref().unwrap();
    let mm = DepthFormat::default();
    depth.pixels().unwrap().iter().map(|depth_m| mm.units(*depth_m)).collect()
}

#[test]
fn depths_come_back_bit_for_bit_and_stay_with_their_episodes() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    ok(here, "collect small.yaml --episodes 2 --seconds 1 --depth front --out set");
    let open = |name: &str| Dataset::open(&here.join(name)).unwrap();
    let set = open("set");
    let front = set.depth(0, "front").unwrap();
    let (tape, shown) = set.tape(0).unwrap().unwrap();
    assert_eq!((front.len(), front.size_px(), front.lost().len()), (shown.len(), [64, 48], 0));
    assert!(set.depth(0, "wrist").unwrap_err().to_string().contains("no depths of camera"));
    let mut rig = rig_of(&tape, None).unwrap();
    for frame in [0, 7, front.len() - 1] {
        let kept = front.units(frame).unwrap();
        assert!(kept == drawn(rig.as_mut(), &set, frame, "front"), "frame {frame}");
        assert!(kept.iter().any(|d| *d != kept[0]), "a flat picture proves nothing");
        let metres = front.metres(frame).unwrap();
        assert!(metres.iter().zip(&kept).all(|(m, k)| (*k == 0) == m.is_nan()));
    }
    // 30 frames a second of the simulation's own time.
    assert_eq!((front.at_ns(0), front.at_ns(15)), (Some(0), Some(500_000_000)));

    // The rows are those of a set without depths, and lerobot's part is as it was.
    assert_eq!(json(&ok(here, "replay set --verify --json"))["differing"], 0);
    assert!(stdout(&ok(here, "data show set")).contains("front 64x48, 0.001 m a unit"));
    let shown = json(&ok(here, "data show set --episode 0 --json"));
    assert_eq!(shown["tape"]["depth"][0]["camera"], "front");
    ok(here, "data check set --deep");

    // Edits take them along; a part of an episode has the depths of its frames.
    let whole = set.depth(1, "front").unwrap();
    let wanted: Vec<Vec<u16>> = (5..15).map(|frame| whole.units(frame).unwrap()).collect();
    ok(here, "data trim set --episode 1 --frames 5:15");
    ok(here, "data delete set --episodes 0");
    let part = open("set").depth(0, "front").unwrap();
    let is: Vec<Vec<u16>> = (0..part.len()).map(|frame| part.units(frame).unwrap()).collect();
    assert!(is == wanted);
    assert_eq!(part.at_ns(0), Some(166_666_666));

    // By HDF5 and back they are measured again, the same.
    ok(here, "data export set --to hdf5 --out demos");
    let file = std::fs::read_dir(here.join("demos")).unwrap().next().unwrap().unwrap().path();
    ok(here, &format!("data import {} --out back", file.display()));
    ok(here, "data check back --deep");
}

#[test]
fn what_is_wrong_with_depths_is_found() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let said = fails(here, "collect small.yaml --depth frnt --out set", 3);
    assert!(said.contains("front"), "{said}");
    ok(here, "collect small.yaml --seconds 1 --depth all --out set");
    let episodes = here.join("set/citrange/episodes");
    let depths = |part: &str| {
        let all = std::fs::read_dir(&episodes).unwrap().map(|e| e.unwrap().path());
        all.into_iter().find(|p| p.to_string_lossy().ends_with(part)).unwrap()
    };
    let (front, wrist) = (depths(".front.depth"), depths(".wrist.depth"));
    let bytes = std::fs::read(&front).unwrap();
    for (damaged, expected) in [
        (bytes[..bytes.len() / 2].to_vec(), "are whole"),
        (b"something else".to_vec(), "does not begin like a tape"),
        (std::fs::read(&wrist).unwrap(), ""),
    ] {
        std::fs::write(&front, &damaged).unwrap();
        let output = citrange(here, &["data", "check", "set", "--deep"], &[]);
        let said = stdout(&output);
        if expected.is_empty() {
            // Another camera's depths of the same size are still depths: nothing to find.
            assert!(output.status.success(), "{said}");
        } else {
            assert_eq!(output.status.code(), Some(4), "{said}");
            assert!(said.contains(expected), "{said}");
        }
    }
    std::fs::remove_file(&front).unwrap();
    assert!(
        stdout(&citrange(here, &["data", "check", "set"], &[])).contains("it is missing"),
        "a missing file"
    );
}

/// Killed in the middle of an episode: as many depths as rows, each whole.
#[test]
fn depths_survive_a_kill() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    let words = "collect small.yaml --seconds 20 --speed 1 --depth all --json --out set";
    command.current_dir(here).args(words.split(' ')).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_frames(&here.join("set/citrange/recording"));
    child.kill().unwrap();
    child.wait().unwrap();
    ok(here, "data repair set");
    let set = Dataset::open(&here.join("set")).unwrap();
    let (tape, shown) = set.tape(0).unwrap().unwrap();
    assert!(shown.len() > 10, "{}", shown.len());
    let mut rig = rig_of(&tape, None).unwrap();
    for camera in ["front", "wrist"] {
        let depths = set.depth(0, camera).unwrap();
        assert_eq!(depths.len(), shown.len());
        for frame in (0..shown.len()).step_by(7) {
            // On a busy machine a picture may be dropped, and the one before stands for it; which
            // ones is told at an episode's end, which a killed one does not have.
            let kept = depths.units(frame).unwrap();
            let mut before = (0..=frame).rev();
            let is_known = before.any(|f| drawn(rig.as_mut(), &set, f, camera) == kept);
            assert!(is_known, "{camera} {frame}");
        }
    }
    ok(here, "data check set --deep");
    assert_eq!(json(&ok(here, "replay set --verify --json"))["differing"], 0);
}

/// Until the log of the depths has grown for a while.
fn wait_for_frames(recordings: &Path) {
    let begun = Instant::now();
    let size = || {
        let folder = std::fs::read_dir(recordings).ok()?.next()?.ok()?.path();
        Some(std::fs::metadata(folder.join("front.depth.camera")).ok()?.len())
    };
    let mut steps = 0;
    let mut last = 0;
    while steps < 25 {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing is recorded");
        let now = size().unwrap_or(0);
        steps += usize::from(now > last);
        last = now;
        std::thread::sleep(Duration::from_millis(5));
    }
}
