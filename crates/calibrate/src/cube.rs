//! The camera's pose from the points of a cube that stands at a known place.
//!
//! Points are moved onto the faces that the camera can see, nearest face first, until nothing
//! moves any more. What the seen faces cannot tell is left as guessed and named.

use citrange_core::Pose;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};

use super::align::{Certainty, NormalEquations};
use crate::error::CalibrateError;

const WHAT: &str = "cube";
/// A direction that the points say less about than this is not determined.
const MIN_EIGENVALUE: f64 = 1e-3;

/// A cube that somebody has placed and measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cube {
    /// Its edge.
    pub edge_m: f64,
    /// Pose of its centre; its faces are across the axes.
    pub world_from_cube: Pose,
}

/// How points are brought onto the cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeSettings {
    /// Fewer points are refused.
    pub min_points: usize,
    /// Steps at most.
    pub max_steps: usize,
    /// In the end points are left out that are farther than this many median distances off.
    pub trim_ratio: f64,
    /// But nothing nearer than this is left out.
    pub trim_m: f64,
    /// A fit whose points are farther off than this on average is no fit.
    pub max_rms_m: f64,
    /// At least this part of the points must be used, and each face that has many of them must be
    /// covered so far along its edges: otherwise the cube has another size.
    pub min_cover: f64,
}

impl Default for CubeSettings {
    fn default() -> Self {
        Self {
            min_points: 100,
            max_steps: 100,
            trim_ratio: 4.0,
            trim_m: 0.004,
            max_rms_m: 0.01,
            min_cover: 0.75,
        }
    }
}

/// A camera's pose and how well the cube determines it.
#[derive(Clone, Debug, PartialEq)]
pub struct CubeCalibration {
    /// Pose of the camera in the world.
    pub world_from_camera: Pose,
    /// Root of the mean square distance of the points that were used from their faces.
    pub rms_m: f64,
    /// Distance of every point from the cube's seen faces; NaN where it was not seen.
    pub residuals_m: Vec<f64>,
    /// Points used on the faces -x, +x, -y, +y, -z, +z of the cube.
    pub faces: [usize; 6],
    /// How well the six numbers are determined, about the cube's centre.
    pub certainty: Certainty,
}

/// Where a point is with respect to the seen faces.
struct Nearest {
    distance_m: f64,
    /// From the face to the point, unit length, in the cube's frame.
    away: Vector3<f64>,
    face: usize,
    /// Whether the point is in front of or behind the face, not beside it.
    on_face: bool,
}

/// The pose that brings the points of a cube, in the camera's frame, onto its faces. The points
/// should be those of the cube; few others are left out by their distance. The guess may be 5 cm
/// and 10 degrees off.
///
/// # Errors
/// When there are too few points, the guess lies inside of the cube, or the points do not come to
/// lie on the faces.
pub fn from_cube(
    points_m: &[[f32; 3]],
    cube: &Cube,
    guess: &Pose,
    settings: &CubeSettings,
) -> Result<CubeCalibration, CalibrateError> {
    if !(cube.edge_m.is_finite() && cube.edge_m > 0.0) {
        let reason = format!("{} is not a length above 0, such as 0.1", cube.edge_m);
        return Err(CalibrateError::setting("edge_m", reason));
    }
    let half_m = cube.edge_m / 2.0;
    let seen = points_m.iter().filter(|p| p.iter().all(|v| v.is_finite()));
    let points: Vec<Point3<f64>> = seen.map(|p| Point3::from(p.map(f64::from))).collect();
    if points.len() < settings.min_points {
        let reason = format!("{} points seen, {} must be", points.len(), settings.min_points);
        return Err(CalibrateError::bad(WHAT, reason));
    }
    // Everything happens in the cube's frame.
    let world_from_cube = cube.world_from_cube.isometry();
    let mut pose = world_from_cube.inverse() * guess.isometry();
    let faces = |pose: &Isometry3<f64>| seen_faces(&pose.translation.vector, half_m);
    if faces(&pose).is_empty() {
        return Err(CalibrateError::bad(WHAT, "the guessed camera is inside of the cube"));
    }
    let off = |pose: &Isometry3<f64>| {
        let faces = faces(pose);
        median(points.iter().map(|p| nearest(&(pose * p).coords, half_m, &faces).distance_m))
    };
    if off(&pose) > half_m / 2.0 {
        pose = centred(&points, &pose, half_m);
    }
    // Once nothing moves any more, points beside a face have nothing more to say.
    let mut only_on_face = false;
    for step in 0..settings.max_steps {
        let limit_m = settings.trim_m.max(settings.trim_ratio * off(&pose));
        let squares = squares(&points, &pose, half_m, limit_m, only_on_face);
        let motion = limited(squares.motion(MIN_EIGENVALUE));
        pose = motion * pose;
        let still = motion.translation.vector.norm() < 1e-7 && motion.rotation.angle() < 1e-7;
        if still && only_on_face {
            break;
        }
        only_on_face |= still || step * 2 >= settings.max_steps;
    }
    describe(points_m, &points, pose, cube, settings)
}

