//! Does it lie where it should, at rest and let go?

use citrange_core::ObjectSeen;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use super::checks::{between, middle, middle_in_world, positive, usable, zero_or_more};
use super::memory::count;

/// A jaw that presses harder than this still has the thing.
const TOUCH_N: f64 = 0.05;

/// What is asked of a thing that was put down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacementSettings {
    /// Metres that the thing's middle must be inside the region's edge.
    pub placement_margin: f64,
    /// Speed below which it is at rest, m/s.
    pub placement_velocity_threshold: f64,
    /// Frames in a row for which everything must hold.
    pub placement_stability_frames: u32,
    /// How far its lowest point may be above or below the region's surface.
    pub placement_z_tolerance_m: f64,
    /// Frames before the first look, while it settles.
    pub placement_wait_frames: u32,
    /// How far a thing that must be upright may lean.
    pub placement_tilt_deg: f64,
}

impl PlacementSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), String> {
        zero_or_more("placement_margin", self.placement_margin)?;
        positive("placement_velocity_threshold", self.placement_velocity_threshold)?;
        positive("placement_stability_frames", f64::from(self.placement_stability_frames))?;
        positive("placement_z_tolerance_m", self.placement_z_tolerance_m)?;
        between("placement_tilt_deg", self.placement_tilt_deg, 0.0, 180.0)
    }
}

/// Where things should lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Region {
    /// A level disc, as a plate.
    Disc {
        /// Middle, on its surface.
        center_m: [f64; 3],
        /// Radius.
        radius_m: f64,
    },
    /// The top face of a box, as the lower cube of a stack.
    Top {
        /// Middle of the face.
        center_m: [f64; 3],
        /// Half its sides.
        half_m: [f64; 2],
        /// Its yaw.
        yaw_rad: f64,
    },
    /// The inside of a tray or box: things lie anywhere on its floor, or on each other.
    Inside {
        /// Middle of its floor.
        center_m: [f64; 3],
        /// Half its sides.
        half_m: [f64; 2],
        /// Its yaw.
        yaw_rad: f64,
        /// Height of its walls: what lies lower than their top is inside.
        depth_m: f64,
    },
}

impl Region {
    /// Its middle, on the surface.
    #[must_use]
    pub fn center_m(&self) -> [f64; 3] {
        let (Self::Disc { center_m, .. }
        | Self::Top { center_m, .. }
        | Self::Inside { center_m, .. }) = self;
        *center_m
    }

    fn surface_z_m(&self) -> f64 {
        self.center_m()[2]
    }

    /// Whether a thing's middle is well inside, seen from above. On a disc the margin is taken
    /// off the radius. On a top each half side gives at most half of itself: the margin of a
    /// plate would leave nothing of a small cube.
    pub(crate) fn holds(&self, middle_m: &Vector3<f64>, margin_m: f64) -> bool {
        match self {
            Self::Disc { center_m, radius_m } => {
                let from_center = middle_m.xy() - Vector3::from(*center_m).xy();
                from_center.norm() <= radius_m - margin_m
            }
            Self::Top { center_m, half_m, yaw_rad }
            | Self::Inside { center_m, half_m, yaw_rad, .. } => {
                let in_frame = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -yaw_rad)
                    * (middle_m - Vector3::from(*center_m));
                let inside = |way_m: f64, half: f64| way_m.abs() <= half - margin_m.min(half / 2.0);
                inside(in_frame.x, half_m[0]) && inside(in_frame.y, half_m[1])
            }
        }
    }
}

/// How a thing lies when it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resting<'a> {
    /// Lowest and highest corner of its box, in its own frame.
    pub box_m: &'a [[f64; 3]; 2],
    /// For round things: height of the middle of its box above what it lies on, however it is
    /// rotated. `None`: the lowest corner of the box, rotated as it is, touches.
    pub rest_height_m: Option<f64>,
    /// Whether its own vertical must be the world's.
    pub upright: bool,
}

/// Whether it lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It lies there, at rest and let go.
    Yes,
    /// Not (yet).
    NotYet(NotPlaced),
    /// It cannot be known.
    Unknown(NotPlaced),
}

/// Why a thing does not count as placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// The first look is still to come.
    Waiting,
    /// A jaw still touches it.
    Touched,
    /// Its middle is not well inside the region.
    Outside,
    /// It does not lie on the surface.
    Height,
    /// It leans.
    Tilted,
    /// It moves.
    Moving,
    /// All is well, but not for long enough.
    Settling,
    /// It is not seen.
    NotSeen,
    /// A number is not finite.
    NotFinite,
}

