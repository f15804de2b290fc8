//! What a gripper does: open and closed, where its jaws meet, which way they close.

use citrange_core::robot::{Grasp, Gripper};
use mujoco_rs::prelude::*;
use mujoco_rs::wrappers::mj_model::traits::ModelType;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use super::chains::ArmChain;
use crate::chain::isometry;
use crate::layout::Tree;

/// How far the point between the jaws is from their tips: so deep a fist-sized thing is held below
/// its middle by long jaws, and of short ones at most this part of their length.
const TIP_M: f64 = 0.02;
const TIP_PART: f64 = 0.3;
/// Directions nearer than this to an axis of the hand are that axis.
const SNAP_COS: f64 = 0.94;
/// Physics steps in which a linkage comes to rest.
const SETTLE_STEPS: usize = 1500;
/// A joint that moves less than this from open to closed is none of the gripper's.
const LEAST_MOVE: f64 = 1e-4;

/// A gripper as it was found.
#[derive(Clone, Debug)]
pub(crate) struct Hand {
    pub(crate) gripper: Gripper,
    /// Index of the body that carries the jaws, and the frame between them on it: z out, x from
    /// one jaw to the other.
    pub(crate) body: usize,
    pub(crate) body_from_tool: Isometry3<f64>,
    pub(crate) grasp: Grasp,
}

/// Finds out; `qpos`: where the robot stands. `None` where nothing behind the arm is driven.
pub(crate) fn find(
    model: &MjModel,
    tree: &Tree,
    chain: &ArmChain,
    qpos: &[f64],
    ctrl: &[f64],
) -> Option<Hand> {
    let joints = &tree.joints;
    let all: Vec<usize> = {
        let mut all: Vec<usize> = chain.jaws.iter().flatten().copied().collect();
        all.sort_unstable();
        all
    };
    let is_driven = |j: &usize| {
        let joint = &joints[*j];
        joint.drive.is_some() || joint.motor.is_some() || joint.velocity_servo.is_some()
    };
    let leaders: Vec<usize> = all.iter().copied().filter(is_driven).collect();
    if leaders.is_empty() {
        return None;
    }
    let mut data = MjData::new(model);
    let body = {
        let first = model.jnt_bodyid()[joints[all[0]].id] as usize;
        model.body_parentid()[first] as usize
    };
    let mut shapes = Shapes::of(model, tree, chain, body);
    // Each leader's end at which the jaws are farther from each other is open.
    let (mut open, mut closed) = (qpos.to_vec(), qpos.to_vec());
    for leader in &leaders {
        let joint = &joints[*leader];
        let Some([low, high]) = joint.commanded_range(model, None).or(joint.range) else {
            continue;
        };
        let [low, high] = match joint.range {
            Some([from, to]) => [low.max(from), high.min(to)],
            None => [low, high],
        };
        let mut width_at = |position: f64| {
            let mut at = qpos.to_vec();
            at[joint.qpos] = position;
            follow(tree, &all, &mut at);
            pose(&mut data, &at);
            shapes.width(&mut data)
        };
        let ends = if width_at(high) >= width_at(low) { [low, high] } else { [high, low] };
        (closed[joint.qpos], open[joint.qpos]) = (ends[0], ends[1]);
    }
    follow(tree, &all, &mut open);
    follow(tree, &all, &mut closed);
    let is_passive = |j: &usize| !is_driven(j) && joints[*j].follows.is_none();
    let passive: Vec<usize> = all.iter().copied().filter(is_passive).collect();
    if !passive.is_empty() {
        for end in [&mut open, &mut closed] {
            settle(&mut data, tree, &leaders, &passive, ctrl, end);
        }
    }
    let moves = |j: &&usize| {
        let at = joints[**j].qpos;
        (open[at] - closed[at]).abs() > LEAST_MOVE && joints[**j].part == crate::layout::Part::Whole
    };
    let moving: Vec<usize> = all.iter().filter(moves).copied().collect();
    if moving.is_empty() {
        return None;
    }
    let at = |positions: &[f64]| moving.iter().map(|j| positions[joints[*j].qpos]).collect();
    let gripper = Gripper {
        joints: moving.iter().map(|j| joints[*j].name.clone()).collect(),
        open: at(&open),
        closed: at(&closed),
    };
    let body_from_tool = shapes.between(&mut data, &open, &closed)?;
    let grasp = Grasp {
        point_m: [0.0; 3],
        jaw_axis: [1.0, 0.0, 0.0],
        tool_axis: [0.0, 0.0, 1.0],
        from_face: chain.jaws.len() == 1,
    };
    Some(Hand { gripper, body, body_from_tool, grasp })
}

type Data<'a> = MjData<&'a MjModel>;

fn pose(data: &mut Data<'_>, qpos: &[f64]) {
    data.qpos_mut().copy_from_slice(qpos);
    data.step1();
}

