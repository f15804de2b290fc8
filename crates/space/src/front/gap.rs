//! Whether a voxel's cube comes nearer to a part of a robot than a limit. A ring counts as the
//! disc that it goes around.

use nalgebra::{Point3, Vector3};

use citrange_core::shape::PosedLinkShape;

/// Steps after which the question counts as answered: the bounds are then within nanometres for
/// all but needles of cubes and solids that lie edge to edge.
const STEPS: usize = 2_000;

/// Whether some point of the cube around `centre_m` is nearer than `limit_m` to the solid.
///
/// Cube and solid are convex, so going back and forth between their nearest points finds the gap
/// from above; the planes between these points bound it from below.
pub(crate) fn nearer_than(
    centre_m: [f64; 3],
    half_m: f64,
    solid: &PosedLinkShape,
    limit_m: f64,
) -> bool {
    let at_centre = solid.distance_m(centre_m);
    if at_centre - half_m * 3.0_f64.sqrt() >= limit_m {
        return false;
    }
    if at_centre < limit_m {
        return true;
    }
    let centre = Vector3::from(centre_m);
    let mut in_cube = centre;
    for _ in 0..STEPS {
        let in_solid = nearest(solid, in_cube);
        let between = in_cube - in_solid;
        let gap = between.norm();
        if gap < limit_m || gap == 0.0 {
            return gap < limit_m;
        }
        let along = between / gap;
        let cube_from = along.dot(&centre) - half_m * along.abs().sum();
        if cube_from - farthest(solid, along) >= limit_m {
            return false;
        }
        let next = centre + (in_solid - centre).map(|v| v.clamp(-half_m, half_m));
        if (next - in_cube).norm() < 1e-13 {
            return false;
        }
        in_cube = next;
    }
    false
}

/// The point of a solid next to a point of the world.
fn nearest(solid: &PosedLinkShape, point: Vector3<f64>) -> Vector3<f64> {
    let p = solid.world_from_shape.inverse_transform_point(&Point3::from(point));
    let on = solid.shape.nearest_m(p.coords.into());
    (solid.world_from_shape * Point3::from(on)).coords
}

/// How far a solid reaches along a direction of length 1, from the world's origin.
fn farthest(solid: &PosedLinkShape, along: Vector3<f64>) -> f64 {
    let n = solid.world_from_shape.inverse_transform_vector(&along);
    let reach = solid.shape.farthest_core_m(&n).dot(&n) + solid.shape.rounding_m();
    reach + solid.world_from_shape.translation.vector.dot(&along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::Pose;
    use citrange_core::shape::Shape;

    /// Smallest distance of a fine lattice of points of the cube.
    fn by_lattice(centre_m: [f64; 3], half_m: f64, solid: &PosedLinkShape) -> f64 {
        let steps = 40;
        let at = |i: i32| half_m * f64::from(i) / f64::from(steps);
        let mut least = f64::MAX;
        for i in -steps..=steps {
            for j in -steps..=steps {
                for k in -steps..=steps {
                    let p = [centre_m[0] + at(i), centre_m[1] + at(j), centre_m[2] + at(k)];
                    least = least.min(solid.distance_m(p));
                }
            }
        }
        least
    }

    #[test]
    fn the_gap_is_that_of_a_lattice_of_points() {
        let pose = Pose { pos_m: [0.3, -0.2, 0.1], quat_wxyz: [0.8, 0.3, -0.4, 0.33] };
        let shapes = [
            Shape::Box { half_m: [0.2, 0.05, 0.1] },
            Shape::Capsule { radius_m: 0.06, half_height_m: 0.2 },
            Shape::Cylinder { radius_m: 0.1, half_height_m: 0.15 },
            Shape::Sphere { radius_m: 0.1 },
            Shape::Frustum { radius_m: 0.12, top_radius_m: 0.03, half_height_m: 0.1 },
            Shape::Ellipsoid { radii_m: [0.2, 0.05, 0.1] },
        ];
        for shape in shapes {
            let solid = PosedLinkShape::new(0, &pose, &shape);
            for centre in [[0.0; 3], [0.5, 0.1, 0.0], [0.3, -0.5, 0.3], [0.1, -0.2, -0.4]] {
                let gap = by_lattice(centre, 0.025, &solid);
                // The lattice is at most 1.1 mm from the nearest point of the cube.
                assert!(nearer_than(centre, 0.025, &solid, gap + 1e-9), "{shape:?} {centre:?}");
                let limit = gap - 1.2e-3;
                assert!(!nearer_than(centre, 0.025, &solid, limit), "{shape:?} {centre:?}");
            }
        }
    }

    #[test]
    fn faces_at_the_limit_are_not_nearer() {
        let solid = PosedLinkShape::new(0, &Pose::IDENTITY, &Shape::Box { half_m: [1.0; 3] });
        assert!(!nearer_than([1.75, 0.0, 0.0], 0.25, &solid, 0.5));
        assert!(nearer_than([1.75, 0.0, 0.0], 0.25, &solid, 0.5 + 1e-9));
        assert!(!nearer_than([0.0; 3], 0.25, &solid, 0.0));
    }
}
