//! Forward kinematics of many configurations at once: the one form of it in lanes.
//!
//! [`LaneChain`] is generic in its numbers: sixteen of single precision for collisions, eight of
//! double precision for inverse kinematics.

use std::ops::{Add, Mul, Sub};

use citrange_lanes::{F32x16, F64x8, Lanes, Scalar, Simd};

use crate::axis_frames::{AxisFrame, RestPose};

/// A vector of numbers, one of each configuration.
pub trait LaneNumber:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Sub<Self::Constant, Output = Self>
    + Mul<Self::Constant, Output = Self>
{
    /// A number that all lanes share.
    type Constant: LaneConstant;
    /// In memory.
    type Stored: Copy;
    /// What a vector is made with.
    type Token: Copy;

    /// The same number in all lanes.
    fn same(token: Self::Token, number: Self::Constant) -> Self;
    /// From memory.
    fn read(token: Self::Token, from: &Self::Stored) -> Self;
    /// To memory.
    fn write(self, to: &mut Self::Stored);
    /// Sine and cosine.
    fn sine_and_cosine(self) -> (Self, Self);
}

/// A number of a [`LaneNumber`]'s precision.
pub trait LaneConstant:
    Copy + PartialEq + Default + std::fmt::Debug + std::ops::Neg<Output = Self> + 'static
{
    /// Sines and cosines that are less count as 0.
    const SNAP: f64;
    /// Rounded to this precision.
    fn rounded(number: f64) -> Self;
}

impl LaneConstant for f32 {
    const SNAP: f64 = 1e-7;
    fn rounded(number: f64) -> Self {
        number as Self
    }
}

impl LaneConstant for f64 {
    const SNAP: f64 = 1e-15;
    fn rounded(number: f64) -> Self {
        number
    }
}

impl<S: Simd> LaneNumber for F32x16<S> {
    type Constant = f32;
    type Stored = Lanes;
    type Token = S;

    #[inline(always)]
    fn same(simd: S, number: f32) -> Self {
        Self::splat(simd, number)
    }
    #[inline(always)]
    fn read(simd: S, from: &Lanes) -> Self {
        simd.load(&from.0)
    }
    #[inline(always)]
    fn write(self, to: &mut Lanes) {
        self.store(&mut to.0);
    }
    #[inline(always)]
    fn sine_and_cosine(self) -> (Self, Self) {
        self.sin_cos()
    }
}

impl LaneNumber for F64x8<Scalar> {
    type Constant = f64;
    type Stored = Self;
    type Token = ();

    #[inline(always)]
    fn same((): (), number: f64) -> Self {
        Self::all(number)
    }
    #[inline(always)]
    fn read((): (), from: &Self) -> Self {
        *from
    }
    #[inline(always)]
    fn write(self, to: &mut Self) {
        *to = self;
    }
    #[inline(always)]
    fn sine_and_cosine(self) -> (Self, Self) {
        self.sin_cos()
    }
}

/// Poses of one link in all configurations: three axes and the origin, in the world.
#[derive(Clone, Copy, Debug)]
pub struct LaneFrame<T> {
    /// Directions of x, y and z.
    pub axes: [[T; 3]; 3],
    /// The origin.
    pub origin_m: [T; 3],
}

/// Joints whose links have the frames of [`crate::axis_frames()`], ready to be placed. Frame 0 is
/// the world's, frame `j + 1` that of the link that joint `j` moves.
#[derive(Clone, Debug)]
pub struct LaneChain<C> {
    joints: Vec<LaneJoint<C>>,
}

#[derive(Clone, Copy, Debug)]
struct LaneJoint<C> {
    /// Number of the frame that carries it.
    parent: usize,
    rest: Rest<C>,
    is_slide: bool,
    /// Taken from the position to get the angle or the slide.
    zero: C,
    /// For slides: the constant rotation about the axis.
    fixed_rad: C,
}

#[derive(Clone, Copy, Debug)]
enum Rest<C> {
    Steps { along_m: [C; 3], cos: C, sin: C },
    Pose { axes: [[C; 3]; 3], origin_m: [C; 3] },
}

impl<C: LaneConstant> LaneChain<C> {
    /// Joints with their frames.
    #[must_use]
    pub fn new(frames: &[AxisFrame]) -> Self {
        Self { joints: frames.iter().map(LaneJoint::of).collect() }
    }

    /// Frames to be filled by [`LaneChain::place`].
    #[must_use]
    pub fn frames<T: Copy>(&self, of: impl Fn(C) -> T) -> Vec<LaneFrame<T>> {
        let unit = |a: usize, b: usize| of(C::rounded(if a == b { 1.0 } else { 0.0 }));
        let world = LaneFrame {
            axes: std::array::from_fn(|a| std::array::from_fn(|b| unit(a, b))),
            origin_m: std::array::from_fn(|_| of(C::default())),
        };
        vec![world; self.joints.len() + 1]
    }

