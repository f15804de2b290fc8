//! `--json` of every verb: JSON on stdout and nothing else, with the keys of `docs/json.md`; errors
//! as objects; the same exit code for the same fault.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::{citrange, ok, small_scene, stderr, stdout, temp};
use crate::n24_features::driven;

/// Keys by section: of the one object, or by event.
type Sections = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// What `docs/json.md` promises.
fn documented() -> Sections {
    let text = include_str!("../../../../docs/json.md");
    let mut sections = Sections::new();
    let mut current = String::new();
    let keys = |line: &str| -> Vec<String> {
        // What stands in brackets or after a sentence explains.
        let line = line.split(". ").next().unwrap_or_default();
        let line = line.split(", each").next().unwrap_or_default();
        let mut bare = String::new();
        let mut depth = 0;
        for letter in line.chars() {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            if depth == 0 {
                bare.push(letter);
            }
        }
        bare.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            current = title.trim_matches('`').to_owned();
            sections.insert(current.clone(), BTreeMap::new());
        } else if let Some(rest) = line.strip_prefix("Keys: ") {
            let listed = match rest.strip_prefix("as ") {
                Some(other) => sections[other.trim_end_matches('.').trim_matches('`')][""].clone(),
                None => keys(rest),
            };
            assert!(!listed.is_empty(), "{line}");
            sections.get_mut(&current).unwrap().insert(String::new(), listed);
        } else if let Some((events, rest)) =
            line.strip_prefix("- ").and_then(|l| l.split_once(": "))
            && let Some(section) = sections.get_mut(&current)
        {
            for event in events.split(", ") {
                section.insert(event.trim_matches('`').to_owned(), keys(rest));
            }
        }
    }
    sections
}

fn run(here: &Path, words: &str) -> Output {
    citrange(here, &words.split(' ').collect::<Vec<_>>(), &[])
}

fn objects(output: &Output, words: &str) -> Vec<Value> {
    let text = stdout(output);
    let parsed = text.lines().map(|line| {
        let value: Value =
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{words}: {e}: {line}"));
        assert!(value.is_object(), "{words}: {line}");
        value
    });
    parsed.collect()
}

fn has(object: &Value, keys: &[String], words: &str) {
    for key in keys {
        assert!(object.get(key).is_some(), "{words}: no \"{key}\" in {object}");
    }
}

/// A file of a few problems for `plan bench`.
fn few_problems(here: &Path) {
    let text = include_str!("../../../../benches/plan/problems_ur5.json");
    let mut few: Value = serde_json::from_str(text).unwrap();
    few["problems"].as_array_mut().unwrap().truncate(2);
    std::fs::write(here.join("few.json"), few.to_string()).unwrap();
}

/// Sections of one object, and words for them; in this order they follow from one another.
const OBJECTS: [(&str, &str); 33] = [
    ("doctor", "doctor --json"),
    ("rig list", "rig list --json"),
    ("scene list", "scene list --json"),
    ("scene show", "scene show small.yaml --json"),
    ("sim", "sim small.yaml --envs 2 --seconds 0.1 --json"),
    ("replay", "replay set --verify --json"),
    ("replay", "replay set --frame-targets --json"),
    ("report", "report set --no-film --json"),
    ("plan", "plan ur5_cell --goal-joints home --json"),
    ("plan", "plan ur5_cell --goal-joints up --with reach --json"),
    ("eval", "eval reach --episodes 20 --attempts 4 --rung a,e --json"),
    ("policy show", "policy show reach --json"),
    ("policy import", "policy import reach.onnx --out theirs.policy --json"),
    ("plan generate", "plan generate so101 --each 1 --families table,bars -o made.json --json"),
    ("data list", "data list set --json"),
    ("data show", "data show set --json"),
    ("data show --episode", "data show set --episode 1 --json"),
    ("data check", "data check set --json"),
    ("data repair", "data repair set --json"),
    ("data delete", "data delete set --episodes 0 --dry-run --json"),
    ("data trim", "data trim set --episode 0 --frames 1:5 --dry-run --json"),
    ("data split --episode", "data split set --episode 0 --at 3 --dry-run --json"),
    ("data split --into", "data split set --into a=1,b=1 --out parts --dry-run --json"),
    ("data merge", "data merge set set --out both --dry-run --json"),
    ("data label", "data label set --success true --task new --dry-run --json"),
    ("data delete", "data delete set --episodes 0 --json"),
    ("data trim", "data trim set --episode 0 --frames 1:5 --json"),
    ("data split --episode", "data split set --episode 0 --at 2 --json"),
    ("data split --into", "data split set --into a=1,b=1 --out parts --json"),
    ("data merge", "data merge set set --out both --json"),
    ("data label", "data label set --success true --add good --task new --json"),
    ("data export", "data export set --to hdf5 --out demos --json"),
    ("data export", "data export set --to lerobot --out plain --json"),
];

