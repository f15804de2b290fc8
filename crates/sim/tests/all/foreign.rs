//! Robots as other people write them: coupled grippers, keyframes, URDF, clashing options, ball
//! joints, files that ask for too much. The models are small ones of our own.

use std::path::Path;
use std::sync::Arc;

use citrange_core::Rig as _;
use citrange_core::robot::HandModel;
use citrange_robot::{JawSide, jaw_sides};
use citrange_sim::{CompiledScene, SimRig, StateQuery, Threads, World, describe, try_robot};

use crate::common;

/// Four hinges and two fingers that one tendon pulls and an equality ties; it starts bent.
const ARM: &str = r#"<mujoco model="arm"><compiler angle="radian" autolimits="true"/>
<option impratio="7"/>
<default><geom density="500"/><joint damping="1"/></default>
<worldbody><body name="base"><geom type="cylinder" size="0.06 0.04" pos="0 0 0.04"/>
<body name="turret" pos="0 0 0.1"><joint name="pan" axis="0 0 1" range="-2 2"/><geom type="sphere" size="0.04"/>
<body name="upper" pos="0 0 0.05"><joint name="lift" axis="0 1 0" range="-1.5 1.5"/><geom type="capsule" fromto="0 0 0.06 0 0 0.2" size="0.03"/>
<body name="lower" pos="0 0 0.25"><joint name="bend" axis="0 1 0" range="0.2 2.5"/><geom type="capsule" fromto="0 0 0.06 0 0 0.16" size="0.025"/>
<body name="hand" pos="0 0 0.22"><joint name="tilt" axis="0 1 0" range="-3 3"/><geom type="box" size="0.03 0.05 0.02"/>
<body name="left" pos="0 0.03 0.03"><joint name="left" type="slide" axis="0 1 0" range="0 0.03"/><geom type="box" size="0.01 0.005 0.03" pos="0 0 0.03"/></body>
<body name="right" pos="0 -0.03 0.03"><joint name="right" type="slide" axis="0 -1 0" range="0 0.03"/><geom type="box" size="0.01 0.005 0.03" pos="0 0 0.03"/></body>
</body></body></body></body></body></worldbody>
<contact><exclude body1="base" body2="turret"/><exclude body1="left" body2="right"/></contact>
<tendon><fixed name="split"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon>
<equality><joint joint1="left" joint2="right"/></equality>
<actuator><position joint="pan" kp="300" kv="20" ctrlrange="-2 2"/><position joint="lift" kp="300" kv="20" ctrlrange="-1.5 1.5"/>
<position joint="bend" kp="300" kv="20" ctrlrange="0.2 2.5"/><position joint="tilt" kp="50" kv="4" ctrlrange="-3 3"/>
<general tendon="split" ctrlrange="0 255" gainprm="0.02352941" biastype="affine" biasprm="0 -200 -20"/></actuator>
<keyframe><key name="home" qpos="0 0.3 1.2 0 0.02 0.02" ctrl="0 0.3 1.2 0 170"/><key name="low" qpos="0.5 0.6 1.5 0 0.03 0.03"/></keyframe></mujoco>"#;

/// A gripper alone: two swinging fingers, each with a pad that stays upright, one motor for all.
const CLAW: &str = r#"<mujoco model="claw"><compiler angle="radian" autolimits="true"/>
<default><geom density="500" conaffinity="0"/><joint damping="0.05" armature="0.001"/></default>
<worldbody><body name="mount"><geom type="box" size="0.03 0.03 0.01" pos="0 0 0.01"/>
<body name="left" pos="0 0.03 0.02"><joint name="left" axis="-1 0 0" range="-0.5 0.5"/><geom type="capsule" fromto="0 0 0.02 0 0 0.04" size="0.005"/>
<body name="left_pad" pos="0 0 0.05"><joint name="left_pad" axis="1 0 0" range="-0.5 0.5"/><geom type="box" size="0.01 0.004 0.02" pos="0 0 0.02"/></body></body>
<body name="right" pos="0 -0.03 0.02"><joint name="right" axis="1 0 0" range="-0.5 0.5"/><geom type="capsule" fromto="0 0 0.02 0 0 0.04" size="0.005"/>
<body name="right_pad" pos="0 0 0.05"><joint name="right_pad" axis="-1 0 0" range="-0.5 0.5"/><geom type="box" size="0.01 0.004 0.02" pos="0 0 0.02"/></body></body>
</body></worldbody>
<equality><joint joint1="right" joint2="left"/><joint joint1="left_pad" joint2="left"/><joint joint1="right_pad" joint2="right"/></equality>
<actuator><position joint="left" kp="20" kv="0.5" ctrlrange="-0.5 0.5"/></actuator></mujoco>"#;

