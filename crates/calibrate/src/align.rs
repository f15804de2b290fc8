//! Small motions that bring points onto surfaces: least squares that know what they do not know.

use std::fmt;

use nalgebra::{
    Isometry3, Matrix3, Matrix6, SymmetricEigen, Translation3, UnitQuaternion, Vector3, Vector6,
};

/// A direction in which the points move along the surfaces, so that they say nothing about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freedom {
    /// Direction of the shift, in the world; 0 for a rotation in place.
    pub shift: [f64; 3],
    /// Axis of the rotation, in the world; 0 for a pure shift.
    pub rotation: [f64; 3],
}

impl fmt::Display for Freedom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded here, so that nothing is printed as -0.00.
        let rounded = |v: f64| (v * 100.0).round() / 100.0 + 0.0;
        let [tx, ty, tz] = self.rotation.map(rounded);
        let [sx, sy, sz] = self.shift.map(rounded);
        match (self.rotation == [0.0; 3], self.shift == [0.0; 3]) {
            (true, _) => write!(f, "shift along ({sx:.2}, {sy:.2}, {sz:.2})"),
            (false, true) => write!(f, "turn about ({tx:.2}, {ty:.2}, {tz:.2})"),
            (false, false) => write!(
                f,
                "rotation about ({tx:.2}, {ty:.2}, {tz:.2}) with a shift along ({sx:.2}, {sy:.2}, \
                 {sz:.2})"
            ),
        }
    }
}

/// How well the six numbers of a pose are determined.
#[derive(Clone, Debug, PartialEq)]
pub struct Certainty {
    /// Standard deviation of the position along the world's axes; infinite where it is free.
    pub sigma_m: [f64; 3],
    /// Standard deviation of the rotation about the world's axes; infinite where it is free.
    pub sigma_deg: [f64; 3],
    /// Best determined direction against the worst: 1 is ideal, infinite if any is free.
    pub condition: f64,
    /// Directions that are not determined at all.
    pub free: Vec<Freedom>,
}

/// Sums of weighted squares `(distance + direction . motion)^2` over small motions about a
/// centre. Rotations are measured in metres at `lever_m` from the centre, so that all six numbers
/// compare.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    centre: Vector3<f64>,
    lever_m: f64,
    a: Matrix6<f64>,
    b: Vector6<f64>,
    weight: f64,
    cost: f64,
}

impl NormalEquations {
    pub(super) fn new(centre: Vector3<f64>, lever_m: f64) -> Self {
        let (a, b) = (Matrix6::zeros(), Vector6::zeros());
        Self { centre, lever_m, a, b, weight: 0.0, cost: 0.0 }
    }

    /// A point that is `distance_m` from a surface, which it leaves along the unit `normal`.
    pub(super) fn add(
        &mut self,
        point: &Vector3<f64>,
        normal: &Vector3<f64>,
        distance_m: f64,
        weight: f64,
    ) {
        let lever = (point - self.centre).cross(normal) / self.lever_m;
        let row = Vector6::new(normal.x, normal.y, normal.z, lever.x, lever.y, lever.z);
        self.a += weight * row * row.transpose();
        self.b += weight * distance_m * row;
        self.weight += weight;
        self.cost += weight * distance_m * distance_m;
    }

    /// Root of the mean square of the distances.
    pub(super) fn rms_m(&self) -> f64 {
        if self.weight > 0.0 { (self.cost / self.weight).sqrt() } else { 0.0 }
    }

    /// The motion that makes the sum least. Directions whose eigenvalue is below `min_eigenvalue` are
    /// not determined by the points and left alone.
    pub(super) fn motion(&self, min_eigenvalue: f64) -> Isometry3<f64> {
        let mut step = Vector6::zeros();
        let (eigenvalues, directions) = self.eigenvalues();
        for i in 0..6 {
            if eigenvalues[i] >= min_eigenvalue {
                let direction = directions.column(i);
                step -= direction * (direction.dot(&self.b) / (eigenvalues[i] * self.weight));
            }
        }
        let rotation = UnitQuaternion::from_scaled_axis(step.fixed_rows::<3>(3) / self.lever_m);
        let shift = step.fixed_rows::<3>(0) + self.centre - rotation * self.centre;
        Isometry3::from_parts(Translation3::from(shift), rotation)
    }

    /// How well the motion is determined by points with this noise.
    pub(super) fn certainty(&self, noise_m: f64, min_eigenvalue: f64) -> Certainty {
        let (eigenvalues, directions) = self.eigenvalues();
        let (mut covariance, mut unknown) = (Matrix6::zeros(), Matrix6::zeros());
        for i in 0..6 {
            let direction = directions.column(i);
            let square = direction * direction.transpose();
            if eigenvalues[i] >= min_eigenvalue {
                covariance += square * (noise_m * noise_m / (eigenvalues[i] * self.weight));
            } else {
                unknown += square;
            }
        }
        let sigma = |i: usize| {
            if unknown[(i, i)] > 0.01 { f64::INFINITY } else { covariance[(i, i)].sqrt() }
        };
        let free = freedoms(&unknown);
        let least = eigenvalues.min();
        Certainty {
            sigma_m: std::array::from_fn(sigma),
            sigma_deg: std::array::from_fn(|i| (sigma(3 + i) / self.lever_m).to_degrees()),
            condition: if free.is_empty() { eigenvalues.max() / least } else { f64::INFINITY },
            free,
        }
    }

