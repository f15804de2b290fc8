//! Checks of numbers that come from outside.

use citrange_core::ObjectSeen;
use nalgebra::{Isometry3, Vector3};

/// A key and its value must be a number above 0.
pub(crate) fn positive(key: &str, value: f64) -> Result<(), String> {
    test(key, value, value > 0.0, "a number above 0")
}

/// A key and its value must be a number, 0 or above.
pub(crate) fn zero_or_more(key: &str, value: f64) -> Result<(), String> {
    test(key, value, value >= 0.0, "a number, 0 or above")
}

/// A key and its value must be a number between two others, both included.
pub(crate) fn between(key: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    test(key, value, (low..=high).contains(&value), &format!("between {low} and {high}"))
}

fn test(key: &str, value: f64, passes: bool, wanted: &str) -> Result<(), String> {
    if passes && value.is_finite() {
        Ok(())
    } else {
        Err(format!("{key}: must be {wanted}, not {value}"))
    }
}

/// Whether every number of what was seen can be used: finite, and a quaternion with a length.
pub(crate) fn usable(seen: &ObjectSeen) -> bool {
    let quat_length = seen.pose.quat_wxyz.iter().map(|part| part * part).sum::<f64>();
    let touches = seen.touch_n.unwrap_or_default();
    seen.pose.pos_m.iter().chain(&seen.lin_vel_m_s).chain(&touches).all(|n| n.is_finite())
        && quat_length.is_finite()
        && quat_length > 1e-12
}

/// Middle of a box given by its lowest and highest corner.
pub(crate) fn middle(box_m: &[[f64; 3]; 2]) -> Vector3<f64> {
    (Vector3::from(box_m[0]) + Vector3::from(box_m[1])) / 2.0
}

/// A box's middle in the world.
pub(crate) fn middle_in_world(
    world_from_object: &Isometry3<f64>,
    box_m: &[[f64; 3]; 2],
) -> Vector3<f64> {
    world_from_object.translation.vector + world_from_object.rotation * middle(box_m)
}
