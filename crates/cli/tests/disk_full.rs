//! A full disk: the recorder says which file and what to do, earlier episodes stay whole, and the
//! collection goes on as soon as there is room.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use citrange_tape::Dataset;

/// A small file system of its own; `None` where that is not allowed.
struct Small(PathBuf);

impl Small {
    fn mount(folder: &Path) -> Option<Self> {
        let place = folder.join("small");
        std::fs::create_dir(&place).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=12m", "citrange-test"])
            .arg(&place)
            .output();
        mounted.is_ok_and(|o| o.status.success()).then_some(Self(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _left_to_the_system = Command::new("umount").arg(&self.0).output();
    }
}

fn citrange(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_citrange")).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn scene(folder: &Path) -> String {
    let text = include_str!("../../../scenes/orange_plate.yaml");
    let path = folder.join("small.yaml");
    let small = text.replace("fovy_deg:", "width_px: 96, height_px: 72, fovy_deg:");
    std::fs::write(&path, small).unwrap();
    path.to_str().unwrap().to_owned()
}

fn collect<'a>(scene: &'a str, root: &'a str, episodes: &'a str) -> Vec<&'a str> {
    let how = ["--seconds", "0.6", "--images", "front", "--resume", "--episodes"];
    [&["collect", scene, "--out", root][..], &how, &[episodes]].concat()
}

/// Every episode has its tape, and every tape replays bit for bit.
fn whole(root: &str) -> usize {
    let verified = citrange(&["replay", root, "--verify"]);
    assert!(verified.status.success(), "{}", said(&verified));
    let checked = citrange(&["data", "check", root]);
    assert!(checked.status.success(), "{}", said(&checked));
    Dataset::open(Path::new(root)).unwrap().len()
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(small) = Small::mount(folder.path()) else {
        eprintln!("no file system can be mounted here: a limit of the file size stands in");
        return a_size_limit_loses_nothing(folder.path());
    };
    let scene = scene(folder.path());
    let (mut while_recording, mut while_saving) = (0, 0);
    for attempt in 0..14u64 {
        let set = small.0.join(format!("set{attempt}"));
        let root = set.to_str().unwrap();
        let begun = citrange(&collect(&scene, root, "1"));
        assert!(begun.status.success(), "{}", said(&begun));
        // Room for some of an episode.
        let ballast = small.0.join("ballast");
        std::fs::write(&ballast, vec![1; 14 << 20]).unwrap_err();
        let file = std::fs::OpenOptions::new().write(true).open(&ballast).unwrap();
        let taken = file.metadata().unwrap().len();
        file.set_len(taken - (100 << 10) - attempt * (70 << 10)).unwrap();
        drop(file);
        let filled = citrange(&collect(&scene, root, "60"));
        let told = said(&filled);
        assert_eq!(filled.status.code(), Some(1), "{told}");
        for part in ["No space left on device", "the disk is full", "make room", root, "repair"] {
            assert!(told.contains(part), "{part} is missing: {told}");
        }
        match told.contains("tape.log") || told.contains(".camera") {
            true => while_recording += 1,
            false => while_saving += 1,
        }
        let before = Dataset::open(&set).unwrap().len();
        let unsaved = std::fs::read_dir(set.join("citrange/recording")).unwrap().count();
        assert!(before >= 1);
        // Repairing without room fails without harm.
        std::fs::write(small.0.join("more"), vec![1; 14 << 20]).unwrap_err();
        let refused = citrange(&["data", "repair", root]);
        assert!(!set.join("citrange/damaged").exists(), "{}", said(&refused));
        std::fs::remove_file(small.0.join("more")).unwrap();
        std::fs::remove_file(&ballast).unwrap();
        assert_eq!(whole(root), before);
        let repaired = citrange(&["data", "repair", root, "--json"]);
        assert!(repaired.status.success(), "{}", said(&repaired));
        let told: serde_json::Value = serde_json::from_slice(&repaired.stdout).unwrap();
        let each = told["repaired"].as_array().unwrap().iter();
        let saved = each.filter(|one| !one["number"].is_null()).count();
        assert!(saved <= unsaved && !told.to_string().contains("damaged"), "{told}");
        assert_eq!(whole(root), before + saved);
        let one_more = (before + saved + 1).to_string();
        let more = citrange(&collect(&scene, root, &one_more));
        assert!(more.status.success(), "{}", said(&more));
        assert_eq!(whole(root), before + saved + 1);
        std::fs::remove_dir_all(&set).unwrap();
        if while_recording > 0 && while_saving > 0 && attempt > 3 {
            return;
        }
    }
    panic!("{while_recording} times full while recording, {while_saving} while saving");
}

/// No file may grow beyond a limit; the system then refuses to write as a full disk does.
fn a_size_limit_loses_nothing(folder: &Path) {
    let scene = scene(folder);
    let set = folder.join("set");
    let root = set.to_str().unwrap();
    assert!(citrange(&collect(&scene, root, "1")).status.success());
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_citrange"))
        .args([
            "collect",
            &scene,
            "--out",
            root,
            "--images",
            "front",
            "--resume",
            "--seconds",
            "20",
        ])
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(1), "{}", said(&limited));
    assert!(said(&limited).contains("File too large"), "{}", said(&limited));
    assert_eq!(whole(root), 1);
    let repaired = citrange(&["data", "repair", root]);
    assert!(repaired.status.success(), "{}", said(&repaired));
    assert!(citrange(&collect(&scene, root, "2")).status.success());
    assert_eq!(whole(root), 2);
}
