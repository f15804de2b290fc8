//! The planned joints as a chain of frames that costs little to place.
//!
//! The frame of every link has its z axis along its joint's axis, its origin on it, and its x
//! axis across this axis and the next one: so the way from one joint to the next is a step
//! along x and z and a turn about x (as Denavit and Hartenberg chose them).

use citrange_core::shape::Shape;
use citrange_lanes::{LANES, Lanes, Simd, Triple, add, cross, scale, store, sub};
use citrange_robot::{ChainJoint, Robot};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use super::mount::Stand;
use crate::arm::PlannedArm;
use crate::config::MAX_JOINTS;
use crate::error::PlanError;

/// Angles nearer than this to a quarter turn count as one: it moves nothing by a micrometre.
const SNAP_RAD: f64 = 1e-7;

/// The chain of the planned joints.
#[derive(Clone, Debug)]
pub(super) struct Joints {
    /// The first joint's frame in the world before it moves.
    first: [[f32; 3]; 4],
    steps: Vec<Step>,
    exact: Vec<ExactStep>,
    world_from_first: Isometry3<f64>,
    world_from_base: Isometry3<f64>,
    /// Our frame of each planned joint in the body's frame of its link.
    body_from_ours: Vec<Isometry3<f64>>,
}

/// From the frame before to a joint's own, in single precision.
#[derive(Clone, Copy, Debug)]
struct Step {
    along_m: [f32; 3],
    cos: f32,
    sin: f32,
    is_slide: bool,
    /// Taken from the position to get the angle or the slide.
    zero: f32,
    /// For slides: the constant turn about the axis.
    fixed_rad: f32,
}

#[derive(Clone, Copy, Debug)]
struct ExactStep {
    along_m: [f64; 3],
    tilt_rad: f64,
    is_slide: bool,
    fixed_rad: f64,
    reference: f64,
    range: [f64; 2],
}

/// Poses of one link in 16 configurations: three axes and the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) axes: [[Lanes; 3]; 3],
    pub(super) origin_m: [Lanes; 3],
}

/// How fast a link moves: turning, and its origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) turn: [Lanes; 3],
    pub(super) origin: [Lanes; 3],
}

