//! Recording and replaying with the binary.

mod common;

use common::{fails, json, ok, small_scene, small_set, stderr, stdout, temp};

#[test]
fn contact_rich_episodes_replay_bit_for_bit_in_fresh_processes() {
    let folder = temp();
    let here = folder.path();
    for scene in ["orange_plate", "multi_table_assembly"] {
        ok(here, &format!("collect {scene} --episodes 4 --cameras none --seed 5 --out {scene}"));
        for threads in [1, 2] {
            let words = format!("replay {scene} --verify --threads {threads} --json");
            let report = json(&ok(here, &words));
            let episodes = report["episodes"].as_array().unwrap();
            assert_eq!((episodes.len(), &report["differing"]), (4, &0.into()));
            for episode in episodes {
                let steps = episode["verify"]["steps"].as_u64().unwrap();
                assert!(episode["bitwise"] == true && steps > 5000, "{episode}");
            }
        }
        // From the middle of a grasp, too.
        ok(here, &format!("replay {scene} --episode 2 --from 70 --verify"));
    }
}

#[test]
fn a_changed_command_is_found_and_named() {
    let folder = temp();
    let here = folder.path();
    ok(here, "collect orange_plate --episodes 1 --seconds 2 --cameras none --out set");
    let tapes = here.join("set/citrange/episodes");
    let tape = std::fs::read_dir(&tapes).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&tape).unwrap();

    // Damage is damage: refused, and a finding of a verification.
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&tape, &damaged).unwrap();
    let said = fails(here, "replay set", 3);
    assert!(said.contains("damaged") && said.contains(".tape"), "{said}");
    fails(here, "replay set --verify", 4);
    fails(here, "data check set", 4);

    // One command changed by 1e-9 rad with a correct checksum: a lie, found by exit code 4.
    let mut lie = whole.clone();
    let tick = change_tick(&mut lie, 20);
    std::fs::write(&tape, &lie).unwrap();
    assert_eq!(tick, 20);
    let report = fails(here, "replay set --verify", 4);
    assert!(report.contains("1 of 1 episodes differ"), "{report}");
    let args = ["replay", "set", "--verify", "--json"];
    let output = common::citrange(here, &args, &[]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &report["episodes"][0]["verify"]["first"];
    // Tick 20 is physics steps 41 and 42, in frame 3.
    assert_eq!((&first["step"], &first["frame"]), (&41.into(), &3.into()), "{first}");
    assert!(first["field"].as_str().unwrap().starts_with("mujoco/"), "{first}");
    std::fs::write(&tape, &whole).unwrap();
    ok(here, "replay set --verify");
}

/// Adds 1e-9 to the first target of the `wanted`-th tick record and corrects its checksum.
fn change_tick(bytes: &mut [u8], wanted: u64) -> u64 {
    let mut at = 12;
    loop {
        assert_eq!(&bytes[at..at + 4], b"\xc1trr");
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        let payload = at + 9..at + 9 + length;
        let index = || u64::from_le_bytes(bytes[at + 9..at + 17].try_into().unwrap());
        if bytes[at + 8] == 5 && index() == wanted {
            let index = index();
            let place = payload.start + 8 + 1 + 6..payload.start + 8 + 1 + 6 + 8;
            let value = f64::from_le_bytes(bytes[place.clone()].try_into().unwrap()) + 1e-9;
            bytes[place].copy_from_slice(&value.to_le_bytes());
            let crc = crc32fast::hash(&bytes[at + 4..payload.end]);
            bytes[payload.end..payload.end + 4].copy_from_slice(&crc.to_le_bytes());
            return index;
        }
        at = payload.end + 4;
    }
}

