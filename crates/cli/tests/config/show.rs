//! `citrange config show`: every value, and where it comes from.

use serde_json::{Value, json};

use crate::common::{citrange, fails, json, ok, stderr, stdout, temp};

fn line<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.lines().find(|line| line.trim_start().starts_with(start));
    found.unwrap_or_else(|| panic!("no {start} in\n{text}"))
}

#[test]
fn values_say_who_set_them() {
    let folder = temp();
    let own = "# own\nprofile: seed\nlin_speed: 0.06\nworkspace:\n  z_m: [0.02, 0.3]\n";
    std::fs::write(folder.path().join("own.yaml"), own).unwrap();
    let record = "scene: orange_plate\nepisodes: 3\nprofile: own.yaml\ncountdown: 1\n";
    std::fs::write(folder.path().join("record.yaml"), record).unwrap();
    let words = "config show drive --config record.yaml --countdown 2 --record set";
    let text = stdout(&ok(folder.path(), words));
    for (start, value, origin) in [
        ("scene:", "orange_plate", "file record.yaml:1"),
        ("episodes:", "3", "file record.yaml:2"),
        ("countdown:", "2", "option --countdown"),
        ("record:", "set", "option --record"),
        ("reset_time:", "1", "default"),
        ("lin_speed_m_s:", "0.06", "file own.yaml:3"),
        ("z_m:", "[0.02,0.3]", "file own.yaml:5"),
        ("method:", "plain", "profile seed"),
    ] {
        let line = line(&text, start);
        let (said, from) = line.split_once('#').unwrap();
        assert!(said.contains(value) && from.trim() == origin, "{line}\nin\n{text}");
    }
    // The same as JSON, wherever the word stands.
    let one = json(&ok(folder.path(), &format!("{words} --json")));
    assert_eq!(one["settings"]["countdown"], 2);
    assert_eq!(one["from"]["/controller/lin_speed_m_s"], "file own.yaml:3");
    let other = words.replace("show", "show --json");
    assert_eq!(json(&ok(folder.path(), &other)), one);
}

#[test]
fn what_is_printed_is_yaml_and_what_would_be_used() {
    let folder = temp();
    let words = "config show collect orange_plate --out set --randomise default --retries 5";
    let text = stdout(&ok(folder.path(), words));
    let value: Value = citrange_core::yaml::from_yaml(&text, "shown").unwrap();
    assert_eq!(value["pilot"]["retries"], 5);
    assert!(line(&text, "retries: 5").ends_with("# option --retries"));
    let ranges = citrange_core::randomise::Randomise::built_in().unwrap();
    assert_eq!(value["ranges"], json!(ranges));
    let settings = citrange_task::AutopilotSettings::load("default").unwrap();
    assert_eq!(value["pilot"]["lift_height"], json!(settings.lift_height));
}

#[test]
fn scenes_and_cells_are_shown_with_their_defaults() {
    let folder = temp();
    let text = stdout(&ok(folder.path(), "config show scene show block_box"));
    assert!(line(&text, "physics_hz:").contains("# file scenes/block_box.yaml:"), "{text}");
    assert!(line(&text, "noslip_iterations:").contains("# "), "{text}");
    let cell = "pipeline:\n  voxel_size: 0.02\n";
    std::fs::write(folder.path().join("cell.yaml"), cell).unwrap();
    let text = stdout(&ok(folder.path(), "config show space run x.npz --config cell.yaml"));
    let voxel = line(&text, "voxel_size_m:");
    assert!(voxel.contains("0.02") && voxel.ends_with("# file cell.yaml:2"), "{voxel}");
    assert!(line(&text, "num_voxels:").ends_with("# default"), "{text}");
}

/// What a verb reads besides its options is shown with it, whichever verb it is.
#[test]
fn files_that_a_verb_reads_are_shown_with_their_lines() {
    let folder = temp();
    let pose = "format: 1\ntool: by hand\nrpy_deg: [0, 90, 0]\nxyz_m: [1, 2, 3]\n";
    std::fs::write(folder.path().join("pose.yaml"), pose).unwrap();
    let cell = "cameras:\n  left: {pose_file: pose.yaml}\n";
    std::fs::write(folder.path().join("cell.yaml"), cell).unwrap();
    let scene = include_str!("../../../../scenes/orange_plate.yaml");
    std::fs::write(folder.path().join("own.yaml"), scene).unwrap();
    let from = |words: &str, pointer: &str| {
        let one = json(&ok(folder.path(), &format!("config show {words} --json")));
        let said = one["from"][pointer].as_str();
        said.unwrap_or_else(|| panic!("{words}: no {pointer} in {one}")).to_owned()
    };
    for words in [
        "sim own.yaml",
        "drive own.yaml",
        "collect own.yaml",
        "plan own.yaml",
        "space simulate own.yaml",
        "replay x --scene own.yaml",
        "data import x --scene own.yaml",
    ] {
        let said = from(words, "/scene_file/rates/physics_hz");
        assert!(said.starts_with("file own.yaml:"), "{words}: {said}");
    }
    for words in ["scene show own.yaml", "scene render own.yaml"] {
        assert!(from(words, "/scene/rates/physics_hz").starts_with("file own.yaml:"), "{words}");
    }
    let said = from("drive own.yaml", "/robot_files/robot0/model");
    assert!(said.starts_with("file models/so101/robot.yaml:"), "{said}");
    for words in ["drive own.yaml", "collect own.yaml", "demo"] {
        assert_eq!(from(words, "/pilot/lift_height"), "profile default", "{words}");
    }
    for words in ["space run", "space view", "space calibrate cube", "space calibrate adjust"] {
        let said = from(&format!("{words} --config cell.yaml"), "/cell/cameras/left/xyz_m");
        assert!(said.ends_with("pose.yaml:4"), "{words}: {said}");
    }
    let told = stderr(&ok(folder.path(), "config show collect"));
    assert!(told.contains("not given:") && told.contains("--out"), "{told}");
}

/// Every verb can be asked, also without what it needs to run.
#[test]
fn every_verb_shows_its_settings() {
    let folder = temp();
    let verbs = [
        "setup",
        "doctor",
        "scene list",
        "scene show",
        "scene render",
        "sim",
        "drive",
        "collect",
        "replay",
        "report",
        "space run",
        "space view",
        "space simulate",
        "space calibrate pairs",
        "space calibrate cube",
        "space calibrate adjust",
        "plan",
        "plan bench",
        "demo",
        "data list",
        "data show",
        "data check",
        "data repair",
        "data delete",
        "data trim",
        "data split",
        "data merge",
        "data label",
        "data export",
        "data import",
        "config show",
        "config schema",
        "completions",
    ];
    for verb in verbs {
        let words: Vec<&str> = ["config", "show"].into_iter().chain(verb.split(' ')).collect();
        let done = citrange(folder.path(), &words, &[]);
        assert!(done.status.success(), "{verb}: {}", stderr(&done));
    }
    let said = fails(folder.path(), "config show drive --profil x", 2);
    assert!(said.contains("--profil"), "{said}");
    fails(folder.path(), "config show fly", 2);
}