const HEAD: &str =
    "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\nrobots:\n";

fn scene(folder: &Path, robots: &str) -> Result<Arc<CompiledScene>, String> {
    common::scene_from(&format!("{HEAD}{robots}"), folder).map_err(|e| e.to_string())
}

fn written(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

#[test]
fn a_gripper_on_a_tendon_is_guessed_driven_and_closed() {
    let folder = written("arm.xml", ARM);
    let guess = describe("arm.xml", folder.path(), None, None).unwrap();
    let found = &guess.description;
    assert_eq!(found.arm_joints, ["pan", "lift", "bend", "tilt"]);
    let gripper = found.gripper.as_ref().unwrap();
    assert_eq!(gripper.joints, ["left", "right"]);
    assert!((gripper.open[0] - 0.03).abs() < 1e-6 && gripper.closed[0] == 0.0);
    assert_eq!(found.home, "home");
    // As a person writes it into a scene.
    std::fs::write(folder.path().join("robot.yaml"), guess.to_yaml()).unwrap();
    let scene = scene(folder.path(), "  r: {model: robot.yaml}\n").unwrap();
    let trial = try_robot(&scene).unwrap();
    assert_eq!(trial.state, Ok(()));
    assert_eq!(trial.drive, Ok(()));
    assert_eq!(trial.gripper, Some(Ok(())));
}

#[test]
fn a_hand_of_another_model_is_put_onto_an_arm() {
    // The arm as it is sold: without fingers, with a site where they go.
    let (before, fingers) = ARM.split_once("<body name=\"left\"").unwrap();
    let (_, after) = fingers.split_once("</body></body></body></body></body>").unwrap();
    let (after, _) = after.split_once("<contact>").unwrap();
    let rest = r#"<contact><exclude body1="base" body2="turret"/></contact><actuator>
<position joint="pan" kp="300" kv="20"/><position joint="lift" kp="300" kv="20"/>
<position joint="bend" kp="300" kv="20"/><position joint="tilt" kp="50" kv="4"/></actuator>
<keyframe><key name="home" qpos="0 0.3 1.2 0" ctrl="0 0.3 1.2 0"/></keyframe></mujoco>"#;
    let site = "<site name=\"flange\" pos=\"0 0 0.03\"/></body></body></body></body></body>";
    let folder = written("arm.xml", &format!("{before}{site}{after}{rest}"));
    std::fs::write(folder.path().join("claw.xml"), CLAW).unwrap();
    let hand = HandModel { model: "claw.xml".into(), at: "flange".into() };
    let guess = describe("arm.xml", folder.path(), None, Some(&hand)).unwrap();
    let found = &guess.description;
    assert_eq!(found.arm_joints, ["pan", "lift", "bend", "tilt"]);
    let joints = ["hand/left", "hand/left_pad", "hand/right", "hand/right_pad"];
    assert_eq!(found.gripper.as_ref().unwrap().joints, joints);
    assert_eq!(found.poses["home"][..4], [0.0, 0.3, 1.2, 0.0]);
    std::fs::write(folder.path().join("robot.yaml"), guess.to_yaml()).unwrap();
    let scene = scene(folder.path(), "  r: {model: robot.yaml}\n").unwrap();
    let trial = try_robot(&scene).unwrap();
    assert_eq!((trial.state, trial.drive), (Ok(()), Ok(())));
    assert_eq!(trial.gripper, Some(Ok(())));
    // All links of a finger are of the same jaw.
    let sides = jaw_sides(&scene.chain("r").unwrap(), &scene.link_shapes("r").unwrap());
    let [palm, a, b, c, d] = sides[3..] else { panic!("{sides:?}") };
    assert_eq!(palm, Some(JawSide::Palm));
    assert!(a == b && c == d && a != c && ![a, c].contains(&palm), "{sides:?}");

    let nowhere = HandModel { model: "claw.xml".into(), at: "flnge".into() };
    let error = describe("arm.xml", folder.path(), None, Some(&nowhere)).unwrap_err().to_string();
    assert!(error.contains("did you mean \"flange\""), "{error}");
}

#[test]
fn a_raw_model_starts_in_its_keyframe_and_any_other_by_name() {
    let folder = written("arm.xml", ARM);
    let start = |robots: &str| {
        let mut world =
            World::new(scene(folder.path(), robots).unwrap(), 1, Threads::Exactly(1)).unwrap();
        let state = world.get_state(None, &StateQuery::default()).unwrap();
        let robot = &state.robots["r"];
        let targets = robot.joint_pos_target.as_ref().unwrap().row(0).to_vec();
        (robot.joint_pos.as_ref().unwrap().row(0).to_vec(), targets)
    };
    let (home, targets) = start("  r: {model: arm.xml}\n");
    assert_eq!(home, [0.0, 0.3, 1.2, 0.0, 0.02, 0.02]);
    assert!((targets[4] - 0.02).abs() < 1e-6 && targets[5].is_nan(), "{targets:?}");
    let (low, _) = start("  r: {model: arm.xml, pose: low}\n");
    assert_eq!(low[..3], [0.5, 0.6, 1.5]);
    let unknown = scene(folder.path(), "  r: {model: arm.xml, pose: lo}\n").unwrap_err();
    assert!(unknown.contains("lo"), "{unknown}");
}

#[test]
fn without_a_keyframe_a_robot_starts_within_its_limits() {
    let bare = ARM.replace("<keyframe>", "<!--").replace("</keyframe>", "-->");
    let folder = written("arm.xml", &bare);
    let mut world = World::new(
        scene(folder.path(), "  r: {model: arm.xml}\n").unwrap(),
        1,
        Threads::Exactly(1),
    )
    .unwrap();
    let state = world.get_state(None, &StateQuery::default()).unwrap();
    assert_eq!(state.robots["r"].joint_pos.as_ref().unwrap()[[0, 2]], 0.2);
}

#[test]
fn clashing_options_are_named_and_kept_when_asked() {
    let folder = written("arm.xml", ARM);
    let plain = scene(folder.path(), "  r: {model: arm.xml}\n").unwrap();
    let notes: Vec<&str> = plain.notes().map(|(_, note)| note).collect();
    assert!(notes.iter().any(|n| n.contains("impratio 7 (here 10)")), "{notes:?}");
    let kept = scene(folder.path(), "  r: {model: arm.xml}\nphysics: {from: r}\n").unwrap();
    assert_eq!(kept.model().ffi().opt.impratio, 7.0);
    assert!(kept.notes().all(|(_, note)| !note.contains("impratio")));
}

#[test]
fn motors_become_servos_only_when_a_description_says_so() {
    let motors = ARM.replace(
        "<position joint=\"pan\" kp=\"300\" kv=\"20\" ctrlrange=\"-2 2\"/>",
        "<motor joint=\"pan\" ctrlrange=\"-20 20\"/>",
    );
    let folder = written("arm.xml", &motors);
    let raw = scene(folder.path(), "  r: {model: arm.xml}\n").unwrap();
    let error = SimRig::new(raw, Some(&[])).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("joint pan has a motor"), "{error}");
    let guess = describe("arm.xml", folder.path(), None, None).unwrap();
    assert_eq!(guess.needs_servos, ["pan"]);
    std::fs::write(folder.path().join("robot.yaml"), guess.to_yaml()).unwrap();
    let made = scene(folder.path(), "  r: {model: robot.yaml}\n").unwrap();
    let rig = SimRig::new(made, Some(&[])).unwrap();
    assert_eq!(rig.spec().joints.len(), 6);
}