#[test]
fn every_verb_writes_the_object_it_promises() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    ok(here, "collect small.yaml --episodes 3 --seconds 0.2 --out set");
    ok(here, "train reach --steps 8192 --out reach");
    ok(here, "policy export reach --out reach.onnx");
    let promised = documented();
    for (section, words) in OBJECTS {
        let output = run(here, words);
        // Doctor finds problems where GL or cameras are missing.
        let code = output.status.code();
        assert!(code == Some(0) || section == "doctor", "{words}: {}", stderr(&output));
        let all = objects(&output, words);
        assert_eq!(all.len(), 1, "{words}: {}", stdout(&output));
        has(&all[0], &promised[section][""], words);
    }
    let robomimic = run(here, "data export set --to robomimic --out r.hdf5 --json");
    has(&objects(&robomimic, "robomimic")[0], &promised["data export"][""], "robomimic");
}

#[test]
fn verbs_that_go_on_write_a_line_per_event() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    few_problems(here);
    let promised = documented();
    let kept = |section: &str, words: &str, all: &[Value], wanted: &[&str]| {
        for object in all {
            let event = object["event"].as_str().unwrap();
            let paced = words.contains("--speed") && ["begin", "saved"].contains(&event);
            let section = if paced || event == "repaired" { "drive" } else { section };
            // Events may be added; those that are promised keep their keys.
            if let Some(keys) = promised[section].get(event) {
                has(object, keys, words);
            }
        }
        for event in wanted {
            assert!(all.iter().any(|o| o["event"] == *event), "{words}: no {event}");
        }
    };
    let lines = |section: &str, words: &str, wanted: &[&str]| {
        let output = run(here, words);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        kept(section, words, &objects(&output, words), wanted);
    };
    lines(
        "collect",
        "collect small.yaml --episodes 2 --seconds 0.2 --json --out set",
        &["saved", "done"],
    );
    lines(
        "collect",
        "collect small.yaml --seconds 0.2 --speed 4 --json --out paced",
        &["begin", "frame", "saved", "done"],
    );
    lines("train reach", "train reach --steps 8192 --out reach --json", &["evaluation", "end"]);
    ok(here, "data export set --to hdf5 --episodes 0 --out h");
    ok(here, "data export set --to robomimic --out r.hdf5");
    let file = std::fs::read_dir(here.join("h")).unwrap().next().unwrap().unwrap().path();
    lines("data import", &format!("data import {} --json --out i", file.display()), &["imported"]);
    lines("data import", "data import r.hdf5 --scene small.yaml --json --out j", &["imported"]);
    let words = "drive small.yaml --record d --cameras none --episodes 1 --episode-time 0.3 --countdown 0 \
                 --reset-time 0 --listen 127.0.0.1:0 --json";
    kept("drive", words, &driven(here, words), &["serving", "begin", "saved", "end"]);
    lines(
        "twin",
        "twin ur5_cell --goal 0.5,-0.3,0.5 --headless --dry-run --json",
        &["twin_state", "report"],
    );
    ok(here, "space simulate ur5_cell --camera depth --frames 2 -o clouds");
    let frames = ["clouds/frame_000.npz", "clouds/frame_001.npz"].join(" ");
    for (section, words, first) in [
        ("space run", format!("space run {frames} --json"), "frame"),
        ("plan bench", "plan bench few.json --repeat 1 --json".to_owned(), "problem"),
    ] {
        let output = run(here, &words);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        let all = objects(&output, &words);
        assert_eq!(all.len(), 3, "{words}");
        has(&all[0], &promised[section][first], &words);
        has(&all[2], &promised[section]["last"], &words);
    }
}

