//! Files of many demonstrations.

use std::collections::BTreeMap;

use citrange_hdf5::{
    Array, Attr, FileLayout, Hdf5Error, Images, RobomimicDemo, RobomimicHeader, RobomimicWriter,
    Series, read_demo, read_robomimic, sniff,
};
use tempfile::tempdir;

fn demo(steps: usize) -> RobomimicDemo {
    let table = |cols: usize| {
        let data = (0..steps * cols).map(|k| k as f64 * 0.1).collect();
        Array::matrix(steps, cols, data).unwrap()
    };
    let images = Images::from_fn(steps, 4, 5, |k, out| {
        out.fill(k as u8);
        Ok(())
    });
    RobomimicDemo {
        model_file: Some("<mujoco/>".repeat(10_000)),
        ep_meta: Some("{\"lang\": \"stack\"}".into()),
        states: Some(table(45)),
        actions: Some(table(7)),
        rewards: Some(vec![0.25; steps]),
        dones: Some((0..steps).map(|k| k + 1 == steps).collect()),
        obs: BTreeMap::from([
            ("object".into(), Series::Numbers(table(10))),
            ("agentview_image".into(), Series::Images(images.unwrap())),
        ]),
        next_obs: BTreeMap::from([("object".into(), Series::Numbers(table(10)))]),
        attrs: BTreeMap::from([("seed".into(), Attr::Int(5))]),
        skipped: vec![],
        unread: BTreeMap::new(),
    }
}

fn header() -> RobomimicHeader {
    RobomimicHeader {
        env: Some("Stack".into()),
        env_info: Some("{}".into()),
        env_args: Some("{\"env_name\": \"Stack\"}".into()),
        repository_version: Some("1.5.2".into()),
        date: Some("3-14-2026".into()),
        time: Some("15:9:26".into()),
        other: BTreeMap::from([("fps".into(), Attr::Int(20))]),
    }
}

#[test]
fn demonstrations_come_back() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("demo.hdf5");
    let mut file = RobomimicWriter::create(&path, &header()).unwrap();
    for k in 0..11 {
        assert_eq!(file.add(&demo(3 + k)).unwrap(), format!("demo_{k}"));
    }
    file.mask("train", &["demo_10", "demo_2"]).unwrap();
    assert!(!path.exists(), "a file must not appear before it is complete");
    file.finish().unwrap();

    assert_eq!(sniff(&path).unwrap(), FileLayout::Robomimic);
    let back = read_robomimic(&path).unwrap();
    assert_eq!(back.header, header());
    assert_eq!(back.total, Some((3..14).sum()));
    // By number, not by letter.
    assert_eq!(back.demos[..3], ["demo_0", "demo_1", "demo_2"]);
    assert_eq!(back.demos[10], "demo_10");
    assert_eq!(back.masks["train"], ["demo_10", "demo_2"]);
    for k in 0..11 {
        let (a, b) = (demo(3 + k), back.read_demo(k).unwrap());
        assert_eq!(b.steps(), 3 + k);
        assert_eq!((a.model_file, a.ep_meta, a.attrs), (b.model_file, b.ep_meta, b.attrs));
        assert_eq!((a.states, a.actions), (b.states, b.actions));
        assert_eq!((a.rewards, a.dones), (b.rewards, b.dones));
        assert_eq!(a.obs["object"].numbers(), b.obs["object"].numbers());
        assert_eq!(a.next_obs["object"].numbers(), b.next_obs["object"].numbers());
        let last = b.obs["agentview_image"].images().unwrap().frame(2 + k).unwrap();
        assert_eq!(last, vec![2 + k as u8; 60]);
    }
    let error = back.read_demo(11).err().unwrap();
    assert!(matches!(error, Hdf5Error::NoSuchDemo { index: 11, count: 11, .. }), "{error}");
    assert!(read_demo(&path).unwrap_err().to_string().contains("robomimic"));
}

#[test]
fn robosuites_own_poorer_files_are_read() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("demo.hdf5");
    let mut file = RobomimicWriter::create(&path, &RobomimicHeader::default()).unwrap();
    let poor = RobomimicDemo {
        model_file: Some("<mujoco/>".into()),
        states: demo(4).states,
        actions: demo(4).actions,
        ..RobomimicDemo::default()
    };
    file.add(&poor).unwrap();
    file.finish().unwrap();
    let back = read_robomimic(&path).unwrap();
    assert_eq!(back.header, RobomimicHeader::default());
    let demo = back.read_demo(0).unwrap();
    assert_eq!((demo.states, demo.rewards, demo.obs.len()), (poor.states, None, 0));
}

#[test]
fn steps_must_agree_and_masks_must_name_what_is_there() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("demo.hdf5");
    let mut file = RobomimicWriter::create(&path, &header()).unwrap();
    let mut bad = demo(5);
    bad.rewards = Some(vec![0.0; 4]);
    let error = file.add(&bad).unwrap_err().to_string();
    assert_eq!(error, "`demo_0/rewards` has 4 steps, expected 5");
    file.add(&demo(5)).unwrap();
    let error = file.mask("train", &["demo_1"]).unwrap_err().to_string();
    assert_eq!(error, "`mask/train` has demo_1, expected names from demo_0 to demo_0");
    drop(file);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
