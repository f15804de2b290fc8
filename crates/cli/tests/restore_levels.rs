//! How well every restore level restores: the same episode from files that keep less and less.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use citrange_core::restore::{BodyPose, PoseCheck};
use citrange_core::run;
use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Level, RunSettings, Tape};
use citrange_hdf5::{Demo, read_demo, write_demo};
use citrange_sim::{CompiledScene, SimRig};
use citrange_tape::{Dataset, DemoEpisode, DemoExtras, Episode, ExactReplay, export_demo};

/// A poorer copy of a file: its name, what is taken out, and the level that is left.
type Variant = (&'static str, fn(&mut Demo), Level);

const VARIANTS: [Variant; 8] = [
    ("everything, tape inside", |_| {}, Level::Snapshot),
    ("no tape", no_tape, Level::Arrays),
    ("no tape, no time", no_time, Level::Arrays),
    ("named joints with gripper", named, Level::NamedJoints),
    ("named joints, gripper unknown", named_arm, Level::NamedJoints),
    ("flattened state only", flat, Level::Flattened),
    ("arrays of another model, flattened state", wrong_arrays, Level::Flattened),
    ("nothing", nothing, Level::Current),
];

fn no_tape(demo: &mut Demo) {
    demo.blobs.clear();
}

fn no_time(demo: &mut Demo) {
    no_tape(demo);
    demo.initial_state_data.as_mut().unwrap().time = None;
}

/// The arrays go, the bodies stay to check by.
fn named(demo: &mut Demo) {
    no_time(demo);
    let arrays = demo.initial_state_data.as_mut().unwrap();
    (arrays.qpos, arrays.qvel) = (None, None);
}

fn named_arm(demo: &mut Demo) {
    named(demo);
    demo.gripper_states.clear();
    demo.initial_state = None;
}

fn flat(demo: &mut Demo) {
    named(demo);
    demo.named_joints.clear();
}

fn wrong_arrays(demo: &mut Demo) {
    no_tape(demo);
    demo.named_joints.clear();
    demo.initial_state_data.as_mut().unwrap().qpos.as_mut().unwrap().pop();
}

fn nothing(demo: &mut Demo) {
    flat(demo);
    demo.initial_state = None;
}

fn rig_of(tape: &Episode) -> SimRig {
    let header = &tape.header;
    let (scene, robots) = (header.scene.clone().unwrap(), header.robots.clone());
    let scene = CompiledScene::from_mjb(scene, robots, &tape.model, &header.model_hash).unwrap();
    SimRig::new(Arc::new(scene), Some(&[])).unwrap()
}

/// Measures how far the joints are from those of the tape.
struct Drift<'a> {
    tape: &'a Episode,
    first: usize,
    joints_rad: f64,
    /// The same within the first second.
    soon_rad: f64,
}

impl Tape for Drift<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        let was = &self.tape.frames[self.first + frame.index as usize].joint_pos;
        for (is, was) in frame.seen.joint_pos.iter().zip(was) {
            self.joints_rad = self.joints_rad.max((is - was).abs());
        }
        if frame.index <= u64::from(self.tape.header.rig.rates.frame_hz) {
            self.soon_rad = self.joints_rad;
        }
        Ok(())
    }
}

fn check(is: &[BodyPose], was: &[BodyPose]) -> PoseCheck {
    PoseCheck::new(is.iter().zip(was)).unwrap()
}

/// Records an episode, exports it from `first` on (the gripper holds something there), and tries
/// every poorer copy. Answers the table.
fn levels(scene: &str, first: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    let collect = ["collect", scene, "--cameras", "none", "--seed", "3", "--out"];
    let done =
        Command::new(env!("CARGO_BIN_EXE_citrange")).args(collect).arg(&out).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let (tape, whole) = Dataset::open(&out).unwrap().tape(0).unwrap().unwrap();
    let tape = Arc::new(tape);
    let shown = first..whole.end;
    let mut rig = rig_of(&tape);
    rig.world_mut().restore(0, &tape.snapshot(whole.end).unwrap()).unwrap();
    let at_end = rig.world().body_poses(0).unwrap();
    rig.world_mut().restore(0, &tape.snapshot(first).unwrap()).unwrap();
    let (contacts, _) = rig.world().contact_summary(0).unwrap();
    assert!(contacts > 0, "the start must be in contact to be worth restoring");
    let bodies = rig.world().body_poses(0).unwrap();
    let extras = DemoExtras {
        robot: rig.robot().to_owned(),
        objects: rig.world().scene().free_objects(),
        bodies: bodies.clone(),
        ..DemoExtras::default()
    };
    let demo = export_demo(&tape, shown.clone(), extras).unwrap();
    let path = folder.path().join("full.h5");
    write_demo(&path, &demo).unwrap();
    let mut table =
        format!("{scene}, {} contacts at the start, {} frames\n", contacts, shown.len());
    for (what, poorer, level) in VARIANTS {
        let line = one(&tape, &shown, &path, what, poorer, level, &bodies, &at_end);
        table.push_str(&line);
    }
    table
}

#[allow(clippy::too_many_arguments)]
fn one(
    tape: &Arc<Episode>,
    shown: &std::ops::Range<usize>,
    path: &Path,
    what: &str,
    poorer: fn(&mut Demo),
    level: Level,
    bodies: &[BodyPose],
    at_end: &[BodyPose],
) -> String {
    let mut demo = read_demo(path).unwrap();
    poorer(&mut demo);
    let poor = path.with_file_name("poor.h5");
    write_demo(&poor, &demo).unwrap();
    let read = DemoEpisode::read(&poor).unwrap().remove(0);
    let mut rig = rig_of(tape);
    rig.world_mut().reset_env(0, 99, 0).unwrap();
    let report = rig.world_mut().restore_best(0, &read.start).unwrap();
    assert_eq!(report.level, level, "{what}: {report}");
    let start = check(&rig.world().body_poses(0).unwrap(), bodies);
    assert_eq!(report.check.as_ref(), Some(&start), "{what}: the file keeps the same bodies");
    let complete = ![VARIANTS[4].0, VARIANTS[7].0].contains(&what);
    assert_eq!(
        start.position_m < 1e-10 && start.rotation_rad < 1e-10,
        complete,
        "{what}: {report}"
    );
    if what == VARIANTS[6].0 {
        assert!(report.to_string().contains("positions and"), "{report}");
    }
    let mut drift = Drift { tape, first: shown.start, joints_rad: 0.0, soon_rad: 0.0 };
    let mut pilot = ExactReplay::new(Arc::clone(tape), shown.clone());
    run(&mut pilot, &mut rig, &mut drift, &RunSettings::default()).unwrap();
    let end = check(&rig.world().body_poses(0).unwrap(), at_end);
    if level == Level::Snapshot {
        assert_eq!((drift.joints_rad, end.position_m, end.rotation_rad), (0.0, 0.0, 0.0), "{what}");
    }
    format!(
        "| {level} | {what} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.1e} |\n",
        start.position_m, start.rotation_rad, drift.soon_rad, drift.joints_rad, end.position_m
    )
}

#[test]
fn every_level_restores_a_grasp_of_the_panda() {
    println!("{}", levels("multi_table_assembly", 80));
}

#[test]
fn every_level_restores_a_grasp_of_the_so101() {
    println!("{}", levels("orange_plate", 69));
}
