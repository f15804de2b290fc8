//! A depth picture flows from a rig through the map into a pilot, in one process and through the
//! one loop: an arm turns toward a post that only its camera knows of, and stops before it.

use std::path::Path;

use citrange_cloud::Workspace;
use citrange_core::rig::CameraSpec;
use citrange_core::tape::NoTape;
use citrange_core::{
    BoxError, CameraKind, Command, Notes, Observation, Outcome, Pace, Pilot, Rig as _, RunSettings,
    Start, Verdict, run,
};
use citrange_robot::{LinkShape, Robot, RobotSettings};
use citrange_sim::SimRig;
use citrange_space::{MapSettings, Mapper, PipelineSettings, PosedRobot};

use crate::common;

/// How near the hand may come to anything in the map.
const KEEP_M: f64 = 0.06;
/// Where the pilot wants to turn, and where on the way the post stands.
const GOAL_RAD: f64 = 1.6;
const POST_RAD: f64 = 1.2;
const POST_HALF_M: f64 = 0.04;
const RATE_RAD_PER_TICK: f64 = 0.004;

/// Turns the first joint, and asks the map before every tick.
struct Careful {
    body: Robot,
    looks: Vec<LinkShape>,
    mapper: Mapper,
    camera: Option<CameraSpec>,
    newest_ns: Option<u64>,
    pictures: usize,
    start_rad: f64,
}

impl Pilot for Careful {
    fn name(&self) -> &str {
        "careful"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.camera = start.spec.cameras.first().cloned();
        self.start_rad = start.targets[0];
        Ok(())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if let (Some(spec), Some(image)) = (&self.camera, seen.images.first())
            && self.newest_ns.is_none_or(|newest| newest < image.at_ns)
        {
            let mut looks = Vec::new();
            self.body.place(&self.looks, &seen.joint_pos, &mut looks)?;
            let robot = PosedRobot { shapes: &looks, ..PosedRobot::default() };
            if self.mapper.see_image(0, spec, image, &robot)?.is_some() {
                self.newest_ns = Some(image.at_ns);
                self.pictures += 1;
            }
        }
        let hand_m = self.body.tool_at(&seen.joint_pos)?;
        if self.mapper.snapshot().distance(hand_m).distance_m < KEEP_M {
            return Ok(Verdict::Done(Outcome::failed("obstacle_ahead")));
        }
        if command.pos[0] - self.start_rad >= GOAL_RAD {
            return Ok(Verdict::Done(Outcome { success: Some(true), reason: "turned".into() }));
        }
        command.pos[0] += RATE_RAD_PER_TICK;
        Ok(Verdict::Go)
    }
}

/// An arm below a camera, with a post or without.
fn scene(post_m: Option<[f64; 3]>) -> std::sync::Arc<citrange_sim::CompiledScene> {
    let fixtures = post_m.map_or(String::new(), |[x, y, z]| {
        // Its top is a little above the hand.
        let z = z - 0.08;
        format!(
            "fixtures:\n  post:\n    parts:\n      - {{shape: {{box: {{half_m: [{POST_HALF_M}, \
             {POST_HALF_M}, 0.1]}}}}, pos_m: [{x}, {y}, {z}]}}\n"
        )
    });
    let text = format!(
        "name: post\ntitle: A post\nrates: {{physics_hz: 360, control_hz: 180, frame_hz: 30}}\n\
         robots:\n  robot0: {{model: so101, pose: pick}}\n{fixtures}\
         cameras:\n  above: {{pos_m: [0.1, 0, 1.0], look_at_m: [0.1, 0, 0], fovy_deg: 60, \
         width_px: 320, height_px: 240}}\n"
    );
    common::scene_from(&text, Path::new(".")).unwrap()
}

#[test]
fn a_pilot_stops_before_what_the_depth_camera_sees() {
    let plain = scene(None);
    let chain = plain.chain("robot0").unwrap();
    let shapes = plain.link_shapes("robot0").unwrap();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut joints = SimRig::new(plain.clone(), Some(&[])).unwrap().joint_positions();
    let hand_m = body.tool_at(&joints).unwrap();
    joints[0] += POST_RAD;
    let post_m = body.tool_at(&joints).unwrap();
    // The floor is not an obstacle here.
    let workspace = Workspace { lower_m: [-0.5, -0.5, hand_m[2] - 0.05], upper_m: [0.6, 0.5, 0.6] };
    for post in [None, Some(post_m)] {
        let mut rig = SimRig::new(scene(post), None).unwrap();
        rig.set_camera_kind("above", CameraKind::Depth).unwrap();
        let settings =
            PipelineSettings { workspace, voxel_size_m: 0.02, ..PipelineSettings::default() };
        let mut pilot = Careful {
            body: body.clone(),
            looks: plain.seen_shapes("robot0").unwrap(),
            mapper: Mapper::new(settings, &MapSettings::default()).unwrap(),
            camera: None,
            newest_ns: None,
            pictures: 0,
            start_rad: 0.0,
        };
        let settings = RunSettings {
            pace: Pace::Free,
            pictures: true,
            max_frames: Some(200),
            ..RunSettings::default()
        };
        let report = run(&mut pilot, &mut rig, NoTape, &settings).unwrap();
        assert!(pilot.pictures > 10, "{} pictures", pilot.pictures);
        let turned_rad = rig.joint_positions()[0] - pilot.start_rad;
        let hand_m = body.tool_at(&rig.joint_positions()).unwrap();
        assert_eq!(rig.spec().cameras.len(), 1);
        let Some(post_m) = post else {
            assert_eq!(report.outcome.reason, "turned");
            assert!(turned_rad > GOAL_RAD - 0.1, "{turned_rad}");
            continue;
        };
        assert_eq!(report.outcome.reason, "obstacle_ahead");
        assert!((0.1..POST_RAD).contains(&turned_rad), "{turned_rad}");
        // By the truth, not by the map: beside the post, not in it, and not far from it either.
        let aside = |a: usize| ((hand_m[a] - post_m[a]).abs() - POST_HALF_M).max(0.0);
        let gap_m = aside(0).hypot(aside(1));
        assert!((KEEP_M - 0.03..KEEP_M + 0.04).contains(&gap_m), "{gap_m}");
    }
}
