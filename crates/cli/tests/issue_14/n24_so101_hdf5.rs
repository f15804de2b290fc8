//! Recordings of an SO-101 as seed 002 keeps them: `data/demo_N/obs/{joint_pos, actions, front, wrist}`.
//! With h5py: `peers/test_hdf5.py`.

use citrange_hdf5::read_robomimic;
use citrange_hdf5::{Array, Attr, Images, RobomimicDemo, RobomimicHeader, RobomimicWriter, Series};
use citrange_tape::Dataset;

use crate::common::{fails, json, ok, small_scene, stderr, stdout, temp};

#[test]
fn so101_files_go_out_and_come_back() {
    let folder = temp();
    let root = folder.path();
    small_scene(root);
    ok(root, "collect small.yaml --seconds 0.5 --out set");
    ok(root, "data export set --to so101-hdf5 --out out.hdf5");
    let file = read_robomimic(root.join("out.hdf5")).unwrap();
    assert_eq!(file.header.other["frame_hz"], Attr::Float(30.0));
    let demo = file.read_demo(0).unwrap();
    let (tape, _) = Dataset::open(&root.join("set")).unwrap().tape(0).unwrap().unwrap();
    let numbers = |key: &str| demo.obs[key].numbers().unwrap();
    for frame in [0, 7, 14] {
        for (key, expected) in [
            ("joint_pos", &tape.frames[frame].joint_pos[..]),
            ("actions", tape.action(frame).unwrap()),
        ] {
            let row = numbers(key).row(frame).unwrap();
            assert!(row.iter().zip(expected).all(|(a, b)| *a == f64::from(*b as f32)), "{key}");
        }
    }
    for camera in ["front", "wrist"] {
        let images = demo.obs[camera].images().unwrap();
        assert_eq!((images.frames(), images.height(), images.width()), (15, 48, 64));
    }
    assert_eq!(
        (&demo.attrs["frame_count"], &demo.attrs["duration"]),
        (&Attr::Int(15), &Attr::Float(0.5))
    );
    // Back with its pictures, nothing simulated.
    let line = json(&ok(root, "data import out.hdf5 --out back --json"));
    assert_eq!((&line["kind"], &line["frames"]), (&"as_recorded".into(), &15.into()));
    assert_eq!(line["frame_hz"], 30);
    let (set, back) = (Dataset::open(&root.join("set")), Dataset::open(&root.join("back")));
    let (set, back) = (set.unwrap(), back.unwrap());
    let column = |d: &Dataset, name: &str| {
        d.lerobot.read_episode(0).unwrap().column(name).unwrap().floats().unwrap().to_vec()
    };
    for name in ["observation.state", "action"] {
        let (a, b) = (column(&set, name), column(&back, name));
        // Degrees, after a detour over single precision in radians.
        assert!(
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4),
            "{name}"
        );
    }
    for camera in ["front", "wrist"] {
        let (a, b) = (set.pictures(0, camera).unwrap(), back.pictures(0, camera).unwrap());
        assert_eq!((b.frames(), b.height(), b.width()), (15, 48, 64));
        let far =
            a.frame(9).unwrap().iter().zip(b.frame(9).unwrap()).map(|(a, b)| a.abs_diff(b)).max();
        assert!(far.unwrap() < 60, "coded twice, but the same picture: {far:?}");
    }
    let list = stdout(&ok(root, "data list back"));
    assert!(list.contains("import") && !list.contains("exact"), "{list}");
    ok(root, "data check back");
    // It plays by its rows in a scene that is named, and can be simulated as it is imported.
    assert!(fails(root, "replay back", 3).contains("--scene"));
    ok(root, "replay back --scene small.yaml");
    ok(root, "data import out.hdf5 --scene small.yaml --cameras none --out simulated");
    ok(root, "data export back --to so101-hdf5 --out again.hdf5");
}

/// As the seed's collector writes it: no rate, no names, 60 frames a second.
#[test]
fn files_of_others_are_taken_at_their_rate_and_in_radians() {
    let folder = temp();
    let root = folder.path();
    let write = |name: &str, scale: f64| {
        let steps = 12;
        let row = |k: usize| (0..6).map(move |j| scale * (0.1 + 0.01 * (k + j) as f64));
        let table = Array::matrix(steps, 6, (0..steps).flat_map(row).collect()).unwrap();
        let images = Images::from_rgb(steps, 16, 32, vec![90; steps * 16 * 32 * 3]).unwrap();
        let mut demo = RobomimicDemo::default();
        for key in ["joint_pos", "actions"] {
            demo.obs.insert(key.into(), Series::Numbers(table.clone()));
        }
        demo.obs.insert("front".into(), Series::Images(images));
        demo.attrs.insert("success".into(), Attr::Bool(true));
        let path = root.join(name);
        let mut file =
            RobomimicWriter::create(path, &RobomimicHeader::default()).unwrap().single_precision();
        file.add(&demo).unwrap();
        file.finish().unwrap();
    };
    write("seed.hdf5", 1.0);
    let said = stderr(&ok(root, "data import seed.hdf5 --out set"));
    assert!(said.contains("does not say its rate: taken as 60 Hz"), "{said}");
    let shown = json(&ok(root, "data show set --json"));
    assert_eq!((&shown["fps"], &shown["frames"]), (&60.into(), &12.into()));
    assert!(stdout(&ok(root, "data list set")).contains("ok: imported"));
    write("degrees.hdf5", 57.3);
    let said = fails(root, "data import degrees.hdf5 --out other", 3);
    assert!(said.contains("beyond its limits") && said.contains("radians"), "{said}");
}
