//! Single-episode files: what is written comes back bit for bit, and poorer files are read too.

use std::collections::BTreeMap;
use std::path::PathBuf;

use citrange_hdf5::{
    Array, Attr, Compression, Demo, DemoAttrs, FileLayout, Hdf5Error, Images, InitialStateData,
    Series, read_demo, sniff, write_demo, write_demo_with,
};
use proptest::prelude::*;
use tempfile::tempdir;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Numbers that lose something in any detour.
fn awkward() -> Vec<f64> {
    vec![0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::NAN, f64::NEG_INFINITY, 1.0 / 3.0, f64::MAX]
}

fn pictures(frames: usize) -> Images {
    let rgb = (0..frames * 6 * 4 * 3).map(|k| (k * k % 251) as u8).collect();
    Images::from_rgb(frames, 6, 4, rgb).unwrap()
}

fn full() -> Demo {
    let values = awkward();
    let table = Array::matrix(7, 2, [values.clone(), values.clone()].concat()).unwrap();
    Demo {
        attrs: DemoAttrs {
            episode_number: Some(-1),
            environment: Some("Stäck".into()),
            robots: Some("['Panda']".into()),
            total_steps: Some(7),
            start_time: Some(Attr::Float(1.5)),
            duration: Some(0.1),
            success: Some(false),
            randomization_enabled: Some(true),
            randomization_seed: Some(Attr::Unsigned(u64::MAX)),
            other: BTreeMap::from([
                ("names".into(), Attr::Texts(vec!["a".into(), String::new(), "é".into()])),
                ("gains".into(), Attr::Floats(vec![0.1, 0.2])),
                ("flag".into(), Attr::Bool(true)),
                ("empty".into(), Attr::Text(String::new())),
            ]),
        },
        model_xml: Some("<body/>".repeat(20_000)),
        initial_state: Some(values.clone()),
        initial_state_data: Some(InitialStateData {
            qpos: Some(values.clone()),
            qvel: Some(vec![]),
            time: Some(0.3),
            body_pos: Some(vec![[0.1, -0.0, 3.0]; 5]),
            body_rot: Some(vec![[0.7; 9]; 5]),
            body_names: Some((0..5).map(|k| format!("body {k}")).collect()),
        }),
        named_joints: BTreeMap::from([("cubeA_joint_qpos".into(), values.clone())]),
        actions: Some(table.clone()),
        rewards: Some(values.clone()),
        dones: Some(vec![false, false, false, false, false, false, true]),
        timestamps: Some(values.clone()),
        cameras: BTreeMap::from([("front".into(), pictures(7)), ("none".into(), pictures(0))]),
        robot_states: BTreeMap::from([("robot0_joint_pos".into(), table.clone())]),
        gripper_states: BTreeMap::from([("g".into(), table)]),
        observables: BTreeMap::from([
            ("image".into(), Series::Images(pictures(65))),
            ("rank3".into(), Series::Numbers(Array::new(vec![1, 2, 3], vec![0.1; 6]).unwrap())),
        ]),
        blobs: BTreeMap::from([("tape".into(), (0..=255).collect()), ("empty".into(), vec![])]),
        skipped: vec![],
        unread: BTreeMap::new(),
    }
}

fn assert_same_pixels(a: &Images, b: &Images) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
    for k in 0..a.frames() {
        assert_eq!(a.frame(k).unwrap(), b.frame(k).unwrap(), "frame {k}");
    }
}

fn assert_same(a: &Demo, b: &Demo) {
    assert_eq!(a.attrs, b.attrs);
    assert_eq!(a.model_xml, b.model_xml);
    let lists = |d: &Demo| {
        [&d.initial_state, &d.rewards, &d.timestamps].map(|v| v.as_ref().map(|v| bits(v)))
    };
    assert_eq!(lists(a), lists(b));
    let start = |d: &Demo| {
        let s = d.initial_state_data.clone().unwrap();
        (bits(&s.qpos.unwrap()), s.qvel, s.time, s.body_pos, s.body_rot, s.body_names)
    };
    assert_eq!(start(a), start(b));
    let joints = |d: &Demo| d.named_joints.values().map(|v| bits(v)).collect::<Vec<_>>();
    assert_eq!(joints(a), joints(b));
    let tables = |d: &Demo| {
        [d.actions.as_ref().unwrap(), &d.robot_states["robot0_joint_pos"], &d.gripper_states["g"]]
            .map(|t| (t.shape().to_vec(), bits(t.data())))
    };
    assert_eq!(tables(a), tables(b));
    assert_eq!(a.dones, b.dones);
    for name in ["front", "none"] {
        assert_same_pixels(&a.cameras[name], &b.cameras[name]);
    }
    let image = |d: &Demo| d.observables["image"].images().unwrap().clone();
    assert_same_pixels(&image(a), &image(b));
    assert_eq!(a.observables["rank3"].numbers(), b.observables["rank3"].numbers());
    assert_eq!(a.blobs, b.blobs);
    assert_eq!(b.skipped, Vec::<String>::new());
}

#[test]
fn everything_comes_back_bit_for_bit() {
    let folder = tempdir().unwrap();
    for compression in [Compression::None, Compression::Gzip(1), Compression::Gzip(9)] {
        let path = folder.path().join("demo.h5");
        write_demo_with(&path, &full(), compression).unwrap();
        assert_eq!(sniff(&path).unwrap(), FileLayout::Demo);
        let back = read_demo(&path).unwrap();
        assert_same(&full(), &back);
        // What was read can be written again, pictures straight from file to file.
        let copy = folder.path().join("copy.h5");
        write_demo_with(&copy, &back, compression).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap());
    }
}

