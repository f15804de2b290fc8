//! A recording of another simulator is compared with what its replay makes of it: objects too.
//! With the real robosuite: `peers/test_robosuite.py`.

use std::path::Path;

use citrange_hdf5::{Array, RobomimicDemo, RobomimicHeader, RobomimicWriter};
use serde_json::Value;

use crate::common::{citrange, fails, json, ok, stderr, stdout, temp};

const FRAMES: usize = 8;

/// A table, an arm of two joints with a motor each, and a cube on the table: a world of its own.
fn world(cube: &str, file: &str) -> String {
    format!(
        r#"<mujoco model="other"><compiler angle="radian"/><option timestep="0.002"/>{file}
        <worldbody><geom name="floor" type="plane" size="0 0 .1"/>
          <body name="table" pos="0.5 0 0.4"><geom type="box" size=".3 .3 .4"/></body>
          <body name="robot0_base" pos="0 0 1">
            <body name="robot0_upper"><joint name="robot0_joint1" range="-3 3" limited="true"/>
              <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass="1"/>
              <body name="robot0_lower" pos=".2 0 0"><joint name="robot0_joint2" range="-3 3"
                limited="true"/><geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".5"/>
              </body></body></body>
          <body name="{cube}_main"><joint name="{cube}_joint0" type="free"/>
            <geom type="box" size=".02 .02 .02" mass=".1"/></body>
          <camera name="side" pos="1.5 0 1" xyaxes="0 1 0 0 0 1"/>
        </worldbody>
        <actuator><motor name="m1" joint="robot0_joint1" ctrllimited="true" ctrlrange="-80 80"/>
          <motor name="m2" joint="robot0_joint2" ctrllimited="true" ctrlrange="-80 80"/></actuator>
        </mujoco>"#
    )
}

/// The same arm in a scene of ours, with a table only if asked for.
fn scene(folder: &Path, table: bool) {
    let arm = r#"<mujoco><worldbody><body name="base"><body name="upper">
        <joint name="joint1" range="-3 3" limited="true"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass="1"/>
        <body name="lower" pos=".2 0 0"><joint name="joint2" range="-3 3" limited="true"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".5"/></body></body></body>
        </worldbody><actuator><position name="joint1" joint="joint1" kp="400" kv="40"/>
        <position name="joint2" joint="joint2" kp="400" kv="40"/></actuator></mujoco>"#;
    std::fs::write(folder.join("arm.xml"), arm).unwrap();
    let fixtures = "fixtures:\n  table: {pos_m: [0.5, 0, 0.4], parts: [{shape: {box: {half_m: \
                    [0.3, 0.3, 0.4]}}, rgba: [1, 1, 1, 1]}]}\n";
    let yaml = format!(
        "name: ours\ntitle: ours\nrates: {{physics_hz: 500, control_hz: 100, frame_hz: 20}}\n\
         robots:\n  robot0: {{model: arm.xml, pos_m: [0, 0, 1]}}\n{}objects:\n  cube:\n    parts: \
         [{{shape: {{box: {{half_m: [0.02, 0.02, 0.02]}}}}, mass_kg: 0.1, rgba: [1, 0, 0, 1]}}]\n    \
         place: {{spot_m: [0.5, 0], surface_z_m: 0.8}}\n",
        if table { fixtures } else { "" }
    );
    std::fs::write(folder.join("ours.yaml"), yaml).unwrap();
}