/// Words, exit code, and whether errors come as lines.
const FAULTS: [(&str, i32, bool); 22] = [
    ("scene show nowhere.yaml --json", 3, false),
    ("sim small.yaml --envs none --json", 2, false),
    ("replay set --episode 9 --json", 3, false),
    ("replay nowhere --json", 3, false),
    ("report nowhere --json", 3, false),
    ("plan ur5_cell --goal-joints home --map none.bin --json", 3, false),
    ("plan ur5_cell --goal-joints home --with nowhere --json", 3, false),
    ("eval nowhere --json", 3, false),
    ("policy show nowhere --json", 3, false),
    ("train reach --resume nowhere --json", 3, true),
    ("data list nowhere --json", 3, false),
    ("data check nowhere --json", 3, false),
    ("data repair nowhere --json", 3, false),
    ("data delete set --episodes 9 --json", 3, false),
    ("data delete set --json", 2, false),
    ("data label set --json", 2, false),
    ("data split set --json", 2, false),
    ("data merge set set --out set --json", 3, false),
    ("data export set --to hdf5 --out set --json", 3, false),
    ("data import nowhere.h5 --out x --json", 3, true),
    ("collect small.yaml --out set --json", 3, true),
    ("space run nowhere.npz --json", 3, true),
];

#[test]
fn errors_are_objects_and_have_the_code_of_the_process() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    ok(here, "collect small.yaml --seconds 0.2 --cameras none --out set");
    let told = |output: &Output, words: &str, code: i32, lines: bool| {
        assert_eq!(output.status.code(), Some(code), "{words}: {}", stderr(output));
        let last = objects(output, words).pop().unwrap_or_else(|| panic!("{words}: silence"));
        assert_eq!(last["error"]["code"], code, "{words}: {last}");
        assert_eq!(last["event"] == "error", lines, "{words}: {last}");
        let message = last["error"]["message"].as_str().unwrap();
        assert!(stderr(output).contains(message), "{words}: {message}");
    };
    for (words, code, lines) in FAULTS {
        told(&run(here, words), words, code, lines);
    }
    // A check that found something has said so: one object, exit code 4.
    let tape = std::fs::read_dir(here.join("set/citrange/episodes")).unwrap().next().unwrap();
    let tape = tape.unwrap().path();
    let whole = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, &whole[..whole.len() / 2]).unwrap();
    let output = run(here, "data check set --json");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let all = objects(&output, "data check");
    assert!(all.len() == 1 && all[0].get("error").is_none(), "{all:?}");
}

#[test]
fn a_full_disk_is_1_whoever_fills_it() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    ok(here, "collect small.yaml --episodes 2 --seconds 0.2 --out set");
    let strace = Command::new("strace").args(["-qq", "-e", "trace=mkdir", "true"]).output();
    if !strace.is_ok_and(|o| o.status.success()) {
        eprintln!("NO STRACE HERE: skipped");
        return;
    }
    for words in [
        "data export set --to hdf5 --out d",
        "data export set --to robomimic --out r.hdf5",
        "data export set --to lerobot --out l",
        "data merge set set --out m",
        "data delete set --episodes 0",
        "data label set --note x",
        "collect small.yaml --seconds 0.2 --out c",
        "report set --no-film",
        "scene show small.yaml --mjb model.mjb",
    ] {
        let calls = "write,fsync,fdatasync,copy_file_range";
        let output = Command::new("strace")
            .current_dir(here)
            .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")])
            .args(["-e", &format!("inject={calls}:error=ENOSPC")])
            .arg(env!("CARGO_BIN_EXE_citrange"))
            .args(words.split(' '))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{words}");
    }
}

#[test]
fn a_stopped_session_says_that_it_was_stopped() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .current_dir(here)
        .args("drive small.yaml --listen 127.0.0.1:0 --json".split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(first["event"], "serving");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let last: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["error"]["code"]), (&"error".into(), &130.into()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
