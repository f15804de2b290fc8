//! How the camera of an organised cloud sees.

use crate::error::SpaceError;
use citrange_cloud::LineFit;
use citrange_cloud::{CameraModel, Distortion, Pinhole, Points, View};

/// Points that are looked at.
const SAMPLES: usize = 4000;

/// Points of a pinhole camera lie on the rays of their pixels, but for rounding.
const MOST_OFF_PX: f64 = 0.5;

/// The pinhole of a picture: the given one if points agree with it, or else one that fits them.
/// `None` where there is no picture, too little is seen, or no pinhole fits.
///
/// # Errors
/// When the points are not where the given pinhole says: with it the map would be carved in the
/// wrong places.
pub(crate) fn pinhole_of<P: Points>(
    points: &P,
    view: &View,
) -> Result<Option<Pinhole>, SpaceError> {
    if points.width() < 2 || points.height() < 2 {
        return Ok(None);
    }
    if let Some(model) = view.model() {
        return match model.off_order_px(points) {
            Some(off) if off.is_nan() || off > 2.0 * MOST_OFF_PX => {
                let reason = format!(
                    "points are {off:.1} pixels off on average: it is not the camera of this cloud"
                );
                Err(SpaceError::bad("pinhole", reason))
            }
            // Rays that bend are no pinhole's.
            Some(_) => Ok(Some(model.pinhole).filter(|_| model.distortion.is_none())),
            None => Ok(None),
        };
    }
    // Pixels over slopes: they rise by the focal length, from the centre.
    let (mut across, mut down) = (LineFit::default(), LineFit::default());
    for_samples(points, |column, row, [x, y, z]| {
        across.add(x / z, column);
        down.add(y / z, row);
    });
    let fit = across.rising().zip(down.rising());
    let fit = fit.map(|((fx, cx), (fy, cy))| Pinhole { fx, fy, cx, cy });
    let fits = |pinhole: &Pinhole| {
        let distortion = Distortion::default();
        let model = CameraModel { pinhole: *pinhole, distortion, size_px: None };
        model.off_order_px(points).is_some_and(|off| off < MOST_OFF_PX)
    };
    Ok(fit.filter(fits))
}

/// Seen points in front of the camera, with column and row, from all over the picture.
fn for_samples<P: Points>(points: &P, mut visit: impl FnMut(f64, f64, [f64; 3])) {
    // Odd steps meet all columns.
    let step = (points.len() / SAMPLES) | 1;
    for index in (0..points.len()).step_by(step) {
        let [mut x, mut y, mut z] = [[0.0]; 3];
        points.fill(index, &mut x, &mut y, &mut z);
        if z[0] > 0.0 && (x[0] + y[0] + z[0]).is_finite() {
            let (column, row) = (index % points.width(), index / points.width());
            visit(column as f64, row as f64, [x[0], y[0], z[0]].map(f64::from));
        }
    }
}