#[test]
fn a_urdf_gets_servos_ties_and_its_packages_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("tiny_description");
    std::fs::create_dir_all(package.join("meshes")).unwrap();
    std::fs::create_dir_all(package.join("urdf")).unwrap();
    let box_obj =
        "v 0 0 0\nv 0.05 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(package.join("meshes/part.obj"), box_obj).unwrap();
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"0.3\"/><inertia ixx=\"1e-3\" iyy=\"1e-3\" izz=\"1e-3\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\
         <visual><geometry><mesh filename=\"package://tiny_description/meshes/part.obj\"/></geometry></visual></link>"
        )
    };
    let joint = |name: &str, of: &str, to: &str, more: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{of}\"/><child link=\"{to}\"/><origin xyz=\"0 0 0.1\"/>\
         <axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"1\" effort=\"20\" velocity=\"2.5\"/>{more}</joint>"
        )
    };
    let text = format!(
        "<robot name=\"tiny\">{}{}{}{}{}{}{}{}</robot>",
        link("base"),
        link("a"),
        link("b"),
        link("c"),
        link("d"),
        joint("one", "base", "a", ""),
        joint("two", "a", "b", ""),
        joint("three", "b", "c", "")
            + &joint("four", "c", "d", "<mimic joint=\"three\" multiplier=\"-0.5\"/>"),
    );
    let urdf = package.join("urdf/tiny.urdf");
    std::fs::write(&urdf, &text).unwrap();
    let robots = format!("  r: {{model: {}, joints: {{three: 0.4}}}}\n", urdf.display());
    let scene_of = |robots: &str| scene(Path::new(""), robots);
    let scene = scene_of(&robots).unwrap();
    assert_eq!(scene.sizes()["actuators"], 3);
    assert_eq!(scene.sizes()["geoms"], 5 + 1, "every link is seen, and the floor");
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    let state = world.get_state(None, &StateQuery::default()).unwrap();
    let at = state.robots["r"].joint_pos.as_ref().unwrap().row(0).to_vec();
    assert_eq!(at, [0.0, 0.0, 0.4, -0.2]);
    // A mesh that is nowhere is named, with its line.
    std::fs::write(&urdf, text.replace("meshes/part.obj", "meshes/gone.obj")).unwrap();
    let error = scene_of(&robots).unwrap_err();
    assert!(
        error.contains("5 meshes are not found")
            && error.contains("gone.obj")
            && error.contains("line 1"),
        "{error}"
    );
}