impl Joints {
    pub(super) fn new(arm: &PlannedArm) -> Result<Self, PlanError> {
        let chain = arm.body().chain();
        let planned = &chain.joints[..arm.joints()];
        for (index, joint) in planned.iter().enumerate() {
            if joint.parent != index.checked_sub(1) {
                let reason = format!("{} must hang on the joint before it", joint.name);
                return Err(PlanError::bad(format!("arm of {}", chain.robot), reason));
            }
        }
        let world_from_base = chain.world_from_base.isometry();
        // Some frame for each joint with z along the axis, and the ways between these at rest.
        let loose: Vec<_> = planned.iter().map(ChainJoint::link_from_axis).collect();
        let between: Vec<_> = planned
            .iter()
            .enumerate()
            .map(|(index, joint)| {
                let before = index.checked_sub(1).map(|b| loose[b]).unwrap_or_default();
                before.inverse() * joint.parent_from_link.isometry() * loose[index]
            })
            .collect();
        let world_from_first = world_from_base * between[0];
        let mut exact = Vec::new();
        // Ours in the loose frame: `shift` along z, then `turn` about it.
        let mut shift_m = 0.0;
        let mut turns = Vec::new();
        let mut steps = vec![([0.0; 3], 0.0)];
        let mut came_with = 0.0;
        for index in 0..planned.len() {
            // The next axis, in the loose frame.
            let next = between.get(index + 1).copied().unwrap_or_default();
            let axis = next * Vector3::z();
            let across = axis.x.hypot(axis.y);
            let offset = next.translation.vector;
            let turn: f64 = if across > SNAP_RAD {
                // x is z cross the next axis.
                axis.x.atan2(-axis.y)
            } else if offset.x.hypot(offset.y) > 1e-9 {
                offset.y.atan2(offset.x)
            } else {
                0.0
            };
            let ours = Isometry3::from_parts(
                Translation3::new(0.0, 0.0, shift_m),
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn),
            );
            turns.push((turn - came_with, ours));
            if index + 1 == planned.len() {
                break;
            }
            let seen = ours.inverse() * next;
            let axis = seen * Vector3::z();
            let origin = seen.translation.vector;
            let tilt = (-axis.y).atan2(axis.z);
            // The next origin goes along its axis until it is straight above our x axis.
            // Where the axes are nearly parallel that would be far away, and a step along y is
            // left instead.
            let next_shift = if axis.y.abs() > 0.1 { -origin.y / axis.y } else { 0.0 };
            let mut along_m: [f64; 3] = (origin + axis * next_shift).into();
            if along_m[1].abs() < 1e-9 {
                along_m[1] = 0.0;
            }
            steps.push((along_m, tilt));
            shift_m = next_shift;
            // How the next loose frame is turned against ours after the tilt.
            let tilted = Isometry3::rotation(Vector3::new(tilt, 0.0, 0.0));
            let x = tilted.inverse() * (seen * Vector3::x());
            came_with = -x.y.atan2(x.x);
        }
        for (index, ((turn, _), (along_m, tilt_rad))) in turns.iter().zip(&steps).enumerate() {
            let joint = &planned[index];
            exact.push(ExactStep {
                along_m: *along_m,
                tilt_rad: *tilt_rad,
                is_slide: joint.is_slide,
                fixed_rad: *turn,
                reference: joint.reference,
                range: arm.limits()[index].range,
            });
        }
        let body_from_ours = loose.iter().zip(&turns).map(|(l, (_, ours))| l * ours).collect();
        let rot = world_from_first.rotation.to_rotation_matrix();
        let column = |c: usize| std::array::from_fn(|r| rot[(r, c)] as f32);
        let origin = world_from_first.translation.vector.map(|v| v as f32).into();
        Ok(Self {
            first: [column(0), column(1), column(2), origin],
            steps: exact.iter().map(Step::of).collect(),
            exact,
            world_from_first,
            world_from_base,
            body_from_ours,
        })
    }

    /// For every link of a body: the link that carries it here, and its pose there.
    pub(super) fn link_from_body(
        &self,
        body: &Robot,
        held: &[f64],
        planned: usize,
    ) -> Result<Vec<(usize, Isometry3<f64>)>, PlanError> {
        let mut frames = vec![(0, self.world_from_base)];
        for (index, joint) in body.chain().joints.iter().enumerate() {
            if let Some(ours) = self.body_from_ours.get(index).filter(|_| index < planned) {
                frames.push((index + 1, ours.inverse()));
                continue;
            }
            let parent = joint.parent.map_or(0, |p| p + 1);
            let (Some((carrier, at)), Some(position)) = (frames.get(parent), held.get(index))
            else {
                let reason = format!("{} hangs on a later joint", joint.name);
                return Err(PlanError::bad("arm", reason));
            };
            frames.push((*carrier, at * joint.parent_from_moved(*position)));
        }
        Ok(frames)
    }

    /// What the robot stands with; `shapes` of every link, in our frames.
    pub(super) fn stand(&self, shapes: &[Vec<(Isometry3<f64>, Shape)>]) -> Stand {
        let turns = self.exact.first().is_some_and(|step| !step.is_slide);
        let of = |link: usize| shapes.get(link).map(Vec::as_slice).unwrap_or_default();
        Stand::new(of(0), of(1), &self.world_from_first, turns)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether slides are where the levers hold.
    pub(super) fn is_within_slides(&self, positions: &[f32]) -> bool {
        let mut joints = self.exact.iter().zip(positions);
        joints.all(|(j, p)| {
            !j.is_slide || (j.range[0] - 1e-6..=j.range[1] + 1e-6).contains(&f64::from(*p))
        })
    }

    /// How far a point of a link can be from a joint's axis, whatever the joints between do.
    pub(super) fn lever(&self, joint: usize, link: usize, point: &Point3<f64>) -> f64 {
        if joint >= link {
            return 0.0;
        }
        self.walk(link, point, joint).0
    }

    /// A ball in the world that a point of a link never leaves.
    pub(super) fn home(&self, link: usize, point: &Point3<f64>) -> ([f64; 3], f64) {
        if link == 0 {
            return (point.coords.into(), 0.0);
        }
        let (_, centre, radius_m) = self.walk(link, point, 0);
        ((self.world_from_first * centre).coords.into(), radius_m)
    }

    /// From a point of a link down to a joint: the largest distance from its axis, and in the
    /// frame before it moves the centre and radius of a ball that holds all places of the point.
    fn walk(&self, link: usize, point: &Point3<f64>, joint: usize) -> (f64, Point3<f64>, f64) {
        let (mut centre, mut radius_m) = (*point, 0.0);
        let mut lever = 0.0;
        for index in (joint..link).rev() {
            let step = &self.exact[index];
            if step.is_slide {
                let [low, high] = step.range.map(|r| r - step.reference);
                lever = 1.0;
                centre = Rotation3::from_axis_angle(&Vector3::z_axis(), step.fixed_rad) * centre;
                centre.z += (low + high) / 2.0;
                radius_m += (high - low) / 2.0 + 1e-6;
            } else {
                lever = centre.x.hypot(centre.y) + radius_m;
                centre = Point3::new(0.0, 0.0, centre.z);
                radius_m = lever;
            }
            if index > joint {
                centre = step.before_from_rest() * centre;
            }
        }
        // Single precision rounds; levers must not be too short.
        (lever * (1.0 + 1e-6), centre, radius_m)
    }

    /// Places all links but the first for 16 configurations.
    #[inline(always)]
    pub(super) fn place<S: Simd>(
        &self,
        simd: S,
        positions: &[Lanes; MAX_JOINTS],
        frames: &mut [Frame],
    ) {
        let [x, y, z, origin] = &self.first;
        let (mut x, mut y) = (simd.splat3(x), simd.splat3(y));
        let (mut z, mut origin) = (simd.splat3(z), simd.splat3(origin));
        for (index, (step, position)) in self.steps.iter().zip(positions).enumerate() {
            let moved = simd.load(&position.0) - step.zero;
            let angle = if step.is_slide { simd.splat(step.fixed_rad) } else { moved };
            let (sin, cos) = angle.sin_cos();
            for row in 0..3 {
                if index > 0 {
                    let [along_x, along_y, along_z] = step.along_m;
                    let (y0, z0) = (y[row], z[row]);
                    origin[row] = origin[row] + x[row] * along_x + z0 * along_z;
                    if along_y != 0.0 {
                        origin[row] = origin[row] + y0 * along_y;
                    }
                    (y[row], z[row]) = if step.cos == 0.0 {
                        (z0 * step.sin, y0 * -step.sin)
                    } else if step.sin == 0.0 {
                        (y0 * step.cos, z0 * step.cos)
                    } else {
                        (y0 * step.cos + z0 * step.sin, z0 * step.cos - y0 * step.sin)
                    };
                }
                if step.is_slide {
                    origin[row] = origin[row] + z[row] * moved;
                }
                let (x0, y0) = (x[row], y[row]);
                x[row] = x0 * cos + y0 * sin;
                y[row] = y0 * cos - x0 * sin;
            }
            let Some(frame) = frames.get_mut(index + 1) else { break };
            store(&x, &mut frame.axes[0]);
            store(&y, &mut frame.axes[1]);
            store(&z, &mut frame.axes[2]);
            store(&origin, &mut frame.origin_m);
        }
    }

    /// How fast all links move when the joints go at these rates.
    #[inline(always)]
    pub(super) fn rates<S: Simd>(
        &self,
        simd: S,
        frames: &[Frame],
        speeds: &[f32],
        rates: &mut [Rate],
    ) {
        let mut turn = [simd.splat(0.0); 3];
        let mut origin = turn;
        for (index, (step, speed)) in self.steps.iter().zip(speeds).enumerate() {
            let at = &frames[index + 1];
            if index > 0 {
                let arm = sub(&simd.load3(&at.origin_m), &simd.load3(&frames[index].origin_m));
                origin = add(&origin, &cross(&turn, &arm));
            }
            let along = scale(&simd.load3(&at.axes[2]), *speed);
            if step.is_slide {
                origin = add(&origin, &along);
            } else {
                turn = add(&turn, &along);
            }
            store(&turn, &mut rates[index + 1].turn);
            store(&origin, &mut rates[index + 1].origin);
        }
    }

    /// Frames to be filled by [`Joints::place`]; that of link 0 is the world's.
    pub(super) fn frames(&self) -> Vec<Frame> {
        let unit = |a: usize, b: usize| Lanes::splat(if a == b { 1.0 } else { 0.0 });
        let world = Frame {
            axes: std::array::from_fn(|a| std::array::from_fn(|b| unit(a, b))),
            origin_m: [Lanes::splat(0.0); 3],
        };
        vec![world; self.len() + 1]
    }
}

