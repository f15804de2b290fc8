//! Scripted grasps: fixed plans from where things stand, without looking whether they work.
//! They exercise recording until the pilots that judge themselves come.

use std::f64::consts::{FRAC_PI_2, PI};

use anyhow::{Context as _, bail};
use citrange_core::pilot::{Move, Script};
use citrange_sim::{SimRig, SitePose, StateQuery, World};

/// The script for the rig's scene, from the state it is in.
pub(crate) fn grasps(rig: &mut SimRig) -> anyhow::Result<Script> {
    let name = rig.world().scene().scene.name.clone();
    match name.as_str() {
        "orange_plate" => oranges(rig),
        "multi_table_assembly" => stack(rig),
        _ => wave(rig),
    }
}

/// Positions and turns (about the vertical) of objects.
struct Scene {
    objects: Vec<(String, [f64; 3], f64)>,
}

impl Scene {
    fn read(world: &mut World) -> anyhow::Result<Self> {
        let state = world.get_state(None, &StateQuery::default())?;
        let objects = state.objects.iter().filter_map(|(name, object)| {
            let row = object.root_state.as_ref()?.row(0).to_vec();
            let (w, x, y, z) = (row[3], row[4], row[5], row[6]);
            let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
            Some((name.clone(), [row[0], row[1], row[2]], yaw))
        });
        Ok(Self { objects: objects.collect() })
    }

    fn of(&self, name: &str) -> anyhow::Result<([f64; 3], f64)> {
        let found = self.objects.iter().find(|(known, ..)| known == name);
        found.map(|(_, at, yaw)| (*at, *yaw)).with_context(|| format!("there is no {name}"))
    }
}

fn ticks(rig: &SimRig, secs: f64) -> u64 {
    use citrange_core::Rig as _;
    (secs * f64::from(rig.spec().rates.control_hz)).round() as u64
}

/// The SO-101's dimensions: the arm moves in a vertical plane through the pan axis.
mod arm {
    /// Pan axis in front of the base frame, and the shoulder axis from there.
    pub(super) const PAN_X_M: f64 = 0.0388353;
    pub(super) const SHOULDER_R_M: f64 = 0.0303992;
    pub(super) const SHOULDER_Z_M: f64 = 0.1190;
    /// Upper arm and lower arm at zero: out, up.
    pub(super) const UPPER_M: [f64; 2] = [0.028, 0.11257];
    pub(super) const LOWER_M: [f64; 2] = [0.1349, 0.0052];
    /// Wrist axis down to the middle between the jaws.
    pub(super) const TOOL_M: f64 = 0.0611 + 0.0824;
    /// A ball between the open jaws lies beside the roll axis, towards the moving jaw.
    pub(super) const JAW_OFFSET_M: f64 = 0.019;
    pub(super) const ROLL_RAD: f64 = -std::f64::consts::FRAC_PI_2;
    pub(super) const JAW_OPEN_RAD: f64 = 0.86;
    pub(super) const JAW_CLOSED_RAD: f64 = 0.16;
}

/// Joints that hold the jaws around the point `at`, tool straight down; as near as it can reach.
fn tool_down(at: [f64; 3], jaw: f64) -> Vec<f64> {
    let (x, y) = (at[0] - arm::PAN_X_M, at[1]);
    let reach = x.hypot(y);
    // The roll axis passes beside the point, on the side away from the moving jaw.
    let azimuth = y.atan2(x) + (arm::JAW_OFFSET_M / reach).min(1.0).asin();
    let out = (reach.powi(2) - arm::JAW_OFFSET_M.powi(2)).max(0.0).sqrt() - arm::SHOULDER_R_M;
    let up = at[2] + arm::TOOL_M - arm::SHOULDER_Z_M;
    let length = |v: [f64; 2]| v[0].hypot(v[1]);
    let angle = |v: [f64; 2]| v[1].atan2(v[0]);
    let (upper, lower) = (length(arm::UPPER_M), length(arm::LOWER_M));
    let distance = out.hypot(up).clamp((upper - lower).abs() + 1e-6, upper + lower - 1e-6);
    let corner =
        |a: f64, b: f64| ((a * a + distance * distance - b * b) / (2.0 * a * distance)).acos();
    let elevation = up.atan2(out);
    let lift = angle(arm::UPPER_M) - (elevation + corner(upper, lower));
    let elbow = angle(arm::LOWER_M) - (elevation - corner(lower, upper)) - lift;
    // Positive pan turns towards -Y.
    vec![-azimuth, lift, elbow, FRAC_PI_2 - lift - elbow, arm::ROLL_RAD, jaw]
}

