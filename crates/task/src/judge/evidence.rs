//! What is known about a grasp, what is asked of it, and what can be said.

use citrange_core::ObjectSeen;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::checks::{between, positive, zero_or_more};

/// Limits of the six methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraspSettings {
    /// Metres by which the distance from hand to object may change.
    pub grasp_relative_distance_threshold: f64,
    /// Metres that the object may be away from the hand horizontally.
    pub grasp_success_xy_threshold: f64,
    /// Metres that the object may be above or below the hand.
    pub grasp_success_z_threshold: f64,
    /// Fraction of the hand's movement that the object must make, the same way.
    pub grasp_movement_ratio_threshold: f64,
    /// Largest length of the object's movement as a fraction of the hand's.
    pub grasp_movement_ratio_max: f64,
    /// Variance of the horizontal distance that is still steady, m².
    pub grasp_stability_variance_threshold: f64,
    /// Fraction of the gripper's range by which the jaws must stand open beyond their command.
    pub jaw_gap_min: f64,
    /// Force that each jaw must press with.
    pub contact_force_threshold_n: f64,
    /// Hand movement below which the movement ratio says nothing: at least ten times the noise
    /// of the poses, and more than a rotation of the hand can move a thing that is held off-centre.
    pub min_move_m: f64,
}

impl GraspSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), String> {
        positive("grasp_relative_distance_threshold", self.grasp_relative_distance_threshold)?;
        positive("grasp_success_xy_threshold", self.grasp_success_xy_threshold)?;
        positive("grasp_success_z_threshold", self.grasp_success_z_threshold)?;
        let ratio = self.grasp_movement_ratio_threshold;
        between("grasp_movement_ratio_threshold", ratio, 0.0, 1.0)?;
        between("grasp_movement_ratio_max", self.grasp_movement_ratio_max, 1.0, 100.0)?;
        positive("grasp_stability_variance_threshold", self.grasp_stability_variance_threshold)?;
        between("jaw_gap_min", self.jaw_gap_min, 0.0, 1.0)?;
        zero_or_more("contact_force_threshold_n", self.contact_force_threshold_n)?;
        positive("min_move_m", self.min_move_m)
    }
}

/// What is known at one frame.
#[derive(Clone, Copy, Debug)]
pub struct GraspSample<'a> {
    /// Point between the jaws, from measured joints.
    pub hand_m: Vector3<f64>,
    /// The thing that should be held, if it is seen.
    pub object: Option<&'a ObjectSeen>,
    /// How far the jaws stand open beyond what they were commanded, as a fraction of their range.
    pub jaw_gap: f64,
}

/// Whether the thing is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraspVerdict {
    /// Every method that can speak agrees.
    Yes,
    /// A method says no.
    No(Doubt),
    /// There is too little to go by.
    Unknown(Doubt),
}

/// Why it is not (known to be) held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is not seen, or was not seen when the jaws closed.
    NotSeen,
    /// A number is not finite.
    NotFinite,
    /// Fewer than three samples.
    TooFewSamples,
    /// Its distance from the hand changed.
    RelativeDistance,
    /// It is far from the hand.
    AbsoluteDistance,
    /// It does not move with the hand.
    MovementRatio,
    /// It trembles against the hand.
    Variance,
    /// Nothing keeps the jaws apart.
    JawGap,
    /// A jaw does not press on it.
    ContactForce,
}

impl Doubt {
    /// Short code, for tapes and displays.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotSeen => "not_seen",
            Self::NotFinite => "not_finite",
            Self::TooFewSamples => "too_few_samples",
            Self::RelativeDistance => "relative_distance",
            Self::AbsoluteDistance => "absolute_distance",
            Self::MovementRatio => "movement_ratio",
            Self::Variance => "variance",
            Self::JawGap => "jaw_gap",
            Self::ContactForce => "contact_force",
        }
    }
}

/// The last numbers of all methods; absent where a method had none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Change of the distance from hand to object since the jaws closed.
    pub relative_distance_m: Option<f64>,
    /// Distance from hand to object, horizontal and vertical.
    pub absolute_distance_m: Option<[f64; 2]>,
    /// Least fraction of the hand's movement that the object made with it, and greatest length of
    /// the object's movement as a fraction of the hand's.
    pub movement_ratio: Option<[f64; 2]>,
    /// Variance of the horizontal distance over the last samples.
    pub variance_m2: Option<f64>,
    /// How far the jaws stand open beyond their command.
    pub jaw_gap: Option<f64>,
    /// Force of the jaw that presses less.
    pub contact_force_n: Option<f64>,
}
