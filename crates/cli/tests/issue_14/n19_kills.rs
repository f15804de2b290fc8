//! Edits, merges, imports, exports and repairs killed at any call that changes files: nothing is
//! half published, the undo copy is there, `repair` names every leftover, a repeat works.
//! `CITRANGE_KILLS` says how often (24). Without strace the kills come after chance delays.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use citrange_lerobot::{CheckOptions, Severity, check};
use citrange_tape::{Dataset, DemoEpisode};
use serde_json::Value;

use crate::common::{citrange, json, ok, small_scene, stderr, temp};

/// Calls that change files.
const CALLS: &str = "mkdir,rmdir,rename,renameat2,unlink,unlinkat,link,linkat,symlink,openat,\
                     write,fsync,fdatasync,ftruncate,copy_file_range";
/// Those that change which names there are.
const MOVES: [&str; 8] =
    ["mkdir", "rmdir", "rename", "renameat2", "unlink", "unlinkat", "link", "linkat"];

/// What a command changes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A dataset, swapped for a new one; the old one goes to the trash.
    Edit,
    /// The index of a dataset.
    Notes,
    /// A new dataset with tapes.
    NewSet,
    /// A new dataset without tapes.
    NewPlain,
    /// Several new datasets in a folder.
    NewSets,
    /// Demonstrations: a folder of files, or a file.
    Demos,
    /// A recording that was cut off becomes an episode.
    Repair,
}

/// Words, what they change, and episodes and frames of it before and after.
struct Row {
    words: &'static str,
    kind: Kind,
    target: &'static str,
    before: (usize, usize),
    after: (usize, usize),
}

const fn row(
    words: &'static str,
    kind: Kind,
    target: &'static str,
    before: (usize, usize),
    after: (usize, usize),
) -> Row {
    Row { words, kind, target, before, after }
}

/// `a` has three episodes of nine frames, `b` two; `c` is `a` with a recording that was cut off.
const ROWS: [Row; 12] = [
    row("data delete a --episodes 1", Kind::Edit, "a", (3, 27), (2, 18)),
    row("data merge a b --out m", Kind::NewSet, "m", (0, 0), (5, 45)),
    row("data import h/ --out i", Kind::NewSet, "i", (0, 0), (1, 9)),
    row("data split a --into x=2,y=1 --out p", Kind::NewSets, "p", (0, 0), (3, 27)),
    row("data trim a --episode 0 --frames 2:7", Kind::Edit, "a", (3, 27), (3, 23)),
    row("data repair c", Kind::Repair, "c", (3, 27), (4, 27)),
    row("data split a --episode 2 --at 4", Kind::Edit, "a", (3, 27), (4, 27)),
    row("data export a --to lerobot --out l", Kind::NewPlain, "l", (0, 0), (3, 27)),
    row("data label a --add good", Kind::Notes, "a", (3, 27), (3, 27)),
    row("data export a --to hdf5 --out d", Kind::Demos, "d", (0, 0), (3, 27)),
    row("data label a --task other", Kind::Edit, "a", (3, 27), (3, 27)),
    row("data export a --to robomimic --out r.hdf5", Kind::Demos, "r.hdf5", (0, 0), (3, 27)),
];

#[derive(Debug, PartialEq)]
enum Found {
    Old,
    New,
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_citrange")
}

/// The folder that every kill gets a copy of.
fn base() -> tempfile::TempDir {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    for (name, episodes) in [("a", 3), ("b", 2)] {
        ok(here, &format!("collect small.yaml --episodes {episodes} --seconds 0.3 --out {name}"));
    }
    ok(here, "data export a --to hdf5 --episodes 0 --out h");
    copy(&here.join("a"), &here.join("c"));
    cut_off(here);
    folder
}

