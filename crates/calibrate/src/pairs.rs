//! The camera's pose from points that are known in both frames.
//!
//! Least squares over rotations and translations by the singular values of the covariance
//! (Kabsch 1976, Umeyama 1991, without scale).

use citrange_core::Pose;
use citrange_core::rng::Rng;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::error::CalibrateError;

const WHAT: &str = "calibration pairs";
/// Points whose spread across is below this part of their spread along lie on a line.
const MIN_SPREAD_RATIO: f64 = 1e-3;
/// Points spread less than this are one point.
const MIN_SPREAD_M: f64 = 1e-6;
/// Triples that are tried at most when outliers are looked for.
const MAX_TRIPLES: usize = 2000;

/// A camera's pose and how well the pairs agree with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Pose of the camera in the world.
    pub world_from_camera: Pose,
    /// Root of the mean square of the residuals of the pairs that were used.
    pub rms_m: f64,
    /// How far each pair is off, also those that were not used.
    pub residuals_m: Vec<f64>,
    /// Number of the pair that is farthest off.
    pub largest: usize,
    /// Pairs that were left out as wrong, rising.
    pub dropped: Vec<usize>,
}

/// The pose that brings the camera's points onto the world's.
///
/// # Errors
/// When there are fewer than three pairs, a number is not finite, the points lie on a line, or
/// they are mirrored.
pub fn from_pairs(
    camera_m: &[[f64; 3]],
    world_m: &[[f64; 3]],
) -> Result<Calibration, CalibrateError> {
    check(camera_m, world_m)?;
    let all: Vec<usize> = (0..camera_m.len()).collect();
    let world_from_camera = fit(camera_m, world_m, &all)?;
    Ok(describe(world_from_camera, camera_m, world_m, Vec::new()))
}

/// The same where some pairs may be wrong: those more than `inlier_m` off are left out. Triples
/// of pairs propose poses; the one that most pairs agree with wins. No chance is involved: the
/// same pairs always give the same answer.
///
/// # Errors
/// As [`from_pairs`], and when no pose brings more than half of the pairs together.
pub fn from_pairs_robust(
    camera_m: &[[f64; 3]],
    world_m: &[[f64; 3]],
    inlier_m: f64,
) -> Result<Calibration, CalibrateError> {
    check(camera_m, world_m)?;
    if !(inlier_m.is_finite() && inlier_m > 0.0) {
        let reason = format!("{inlier_m} is not a length above 0, such as 0.01");
        return Err(CalibrateError::setting("inlier_m", reason));
    }
    let inliers = |pose: &Isometry3<f64>| -> Vec<usize> {
        let off = residuals(pose, camera_m, world_m);
        (0..off.len()).filter(|i| off[*i] <= inlier_m).collect()
    };
    let mut used = Vec::new();
    for triple in triples(camera_m.len()) {
        let Ok(pose) = fit(camera_m, world_m, &triple) else { continue };
        let found = inliers(&pose);
        if found.len() > used.len() {
            used = found;
        }
    }
    // A fit to all that agree brings in those that the triple's own noise had kept out.
    for _ in 0..3 {
        if used.len() >= 3 {
            used = inliers(&fit(camera_m, world_m, &used)?);
        }
    }
    let pairs = camera_m.len();
    if used.len() < 3 || 2 * used.len() <= pairs {
        let reason = format!(
            "only {} of {pairs} agree within {inlier_m} m, more than half (and 3) must",
            used.len()
        );
        return Err(CalibrateError::bad(WHAT, reason));
    }
    let pose = fit(camera_m, world_m, &used)?;
    let dropped = (0..pairs).filter(|i| !used.contains(i)).collect();
    Ok(describe(pose, camera_m, world_m, dropped))
}

fn check(camera_m: &[[f64; 3]], world_m: &[[f64; 3]]) -> Result<(), CalibrateError> {
    let (cameras, worlds) = (camera_m.len(), world_m.len());
    if cameras != worlds {
        let reason = format!("{cameras} points of the camera for {worlds} of the world");
        return Err(CalibrateError::bad(WHAT, reason));
    }
    if cameras < 3 {
        return Err(CalibrateError::bad(WHAT, format!("{cameras} given, 3 or more must be")));
    }
    let wrong = |points: &[[f64; 3]]| points.iter().position(|p| !p.iter().all(|v| v.is_finite()));
    if let Some(pair) = wrong(camera_m).or_else(|| wrong(world_m)) {
        let reason = format!("pair {pair} has a number that is not finite");
        return Err(CalibrateError::bad(WHAT, reason));
    }
    Ok(())
}