#[test]
fn ball_joints_and_loose_parts_go_round_in_a_state() {
    let text = r#"<mujoco><worldbody><body name="mast"><geom size="0.1"/>
        <body name="head" pos="0 0 0.5"><joint name="neck" type="ball"/><geom type="box" size="0.1 0.05 0.2"/></body></body>
        <body name="stone" pos="1 0 1"><freejoint name="loose"/><geom size="0.1"/></body></worldbody></mujoco>"#;
    let folder = written("mast.xml", text);
    let scene = scene(folder.path(), "  r: {model: mast.xml}\n").unwrap();
    let names = scene.joint_names("r").unwrap();
    assert_eq!(names[..4], ["neck:qw", "neck:qx", "neck:qy", "neck:qz"]);
    assert_eq!(names[4], "loose:px");
    assert_eq!(try_robot(&scene).unwrap().state, Ok(()));
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    let mut state = world.get_state(None, &StateQuery::default()).unwrap();
    let robot = state.robots.get_mut("r").unwrap();
    robot.object.body_state = None;
    robot.object.joint_pos.as_mut().unwrap()[[0, 0]] = 0.5;
    let error = world.set_state(&state, None).unwrap_err().to_string();
    assert!(error.contains("length 0.5"), "{error}");
}

#[test]
fn one_of_two_arms_in_a_file_is_a_robot_of_its_own() {
    // The second arm beside the first, with names of its own.
    let (from, to) = (ARM.find("<worldbody>").unwrap() + 11, ARM.find("</worldbody>").unwrap());
    let body = &ARM[from..to];
    let mut second = body.replace("name=\"base\"", "name=\"base2\" pos=\"0 1 0\"");
    for name in ["turret", "upper", "lower", "hand", "left", "right", "pan", "lift", "bend", "tilt"]
    {
        second = second.replace(&format!("name=\"{name}\""), &format!("name=\"{name}2\""));
    }
    let both = ARM.replace(body, &format!("{body}{second}"));
    let both = both.replace("<actuator>", "<actuator><position joint=\"pan2\" kp=\"300\" kv=\"20\"/><position joint=\"lift2\" kp=\"300\" kv=\"20\"/><position joint=\"bend2\" kp=\"300\" kv=\"20\"/><position joint=\"tilt2\" kp=\"50\" kv=\"4\"/>");
    let both = both.replace("<keyframe>", "<!--").replace("</keyframe>", "-->");
    let folder = written("two.xml", &both);
    for (root, file, joint) in [("base", "one.yaml", "pan"), ("base2", "other.yaml", "pan2")] {
        let guess = describe("two.xml", folder.path(), Some(root), None).unwrap();
        assert_eq!(guess.description.arm_joints[0], joint);
        std::fs::write(folder.path().join(file), guess.to_yaml()).unwrap();
    }
    let robots = "  a: {model: one.yaml}\n  b: {model: other.yaml, pos_m: [0, 0, 0]}\n";
    let scene = scene(folder.path(), robots).unwrap();
    let rig = SimRig::with_robots(scene, &["a".to_owned(), "b".to_owned()], Some(&[])).unwrap();
    let names: Vec<&str> = rig.spec().joints.iter().map(|j| j.name.as_str()).collect();
    assert!(names.contains(&"robot0_pan") && names.contains(&"robot1_pan2"), "{names:?}");
    let missing = describe("two.xml", folder.path(), Some("bas"), None).unwrap_err().to_string();
    assert!(missing.contains("no body \"bas\"") && missing.contains("base"), "{missing}");
}