#[test]
fn time_travel_makes_an_episode_that_names_its_parent() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 2);
    ok(here, "collect small.yaml --from set:1:12 --seconds 0.5 --out more");
    let report = json(&ok(here, "data list more --json"));
    let parent = &report["episodes"][0]["parent"];
    let of = json(&ok(here, "data list set --json"));
    assert_eq!(parent["uid"], of["episodes"][1]["uid"]);
    assert_eq!(parent["frame"], 12);
    ok(here, "replay more --verify");
    // It begins in the very state of its parent's frame.
    let show = |set: &str, frame: u32| {
        let words =
            format!("replay {set} --episode {} --from {frame} --verify", u32::from(set == "set"));
        stdout(&ok(here, &words))
    };
    assert!(show("set", 12).contains("bitwise") && show("more", 0).contains("bitwise"));
    let said = fails(here, "collect small.yaml --from set:1:99 --out never", 3);
    assert!(said.contains("no frame 99") && said.contains("30"), "{said}");
    let said = fails(here, "collect small.yaml --from set --out never", 3);
    assert!(said.contains("DATASET:EPISODE:FRAME"), "{said}");
}

#[test]
fn rows_of_a_dataset_are_played_near() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let report = json(&ok(here, "replay set --frame-targets --json"));
    let near = report["episodes"][0]["largest_joint_error_rad"].as_f64().unwrap();
    assert!(near > 0.0 && near < 0.2, "{near}");
    // Without its tapes it is anybody's dataset: a scene must be named, and it is said how.
    std::fs::remove_dir_all(here.join("set/citrange")).unwrap();
    let said = fails(here, "replay set", 3);
    assert!(said.contains("--scene"), "{said}");
    let output = ok(here, "replay set --scene small.yaml");
    assert!(stdout(&output).contains("level 2"), "{}", stdout(&output));
    fails(here, "replay set --scene small.yaml --verify", 4);
}

#[test]
fn films_are_made() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    ok(here, "replay set --render film.mp4");
    let film = std::fs::read(here.join("film.mp4")).unwrap();
    assert_eq!(&film[4..8], b"ftyp");
}

#[test]
fn appending_needs_resume_and_agreement() {
    let folder = temp();
    let here = folder.path();
    small_set(here, 1);
    let said = fails(here, "collect small.yaml --out set", 3);
    assert!(said.contains("--resume"), "{said}");
    let said = fails(here, "collect multi_table_assembly --out set --resume --seconds 0.1", 3);
    assert!(said.contains("robot") && said.contains("panda") && said.contains("fps"), "{said}");
    ok(here, "collect small.yaml --out set --resume --seconds 0.5");
    let list = json(&ok(here, "data list set --json"));
    assert_eq!(list["episodes"].as_array().unwrap().len(), 2);
    // The second starts elsewhere: another index of the same seed.
    let show = |episode: u32| {
        json(&ok(here, &format!("data show set --episode {episode} --json")))["tape"]
            ["episode_index"]
            .clone()
    };
    assert_eq!((show(0), show(1)), (0.into(), 1.into()));
    let said = fails(here, "collect small.yaml --out set --resume --images nowhere", 3);
    assert!(said.contains("nowhere"), "{said}");
}

#[test]
fn a_stop_keeps_the_episode() {
    let folder = temp();
    let here = folder.path();
    small_scene(here);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_citrange"))
        .current_dir(here)
        .args([
            "collect",
            "small.yaml",
            "--out",
            "set",
            "--speed",
            "1",
            "--episodes",
            "9",
            "--json",
        ])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Interrupt once ten frames are there.
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut frames = 0;
    let mut rest = lines.map(|l| l.unwrap());
    while frames < 10 {
        frames += u64::from(rest.next().unwrap().contains("\"frame\""));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let saved = rest.find(|l| l.contains("\"saved\"")).expect("it is saved");
    assert!(saved.contains("\"stopped\""), "{saved}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let list = json(&ok(here, "data list set --json"));
    let frames = list["episodes"][0]["frames"].as_u64().unwrap();
    // It ends at the tick: the frame in hand is not part of it.
    assert!((9..30).contains(&frames), "{frames}");
    ok(here, "replay set --verify");
}

#[test]
fn wrong_paths_are_named() {
    let folder = temp();
    let here = folder.path();
    for words in ["replay nowhere", "data list nowhere", "data repair nowhere"] {
        let said = fails(here, words, 3);
        assert!(said.contains("nowhere"), "{said}");
    }
    std::fs::write(here.join("text"), "hello").unwrap();
    let said = fails(here, "replay text", 3);
    assert!(said.contains("does not begin like a tape"), "{said}");
    let output = ok(here, "completions bash");
    assert!(stdout(&output).contains("replay") && stderr(&output).is_empty());
}