/// Begins to record into `c` and is killed.
fn cut_off(here: &Path) {
    let words = "collect small.yaml --resume --seconds 60 --speed 1 --seed 9 --json --out c";
    let mut child = Command::new(binary())
        .current_dir(here)
        .args(words.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let frame = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["frame"].as_u64().is_some_and(|frame| frame >= 20)
    };
    assert!(lines.map(Result::unwrap).any(|line| frame(&line)), "it ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(done.success());
}

/// The row's words; an import names the one file in `h`.
fn words(row: &Row, here: &Path) -> Vec<String> {
    let file = || {
        let entry = std::fs::read_dir(here.join("h")).unwrap().next().unwrap().unwrap();
        format!("h/{}", entry.file_name().to_string_lossy())
    };
    row.words.split(' ').map(|w| if w == "h/" { file() } else { w.to_owned() }).collect()
}

fn strace(here: &Path, how: &[&str], words: &[String]) -> Output {
    let mut command = Command::new("strace");
    command.current_dir(here).args(["-f", "-qq"]).args(how).arg(binary()).args(words);
    command.stdin(Stdio::null()).output().unwrap()
}

fn has_strace() -> bool {
    let tried = Command::new("strace").args(["-qq", "-e", "trace=mkdir", "true"]).output();
    tried.is_ok_and(|o| o.status.success())
}

/// Every call of a whole run: its name, and the how-manieth it is of its thread.
fn calls(row: &Row, base: &Path) -> Vec<(String, usize)> {
    let folder = temp();
    let here = folder.path().join("f");
    copy(base, &here);
    let trace = format!("trace={CALLS}");
    let done = strace(&here, &["-o", "../log", "-e", &trace], &words(row, &here));
    assert!(done.status.success(), "{}: {}", row.words, stderr(&done));
    assert_eq!(judge(row, &here), Found::New, "{}", row.words);
    let mut counts = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    for line in std::fs::read_to_string(folder.path().join("log")).unwrap().lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((name, _)) = rest.trim_start().split_once('(') else { continue };
        if !CALLS.split(',').any(|c| c == name) {
            continue;
        }
        let count = counts.entry((thread.to_owned(), name.to_owned())).or_insert(0);
        *count += 1;
        calls.push((name.to_owned(), *count));
    }
    assert!(calls.iter().any(|(name, _)| MOVES.contains(&name.as_str())), "{}", row.words);
    calls
}

/// Where a kill falls.
enum Fall {
    Call(String, usize),
    After(Duration),
}

