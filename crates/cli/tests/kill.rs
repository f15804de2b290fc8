//! A recorder killed at any moment: earlier episodes stay whole, the running one loses at most
//! 0.2 s, the next start goes on. `CITRANGE_KILLS` says how often (8), `CITRANGE_KILL_JOBS` how
//! many at a time (2).

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use citrange_lerobot::{CheckOptions, Severity, check};
use citrange_tape::Dataset;
use serde_json::{Value, json};

const FRAME_HZ: u64 = 30;
const FRAMES: u64 = 30;
/// 0.2 s.
const MAY_LOSE: u64 = FRAME_HZ / 5;

/// The scene of the oranges with pictures that cost nothing.
fn scene(folder: &Path) -> PathBuf {
    let text = include_str!("../../../scenes/orange_plate.yaml");
    let small = text.replace("fovy_deg:", "width_px: 64, height_px: 48, fovy_deg:");
    assert_ne!(text, small);
    let path = folder.join("small.yaml");
    std::fs::write(&path, small).unwrap();
    path
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_citrange"));
    command.args(args).stdin(Stdio::null());
    command
}

fn citrange(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn must(args: &[&str]) -> String {
    let output = citrange(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A recording under way, and what it says, with the time at which it was heard.
struct Sample {
    child: Child,
    lines: Receiver<(Instant, Value)>,
    heard: Vec<(Instant, Value)>,
}

impl Sample {
    fn start(scene: &Path, root: &Path) -> Self {
        let (scene, root) = (scene.to_str().unwrap(), root.to_str().unwrap());
        let args = [
            "collect",
            scene,
            "--out",
            root,
            "--episodes",
            "50",
            "--seconds",
            "1.0",
            "--speed",
            "1",
            "--json",
        ];
        let mut child =
            command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let pipe = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in pipe.lines() {
                // The last line may be torn by the kill.
                let Ok(value) = serde_json::from_str(&line.unwrap()) else { continue };
                let _test_failed = send.send((Instant::now(), value));
            }
        });
        Self { child, lines, heard: Vec::new() }
    }

    fn wait_until(&mut self, is_it: impl Fn(&Value) -> bool) {
        loop {
            let next = self.lines.recv_timeout(Duration::from_secs(120)).unwrap();
            self.heard.push(next);
            if is_it(&self.heard[self.heard.len() - 1].1) {
                return;
            }
        }
    }

    /// Everything it said before it was killed, and when that was.
    fn kill(mut self) -> (Instant, Vec<(Instant, Value)>) {
        self.child.kill().unwrap();
        let when = Instant::now();
        self.child.wait().unwrap();
        self.heard.extend(self.lines);
        (when, self.heard)
    }
}

#[derive(Debug)]
struct Told {
    saved: Vec<u64>,
    /// The frames of the episode that was not saved: when each was heard, and its own time.
    running: Option<Vec<(Instant, Duration)>>,
}

fn told(heard: &[(Instant, Value)]) -> Told {
    let mut told = Told { saved: Vec::new(), running: None };
    for (when, line) in heard {
        match line["event"].as_str().unwrap() {
            "begin" => told.running = Some(Vec::new()),
            "frame" => {
                let wall = Duration::from_nanos(line["wall_ns"].as_u64().unwrap());
                told.running.as_mut().unwrap().push((*when, wall));
            }
            "saved" => {
                assert_eq!(line["number"], told.saved.len());
                told.saved.push(line["frames"].as_u64().unwrap());
                told.running = None;
            }
            other => panic!("{other}"),
        }
    }
    told
}

struct Fell {
    place: &'static str,
    lost_ms: f64,
    lost_frames: u64,
}

fn one_kill(number: u64) -> Fell {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(folder.path());
    let root = folder.path().join("set");
    let mut rng = Rng::new(1000 + number);
    let mut ms = |from: u64, to: u64| {
        Duration::from_micros(from * 1000 + rng.next_u64() % ((to - from) * 1000))
    };
    let mut live = Sample::start(&scene, &root);
    if number.is_multiple_of(3) {
        // At the save: the episode ends a frame after its last one began.
        live.wait_until(|line| line["frame"] == FRAMES - 1);
        std::thread::sleep(ms(20, 160));
    } else {
        std::thread::sleep(ms(0, 4500));
    }
    let (killed, heard) = live.kill();
    let told = told(&heard);
    let place = match &told.running {
        Some(frames) if frames.len() as u64 == FRAMES => "saving",
        Some(frames) if frames.is_empty() => "beginning",
        Some(_) => "recording",
        None if told.saved.is_empty() => "before",
        None => "between",
    };
    let where_it_fell = format!("kill {number}, {place}, {told:?}");
    if !root.exists() {
        return Fell { place, lost_ms: 0.0, lost_frames: 0 };
    }
    let text = root.to_str().unwrap();
    let repaired = must(&["data", "repair", text, "--json"]);
    let repaired: Value = serde_json::from_str(&repaired).unwrap();
    for one in repaired["repaired"].as_array().unwrap() {
        assert_eq!(one["problem"], Value::Null, "{where_it_fell}: {one}");
    }
    assert!(!root.join("citrange/damaged").exists() && !root.join("citrange/commit").exists());
    let left = std::fs::read_dir(root.join("citrange/recording")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{where_it_fell}");
    let (mut lost_frames, mut lost_ms, mut episodes) = (0, 0.0, 0);
    if root.join("meta/info.json").exists() {
        let dataset = Dataset::open(&root).unwrap();
        episodes = dataset.len();
        let lengths: Vec<u64> =
            dataset.lerobot.episodes().iter().map(|e| e.length as u64).collect();
        let saved = told.saved.len();
        assert_eq!(lengths[..saved], told.saved, "{where_it_fell}");
        assert!(episodes <= saved + 1, "{where_it_fell}: {lengths:?}");
        let mut uids = std::collections::BTreeSet::new();
        for episode in 0..episodes {
            assert!(dataset.tape(episode).unwrap().is_some(), "{where_it_fell}");
            assert!(uids.insert(dataset.entry(episode).unwrap().uid.clone()));
        }
        let deep = CheckOptions { deep: true, ..CheckOptions::default() };
        let found = check(&dataset.lerobot, &deep, &mut |_, _| {});
        let bad: Vec<_> = found.iter().filter(|f| f.severity == Severity::Error).collect();
        assert!(bad.is_empty(), "{where_it_fell}: {bad:?}");
        let verified = citrange(&["replay", text, "--verify"]);
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(verified.status.success(), "{where_it_fell}: {said}");
    }
    if let Some(frames) = &told.running {
        let kept = match episodes.checked_sub(told.saved.len()) {
            Some(1) => {
                let dataset = Dataset::open(&root).unwrap();
                dataset.lerobot.episodes()[episodes - 1].length
            }
            _ => 0,
        };
        lost_frames = (frames.len() as u64).saturating_sub(kept as u64);
        // From when the first frame that is not there was under way; by the recorder's clock if
        // that says more, as lines may be heard late.
        lost_ms = frames.get(kept).map_or(0.0, |(heard, wall)| {
            let last = frames[frames.len() - 1].1;
            (killed - *heard).max(last - *wall).as_secs_f64() * 1e3
        });
        assert!(lost_frames <= MAY_LOSE, "{where_it_fell}: {lost_frames} frames lost");
    }
    // It goes on.
    must(&["collect", scene.to_str().unwrap(), "--out", text, "--resume", "--seconds", "0.2"]);
    assert_eq!(Dataset::open(&root).unwrap().len(), episodes + 1, "{where_it_fell}");
    Fell { place, lost_ms, lost_frames }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn a_killed_recorder_loses_at_most_a_fifth_of_a_second() {
    let (kills, next, all) =
        (setting("CITRANGE_KILLS", 8), AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..setting("CITRANGE_KILL_JOBS", 2) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= kills {
                        return;
                    }
                    let fell = one_kill(number);
                    all.lock().unwrap().push(fell);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    assert_eq!(all.len() as u64, kills);
    let mut places = std::collections::BTreeMap::new();
    all.iter().for_each(|f| *places.entry(f.place).or_insert(0) += 1);
    let spread = |place: &str| {
        let of_place = all.iter().filter(|f| f.place == place);
        let mut lost: Vec<f64> = of_place.map(|f| f.lost_ms).collect();
        lost.sort_by(f64::total_cmp);
        json!({"median": lost.get(lost.len() / 2), "max": lost.last()})
    };
    let report = json!({
        "kills": kills, "places": places,
        "lost_ms": {"recording": spread("recording"), "saving": spread("saving")},
        "lost_frames_max": all.iter().map(|f| f.lost_frames).max(),
    });
    eprintln!("{report}");
}

#[test]
fn a_damaged_tape_is_named_and_the_rows_are_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let (scene, text) = (scene(folder.path()), root.to_str().unwrap());
    must(&[
        "collect",
        scene.to_str().unwrap(),
        "--out",
        text,
        "--episodes",
        "2",
        "--seconds",
        "0.3",
    ]);
    let dataset = Dataset::open(&root).unwrap();
    let tape = root.join(format!("citrange/episodes/{}.tape", dataset.entry(1).unwrap().uid));
    let mut bytes = std::fs::read(&tape).unwrap();
    let at = bytes.len() * 2 / 3;
    bytes[at] ^= 16;
    std::fs::write(&tape, bytes).unwrap();
    let replayed = citrange(&["replay", text, "--episode", "1"]);
    let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert_eq!(replayed.status.code(), Some(3), "{said}");
    assert!(said.contains(".tape") && said.contains("damaged"), "{said}");
    must(&["replay", text, "--episode", "0", "--verify"]);
    let found =
        check(&Dataset::open(&root).unwrap().lerobot, &CheckOptions::default(), &mut |_, _| {});
    assert!(found.iter().all(|f| f.severity != Severity::Error), "{found:?}");
}

#[test]
fn a_recorder_whose_caller_ignores_signals_records() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let output = Command::new("sh")
        .args(["-c", "trap '' INT HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_citrange")])
        .args(["collect", scene(folder.path()).to_str().unwrap(), "--seconds", "0.2", "--out"])
        .arg(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(Dataset::open(&root).unwrap().len(), 1);
}
