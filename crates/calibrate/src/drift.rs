//! Whether the camera still stands where it was calibrated: points that it sees on the robot must
//! lie on the robot's links.
//!
//! Points near the links are moved rigidly onto their surfaces, with weights that fade with the
//! distance and a reach that shrinks, so that things beside the robot lose their say. The motion
//! that was needed is the drift.

use std::fmt;

use citrange_core::Pose;
use nalgebra::{Isometry3, Point3, Vector3};

use super::align::{Certainty, NormalEquations};
use super::surface::{Surface, nearest};
use citrange_cloud::{Points, View};
use citrange_core::shape::PosedLinkShape;

/// Rotations are compared with shifts at this distance: about the half length of an arm.
const LEVER_M: f64 = 0.3;
/// Points that are looked at of a frame, at most about.
const MAX_LOOKED_AT: usize = 80_000;
/// Points are read in pieces of this size.
const PIECE: usize = 1024;

/// When drift is said to be drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriftSettings {
    /// Points within this distance of a link may be the robot's.
    pub reach_m: f64,
    /// In the end points within this distance are taken for the robot's.
    pub close_m: f64,
    /// Fewer points of the robot than this say nothing.
    pub min_points: usize,
    /// At least this part of the points near the links must come to lie on them.
    pub min_close_part: f64,
    /// No more points than this are moved.
    pub max_points: usize,
    /// Steps of the alignment.
    pub steps: usize,
    /// A direction of motion whose eigenvalue of the mean normal equations is smaller is not
    /// determined.
    pub min_eigenvalue: f64,
    /// A larger shift is drift.
    pub max_shift_m: f64,
    /// A larger rotation is drift.
    pub max_rotation_deg: f64,
    /// So many frames in a row are an alarm.
    pub frames: u32,
}

impl Default for DriftSettings {
    fn default() -> Self {
        Self {
            reach_m: 0.08,
            close_m: 0.01,
            min_points: 200,
            min_close_part: 0.3,
            max_points: 2000,
            steps: 25,
            min_eigenvalue: 0.005,
            max_shift_m: 0.015,
            max_rotation_deg: 1.5,
            frames: 5,
        }
    }
}

/// What one frame says, in the light of those before.
#[derive(Clone, Debug, PartialEq)]
pub enum DriftVerdict {
    /// The camera stands where it should.
    Fine,
    /// It does not, but not for long enough yet: so many frames in a row.
    Suspect(u32),
    /// It does not.
    Alarm,
    /// The frame does not tell, and why. This is never good news.
    Unknown(String),
}

impl fmt::Display for DriftVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fine => f.write_str("fine"),
            Self::Suspect(frames) => write!(f, "suspect for {frames} frames"),
            Self::Alarm => f.write_str("the camera has moved"),
            Self::Unknown(reason) => write!(f, "unknown: {reason}"),
        }
    }
}

/// The motion that brings the points onto the robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Offset {
    /// Shift at the middle of the robot's points, in the world.
    pub shift_m: [f64; 3],
    /// Angle of the rotation.
    pub rotation_deg: f64,
    /// Pose of the camera with which the points would lie on the robot.
    pub world_from_camera: Pose,
    /// How well the six numbers are determined.
    pub certainty: Certainty,
}

/// What was found in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// What to make of it.
    pub verdict: DriftVerdict,
    /// The drift, where there were points enough to tell one.
    pub offset: Option<Offset>,
    /// Points near the links that were looked at.
    pub near: usize,
    /// Those of them that come to lie on the links.
    pub close: usize,
    /// Those that were inside of the links by more than `close_m`, as the camera is believed to
    /// stand.
    pub inside: usize,
    /// Those that were outside by more than `close_m`.
    pub outside: usize,
    /// Root of the mean square distance to the links before the motion, of the robot's points.
    pub rms_before_m: f64,
    /// The same after it.
    pub rms_after_m: f64,
}

/// Watches the frames of one camera.
#[derive(Debug)]
pub struct DriftWatch {
    settings: DriftSettings,
    in_a_row: u32,
    /// Points near the links, in the world; kept for the next frame's use.
    near: Vec<Vector3<f64>>,
}

impl DriftWatch {
    /// A watch that has seen nothing yet.
    #[must_use]
    pub fn new(settings: DriftSettings) -> Self {
        Self { settings, in_a_row: 0, near: Vec::with_capacity(settings.max_points) }
    }

    /// Looks at a frame and at the robot's shapes when it was taken.
    pub fn look(&mut self, points: &dyn Points, view: &View, shapes: &[PosedLinkShape]) -> Drift {
        let world_from_camera = view.world_from_camera.isometry();
        let surfaces: Vec<Surface> = shapes.iter().map(Surface::of).collect();
        self.gather(points, &world_from_camera, shapes, &surfaces);
        let mut drift = self.align(&world_from_camera, &surfaces);
        drift.verdict = self.judge(&drift);
        drift
    }

