//! Could the jaws close around it now? "Green" is the colour of a yes.

use citrange_core::ObjectSeen;
use nalgebra::{Unit, Vector3};
use serde::{Deserialize, Serialize};

use super::checks::{between, middle_in_world, positive, usable};

/// How well the hand must stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PickupSettings {
    /// How far the object's middle may be beside the line between the jaws.
    pub green_offset_m: f64,
    /// How far the object's middle may be from the grasp point, along that line.
    pub green_along_m: f64,
    /// How far the tool may lean away from straight down.
    pub green_tilt_deg: f64,
}

impl PickupSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), String> {
        positive("green_offset_m", self.green_offset_m)?;
        positive("green_along_m", self.green_along_m)?;
        between("green_tilt_deg", self.green_tilt_deg, 0.0, 180.0)
    }
}

/// Where the hand is, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandView {
    /// Where the object's middle should be.
    pub grasp_m: Vector3<f64>,
    /// From the fixed (or first) jaw to the moving one.
    pub jaw_axis: Unit<Vector3<f64>>,
    /// Where the tool points.
    pub tool_axis: Unit<Vector3<f64>>,
    /// How wide the jaws stand open.
    pub opening_m: f64,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickupColour {
    /// The jaws would close around it.
    Green,
    /// They would not.
    Red(RedReason),
    /// The object is not seen, or a number is not finite.
    Unknown,
}

/// What is wrong with the hand's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedReason {
    /// The tool leans too much.
    Tilt,
    /// The line between the jaws misses the object.
    RayMiss,
    /// The object's middle is too far beside that line.
    Offset,
    /// The object's middle is too far along that line.
    Along,
}

impl RedReason {
    /// Short code, for tapes and displays.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tilt => "tilt",
            Self::RayMiss => "ray_miss",
            Self::Offset => "offset",
            Self::Along => "along",
        }
    }
}

/// The answer and its numbers; those that an unseen object has not are absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pickup {
    /// The answer.
    pub color: PickupColour,
    /// Angle between the tool and straight down.
    pub tilt_deg: f64,
    /// Where the line between the jaws enters and leaves the object's box: metres from the
    /// grasp point towards the moving jaw.
    pub chord_m: Option<[f64; 2]>,
    /// Distance of the object's middle from that line.
    pub offset_m: Option<f64>,
    /// Position of the object's middle along that line, from the grasp point to the moving jaw.
    pub along_m: Option<f64>,
}

/// Judges the hand's place around an object. It remembers nothing.
#[must_use]
pub fn assess(
    settings: &PickupSettings,
    hand: &HandView,
    object: Option<&ObjectSeen>,
    box_m: &[[f64; 3]; 2],
) -> Pickup {
    let tilt_deg = hand.tool_axis.angle(&-Vector3::z()).to_degrees();
    let blind = Pickup {
        color: PickupColour::Unknown,
        tilt_deg,
        chord_m: None,
        offset_m: None,
        along_m: None,
    };
    let hand_numbers = hand.grasp_m.iter().chain(hand.jaw_axis.iter()).chain(hand.tool_axis.iter());
    let is_hand_known = hand_numbers.chain([&hand.opening_m]).all(|n| n.is_finite());
    let Some(object) = object.filter(|object| is_hand_known && usable(object)) else {
        return blind;
    };

    let world_from_object = object.pose.isometry();
    let object_from_world = world_from_object.rotation.inverse();
    let origin = object_from_world * (hand.grasp_m - world_from_object.translation.vector);
    let along_ray = object_from_world * hand.jaw_axis.into_inner();
    let chord_m = chord(&origin, &along_ray, hand.opening_m / 2.0, box_m);

    let to_middle = middle_in_world(&world_from_object, box_m) - hand.grasp_m;
    let along_m = to_middle.dot(&hand.jaw_axis);
    let offset_m = (to_middle - along_m * hand.jaw_axis.into_inner()).norm();

    let color = if tilt_deg > settings.green_tilt_deg {
        PickupColour::Red(RedReason::Tilt)
    } else if chord_m.is_none() {
        PickupColour::Red(RedReason::RayMiss)
    } else if offset_m > settings.green_offset_m {
        PickupColour::Red(RedReason::Offset)
    } else if along_m.abs() > settings.green_along_m {
        PickupColour::Red(RedReason::Along)
    } else {
        PickupColour::Green
    };
    Pickup { color, tilt_deg, chord_m, offset_m: Some(offset_m), along_m: Some(along_m) }
}

/// Where the line `origin + t * direction`, |t| at most `reach_m`, enters and leaves a box: the
/// overlap of the intervals in which it is between each of the three pairs of faces.
fn chord(
    origin: &Vector3<f64>,
    direction: &Vector3<f64>,
    reach_m: f64,
    box_m: &[[f64; 3]; 2],
) -> Option<[f64; 2]> {
    let [mut enter, mut leave] = [-reach_m, reach_m];
    for axis in 0..3 {
        let [low, high] = [box_m[0][axis] - origin[axis], box_m[1][axis] - origin[axis]];
        if direction[axis].abs() < 1e-12 {
            // Parallel to these faces: between them everywhere or nowhere.
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let [one, other] = [low / direction[axis], high / direction[axis]];
        enter = enter.max(one.min(other));
        leave = leave.min(one.max(other));
    }
    (enter <= leave).then_some([enter, leave])
}