impl Step {
    fn of(exact: &ExactStep) -> Self {
        let (sin, cos) = exact.tilt_rad.sin_cos();
        let snapped = |v: f64| if v.abs() < SNAP_RAD { 0.0 } else { v as f32 };
        // The angle that the joint has at position 0, brought near to 0.
        let zero = if exact.is_slide {
            exact.reference
        } else {
            let turns = (exact.fixed_rad / std::f64::consts::TAU).round();
            exact.reference - (exact.fixed_rad - turns * std::f64::consts::TAU)
        };
        Self {
            along_m: exact.along_m.map(|m| m as f32),
            cos: snapped(cos),
            sin: snapped(sin),
            is_slide: exact.is_slide,
            zero: zero as f32,
            fixed_rad: exact.fixed_rad as f32,
        }
    }
}

impl ExactStep {
    /// From the frame before to the joint's own before it moves.
    fn before_from_rest(&self) -> Isometry3<f64> {
        Isometry3::new(Vector3::from(self.along_m), Vector3::new(self.tilt_rad, 0.0, 0.0))
    }
}

impl Frame {
    /// A point of the link in the world.
    #[inline(always)]
    pub(super) fn point<S: Simd>(&self, simd: S, point_m: [f32; 3]) -> Triple<S> {
        let mut at = simd.load3(&self.origin_m);
        for axis in 0..3 {
            at = add(&at, &scale(&simd.load3(&self.axes[axis]), point_m[axis]));
        }
        at
    }

    /// Rotation and origin in one configuration.
    pub(super) fn of_lane(&self, lane: usize) -> (Matrix3<f64>, Vector3<f64>) {
        let lane = lane % LANES;
        let rot = Matrix3::from_fn(|row, column| f64::from(self.axes[column][row].0[lane]));
        (rot, Vector3::from_fn(|row, _| f64::from(self.origin_m[row].0[lane])))
    }
}