#[test]
fn what_is_no_arm_says_why_and_what_asks_for_too_much_is_refused() {
    let hand = r#"<mujoco><worldbody><body name="palm"><geom size="0.05"/>
        <body><joint name="f1"/><geom size="0.01"/></body><body pos="0.1 0 0"><joint name="f2"/><geom size="0.01"/></body>
        </body></worldbody></mujoco>"#;
    let cases = [
        ("hand.xml", hand.to_owned(), "hand or gripper alone"),
        ("huge.xml", "<mujoco>\n<size memory=\"9000G\"/></mujoco>".to_owned(), "<size> in line 2"),
        (
            "copies.xml",
            "<mujoco><worldbody><replicate count=\"99999999\"/></worldbody></mujoco>".to_owned(),
            "copies",
        ),
        ("torn.xml", ARM[..400].to_owned(), "not well-formed XML"),
        ("empty.xml", String::new(), "not well-formed XML"),
        (
            "x.urdf",
            "<robot xmlns:xacro=\"http://ros.org/wiki/xacro\">\n<xacro:macro name=\"a\"/></robot>"
                .to_owned(),
            "expand it",
        ),
    ];
    for (file, text, reason) in cases {
        let folder = written(file, &text);
        let error = describe(file, folder.path(), None, None).unwrap_err().to_string();
        assert!(error.contains(reason), "{file}: {error}");
    }
}