impl NotPlaced {
    /// Short code, for tapes and displays.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Touched => "touched",
            Self::Outside => "outside",
            Self::Height => "height",
            Self::Tilted => "tilted",
            Self::Moving => "moving",
            Self::Settling => "settling",
            Self::NotSeen => "not_seen",
            Self::NotFinite => "not_finite",
        }
    }
}

/// Watches a thing that was put down. A fresh one (`default`) begins with the wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementDetector {
    /// Frames waited so far.
    waited_frames: u32,
    /// Frames in a row in which everything held.
    good_frames: u32,
}

impl PlacementDetector {
    /// Takes the sample of a frame and judges.
    pub fn sample(
        &mut self,
        settings: &PlacementSettings,
        region: &Region,
        object: Option<&ObjectSeen>,
        resting: &Resting<'_>,
    ) -> Placed {
        let is_waiting = self.waited_frames < settings.placement_wait_frames;
        if is_waiting {
            self.waited_frames += 1;
        }
        let fault = match object {
            None => Some(NotPlaced::NotSeen),
            Some(object) if !usable(object) => Some(NotPlaced::NotFinite),
            Some(_) if is_waiting => Some(NotPlaced::Waiting),
            Some(object) => fault(settings, region, object, resting),
        };
        self.good_frames = if fault.is_some() { 0 } else { self.good_frames.saturating_add(1) };
        match fault {
            Some(why @ (NotPlaced::NotSeen | NotPlaced::NotFinite)) => Placed::Unknown(why),
            Some(why) => Placed::NotYet(why),
            None if self.good_frames < settings.placement_stability_frames => {
                Placed::NotYet(NotPlaced::Settling)
            }
            None => Placed::Yes,
        }
    }

    /// Adds everything it remembers to a list of numbers.
    pub fn save(&self, out: &mut Vec<f64>) {
        out.extend([f64::from(self.waited_frames), f64::from(self.good_frames)]);
    }

    /// Takes back what [`PlacementDetector::save`] wrote; `None` where that is something
    /// else.
    pub fn load(numbers: &mut impl Iterator<Item = f64>) -> Option<Self> {
        let waited_frames = count(numbers, u32::MAX)?;
        let good_frames = count(numbers, u32::MAX)?;
        Some(Self { waited_frames, good_frames })
    }
}

/// What is wrong at this instant, if anything.
fn fault(
    settings: &PlacementSettings,
    region: &Region,
    object: &ObjectSeen,
    resting: &Resting<'_>,
) -> Option<NotPlaced> {
    let world_from_object = object.pose.isometry();
    let middle_m = middle_in_world(&world_from_object, resting.box_m);
    let below_middle_m =
        resting.rest_height_m.unwrap_or_else(|| depth_m(&world_from_object, resting.box_m));
    let above_surface_m = middle_m.z - below_middle_m - region.surface_z_m();
    let up = world_from_object.rotation * Vector3::z();
    let tilt_deg = up.angle(&Vector3::z()).to_degrees();
    let speed_m_s = Vector3::from(object.lin_vel_m_s).norm();

    let tolerance_m = settings.placement_z_tolerance_m;
    let high_m = match region {
        Region::Inside { depth_m, .. } => depth_m.max(tolerance_m),
        _ => tolerance_m,
    };
    // Asked as "does it hold?", so that what is not a number does not pass.
    let is_let_go = object.touch_n.is_none_or(|jaws| jaws.iter().all(|force| *force <= TOUCH_N));
    let tests = [
        (NotPlaced::Touched, is_let_go),
        (NotPlaced::Outside, region.holds(&middle_m, settings.placement_margin)),
        (NotPlaced::Height, above_surface_m <= high_m && above_surface_m >= -tolerance_m),
        (NotPlaced::Tilted, !resting.upright || tilt_deg <= settings.placement_tilt_deg),
        (NotPlaced::Moving, speed_m_s < settings.placement_velocity_threshold),
    ];
    tests.into_iter().find(|(_, holds)| !holds).map(|(why, _)| why)
}

/// How far a box reaches below its middle, rotated as it is.
fn depth_m(world_from_object: &Isometry3<f64>, box_m: &[[f64; 3]; 2]) -> f64 {
    let half = Vector3::from(box_m[1]) - middle(box_m);
    let down = world_from_object.rotation.inverse() * Vector3::z();
    half.dot(&down.abs())
}