/// For every orange: over it, down, grip, up, over the plate, down, let go, up; then home.
fn oranges(rig: &mut SimRig) -> anyhow::Result<Script> {
    const OVER_M: f64 = 0.10;
    const GRIP_M: f64 = 0.026;
    const LET_GO_M: f64 = 0.045;
    const RING_M: f64 = 0.045;
    let scene = Scene::read(rig.world_mut())?;
    let start = rig.begin();
    let home = tool_down_home(rig)?;
    let (plate, _) = scene.of("plate")?;
    let mut moves = Vec::new();
    let (open, closed) = (arm::JAW_OPEN_RAD, arm::JAW_CLOSED_RAD);
    for (index, name) in ["orange_1", "orange_2", "orange_3"].into_iter().enumerate() {
        let ([x, y, _], _) = scene.of(name)?;
        let angle = 2.0 * PI * index as f64 / 3.0;
        let [u, v] = [plate[0] + RING_M * angle.cos(), plate[1] + RING_M * angle.sin()];
        let mut go = |at: [f64; 3], jaw: f64, secs: f64, phase: &'static str| {
            moves.push(Move { joints: tool_down(at, jaw), ticks: ticks(rig, secs), phase });
        };
        go([x, y, OVER_M], open, 0.9, "over_orange");
        go([x, y, GRIP_M], open, 0.6, "down");
        go([x, y, GRIP_M], closed, 0.5, "grip");
        go([x, y, OVER_M], closed, 0.6, "lift");
        go([u, v, OVER_M], closed, 1.0, "over_plate");
        go([u, v, LET_GO_M], closed, 0.5, "lower");
        go([u, v, LET_GO_M], open, 0.4, "let_go");
        go([u, v, OVER_M], open, 0.5, "up");
    }
    moves.push(Move { joints: home, ticks: ticks(rig, 1.2), phase: "home" });
    Ok(Script::new(start, moves))
}

/// The pose in which the scene's robot starts.
fn tool_down_home(rig: &SimRig) -> anyhow::Result<Vec<f64>> {
    let scene = rig.world().scene();
    let description = scene.robots.get(rig.robot()).context("the robot has no description")?;
    let named = scene.scene.robots[rig.robot()].pose.as_ref().unwrap_or(&description.home);
    description.pose(named).map(<[f64]>::to_vec).map_err(anyhow::Error::msg)
}

