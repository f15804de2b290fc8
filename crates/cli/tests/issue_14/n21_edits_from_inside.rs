//! Edits of a dataset by other names than its own: from inside, through links, on another file
//! system. They work, or say what to do; nothing is left inside.

use std::path::Path;

use crate::common::{citrange, json, ok, small_scene, stderr, temp};

fn small(here: &Path, name: &str) {
    small_scene(here);
    ok(here, &format!("collect small.yaml --episodes 3 --seconds 0.2 --cameras none --out {name}"));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn episodes(root: &Path) -> usize {
    citrange_tape::Dataset::open(root).unwrap().len()
}

#[test]
fn from_inside_it_says_where_to_go() {
    let folder = temp();
    let here = folder.path();
    small(here, "set");
    let set = here.join("set");
    let before = names(&set);
    for (inside, root) in [(set.clone(), "."), (set.join("meta"), ".."), (set.clone(), "../set")] {
        for words in [
            "delete ROOT --episodes 0",
            "trim ROOT --episode 0 --frames 1:3",
            "label ROOT --task other",
            "delete ROOT --episodes 0 --dry-run",
        ] {
            let words = format!("data {words}").replace("ROOT", root);
            let words: Vec<&str> = words.split(' ').collect();
            let output = citrange(&inside, &words, &[]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{words:?}: {said}");
            let real = here.canonicalize().unwrap();
            assert!(said.contains(&format!("cd {}", real.display())), "{said}");
        }
    }
    // What does not replace the folder is welcome.
    ok(&set, "data label . --add good");
    ok(&set, "data check .");
    assert_eq!(names(&set), before);
    assert_eq!(names(here), ["set", "small.yaml"]);
    ok(here, "data delete ./set/ --episodes 0");
    assert_eq!(episodes(&set), 2);
}

#[test]
fn links_lead_to_the_real_folder() {
    let folder = temp();
    let here = folder.path();
    std::fs::create_dir(here.join("far")).unwrap();
    small(&here.join("far"), "set");
    std::os::unix::fs::symlink("far/set", here.join("link")).unwrap();
    let told = json(&citrange(here, &["data", "delete", "link", "--episodes", "1", "--json"], &[]));
    let trash = Path::new(told["trash"].as_str().unwrap()).to_owned();
    assert_eq!(episodes(&here.join("link")), 2);
    assert_eq!(episodes(&trash), 3);
    assert_eq!(names(here), ["far", "link"]);
    assert_eq!(names(&here.join("far")), [".citrange-trash", "set", "small.yaml"]);
    // A name that leads nowhere is taken.
    std::os::unix::fs::symlink("nowhere", here.join("dangling")).unwrap();
    let output = citrange(here, &["data", "merge", "link", "link", "--out", "dangling"], &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("exists already"), "{}", stderr(&output));
}

#[test]
fn another_file_system_has_its_own_trash() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = temp();
    let here = folder.path();
    let device = |path: &Path| std::fs::metadata(path).map(|m| m.dev()).ok();
    let shm = Path::new("/dev/shm");
    if device(shm).is_none() || device(shm) == device(here) {
        eprintln!("NO SECOND FILE SYSTEM HERE: skipped");
        return;
    }
    let far = tempfile::tempdir_in(shm).unwrap();
    small(far.path(), "set");
    std::os::unix::fs::symlink(far.path().join("set"), here.join("set")).unwrap();
    ok(here, "data delete set --episodes 0,2");
    assert_eq!(episodes(&here.join("set")), 1);
    assert_eq!(names(here), ["set"]);
    assert_eq!(names(far.path()), [".citrange-trash", "set", "small.yaml"]);
    assert!(!names(&far.path().join("set")).iter().any(|n| n.starts_with('.')));
    // From one to the other: copied, not linked.
    ok(here, "data merge set set --out both");
    assert_eq!(episodes(&here.join("both")), 2);
    ok(here, "replay both --verify");
}