fn killed(row: &Row, here: &Path, fall: &Fall) {
    let words = words(row, here);
    match fall {
        Fall::Call(name, count) => {
            let inject = format!("inject={name}:signal=SIGKILL:when={count}");
            let trace = format!("trace={name}");
            strace(here, &["-o", "/dev/null", "-e", &trace, "-e", &inject], &words);
        }
        Fall::After(delay) => {
            let mut child = Command::new(binary())
                .current_dir(here)
                .args(&words)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(*delay);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// A whole dataset: episodes and frames.
fn sound(root: &Path, tapes: bool) -> (usize, usize) {
    let set = Dataset::open(root).unwrap();
    for episode in 0..set.len() {
        assert_eq!(set.tape(episode).unwrap().is_some(), tapes, "{} {episode}", root.display());
    }
    let found = check(&set.lerobot, &CheckOptions::default(), &mut |_, _| {});
    let bad: Vec<_> = found.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(bad.is_empty(), "{}: {bad:?}", root.display());
    (set.len(), set.lerobot.info().total_frames)
}

/// What is there now: what was before, or what should come of it, and never anything else.
fn judge(row: &Row, here: &Path) -> Found {
    let target = here.join(row.target);
    if row.before == (0, 0) && !target.exists() {
        return Found::Old;
    }
    let is = match row.kind {
        Kind::Edit | Kind::Notes | Kind::NewSet => sound(&target, true),
        Kind::NewPlain => sound(&target, false),
        Kind::NewSets => {
            let (x, y) = (sound(&target.join("x"), true), sound(&target.join("y"), true));
            (x.0 + y.0, x.1 + y.1)
        }
        Kind::Demos => demos(&target),
        Kind::Repair => {
            let (episodes, frames) = sound(&target, true);
            // How many frames were whole when it was cut off is not known beforehand.
            assert!(episodes == 3 || frames >= 27 + 14, "{frames} frames");
            (episodes, 27)
        }
    };
    let changed = match row.words {
        "data label a --add good" => {
            let set = Dataset::open(&target).unwrap();
            Some(set.entry(0).unwrap().labels == ["good"])
        }
        "data label a --task other" => {
            Some(Dataset::open(&target).unwrap().lerobot.tasks() == ["other"])
        }
        _ => None,
    };
    match changed.unwrap_or(is == row.after) {
        true => assert_eq!(is, row.after, "{}", row.words),
        false => assert_eq!(is, row.before, "{}", row.words),
    }
    if changed.unwrap_or(is == row.after) { Found::New } else { Found::Old }
}

fn demos(target: &Path) -> (usize, usize) {
    let files = match target.is_dir() {
        true => std::fs::read_dir(target).unwrap().map(|e| e.unwrap().path()).collect(),
        false => vec![target.to_owned()],
    };
    // A mark may be left by a kill right after the rename.
    let files = files.iter().filter(|f| f.extension().is_some());
    let all: Vec<DemoEpisode> = files.flat_map(|f| DemoEpisode::read(f).unwrap()).collect();
    (all.len(), 27)
}

/// Everything that only a killed process leaves.
fn leftovers(here: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![here.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_left = name.contains(".citrange-tmp-")
                || name == ".citrange-unpublished"
                || path.ends_with("citrange/commit")
                || folder.ends_with("citrange/recording")
                || name.ends_with(".part");
            if is_left {
                found.insert(path);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// Runs `repair` and compares what it names with what lies around.
fn repair(row: &Row, here: &Path, place: &str) {
    let left = leftovers(here);
    let output = citrange(here, &["data", "repair", row.target, "--json"], &[]);
    if left.is_empty() && !here.join(row.target).is_dir() {
        // Nothing there, nothing left: said plainly.
        assert_eq!(output.status.code(), Some(3), "{place}: {}", stderr(&output));
        return;
    }
    let told = json(&output);
    let text = told.to_string();
    for path in &left {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(text.contains(name), "{place}: {name} is not named: {told}");
    }
    let after = leftovers(here);
    assert!(after.is_empty(), "{place}: {after:?} is still there after {told}");
}

fn one_kill(row: &Row, base: &Path, fall: &Fall) -> (bool, usize) {
    let folder = temp();
    let here = folder.path().join("f");
    copy(base, &here);
    if row.kind != Kind::Repair {
        std::fs::remove_dir_all(here.join("c")).unwrap();
    }
    killed(row, &here, fall);
    let place = match fall {
        Fall::Call(name, count) => format!("{} killed at {name} {count}", row.words),
        Fall::After(delay) => format!("{} killed after {delay:?}", row.words),
    };
    let left = leftovers(&here).len();
    // Looking may finish what was begun: in a copy.
    let other = folder.path().join("other");
    copy(&here, &other);
    judge(row, &other);
    repair(row, &here, &place);
    let found = judge(row, &here);
    assert!(row.kind != Kind::Repair || found == Found::New, "{place}");
    if row.kind == Kind::Edit {
        let copies = Dataset::undo_copies(&here.join(row.target));
        assert_eq!(copies.len(), usize::from(found == Found::New), "{place}");
        copies.iter().for_each(|c| assert_eq!(sound(c, true), row.before, "{place}"));
    }
    if found == Found::Old {
        let words = words(row, &here);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let again = citrange(&here, &words, &[]);
        assert!(again.status.success(), "{place}, again: {}", stderr(&again));
        assert_eq!(judge(row, &here), Found::New, "{place}, again");
        assert!(leftovers(&here).is_empty(), "{place}, again");
    }
    (found == Found::New, left)
}

/// Falls for a row: half of them where names change.
fn falls(row: &Row, base: &Path, wanted: usize, seed: u64) -> Vec<Fall> {
    let mut rng = Rng::new(seed);
    let mut below = |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
    if !has_strace() {
        let folder = temp();
        let here = folder.path().join("f");
        copy(base, &here);
        let begun = Instant::now();
        killed(row, &here, &Fall::After(Duration::ZERO));
        let whole = begun.elapsed().as_micros() as usize + 400_000;
        let after = |us: usize| Fall::After(Duration::from_micros(us as u64));
        return (0..wanted).map(|_| after(below(whole))).collect();
    }
    let calls = calls(row, base);
    let is_move = |(name, _): &&(String, usize)| MOVES.contains(&name.as_str());
    let moves: Vec<_> = calls.iter().filter(is_move).cloned().collect();
    (0..wanted)
        .map(|k| {
            let from = if k % 2 == 0 { &moves } else { &calls };
            let (name, count) = from[below(from.len())].clone();
            Fall::Call(name, count)
        })
        .collect()
}

#[test]
fn a_kill_at_any_moment_publishes_nothing_half_and_keeps_the_undo_copy() {
    if !has_strace() {
        eprintln!("NO STRACE HERE: kills fall after chance delays, not at every call");
    }
    let kills: usize = std::env::var("CITRANGE_KILLS").map_or(24, |n| n.parse().unwrap());
    let base = base();
    let (next, new, left) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                    let Some(row) = ROWS.get(number) else { return };
                    let wanted = (kills + ROWS.len() - 1 - number) / ROWS.len();
                    for fall in falls(row, base.path(), wanted, number as u64) {
                        let (was_new, lay) = one_kill(row, base.path(), &fall);
                        new.fetch_add(u64::from(was_new), Ordering::Relaxed);
                        left.fetch_add(lay as u64, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    eprintln!("{kills} kills: {new:?} after the fact, {left:?} leftovers, all named");
}

/// Where names cannot be exchanged the place is empty for a moment.
#[test]
fn without_an_exchange_of_names_a_kill_loses_nothing_either() {
    if !has_strace() {
        eprintln!("NO STRACE HERE: skipped");
        return;
    }
    let folder = temp();
    let base = folder.path().join("base");
    std::fs::create_dir(&base).unwrap();
    small_scene(&base);
    ok(&base, "collect small.yaml --episodes 2 --seconds 0.3 --cameras none --out a");
    let words: Vec<String> = "data delete a --episodes 1".split(' ').map(str::to_owned).collect();
    for kill in 1..20 {
        let here = folder.path().join(format!("f{kill}"));
        copy(&base, &here);
        let inject = format!("inject=rename:signal=SIGKILL:when={kill}");
        let none = "inject=renameat2:error=EINVAL";
        let trace = "trace=rename,renameat2";
        let done =
            strace(&here, &["-o", "/dev/null", "-e", trace, "-e", none, "-e", &inject], &words);
        // The next that looks finds a whole dataset, old or new.
        let list = json(&citrange(&here, &["data", "list", "a", "--json"], &[]));
        let episodes = list["episodes"].as_array().unwrap().len();
        ok(&here, "data repair a");
        assert_eq!(sound(&here.join("a"), true).0, episodes);
        assert!(leftovers(&here).is_empty());
        let copies = Dataset::undo_copies(&here.join("a"));
        assert_eq!(copies.len(), usize::from(episodes == 1), "kill {kill}");
        copies.iter().for_each(|c| assert_eq!(sound(c, true).0, 2));
        if done.status.success() {
            assert!(kill > 3 && episodes == 1, "kill {kill}");
            return;
        }
    }
    panic!("it never came to its end");
}