/// Joints that follow others go where those are, if they can.
fn follow(tree: &Tree, of: &[usize], qpos: &mut [f64]) {
    for _ in 0..2 {
        for joint in of.iter().map(|j| &tree.joints[*j]) {
            if let (None, Some(follow)) = (joint.drive, joint.follows) {
                let at = follow.position(qpos[tree.joints[follow.leader].qpos]);
                qpos[joint.qpos] = match joint.range {
                    Some([low, high]) if low < high => at.clamp(low, high),
                    _ => at,
                };
            }
        }
    }
}

/// Where a linkage comes to rest when its leaders go to an end.
fn settle(
    data: &mut Data<'_>,
    tree: &Tree,
    leaders: &[usize],
    passive: &[usize],
    ctrl: &[f64],
    end: &mut [f64],
) {
    let mut start = end.to_vec();
    // From where it is built, which linkages can reach; the leaders pull it along.
    for joint in leaders.iter().chain(passive).map(|j| &tree.joints[*j]) {
        start[joint.qpos] = data.model().qpos0()[joint.qpos];
    }
    data.reset();
    data.qpos_mut().copy_from_slice(&start);
    data.ctrl_mut().copy_from_slice(ctrl);
    for joint in leaders.iter().map(|j| &tree.joints[*j]) {
        if let Some(drive) = joint.drive {
            data.ctrl_mut()[drive.actuator] = drive.command(end[joint.qpos]);
        }
    }
    for _ in 0..SETTLE_STEPS {
        data.step();
    }
    for joint in passive.iter().map(|j| &tree.joints[*j]) {
        let at = data.qpos()[joint.qpos];
        if at.is_finite() {
            end[joint.qpos] = at;
        }
    }
    data.reset();
}

/// The shapes of jaws and hand.
struct Shapes {
    hand: usize,
    /// Geoms of every jaw; the first is the hand itself where only one jaw moves.
    jaws: Vec<Vec<usize>>,
    has_fixed_jaw: bool,
}

