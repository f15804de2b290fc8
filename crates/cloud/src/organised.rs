//! Whether a list of points is a picture: only if its columns and rows fit a pinhole.

use crate::line::LineFit;

/// Pictures that depth cameras take, columns and rows.
const KNOWN_SIZES: [[usize; 2]; 14] = [
    [256, 144],
    [320, 240],
    [424, 240],
    [480, 270],
    [512, 424],
    [640, 360],
    [640, 480],
    [640, 576],
    [848, 480],
    [960, 540],
    [1024, 768],
    [1280, 720],
    [1280, 800],
    [1920, 1080],
];

/// A point may be this far from where its pixel looks.
const TOLERANCE_PX: f64 = 0.6;
/// So many points are looked at.
const SAMPLES: usize = 4096;
/// So many of them must have been seen to say anything.
const MIN_SEEN: usize = 32;
/// So large a part of those seen must fit.
const MIN_FITTING: f64 = 0.98;

/// The width of the picture that the points are, if they fit one.
pub(super) fn picture_width(xyz_m: &[[f32; 3]]) -> Option<usize> {
    let sizes = KNOWN_SIZES.iter().filter(|[width, height]| width * height == xyz_m.len());
    sizes.map(|[width, _]| *width).find(|width| fits_pinhole(xyz_m, *width))
}

/// Whether `x / z` is a line over columns and `y / z` one over rows.
fn fits_pinhole(xyz_m: &[[f32; 3]], width: usize) -> bool {
    // An odd step meets columns all over the picture, not one and the same in every row.
    let step = (xyz_m.len() / SAMPLES).max(1) | 1;
    let seen = |index: usize| {
        let [x, y, z] = xyz_m[index].map(f64::from);
        let usable = z.is_finite() && z > 0.0 && x.is_finite() && y.is_finite();
        usable.then(|| [(index % width) as f64, (index / width) as f64, x / z, y / z])
    };
    let samples: Vec<[f64; 4]> = (0..xyz_m.len()).step_by(step).filter_map(seen).collect();
    if samples.len() < MIN_SEEN {
        return false;
    }
    let (mut across, mut down) = (LineFit::default(), LineFit::default());
    for sample in &samples {
        across.add(sample[0], sample[2]);
        down.add(sample[1], sample[3]);
    }
    let (Some(across), Some(down)) = (across.rising(), down.rising()) else { return false };
    let off =
        |(slope, start): (f64, f64), pixel: f64, ray: f64| ((ray - start) / slope - pixel).abs();
    let fits = |s: &&[f64; 4]| {
        off(across, s[0], s[2]) < TOLERANCE_PX && off(down, s[1], s[3]) < TOLERANCE_PX
    };
    samples.iter().filter(fits).count() as f64 >= MIN_FITTING * samples.len() as f64
}