fn describe(
    points_m: &[[f32; 3]],
    points: &[Point3<f64>],
    pose: Isometry3<f64>,
    cube: &Cube,
    settings: &CubeSettings,
) -> Result<CubeCalibration, CalibrateError> {
    let half_m = cube.edge_m / 2.0;
    let faces = seen_faces(&pose.translation.vector, half_m);
    if faces.is_empty() {
        return Err(CalibrateError::bad(
            WHAT,
            "the points lead into the cube: are they the cube's?",
        ));
    }
    let residuals_m: Vec<f64> = points_m
        .iter()
        .map(|p| {
            let place = pose * Point3::from(p.map(f64::from));
            nearest(&place.coords, half_m, &faces).distance_m
        })
        .collect();
    let middle_m = median(residuals_m.iter().copied().filter(|r| r.is_finite()));
    let limit_m = settings.trim_m.max(settings.trim_ratio * middle_m);
    let squares = squares(points, &pose, half_m, limit_m, true);
    let rms_m = squares.rms_m();
    if !(rms_m <= settings.max_rms_m && middle_m <= settings.max_rms_m) {
        let reason = format!(
            "the points stay {:.1} mm off its faces, {:.1} mm is the limit: a better guess, or \
             only the cube's points, are needed",
            1e3 * middle_m.max(rms_m),
            1e3 * settings.max_rms_m
        );
        return Err(CalibrateError::bad(WHAT, reason));
    }
    // Directions are told in the world: the same sums with normals and places rotated there.
    let world_from_cube = cube.world_from_cube.isometry();
    let mut in_world = NormalEquations::new(world_from_cube.translation.vector, half_m);
    let mut on_faces: [Vec<Vector3<f64>>; 6] = Default::default();
    for point in points {
        let place = (pose * point).coords;
        let near = nearest(&place, half_m, &faces);
        if near.on_face && near.distance_m <= limit_m {
            on_faces[near.face].push(place);
            let place = world_from_cube * Point3::from(place);
            in_world.add(&place.coords, &(world_from_cube.rotation * near.away), 0.0, 1.0);
        }
    }
    check_cover(&on_faces, points.len(), cube.edge_m, settings.min_cover)?;
    Ok(CubeCalibration {
        world_from_camera: (world_from_cube * pose).into(),
        rms_m,
        residuals_m,
        faces: std::array::from_fn(|face| on_faces[face].len()),
        certainty: in_world.certainty(rms_m, MIN_EIGENVALUE),
    })
}