#[test]
fn chunk_trees_of_every_height_find_their_pictures() {
    let folder = tempdir().unwrap();
    for frames in [1, 63, 64, 65, 128, 129, 4097] {
        let images = Images::from_fn(frames, 1, 1, |k, out| {
            out.copy_from_slice(&[k as u8, (k >> 8) as u8, 9]);
            Ok(())
        });
        let mut demo = Demo::default();
        demo.cameras.insert("c".into(), images.unwrap());
        let path = folder.path().join("demo.h5");
        write_demo(&path, &demo).unwrap();
        let back = &read_demo(&path).unwrap().cameras["c"];
        assert_same_pixels(&demo.cameras["c"], back);
        // In any order, too.
        for k in (0..frames).rev().step_by(31).chain([0, frames / 2, 0, frames - 1, 0]) {
            assert_eq!(back.frame(k).unwrap(), [k as u8, (k >> 8) as u8, 9], "frame {k}");
        }
    }
}

fn of_h5py(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", name].iter().collect()
}

#[test]
fn files_of_h5py_are_read_in_the_oldest_and_the_newest_format() {
    for name in ["h5py_earliest.h5", "h5py_latest.h5"] {
        let demo = read_demo(of_h5py(name)).unwrap();
        assert_eq!(demo.attrs.episode_number, Some(3));
        assert_eq!(demo.attrs.robots.as_deref(), Some("['Panda']"));
        assert_eq!(demo.attrs.success, Some(true));
        assert_eq!(demo.attrs.start_time, Some(Attr::Float(1_773_500_966.25)));
        assert_eq!(demo.attrs.randomization_seed, Some(Attr::Text("None".into())));
        assert_eq!(demo.attrs.other["note"], Attr::Texts(vec!["a".into(), "bc".into()]));
        assert_eq!(demo.model_xml.as_deref(), Some("<mujoco>Würfel</mujoco>"));
        let actions = demo.actions.unwrap();
        assert_eq!(actions.shape(), [4, 7]);
        let expected: Vec<f64> = (0..28).map(|k| f64::from(k) * 0.1).collect();
        assert_eq!(bits(actions.data()), bits(&expected));
        assert_eq!(demo.dones, Some(vec![false, false, false, true]));
        let pixels: Vec<u8> = (18..36).collect();
        assert_eq!(demo.cameras["agentview"].frame(1).unwrap(), pixels);
        assert_eq!(demo.initial_state_data.unwrap().body_rot.unwrap()[1][0], 9.0);
        let big_endian = demo.observables["big_endian"].numbers().unwrap();
        assert_eq!(big_endian.data(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(demo.skipped, ["/odd"]);
    }
}

#[test]
fn a_failed_write_leaves_nothing_behind_and_names_the_frame() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("demo.h5");
    let mut demo = Demo { rewards: Some(vec![1.0]), ..Demo::default() };
    write_demo(&path, &demo).unwrap();
    let before = std::fs::read(&path).unwrap();
    let broken =
        Images::from_fn(3, 2, 2, |k, _| if k < 2 { Ok(()) } else { Err("unplugged".into()) });
    demo.cameras.insert("wrist".into(), broken.unwrap());
    let error = write_demo(&path, &demo).unwrap_err().to_string();
    assert_eq!(error, "frame 2 of `wrist` is missing: unplugged");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn wrong_files_are_told_apart() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x.h5");
    std::fs::write(&path, b"hello").unwrap();
    assert_eq!(sniff(&path).unwrap(), FileLayout::Other("not an HDF5 file".into()));
    assert!(matches!(read_demo(&path), Err(Hdf5Error::NotHdf5 { .. })));
    write_demo(&path, &Demo::default()).unwrap();
    assert_eq!(sniff(&path).unwrap(), FileLayout::Other("an HDF5 file without members".into()));
    assert!(matches!(sniff(folder.path().join("no.h5")), Err(Hdf5Error::Io { .. })));
}

#[test]
fn texts_and_names_that_hdf5_would_change_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x.h5");
    let mut demo = Demo { model_xml: Some("a\0b".into()), ..Demo::default() };
    assert!(write_demo(&path, &demo).unwrap_err().to_string().contains("NUL"));
    demo.model_xml = None;
    demo.named_joints.insert("cube".into(), vec![]);
    assert!(write_demo(&path, &demo).unwrap_err().to_string().contains("_qpos"));
    demo.named_joints.clear();
    demo.blobs.insert("a/b".into(), vec![]);
    assert!(write_demo(&path, &demo).unwrap_err().to_string().contains("slash"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn texts_of_any_length_come_back(lengths in prop::collection::vec(0usize..9000, 1..5)) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("x.h5");
        let names: Vec<String> = lengths.iter().map(|n| "x".repeat(*n)).collect();
        let start = InitialStateData { body_names: Some(names.clone()), ..Default::default() };
        let mut demo = Demo { initial_state_data: Some(start), ..Demo::default() };
        demo.model_xml = Some(names[0].clone());
        demo.attrs.environment = Some(names[0].clone());
        write_demo(&path, &demo).unwrap();
        let back = read_demo(&path).unwrap();
        prop_assert_eq!(back.model_xml, demo.model_xml);
        prop_assert_eq!(back.attrs, demo.attrs);
        prop_assert_eq!(back.initial_state_data.unwrap().body_names.unwrap(), names);
    }
}