impl Shapes {
    fn of(model: &MjModel, tree: &Tree, chain: &ArmChain, hand: usize) -> Self {
        let roots: Vec<usize> = chain
            .jaws
            .iter()
            .map(|jaw| model.jnt_bodyid()[tree.joints[jaw[0]].id] as usize)
            .collect();
        let hangs_on = |body: usize, root: usize| {
            std::iter::successors(Some(body), |b| {
                (*b > 0).then(|| model.body_parentid()[*b] as usize)
            })
            .any(|b| b == root)
        };
        let is_solid =
            |geom: usize| model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
        let geoms_where = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
            let all = || {
                (0..model.ffi().ngeom as usize)
                    .filter(|geom| wanted(model.geom_bodyid()[*geom] as usize))
            };
            let solid: Vec<usize> = all().filter(|geom| is_solid(*geom)).collect();
            if solid.is_empty() { all().collect() } else { solid }
        };
        let mut jaws: Vec<Vec<usize>> = roots
            .iter()
            .map(|root| geoms_where(&|body| hangs_on(body, *root)))
            .filter(|geoms| !geoms.is_empty())
            .collect();
        let has_fixed_jaw = roots.len() == 1;
        if has_fixed_jaw {
            let own = geoms_where(&|body| {
                hangs_on(body, hand) && !roots.iter().any(|root| hangs_on(body, *root))
            });
            jaws.insert(0, own);
        }
        Self { hand, jaws, has_fixed_jaw }
    }

    /// How far the jaws are from each other.
    fn width(&mut self, data: &mut Data<'_>) -> f64 {
        if self.has_fixed_jaw {
            return self.nearest(data, None).map_or(0.0, |(distance, ..)| distance);
        }
        let centres: Vec<Point3<f64>> = self.jaws.iter().map(|jaw| centre(data, jaw)).collect();
        let sum = centres.iter().fold(Vector3::zeros(), |sum, c| sum + c.coords);
        let middle = Point3::from(sum / centres.len().max(1) as f64);
        centres.iter().map(|c| (c - middle).norm()).sum()
    }

    /// The nearest points of the first two jaws, of those geoms that reach beyond `beyond` along
    /// a direction.
    fn nearest(
        &self,
        data: &mut Data<'_>,
        beyond: Option<(Point3<f64>, Vector3<f64>, f64)>,
    ) -> Option<(f64, Point3<f64>, Point3<f64>)> {
        let reaches = |data: &Data<'_>, geom: usize| {
            beyond.is_none_or(|(from, out, least)| {
                corners(data, geom).iter().any(|c| (c - from).dot(&out) >= least)
            })
        };
        let [one, other, ..] = self.jaws.as_slice() else { return None };
        let mut best: Option<(f64, Point3<f64>, Point3<f64>)> = None;
        for a in one.iter().copied().filter(|g| reaches(data, *g)).collect::<Vec<_>>() {
            for b in other.iter().copied().filter(|g| reaches(data, *g)).collect::<Vec<_>>() {
                let mut line = [0.0; 6];
                let Ok(distance) = data.try_geom_distance(a, b, 1.0, Some(&mut line)) else {
                    continue;
                };
                if best.is_none_or(|(least, ..)| distance < least) {
                    let [x, y, z, u, v, w] = line;
                    best = Some((distance, Point3::new(x, y, z), Point3::new(u, v, w)));
                }
            }
        }
        best
    }

    /// The frame between the jaws' tips, on the body that carries them.
    fn between(
        &mut self,
        data: &mut Data<'_>,
        open: &[f64],
        closed: &[f64],
    ) -> Option<Isometry3<f64>> {
        pose(data, open);
        let world_from_hand = isometry(data.xpos()[self.hand], data.xquat()[self.hand]);
        let apart: Vec<Point3<f64>> = self.jaws.iter().map(|jaw| centre(data, jaw)).collect();
        let moving = if self.has_fixed_jaw { &self.jaws[1..] } else { &self.jaws[..] };
        let geoms: Vec<usize> = moving.iter().flatten().copied().collect();
        if geoms.is_empty() {
            return None;
        }
        pose(data, closed);
        let from = Point3::from(world_from_hand.translation.vector);
        let middle = centre(data, &geoms);
        let axes = world_from_hand.rotation.to_rotation_matrix();
        let out = snapped((middle - from).try_normalize(1e-6)?, axes.matrix());
        let along = geoms.iter().flat_map(|geom| corners(data, *geom));
        let along: Vec<f64> = along.map(|corner| (corner - from).dot(&out)).collect();
        let tip = along.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let root = along.iter().copied().fold(f64::INFINITY, f64::min);
        let reach = tip - TIP_M.min(TIP_PART * (tip - root));
        let (side, across) = if self.has_fixed_jaw {
            // Nearly closed, the nearest points of both jaws are where a thing is held.
            let nearly: Vec<f64> =
                closed.iter().zip(open).map(|(c, o)| c + 0.15 * (o - c)).collect();
            pose(data, &nearly);
            let beyond = Some((from, out, root.max(0.0) + 0.4 * (tip - root.max(0.0))));
            let (_, face, jaw) = self.nearest(data, beyond)?;
            (face - from, jaw - face)
        } else {
            (middle - from, apart.last()? - apart.first()?)
        };
        let across = across - out * across.dot(&out);
        let across = across.try_normalize(1e-6).unwrap_or_else(|| any_across(&out));
        let across = snapped(across, axes.matrix());
        let across = (across - out * across.dot(&out)).try_normalize(1e-6)?;
        let at = from + out * reach + (side - out * side.dot(&out));
        let turn = Matrix3::from_columns(&[across, out.cross(&across), out]);
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix(&turn));
        let world_from_tool = Isometry3::from_parts(Translation3::from(at.coords), turn);
        Some(world_from_hand.inverse() * world_from_tool)
    }
}

fn any_across(out: &Vector3<f64>) -> Vector3<f64> {
    let least = if out.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    (least - out * least.dot(out)).normalize()
}

/// The nearest axis of a frame, if it is near.
fn snapped(direction: Vector3<f64>, axes: &Matrix3<f64>) -> Vector3<f64> {
    let nearest = (0..3)
        .map(|i| axes.column(i).into_owned())
        .max_by(|a, b| a.dot(&direction).abs().total_cmp(&b.dot(&direction).abs()));
    match nearest {
        Some(axis) if axis.dot(&direction).abs() > SNAP_COS => axis * axis.dot(&direction).signum(),
        _ => direction,
    }
}

/// Corners of the box around a geom.
pub(crate) fn corners<M: ModelType>(data: &MjData<M>, geom: usize) -> [Point3<f64>; 8] {
    let [x, y, z, half_x, half_y, half_z] = data.model().geom_aabb()[geom];
    let rotation = Matrix3::from_row_slice(&data.geom_xmat()[geom]);
    let at = Point3::from(data.geom_xpos()[geom]);
    std::array::from_fn(|k| {
        let sign = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let own = [x + sign(0) * half_x, y + sign(1) * half_y, z + sign(2) * half_z];
        at + rotation * Vector3::from(own)
    })
}

/// Middle of the boxes around some geoms.
fn centre(data: &Data<'_>, geoms: &[usize]) -> Point3<f64> {
    let all = geoms.iter().flat_map(|geom| corners(data, *geom));
    let (sum, count) =
        all.fold((Vector3::zeros(), 0), |(sum, count), c| (sum + c.coords, count + 1));
    Point3::from(sum / f64::from(count.max(1)))
}