/// A corner of a small cube also fits into that of a large one: the faces must be covered.
fn check_cover(
    on_faces: &[Vec<Vector3<f64>>; 6],
    points: usize,
    edge_m: f64,
    min_cover: f64,
) -> Result<(), CalibrateError> {
    let used: usize = on_faces.iter().map(Vec::len).sum();
    if (used as f64) < min_cover * points as f64 {
        let reason = format!("only {used} of {points} points lie on it: has it another edge?");
        return Err(CalibrateError::bad(WHAT, reason));
    }
    for (face, places) in on_faces.iter().enumerate().filter(|(_, p)| 10 * p.len() >= points) {
        for axis in (0..3).filter(|axis| *axis != face / 2) {
            let mut along: Vec<f64> = places.iter().map(|p| p[axis]).collect();
            along.sort_by(f64::total_cmp);
            let at = |part: usize| along[part * (along.len() - 1) / 100];
            let seen_m = at(98) - at(2);
            if seen_m < min_cover * edge_m {
                let reason = format!(
                    "{seen_m:.3} m of its edge of {edge_m} m are covered with points: has it \
                     another edge, or is it hidden?"
                );
                return Err(CalibrateError::bad(WHAT, reason));
            }
        }
    }
    Ok(())
}

/// Sums over the points within `limit_m`.
fn squares(
    points: &[Point3<f64>],
    pose: &Isometry3<f64>,
    half_m: f64,
    limit_m: f64,
    only_on_face: bool,
) -> NormalEquations {
    let faces = seen_faces(&pose.translation.vector, half_m);
    let mut squares = NormalEquations::new(Vector3::zeros(), half_m);
    for point in points {
        let place = (pose * point).coords;
        let near = nearest(&place, half_m, &faces);
        if near.distance_m <= limit_m && (near.on_face || !only_on_face) {
            squares.add(&place, &near.away, near.distance_m, 1.0);
        }
    }
    squares
}

/// Faces (2 * axis + 1 for the positive side) that a camera at this place looks at.
fn seen_faces(camera: &Vector3<f64>, half_m: f64) -> Vec<usize> {
    let sees = |face: &usize| side(*face) * camera[face / 2] > half_m;
    (0..6).filter(sees).collect()
}

fn side(face: usize) -> f64 {
    if face % 2 == 1 { 1.0 } else { -1.0 }
}

fn nearest(point: &Vector3<f64>, half_m: f64, faces: &[usize]) -> Nearest {
    let mut best =
        Nearest { distance_m: f64::NAN, away: Vector3::zeros(), face: 0, on_face: false };
    for face in faces {
        let axis = face / 2;
        let mut on = point.map(|v| v.clamp(-half_m, half_m));
        let on_face = (0..3).all(|a| a == axis || on[a] == point[a]);
        on[axis] = side(*face) * half_m;
        let away = point - on;
        let distance_m = away.norm();
        if best.distance_m.is_nan() || distance_m < best.distance_m {
            let normal = Vector3::ith(axis, side(*face));
            // Behind a face the distance still grows along its normal's other side.
            let away = away.try_normalize(1e-12).unwrap_or(normal);
            best = Nearest { distance_m, away, face: *face, on_face };
        }
    }
    best
}

/// Shifts the points so that their middle is where that of the seen faces is.
fn centred(points: &[Point3<f64>], pose: &Isometry3<f64>, half_m: f64) -> Isometry3<f64> {
    let mean = points.iter().map(|p| (pose * p).coords).sum::<Vector3<f64>>();
    let mean = mean / points.len() as f64;
    // Faces are seen the more the straighter the camera looks at them.
    let towards = pose.translation.vector.normalize();
    let (mut middle, mut weights) = (Vector3::zeros(), 0.0);
    for face in seen_faces(&pose.translation.vector, half_m) {
        let normal = Vector3::ith(face / 2, side(face));
        let weight = normal.dot(&towards).max(0.0);
        middle += weight * half_m * normal;
        weights += weight;
    }
    let middle = if weights > 0.0 { middle / weights } else { middle };
    Translation3::from(middle - mean) * pose
}

/// Large steps are cut: the linear model of a rotation holds for small ones.
fn limited(motion: Isometry3<f64>) -> Isometry3<f64> {
    let rotation = motion.rotation.scaled_axis();
    let scale =
        (0.2 / rotation.norm().max(0.2)).min(0.1 / motion.translation.vector.norm().max(0.1));
    let rotation = nalgebra::UnitQuaternion::from_scaled_axis(rotation * scale);
    Isometry3::from_parts(Translation3::from(motion.translation.vector * scale), rotation)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
