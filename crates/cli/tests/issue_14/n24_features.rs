//! What rows hold beside joint positions, and all settings of a recording in one file.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use citrange_lerobot::Column;
use citrange_robot::Kinematics;
use citrange_sim::{CompiledScene, load_scene};
use citrange_tape::Dataset;
use serde_json::Value;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, connect};

use crate::common::{fails, ok, small_scene, temp};

fn state_names(root: &Path) -> Vec<String> {
    let info = std::fs::read(root.join("meta/info.json")).unwrap();
    let info: Value = serde_json::from_slice(&info).unwrap();
    let names = &info["features"]["observation.state"]["names"];
    assert_eq!(info["features"]["action"]["names"].as_array().unwrap().len(), 6);
    names.as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()).collect()
}

fn state(set: &Dataset, episode: usize) -> Vec<f32> {
    let rows = set.lerobot.read_episode(episode).unwrap();
    rows.column("observation.state").and_then(Column::floats).unwrap().to_vec()
}

fn set_with(here: &Path, features: &str, out: &str) {
    ok(here, &format!("collect small.yaml --episodes 2 --seconds 0.3 {features} --out {out}"));
}

#[test]
fn velocities_and_the_wrist_are_rows_as_the_seed_has_them() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    set_with(here, "--features pos,vel,ee", "set");
    let names = state_names(&here.join("set"));
    assert_eq!(names.len(), 15);
    assert_eq!((&*names[0], &*names[6]), ("shoulder_pan.pos", "shoulder_pan.vel"));
    assert_eq!(names[12..], ["ee.pos_x", "ee.pos_y", "ee.pos_z"]);
    let set = Dataset::open(&here.join("set")).unwrap();
    let (tape, shown) = set.tape(1).unwrap().expect("rows and tape agree");
    let path = here.join("small.yaml");
    let scene = Arc::new(CompiledScene::new(&load_scene(path.to_str().unwrap()).unwrap()).unwrap());
    let chain = scene.chain(scene.robot_names().next().unwrap()).unwrap();
    let mut kinematics = Kinematics::new(&chain);
    let mut fastest = 0.0f64;
    for (row, frame) in state(&set, 1).chunks(15).zip(&tape.frames[shown]) {
        for joint in 0..6 {
            let shown = frame.joint_vel[joint] * set.index.units[joint].scale;
            assert!((f64::from(row[6 + joint]) - shown).abs() <= 1e-5 * shown.abs());
            fastest = fastest.max(shown.abs());
        }
        kinematics.update(&frame.joint_pos);
        let wrist_m = kinematics.site(&chain.wrist).pos_m;
        for (is, right) in row[12..].iter().zip(wrist_m.iter()) {
            assert!((f64::from(*is) - right).abs() < 1e-6, "{row:?} {wrist_m:?}");
        }
    }
    assert!(fastest > 1.0, "nothing moved");
}

#[test]
fn everything_goes_on_working_with_more_features() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    set_with(here, "--features pos,vel,ee", "set");
    ok(here, "replay set --verify");
    ok(here, "replay set --frame-targets");
    ok(here, "data check set --deep");
    ok(here, "data trim set --episode 0 --frames 2:8");
    ok(here, "data split set --episode 1 --at 4");
    ok(here, "data merge set set --out both");
    ok(here, "replay both --verify");
    ok(here, "data check both");
    ok(here, "report set --no-film");
    // Another unit changes angles and their speeds, not metres.
    ok(here, "data export set --to lerobot --unit radians --out plain");
    ok(here, "data check plain");
    let (set, plain) =
        (Dataset::open(&here.join("set")).unwrap(), Dataset::open(&here.join("plain")).unwrap());
    let (tape, shown) = set.tape(0).unwrap().unwrap();
    let (row, frame) = (state(&plain, 0), &tape.frames[shown.start]);
    assert!((f64::from(row[1]) - frame.joint_pos[1]).abs() < 1e-5);
    assert!((f64::from(row[7]) - frame.joint_vel[1]).abs() < 1e-4);
    assert_eq!(row[12..15], state(&set, 0)[12..15]);
    ok(here, "data export set --to hdf5 --episodes 0 --out h");
    let file = std::fs::read_dir(here.join("h")).unwrap().next().unwrap().unwrap().path();
    ok(here, &format!("data import {} --out back", file.display()));
    assert_eq!(state(&Dataset::open(&here.join("back")).unwrap(), 0), state(&set, 0));
    // As LeRobot's arms by default; the two do not mix.
    set_with(here, "--cameras none", "lean");
    assert_eq!(state_names(&here.join("lean")).len(), 6);
    fails(here, "data merge set lean --out never", 3);
    let said = fails(here, "collect small.yaml --out set --resume --seconds 0.1", 3);
    assert!(said.contains("observation.state"), "{said}");
    let said = fails(here, "collect small.yaml --out never --features pos,velo", 2);
    assert!(said.contains("vel"), "{said}");
}