    /// Places all links for positions of the joints. Frame 0 stays as it is.
    #[inline(always)]
    pub fn place<N: LaneNumber<Constant = C>>(
        &self,
        token: N::Token,
        positions: &[N::Stored],
        frames: &mut [LaneFrame<N::Stored>],
    ) {
        let nothing = [N::same(token, C::default()); 3];
        let (mut x, mut y, mut z, mut origin) = (nothing, nothing, nothing, nothing);
        for (index, (joint, position)) in self.joints.iter().zip(positions).enumerate() {
            let moved = N::read(token, position) - joint.zero;
            let angle = if joint.is_slide { N::same(token, joint.fixed_rad) } else { moved };
            let (sin, cos) = angle.sine_and_cosine();
            // Most hang on the joint before, which is still at hand.
            if joint.parent != index {
                let from = &frames[joint.parent];
                for row in 0..3 {
                    x[row] = N::read(token, &from.axes[0][row]);
                    y[row] = N::read(token, &from.axes[1][row]);
                    z[row] = N::read(token, &from.axes[2][row]);
                    origin[row] = N::read(token, &from.origin_m[row]);
                }
            }
            match &joint.rest {
                Rest::Pose { axes, origin_m } if joint.parent == 0 => {
                    for row in 0..3 {
                        x[row] = N::same(token, axes[0][row]);
                        y[row] = N::same(token, axes[1][row]);
                        z[row] = N::same(token, axes[2][row]);
                        origin[row] = N::same(token, origin_m[row]);
                    }
                }
                Rest::Pose { axes: [a, b, c], origin_m: [along_x, along_y, along_z] } => {
                    for row in 0..3 {
                        let (x0, y0, z0) = (x[row], y[row], z[row]);
                        origin[row] = origin[row] + (x0 * *along_x + y0 * *along_y + z0 * *along_z);
                        x[row] = x0 * a[0] + y0 * a[1] + z0 * a[2];
                        y[row] = x0 * b[0] + y0 * b[1] + z0 * b[2];
                        z[row] = x0 * c[0] + y0 * c[1] + z0 * c[2];
                    }
                }
                Rest::Steps { along_m: [along_x, along_y, along_z], cos, sin } => {
                    for row in 0..3 {
                        let (y0, z0) = (y[row], z[row]);
                        origin[row] = origin[row] + x[row] * *along_x + z0 * *along_z;
                        if *along_y != C::default() {
                            origin[row] = origin[row] + y0 * *along_y;
                        }
                        // Quarter turns are common, and cost nothing.
                        (y[row], z[row]) = if *cos == C::default() {
                            (z0 * *sin, y0 * -*sin)
                        } else if *sin == C::default() {
                            (y0 * *cos, z0 * *cos)
                        } else {
                            (y0 * *cos + z0 * *sin, z0 * *cos - y0 * *sin)
                        };
                    }
                }
            }
            let Some(frame) = frames.get_mut(index + 1) else { break };
            for row in 0..3 {
                if joint.is_slide {
                    origin[row] = origin[row] + z[row] * moved;
                }
                let (x0, y0) = (x[row], y[row]);
                x[row] = x0 * cos + y0 * sin;
                y[row] = y0 * cos - x0 * sin;
                x[row].write(&mut frame.axes[0][row]);
                y[row].write(&mut frame.axes[1][row]);
                z[row].write(&mut frame.axes[2][row]);
                origin[row].write(&mut frame.origin_m[row]);
            }
        }
    }
}

impl<C: LaneConstant> LaneJoint<C> {
    fn of(frame: &AxisFrame) -> Self {
        // The angle that the joint has at position 0, brought near to 0.
        let zero = if frame.is_slide {
            frame.reference
        } else {
            let turns = (frame.fixed_rad / std::f64::consts::TAU).round();
            frame.reference - (frame.fixed_rad - turns * std::f64::consts::TAU)
        };
        Self {
            parent: frame.parent.map_or(0, |parent| parent + 1),
            rest: Rest::of(&frame.rest),
            is_slide: frame.is_slide,
            zero: C::rounded(zero),
            fixed_rad: C::rounded(frame.fixed_rad),
        }
    }
}

impl<C: LaneConstant> Rest<C> {
    fn of(rest: &RestPose) -> Self {
        match rest {
            RestPose::Steps { along_m, tilt_rad } => {
                let (sin, cos) = tilt_rad.sin_cos();
                let snapped = |v: f64| C::rounded(if v.abs() < C::SNAP { 0.0 } else { v });
                Self::Steps {
                    along_m: along_m.map(C::rounded),
                    cos: snapped(cos),
                    sin: snapped(sin),
                }
            }
            RestPose::Pose(pose) => {
                let rotation = pose.rotation.to_rotation_matrix();
                let column = |c: usize| std::array::from_fn(|r| C::rounded(rotation[(r, c)]));
                let origin_m = pose.translation.vector.map(C::rounded).into();
                Self::Pose { axes: [column(0), column(1), column(2)], origin_m }
            }
        }
    }
}
