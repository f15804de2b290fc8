//! `collect SCENE --from SET:EPISODE:FRAME` minds SCENE.

use crate::common::{fails, json, ok, stderr, temp};

#[test]
fn going_on_from_a_frame_stays_in_its_scene() {
    let folder = temp();
    let root = folder.path();
    ok(root, "collect orange_plate --seconds 0.5 --cameras none --out set");
    let on = "--from set:0:5 --seconds 0.2 --cameras none --out";
    let said = fails(root, &format!("collect block_box {on} other"), 3);
    assert!(said.contains("is of scene orange_plate, not block_box"), "{said}");
    assert!(!root.join("other").exists());
    fails(root, &format!("collect no_such_scene {on} other"), 3);
    // The episode's own, named or not.
    ok(root, &format!("collect orange_plate {on} same"));
    ok(root, &format!("collect {on} none"));
    for set in ["same", "none"] {
        let shown = json(&ok(root, &format!("data show {set} --episode 0 --json")));
        assert_eq!(shown["tape"]["scene"], "orange_plate");
    }
    // A scene of that name which has changed since is not used in silence.
    let yaml = include_str!("../../../../scenes/orange_plate.yaml");
    std::fs::write(root.join("changed.yaml"), yaml.replace("frame_hz: 30", "frame_hz: 60"))
        .unwrap();
    let said = stderr(&ok(root, &format!("collect changed.yaml {on} changed")));
    assert!(said.contains("is not as it was when the episode was recorded"), "{said}");
    fails(root, "collect --out nothing", 2);
    let said = fails(root, "drive block_box --from set:0:5 --listen 127.0.0.1:0", 3);
    assert!(said.contains("is of scene orange_plate, not block_box"), "{said}");
}
