//! 10: what README shows works as it is printed.

use crate::common::{citrange, stderr, temp};

/// README's line of the map, of the plan among it, and those that they need.
#[test]
fn readme_space_and_plan_lines_work_as_printed() {
    let readme = include_str!("../../../../README.md");
    let lines: Vec<Vec<String>> = readme
        .lines()
        .filter(|line| line.starts_with("citrange space ") || line.starts_with("citrange plan ur5"))
        .map(words)
        .collect();
    assert!(lines.len() >= 4, "{lines:?}");
    assert!(lines.iter().any(|line| line.contains(&"--map".to_owned()) && line[0] == "plan"));
    let folder = temp();
    for mut line in lines {
        // A shell would do this.
        if let Some(at) = line.iter().position(|word| word == "clouds/*.npz") {
            let mut clouds: Vec<String> = std::fs::read_dir(folder.path().join("clouds"))
                .unwrap()
                .map(|file| format!("clouds/{}", file.unwrap().file_name().to_str().unwrap()))
                .filter(|name| name.ends_with(".npz"))
                .collect();
            clouds.sort();
            line.splice(at..=at, clouds);
        }
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let done = citrange(folder.path(), &line, &[]);
        assert!(done.status.success(), "{line:?}: {}", stderr(&done));
    }
    for file in ["map.bin", "map.png", "path.json", "path.mp4"] {
        assert!(folder.path().join(file).metadata().unwrap().len() > 1000, "{file}");
    }
}

/// Words of a line after `citrange`, without its comment; quoted words are one.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            all.push(part.to_owned());
            continue;
        }
        let (part, comment) = part.split_once('#').map_or((part, None), |(p, c)| (p, Some(c)));
        all.extend(part.split_whitespace().map(str::to_owned));
        if comment.is_some() {
            break;
        }
    }
    all.remove(0);
    all
}

/// Frames of one episode are of one world: a map of them holds nothing that never was there.
#[test]
fn readme_frames_of_a_simulated_camera_are_of_one_world() {
    let folder = temp();
    let simulate = |out: &str, more: &[&str]| {
        let words = ["space", "simulate", "ur5_cell", "--camera", "depth", "-o", out];
        let done = citrange(folder.path(), &[&words, more].concat(), &[]);
        assert!(done.status.success(), "{}", stderr(&done));
    };
    let voxels = |frames: &[&str]| {
        let words = [&["space", "run", "--json"], frames].concat();
        let done = citrange(folder.path(), &words, &[]);
        assert!(done.status.success(), "{}", stderr(&done));
        let last = String::from_utf8(done.stdout).unwrap().lines().last().unwrap().to_owned();
        let told: serde_json::Value = serde_json::from_str(&last).unwrap();
        told["map_voxels"].as_u64().unwrap() as f64
    };
    simulate("one", &["--frames", "3"]);
    simulate("many", &["--frames", "3", "--each-episode"]);
    let first = voxels(&["one/frame_000.npz"]);
    let three = ["one/frame_000.npz", "one/frame_001.npz", "one/frame_002.npz"];
    assert!(voxels(&three) < 1.1 * first, "{first}");
    let many = ["many/frame_000.npz", "many/frame_001.npz", "many/frame_002.npz"];
    assert!(voxels(&many) > 1.2 * first, "{first}");
}
