//! 10: frames of a simulated camera make one map (README's lines themselves: `readme.rs`).

use crate::common::{citrange, stderr, temp};

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