    /// Collects points near the links, evenly over the frame.
    fn gather(
        &mut self,
        points: &dyn Points,
        world_from_camera: &Isometry3<f64>,
        shapes: &[PosedLinkShape],
        surfaces: &[Surface],
    ) {
        let reach_m = self.settings.reach_m;
        let boxes: Vec<[[f64; 3]; 2]> = shapes.iter().map(|s| s.bounds_m(reach_m)).collect();
        let stride = points.len().div_ceil(MAX_LOOKED_AT).max(1);
        let (mut x, mut y, mut z) = ([0.0; PIECE], [0.0; PIECE], [0.0; PIECE]);
        self.near.clear();
        for first in (0..points.len()).step_by(PIECE) {
            let count = PIECE.min(points.len() - first);
            points.fill(first, &mut x[..count], &mut y[..count], &mut z[..count]);
            let skip = (stride - first % stride) % stride;
            for i in (skip..count).step_by(stride) {
                let seen = Point3::new(x[i], y[i], z[i]).cast::<f64>();
                let place = world_from_camera * seen;
                // NaN is in no box.
                let near = boxes.iter().zip(surfaces).any(|([low, high], surface)| {
                    (0..3).all(|a| low[a] <= place[a] && place[a] <= high[a])
                        && surface.distance_m(&place.coords).abs() <= reach_m
                });
                if near {
                    self.near.push(place.coords);
                }
            }
        }
        let keep = self.near.len().div_ceil(self.settings.max_points.max(1)).max(1);
        let mut index = 0;
        self.near.retain(|_| {
            index += 1;
            index % keep == 0
        });
    }

    /// Moves the points onto the links.
    fn align(&self, world_from_camera: &Isometry3<f64>, surfaces: &[Surface]) -> Drift {
        let settings = &self.settings;
        let mut drift = Drift {
            verdict: DriftVerdict::Unknown(String::new()),
            offset: None,
            near: self.near.len(),
            close: 0,
            inside: 0,
            outside: 0,
            rms_before_m: f64::NAN,
            rms_after_m: f64::NAN,
        };
        for point in &self.near {
            let distance_m = nearest(surfaces, point).map_or(0.0, |(d, _)| d);
            drift.inside += usize::from(distance_m < -settings.close_m);
            drift.outside += usize::from(distance_m > settings.close_m);
        }
        if self.near.len() < settings.min_points {
            return drift;
        }
        let middle = self.near.iter().sum::<Vector3<f64>>() / self.near.len() as f64;
        let sums = |moved: &Isometry3<f64>, reach_m: f64| {
            let camera = moved * Point3::from(world_from_camera.translation.vector);
            let mut sums = (NormalEquations::new(middle, LEVER_M), 0);
            for point in &self.near {
                let place = (moved * Point3::from(*point)).coords;
                let Some((distance_m, surface)) = nearest(surfaces, &place) else { continue };
                let normal = surface.normal(&place);
                // The far side of a link cannot have been seen.
                let faces_camera = normal.dot(&(camera.coords - place)) > 0.0;
                let fade = 1.0 - (distance_m / reach_m).powi(2);
                if fade > 0.0 && faces_camera {
                    sums.0.add(&place, &normal, distance_m, fade * fade);
                    sums.1 += usize::from(distance_m.abs() <= settings.close_m);
                }
            }
            sums
        };
        let mut moved = Isometry3::identity();
        drift.rms_before_m = sums(&moved, settings.reach_m).0.rms_m();
        for step in 0..settings.steps {
            // From half of the reach down to a few times the camera's noise, in two thirds of the
            // steps; the last third is for coming to rest.
            let done = (1.5 * step as f64 / settings.steps as f64).min(1.0);
            let widest_m = settings.reach_m / 2.0;
            let reach_m = widest_m * (1.5 * settings.close_m / widest_m).powf(done);
            let motion = sums(&moved, reach_m).0.motion(settings.min_eigenvalue);
            moved = motion * moved;
            let still = motion.translation.vector.norm() < 1e-5 && motion.rotation.angle() < 1e-5;
            if still && done >= 1.0 {
                break;
            }
        }
        let (last, close) = sums(&moved, 1.5 * settings.close_m);
        drift.close = close;
        drift.rms_after_m = last.rms_m();
        let shift = moved * Point3::from(middle) - Point3::from(middle);
        drift.offset = Some(Offset {
            shift_m: shift.into(),
            rotation_deg: moved.rotation.angle().to_degrees(),
            world_from_camera: (moved * world_from_camera).into(),
            certainty: last.certainty(last.rms_m(), settings.min_eigenvalue),
        });
        drift
    }

    /// What the offset means after the frames before.
    fn judge(&mut self, drift: &Drift) -> DriftVerdict {
        let settings = &self.settings;
        let unknown = |reason: String| DriftVerdict::Unknown(reason);
        let Some(offset) = &drift.offset else {
            let (near, least) = (drift.near, settings.min_points);
            return unknown(format!("{near} points near the robot, {least} are needed"));
        };
        let close_part = drift.close as f64 / drift.near as f64;
        if drift.close < settings.min_points || close_part < settings.min_close_part {
            let (close, near) = (drift.close, drift.near);
            return unknown(format!("only {close} of {near} points near the robot fit its links"));
        }
        let shift_m = Vector3::from(offset.shift_m).norm();
        if shift_m > settings.max_shift_m || offset.rotation_deg > settings.max_rotation_deg {
            self.in_a_row = self.in_a_row.saturating_add(1);
            if self.in_a_row >= settings.frames {
                return DriftVerdict::Alarm;
            }
            return DriftVerdict::Suspect(self.in_a_row);
        }
        if let Some(free) = offset.certainty.free.first() {
            return unknown(format!("what is seen of the robot does not show a {free}"));
        }
        self.in_a_row = 0;
        DriftVerdict::Fine
    }
}