    /// Mean squares of what the points say about six directions, and the directions.
    fn eigenvalues(&self) -> (Vector6<f64>, Matrix6<f64>) {
        if self.weight <= 0.0 {
            return (Vector6::zeros(), Matrix6::identity());
        }
        let eigen = SymmetricEigen::new(self.a / self.weight);
        (eigen.eigenvalues, eigen.eigenvectors)
    }
}

/// Names the directions of a subspace, given as its projector: pure shifts and pure rotations first,
/// then what mixes both.
fn freedoms(unknown: &Matrix6<f64>) -> Vec<Freedom> {
    let mut rest = *unknown;
    let mut found = Vec::new();
    let tidy = |v: Vector3<f64>| -> [f64; 3] {
        // The largest part is positive: the same direction has one name.
        let sign = v[v.iamax()].signum();
        (v * sign).into()
    };
    for block in [0, 3] {
        let part: Matrix3<f64> = unknown.fixed_view::<3, 3>(block, block).into();
        let eigen = SymmetricEigen::new(part);
        for i in 0..3 {
            if eigen.eigenvalues[i] < 0.95 {
                continue;
            }
            let axis: Vector3<f64> = eigen.eigenvectors.column(i).into();
            let named = tidy(axis);
            let mut whole = Vector6::zeros();
            whole.fixed_rows_mut::<3>(block).copy_from(&axis);
            rest -= whole * whole.transpose();
            found.push(if block == 0 {
                Freedom { shift: named, rotation: [0.0; 3] }
            } else {
                Freedom { shift: [0.0; 3], rotation: named }
            });
        }
    }
    let eigen = SymmetricEigen::new(rest);
    for i in 0..6 {
        if eigen.eigenvalues[i] < 0.5 {
            continue;
        }
        let whole = eigen.eigenvectors.column(i);
        let part = |at: usize| {
            let part: Vector3<f64> = whole.fixed_rows::<3>(at).into();
            part.try_normalize(1e-3).map_or([0.0; 3], tidy)
        };
        found.push(Freedom { shift: part(0), rotation: part(3) });
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sums over points of some coordinate planes that were moved by `motion`.
    fn moved_planes(
        planes: &[usize],
        motion: &Isometry3<f64>,
        seeds: &[[f64; 2]],
    ) -> NormalEquations {
        let mut squares = NormalEquations::new(Vector3::new(0.1, 0.0, -0.1), 0.3);
        for axis in planes {
            for [a, b] in seeds {
                let mut point = Vector3::zeros();
                point[(axis + 1) % 3] = *a;
                point[(axis + 2) % 3] = *b;
                let place = motion * nalgebra::Point3::from(point);
                squares.add(&place.coords, &Vector3::ith(*axis, 1.0), place[*axis], 1.0);
            }
        }
        squares
    }

    proptest! {
        /// Three planes show a motion completely, up to the square of its size.
        #[test]
        fn small_motions_are_undone(
            shift in prop::array::uniform3(-1e-3_f64..1e-3),
            rotation in prop::array::uniform3(-1e-3_f64..1e-3),
            seeds in prop::collection::vec(prop::array::uniform2(-0.5_f64..0.5), 20..40),
        ) {
            let rotation = UnitQuaternion::from_scaled_axis(Vector3::from(rotation));
            let motion = Isometry3::from_parts(Translation3::from(shift), rotation);
            let squares = moved_planes(&[0, 1, 2], &motion, &seeds);
            let left = squares.motion(1e-6) * motion;
            prop_assert!(left.translation.vector.norm() < 2e-5, "{left}");
            prop_assert!(left.rotation.angle() < 2e-5, "{left}");
            prop_assert!(squares.certainty(1e-3, 1e-6).free.is_empty());
        }

        /// A plane shows one shift and two rotations; the others are named and left alone.
        #[test]
        fn what_a_plane_does_not_show_is_named(
            axis in 0_usize..3,
            seeds in prop::collection::vec(prop::array::uniform2(-0.5_f64..0.5), 20..40),
        ) {
            let shift = Translation3::new(0.01, 0.02, 0.03);
            let squares = moved_planes(&[axis], &shift.into(), &seeds);
            let motion = squares.motion(1e-6);
            let expected = Vector3::ith(axis, -shift.vector[axis]);
            prop_assert!((motion.translation.vector - expected).norm() < 1e-9, "{motion}");
            prop_assert!(motion.rotation.angle() < 1e-9);
            let certainty = squares.certainty(1e-3, 1e-6);
            prop_assert_eq!(certainty.free.len(), 3);
            let shifts = certainty.free.iter().filter(|f| f.rotation == [0.0; 3]);
            let inside = shifts.clone().all(|f| f.shift[axis].abs() < 1e-6);
            prop_assert!(inside && shifts.count() == 2, "{:?}", certainty.free);
            for i in 0..3 {
                prop_assert_eq!(certainty.sigma_m[i].is_finite(), i == axis);
                prop_assert_eq!(certainty.sigma_deg[i].is_finite(), i != axis);
            }
        }
    }
}