/// States as robosuite has them: the arm first, then the cube, which moves 1 mm per frame.
fn record(folder: &Path, name: &str, xml: &str) {
    let row = |k: usize| {
        let t = k as f64;
        let qpos = [0.01 * t, -0.01 * t, 0.5 + 0.001 * t, 0.0, 0.82, 1.0, 0.0, 0.0, 0.0];
        [&[0.05 * t][..], &qpos, &[0.0; 8]].concat()
    };
    let states: Vec<f64> = (0..FRAMES).flat_map(row).collect();
    let header = RobomimicHeader {
        env: Some("Push".into()),
        env_info: Some(r#"{"env_name": "Push", "robots": "Twojoint"}"#.into()),
        ..RobomimicHeader::default()
    };
    let mut file = RobomimicWriter::create(folder.join(name), &header).unwrap();
    let demo = RobomimicDemo {
        model_file: Some(xml.to_owned()),
        states: Some(Array::matrix(FRAMES, 18, states).unwrap()),
        actions: Some(Array::matrix(FRAMES, 7, vec![0.0; 7 * FRAMES]).unwrap()),
        ..RobomimicDemo::default()
    };
    file.add(&demo).unwrap();
    file.finish().unwrap();
}

fn line(folder: &Path, words: &str, code: i32) -> (Value, String) {
    let args: Vec<&str> = words.split(' ').collect();
    let output = citrange(folder, &args, &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {said}");
    (serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap(), said)
}

#[test]
fn objects_elsewhere_are_not_the_demonstrated_task() {
    let folder = temp();
    let root = folder.path();
    record(root, "demo.hdf5", &world("cube", ""));
    // Without the table the cube falls while the arm moves as recorded.
    scene(root, false);
    let import = "data import demo.hdf5 --scene ours.yaml --out set --cameras none --json";
    let (line, said) = line(root, import, 4);
    assert!(said.contains("NOT THE DEMONSTRATED TASK: cube is up to 0."), "{said}");
    let worst = line["objects"]["objects"]["cube"]["position_m"].as_f64().unwrap();
    assert!((0.1..1.0).contains(&worst), "{line}");
    assert!(line["problem"].as_str().unwrap().contains("cube"), "{line}");
    let list = stdout(&ok(root, "data list set"));
    assert!(list.contains("failed: objects_differ") && list.contains("import"), "{list}");
    assert!(!list.contains("exact"), "{list}");
    let listed = json(&ok(root, "data list set --json"));
    assert_eq!(listed["episodes"][0]["exact"], false);
    assert!(fails(root, "replay demo.hdf5 --scene ours.yaml", 4).contains("cube is up to"));
}

#[test]
fn objects_where_they_were_pass() {
    let folder = temp();
    let root = folder.path();
    record(root, "demo.hdf5", &world("cube", ""));
    scene(root, true);
    let (line, said) =
        line(root, "data import demo.hdf5 --scene ours.yaml --out set --cameras none --json", 0);
    // The recorded cube slides, ours rests: millimetres.
    assert!(said.contains("1 objects within"), "{said}");
    assert_eq!(line["problem"], Value::Null);
    let said = fails(root, "replay demo.hdf5 --scene ours.yaml --object-tolerance-m 0.001", 4);
    assert!(said.contains("NOT THE DEMONSTRATED TASK") || said.contains("cube is up to"), "{said}");
}

#[test]
fn an_object_that_the_scene_lacks_is_listed_and_the_arm_still_plays() {
    let folder = temp();
    let root = folder.path();
    record(root, "demo.hdf5", &world("milk", ""));
    scene(root, true);
    let (line, said) =
        line(root, "data import demo.hdf5 --scene ours.yaml --out set --cameras none --json", 4);
    assert!(said.contains("joints of the file that the scene lacks: milk_joint0"), "{said}");
    assert!(said.contains("fresh scene: cube"), "{said}");
    assert_eq!((&line["frames"], &line["start"]), (&8.into(), &"named_joints".into()));
    assert_eq!(line["objects"]["not_in_scene"][0], "milk_joint0");
}

#[test]
fn the_files_own_model_plays_by_its_states() {
    let folder = temp();
    let root = folder.path();
    record(root, "demo.hdf5", &world("cube", ""));
    let import = "data import demo.hdf5 --own-scene --out set --cameras side --json";
    let (line, said) = line(root, import, 0);
    assert!(said.contains("every frame set from the file, not simulated"), "{said}");
    assert_eq!((&line["start"], &line["play"]), (&"states".into(), &"states".into()));
    assert_eq!(line["objects"]["objects"]["cube"]["position_m"], 0.0);
    // Its tape sets the states too, and so repeats to the bit, from any frame.
    assert!(stdout(&ok(root, "replay set --verify")).contains("bitwise equal"));
    assert!(
        stdout(&ok(root, "replay set --episode 0 --from 3 --verify")).contains("bitwise equal")
    );
    assert!(stdout(&ok(root, "replay demo.hdf5 --own-scene")).contains("recorded states"));
    // What goes on from a frame of it is simulated.
    ok(root, "collect --from set:0:4 --out more --seconds 0.2 --cameras none");
}

#[test]
fn files_of_the_own_model_are_found_or_named() {
    let folder = temp();
    let root = folder.path();
    let asset = r#"<asset><mesh name="m" file="/nowhere/pkg/models/assets/robots/m.obj"/></asset>"#;
    record(root, "demo.hdf5", &world("cube", asset));
    let said = fails(root, "data import demo.hdf5 --own-scene --out set", 3);
    assert!(said.contains("1 files of the recording's own model are not here"), "{said}");
    assert!(said.contains("robots/m.obj") && said.contains("--assets"), "{said}");
    assert!(!root.join("set").exists());
    let robots = root.join("pkg/models/assets/robots");
    std::fs::create_dir_all(&robots).unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(robots.join("m.obj"), tetrahedron).unwrap();
    ok(root, "data import demo.hdf5 --own-scene --assets pkg --out set --cameras none");
    let env = [("CITRANGE_ASSETS", "pkg/models/assets")];
    let args = ["replay", "demo.hdf5", "--own-scene"];
    assert!(citrange(root, &args, &env).status.success());
}