/// Least squares over some of the pairs.
fn fit(
    camera_m: &[[f64; 3]],
    world_m: &[[f64; 3]],
    used: &[usize],
) -> Result<Isometry3<f64>, CalibrateError> {
    let mean = |points: &[[f64; 3]]| {
        used.iter().map(|i| Vector3::from(points[*i])).sum::<Vector3<f64>>() / used.len() as f64
    };
    let (camera_mean, world_mean) = (mean(camera_m), mean(world_m));
    let mut across = Matrix3::zeros();
    let (mut camera_spread, mut world_spread) = (Matrix3::zeros(), Matrix3::zeros());
    for i in used {
        let camera = Vector3::from(camera_m[*i]) - camera_mean;
        let world = Vector3::from(world_m[*i]) - world_mean;
        across += world * camera.transpose();
        camera_spread += camera * camera.transpose();
        world_spread += world * world.transpose();
    }
    check_spread("camera", &camera_spread, used.len())?;
    check_spread("world", &world_spread, used.len())?;
    let svd = across.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Err(CalibrateError::bad(WHAT, "the least squares fit does not converge"));
    };
    let rotation_of = |sign: f64| u * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, sign)) * v_t;
    let sign = (u * v_t).determinant().signum();
    let rotation = rotation_of(sign);
    if sign < 0.0 {
        // A mirror would fit better. In a plane both fit and nothing is wrong; otherwise a left
        // hand was used for a right one.
        let square_off = |rotation: &Matrix3<f64>| -> f64 {
            let off = |i: &usize| {
                let camera = rotation * (Vector3::from(camera_m[*i]) - camera_mean);
                (Vector3::from(world_m[*i]) - world_mean - camera).norm_squared()
            };
            used.iter().map(off).sum()
        };
        let flat = svd.singular_values[2] < MIN_SPREAD_RATIO * svd.singular_values[0];
        if !flat && square_off(&rotation_of(1.0)) < 0.25 * square_off(&rotation) {
            let reason = "are mirrored: an axis has the wrong sign or two are swapped in one frame";
            return Err(CalibrateError::bad(WHAT, reason));
        }
    }
    let rotation =
        UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
    let shift = world_mean - rotation * camera_mean;
    Ok(Isometry3::from_parts(Translation3::from(shift), rotation))
}

fn check_spread(frame: &str, spread: &Matrix3<f64>, count: usize) -> Result<(), CalibrateError> {
    let mut along_m = spread.symmetric_eigenvalues();
    along_m.apply(|v| *v = (v.max(0.0) / count as f64).sqrt());
    let mut along_m: [f64; 3] = along_m.into();
    along_m.sort_by(f64::total_cmp);
    let [_, second, first] = along_m;
    if first < MIN_SPREAD_M || second < MIN_SPREAD_RATIO * first {
        let reason = format!(
            "the {frame}'s points lie on a line (spread {first:.2e} m along, {second:.2e} m \
             across): take one well beside it"
        );
        return Err(CalibrateError::bad(WHAT, reason));
    }
    Ok(())
}

fn residuals(pose: &Isometry3<f64>, camera_m: &[[f64; 3]], world_m: &[[f64; 3]]) -> Vec<f64> {
    let pairs = camera_m.iter().zip(world_m);
    pairs.map(|(c, w)| (pose * Point3::from(*c) - Point3::from(*w)).norm()).collect()
}

fn describe(
    pose: Isometry3<f64>,
    camera_m: &[[f64; 3]],
    world_m: &[[f64; 3]],
    dropped: Vec<usize>,
) -> Calibration {
    let residuals_m = residuals(&pose, camera_m, world_m);
    let used = (0..residuals_m.len()).filter(|i| !dropped.contains(i));
    let squares: Vec<f64> = used.map(|i| residuals_m[i] * residuals_m[i]).collect();
    let rms_m = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    let by_size = |a: &usize, b: &usize| residuals_m[*a].total_cmp(&residuals_m[*b]);
    let largest = (0..residuals_m.len()).max_by(by_size).unwrap_or(0);
    Calibration { world_from_camera: pose.into(), rms_m, residuals_m, largest, dropped }
}

/// All triples of few pairs; of many a fixed choice.
fn triples(count: usize) -> Vec<[usize; 3]> {
    let all = (0..count)
        .flat_map(|a| (a + 1..count).flat_map(move |b| (b + 1..count).map(move |c| [a, b, c])));
    let first: Vec<[usize; 3]> = all.take(MAX_TRIPLES + 1).collect();
    if first.len() <= MAX_TRIPLES {
        return first;
    }
    let mut rng = Rng::new(count as u64);
    let mut pick = || (rng.next_u64() % count as u64) as usize;
    let drawn = (0..MAX_TRIPLES).map(|_| std::array::from_fn(|_| pick()));
    drawn.filter(|[a, b, c]| a != b && b != c && a != c).collect()
}
