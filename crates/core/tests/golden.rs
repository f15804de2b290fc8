//! Golden files: what earlier versions wrote must stay readable.

use std::collections::BTreeMap;

use citrange_core::Snapshot;

/// The snapshot that `golden/snapshot_v1.bin` holds.
fn snapshot_v1() -> Snapshot {
    Snapshot {
        tool_version: "0.1.0".into(),
        engine: "mujoco 3.17.0".into(),
        scene: "golden".into(),
        model_hash: "00ff".repeat(16),
        step: 1234,
        fields: BTreeMap::from([
            ("control/targets".into(), vec![0.5, -0.25]),
            ("mujoco/qpos".into(), vec![0.1, -0.0, 1.0 / 3.0]),
            ("mujoco/time".into(), vec![3.427_777_777_777_778]),
        ]),
    }
}

#[test]
fn format_1_reads_and_writes_the_same_bytes() {
    let golden = include_bytes!("golden/snapshot_v1.bin");
    let read = Snapshot::from_bytes(golden).unwrap();
    assert_eq!(read, snapshot_v1());
    assert_eq!(read.to_bytes(), golden);
}
