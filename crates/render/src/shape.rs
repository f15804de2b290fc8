//! Which shapes can be drawn: each in its own frame and in metres, seen from outside only.

use citrange_core::shape::Shape;

/// Smallest size of a shape.
pub const MIN_SIZE_M: f64 = 1e-6;
/// Largest size of a shape, and largest coordinate of a pose.
pub const MAX_SIZE_M: f64 = 1e6;

/// Whether a shape is drawn by itself. Rings and frustums are drawn as the capsules and meshes
/// that the scene's compiler makes of them.
pub(crate) fn can_be_drawn(shape: &Shape) -> bool {
    !matches!(shape, Shape::Ring { .. } | Shape::Frustum { .. })
}

pub(crate) fn sizes_are_valid(shape: &Shape) -> bool {
    // A range holds no NaN.
    let ok = |v: f64| (MIN_SIZE_M..=MAX_SIZE_M).contains(&v);
    match shape {
        Shape::Capsule { radius_m, half_height_m } => {
            ok(*radius_m) && (*half_height_m == 0.0 || ok(*half_height_m))
        }
        _ => shape.sizes_m().all(ok),
    }
}