#[test]
fn a_recording_that_was_cut_off_keeps_its_features() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let words = "collect small.yaml --speed 1 --seconds 60 --features pos,vel,ee --json --out set";
    let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
        .current_dir(here)
        .args(words.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("\"frame\":15")));
    child.kill().unwrap();
    child.wait().unwrap();
    ok(here, "data repair set");
    let set = Dataset::open(&here.join("set")).unwrap();
    assert!(set.tape(0).unwrap().is_some());
    assert_eq!(state(&set, 0).len(), 15 * set.lerobot.episodes()[0].length);
    ok(here, "replay set --verify");
}

/// Runs `drive` with `--json` to its end, with somebody at the wheel; answers what it told.
pub(crate) fn driven(here: &Path, words: &str) -> Vec<Value> {
    let mut child = Running(
        Command::new(env!("CARGO_BIN_EXE_citrange"))
            .current_dir(here)
            .args(words.split(' '))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut told = Vec::new();
    let mut driver = None;
    for line in BufReader::new(child.0.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["event"] == "serving" {
            driver = Some(take_the_wheel(line["link"].as_str().unwrap()));
        }
        told.push(line);
    }
    drop(driver);
    assert!(child.0.wait().unwrap().success(), "{told:?}");
    told
}

/// A page that drives, as far as the arm can tell: it is there and listens.
fn take_the_wheel(link: &str) -> std::thread::JoinHandle<()> {
    let (origin, query) = link.split_once("/?").unwrap();
    let mut request =
        format!("{}/ws?{query}", origin.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("Origin", origin.parse().unwrap());
    let (mut socket, _) = connect(request).unwrap();
    socket.send(Message::text(r#"{"type": "take"}"#)).unwrap();
    std::thread::spawn(move || while socket.read().is_ok() {})
}

/// Does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _over = self.0.kill();
        let _gone = self.0.wait();
    }
}

const YAML: &str = "\
scene: small.yaml
record: set
task: put it there
seed: 3
cameras: []
features: [pos, vel]
unit: radians
episodes: 9
episode_time: 0.4
countdown: 0
reset_time: 0
listen: 127.0.0.1:0
";

#[test]
fn one_file_holds_all_settings_and_the_command_line_wins() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    std::fs::write(here.join("record.yaml"), YAML).unwrap();
    let words = "drive --config record.yaml --episodes 2 --json";
    driven(here, words);
    let set = Dataset::open(&here.join("set")).unwrap();
    assert_eq!(set.len(), 2);
    assert_eq!(set.lerobot.tasks(), ["put it there"]);
    let (tape, _) = set.tape(1).unwrap().unwrap();
    assert_eq!((tape.header.seed, tape.header.rig.cameras.len()), (3, 0));
    assert_eq!(set.index.units[0].unit, "rad");
    assert_eq!(state_names(&here.join("set")).len(), 12);
    // It is a dataset now, as the file's own words would say.
    let said = fails(here, "drive --config record.yaml", 3);
    assert!(said.contains("--resume"), "{said}");
    std::fs::write(here.join("wrong.yaml"), YAML.replace("countdown:", "count_down:")).unwrap();
    let said = fails(here, "drive --config wrong.yaml", 3);
    assert!(said.contains("wrong.yaml:10") && said.contains("\"countdown\""), "{said}");
    fails(here, "drive --config none.yaml", 3);
    let said = fails(here, "drive --episodes 2", 2);
    assert!(said.contains("--record"), "{said}");
}