/// The Panda takes cubeA from above and puts it onto cubeB.
fn stack(rig: &mut SimRig) -> anyhow::Result<Script> {
    const OVER_M: f64 = 0.14;
    const HALF_A_M: f64 = 0.025;
    const HALF_B_M: f64 = 0.04;
    let scene = Scene::read(rig.world_mut())?;
    let start = rig.begin();
    let home = tool_down_home(rig)?;
    let model = std::sync::Arc::clone(rig.world().scene());
    let robot = rig.robot().to_owned();
    let site = model.robots[&robot].sites.get("tool").context("the robot names no tool site")?;
    let upright = model.site_pose(&robot, site, &home)?.rot;
    let (a, yaw_a) = scene.of("cubeA")?;
    let (b, yaw_b) = scene.of("cubeB")?;
    // A square looks the same every quarter turn: take the turn nearest to none.
    let turn = |yaw: f64| yaw - FRAC_PI_2 * (yaw / FRAC_PI_2).round();
    let mut near = home.clone();
    let mut moves = Vec::new();
    let (open, closed) = ([0.04, -0.04], [0.0, 0.0]);
    let mut go = |at: [f64; 3], yaw: f64, fingers: [f64; 2], secs: f64, phase: &'static str| {
        let goal = SitePose { pos_m: at, rot: turned(&upright, yaw) };
        let Some(mut joints) = model.reach(&robot, site, &near, &goal)? else {
            bail!("{phase}: the arm does not reach {at:?}");
        };
        near.copy_from_slice(&joints);
        joints[7..].copy_from_slice(&fingers);
        moves.push(Move { joints, ticks: ticks(rig, secs), phase });
        Ok(())
    };
    let (turn_a, turn_b) = (turn(yaw_a), turn(yaw_b));
    let top = b[2] + HALF_B_M + HALF_A_M + 0.004;
    go([a[0], a[1], a[2] + OVER_M], turn_a, open, 1.6, "over_cube")?;
    go([a[0], a[1], a[2]], turn_a, open, 1.0, "down")?;
    go([a[0], a[1], a[2]], turn_a, closed, 0.8, "grip")?;
    go([a[0], a[1], top + OVER_M], turn_a, closed, 1.0, "lift")?;
    go([b[0], b[1], top + OVER_M], turn_b, closed, 1.8, "over_target")?;
    go([b[0], b[1], top], turn_b, closed, 1.2, "lower")?;
    go([b[0], b[1], top], turn_b, open, 0.6, "let_go")?;
    go([b[0], b[1], top + OVER_M], turn_b, open, 0.8, "up")?;
    moves.push(Move { joints: home, ticks: ticks(rig, 1.6), phase: "home" });
    Ok(Script::new(start, moves))
}

/// A rotation matrix turned about the world's vertical.
fn turned(rot: &[f64; 9], yaw: f64) -> [f64; 9] {
    let (s, c) = yaw.sin_cos();
    let mut out = *rot;
    for column in 0..3 {
        let (x, y) = (rot[column], rot[3 + column]);
        out[column] = c * x - s * y;
        out[3 + column] = s * x + c * y;
    }
    out
}

/// Any other arm: every joint a little to and fro.
fn wave(rig: &mut SimRig) -> anyhow::Result<Script> {
    use citrange_core::Rig as _;
    let start = rig.begin();
    let mut moves = Vec::new();
    for sign in [1.0, -1.0, 0.0] {
        let joints = rig.spec().joints.iter().zip(&start).map(|(joint, from)| {
            let reach = if joint.is_slide { 0.005 } else { 0.2 };
            let [low, high] = joint.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            (from + sign * reach).clamp(low, high)
        });
        moves.push(Move { joints: joints.collect(), ticks: ticks(rig, 0.8), phase: "wave" });
    }
    Ok(Script::new(start, moves))
}

/// Oranges that rest inside the plate's rim.
pub(crate) fn oranges_on_plate(world: &mut World) -> anyhow::Result<usize> {
    const RIM_M: f64 = 0.09;
    let state = world.get_state(None, &StateQuery::default())?;
    let root = |name: &str| state.objects[name].root_state.as_ref().map(|r| r.row(0).to_vec());
    let Some(plate) = root("plate") else { return Ok(0) };
    let rests = |name: &str| {
        root(name).is_some_and(|o| {
            let inside = (o[0] - plate[0]).hypot(o[1] - plate[1]) < RIM_M;
            let height = o[2] - plate[2];
            let speed = (7..10).map(|i| o[i] * o[i]).sum::<f64>().sqrt();
            inside && (0.02..0.05).contains(&height) && speed < 0.05
        })
    };
    Ok(["orange_1", "orange_2", "orange_3"].into_iter().filter(|name| rests(name)).count())
}
