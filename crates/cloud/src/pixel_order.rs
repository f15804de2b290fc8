//! Points back into the pixels that took them.
//!
//! Drivers drop invalid points, turn pictures or cut them, and the order that neighbours in the
//! picture are found by is lost. Every point still lies on the ray of its pixel, so the camera's
//! intrinsics say where it belongs; where nobody gives them, the points of a pinhole do.

use crate::cloud::{Cloud, Pinhole, Points};
use crate::distortion::Distortion;
use crate::pixel_lattice;

/// Points that are read at once.
const CHUNK: usize = 1024;
/// No picture has more columns or rows.
const LONGEST_SIDE: i64 = 8192;
/// No picture has more pixels.
const MOST_PIXELS: i64 = 1 << 24;
/// A point farther from its pixel's ray than this is off it.
const OFF_RAY_PX: f64 = 0.2;
/// So large a part of the points must be in front of the camera.
const MIN_BEFORE: f64 = 0.98;
/// More points than this part with a pixel that is taken: several pictures in one, or none.
const MOST_DOUBLED: f64 = 0.2;
/// Points beyond a picture of known size by more than this are another camera's.
const BEYOND_PX: i64 = 8;
/// Focal lengths that differ by more are of different cameras.
const OTHER_FOCAL: f64 = 0.01;
/// A picture whose points are so far from their pixels on average is in another order.
const OTHER_ORDER_PX: f64 = 1.0;
/// Points that the order is judged by.
const SAMPLES: usize = 4000;
/// Fewer say nothing.
const FEWEST: usize = 16;

/// Where a point has no pixel.
pub const NO_PIXEL: u32 = u32::MAX;

/// How a camera sees, as far as known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraModel {
    /// Focal lengths and centre.
    pub pinhole: Pinhole,
    /// How the lens bends rays.
    pub distortion: Distortion,
    /// Columns and rows of its picture.
    pub size_px: Option<[usize; 2]>,
}

/// In which order the points of a frame are.
#[derive(Clone, Debug, PartialEq)]
pub enum PointOrder {
    /// They came as the picture that they are.
    Picture,
    /// They were put back into their pixels.
    Placed(Placement),
    /// They are no picture: neighbours in it cannot be asked.
    Unordered {
        /// Why, and what would help.
        reason: String,
    },
}

/// What putting points into pixels found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Whether the points told the camera's focal lengths, since nobody else did.
    pub found: bool,
    /// Points that have a pixel.
    pub placed: usize,
    /// Points whose pixel was taken, and those around it: left out.
    pub doubled: usize,
    /// Points behind the camera: left out.
    pub behind: usize,
    /// Mean distance of points from the rays of their pixels; 0.25 when intrinsics are wrong.
    pub off_px: f64,
    /// How the picture sees: the camera's pinhole, from the picture's first pixel.
    pub pinhole: Pinhole,
}

/// Points as the picture that they are.
#[derive(Clone, Debug)]
pub struct PlacedPoints {
    /// The picture; NaN where no point is.
    pub cloud: Cloud,
    /// Of each point that came: its pixel, or [`NO_PIXEL`].
    pub pixel_of: Vec<u32>,
    /// What was found on the way.
    pub placement: Placement,
}

impl CameraModel {
    /// The pixel that sees a point, between pixels too.
    #[must_use]
    pub fn pixel(&self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        let p = &self.pinhole;
        let mut ray = [x / z, y / z];
        if !self.distortion.is_none() {
            ray = self.distortion.bend(ray);
        }
        [p.fx * ray[0] + p.cx, p.fy * ray[1] + p.cy]
    }

    /// How far points of a picture are from their pixels on average; none if too few are seen.
    #[must_use]
    pub fn off_order_px<P: Points + ?Sized>(&self, points: &P) -> Option<f64> {
        let (mut sum, mut seen) = (0.0, 0);
        // Odd steps meet all columns.
        for index in (0..points.len()).step_by((points.len() / SAMPLES) | 1) {
            let [mut x, mut y, mut z] = [[0.0]; 3];
            points.fill(index, &mut x, &mut y, &mut z);
            if z[0] > 0.0 && (x[0] + y[0] + z[0]).is_finite() {
                let pixel = [index % points.width(), index / points.width()];
                let at = self.pixel([x[0], y[0], z[0]].map(f64::from));
                sum += (0..2).map(|a| (at[a] - pixel[a] as f64).abs()).sum::<f64>();
                seen += 1;
            }
        }
        (seen >= FEWEST).then(|| sum / (2 * seen) as f64)
    }
}

/// The points as a picture, if they are not one already: in the order of `camera`, or of the
/// pinhole that the points themselves tell. [`PointOrder::Picture`] and
/// [`PointOrder::Unordered`] leave them as they came.
pub fn put_into_pixels<P: Points>(
    points: &P,
    camera: Option<&CameraModel>,
) -> (PointOrder, Option<PlacedPoints>) {
    let is_picture = points.width() > 1 && points.height() > 1;
    if points.is_empty() {
        return (PointOrder::Picture, None);
    }
    if is_picture {
        let fits = match camera {
            Some(camera) => camera.off_order_px(points).is_none_or(|off| off <= OTHER_ORDER_PX),
            None => is_upright(points),
        };
        if fits {
            return (PointOrder::Picture, None);
        }
    }
    match placed(points, camera) {
        Ok(placed) => (PointOrder::Placed(placed.placement), Some(placed)),
        // A picture whose camera is not known is a picture still.
        Err(_) if is_picture => (PointOrder::Picture, None),
        Err(reason) => (PointOrder::Unordered { reason }, None),
    }
}

/// Whether columns run to the right and rows down.
fn is_upright<P: Points>(points: &P) -> bool {
    let (mut right, mut down, mut all) = (0_usize, 0_usize, 0_usize);
    let (width, len) = (points.width(), points.len());
    let slopes = |index: usize| slopes_of(points, index);
    for index in (0..len).step_by((len / SAMPLES) | 1) {
        let (column, row) = (index % width, index / width);
        let far = [(column + width / 2) % width, (row + points.height() / 2) % points.height()];
        let (Some(here), Some(beside), Some(below)) =
            (slopes(index), slopes(row * width + far[0]), slopes(far[1] * width + column))
        else {
            continue;
        };
        all += 1;
        right += usize::from((far[0] > column) == (beside[0] > here[0]));
        down += usize::from((far[1] > row) == (below[1] > here[1]));
    }
    all < FEWEST || (right.min(down)) as f64 > 0.9 * all as f64
}

fn slopes_of<P: Points>(points: &P, index: usize) -> Option<[f64; 2]> {
    let [mut x, mut y, mut z] = [[0.0]; 3];
    points.fill(index, &mut x, &mut y, &mut z);
    let slopes = [x[0], y[0]].map(|v| f64::from(v) / f64::from(z[0]));
    (z[0] > 0.0 && slopes.iter().all(|s| s.is_finite())).then_some(slopes)
}

/// Pixels of all points, and what was found on the way.
struct Pixels {
    at: Vec<[i32; 2]>,
    low: [i32; 2],
    high: [i32; 2],
    seen: usize,
    behind: usize,
    off_px: f64,
    off_rays: usize,
}

/// In no pixel.
const NOWHERE: [i32; 2] = [i32::MIN; 2];

fn placed<P: Points>(points: &P, camera: Option<&CameraModel>) -> Result<PlacedPoints, String> {
    let lattice = || pixel_lattice::pinhole_of(|index| slopes_of(points, index), points.len());
    let unknown = "the camera's intrinsics are not known and the points do not tell them";
    let model = match camera {
        Some(camera) => *camera,
        None => CameraModel {
            pinhole: lattice().ok_or(unknown)?,
            distortion: Distortion::default(),
            size_px: None,
        },
    };
    let pixels = pixels_of(points, &model);
    let Pixels { seen, behind, .. } = pixels;
    if seen == 0 {
        return Err("no point was seen".to_owned());
    }
    if (seen as f64) < MIN_BEFORE * (seen + behind) as f64 {
        return Err(format!("{behind} of {} points are behind the camera", seen + behind));
    }
    // Off their rays: of another camera, or moved since (registered to another picture).
    if camera.is_some()
        && pixels.off_rays * 2 > seen
        && let Some(other) = lattice().filter(|other| is_other(&model.pinhole, other))
    {
        return Err(format!(
            "the intrinsics are not of this cloud's camera: fx {:.1}, the points say {:.1}",
            model.pinhole.fx, other.fx
        ));
    }
    let (first, [width, height]) = frame_of(&pixels, model.size_px)?;
    let mut filled = fill(points, &pixels, first, [width, height]);
    if filled.placement.doubled as f64 > MOST_DOUBLED * seen as f64 {
        let doubled = filled.placement.doubled;
        return Err(format!("{doubled} of {seen} points share pixels: it is no single picture"));
    }
    let Pinhole { fx, fy, cx, cy } = model.pinhole;
    let [left, top] = first.map(f64::from);
    filled.placement.found = camera.is_none();
    filled.placement.pinhole = Pinhole { fx, fy, cx: cx - left, cy: cy - top };
    Ok(filled)
}

fn is_other(given: &Pinhole, found: &Pinhole) -> bool {
    (given.fx / found.fx - 1.0).abs().max((given.fy / found.fy - 1.0).abs()) > OTHER_FOCAL
}

fn pixels_of<P: Points>(points: &P, model: &CameraModel) -> Pixels {
    let mut pixels = Pixels {
        at: Vec::with_capacity(points.len()),
        low: [i32::MAX; 2],
        high: [i32::MIN; 2],
        seen: 0,
        behind: 0,
        off_px: 0.0,
        off_rays: 0,
    };
    let [mut x, mut y, mut z] = [[0.0_f32; CHUNK]; 3];
    for start in (0..points.len()).step_by(CHUNK) {
        let count = CHUNK.min(points.len() - start);
        points.fill(start, &mut x[..count], &mut y[..count], &mut z[..count]);
        for i in 0..count {
            let p = [x[i], y[i], z[i]];
            if !p.iter().all(|v| v.is_finite()) || p == [0.0; 3] {
                pixels.at.push(NOWHERE);
                continue;
            }
            let at = if p[2] > 0.0 { model.pixel(p.map(f64::from)) } else { [f64::NAN; 2] };
            // Not so for NaN.
            let has_pixel = at.iter().all(|v| v.abs() < 1e6);
            if !has_pixel {
                pixels.behind += 1;
                pixels.at.push(NOWHERE);
                continue;
            }
            let pixel = at.map(|v| (v + 0.5).floor());
            let off = [0, 1].map(|a| (at[a] - pixel[a]).abs());
            pixels.seen += 1;
            pixels.off_px += 0.5 * (off[0] + off[1]);
            pixels.off_rays += usize::from(off[0].max(off[1]) > OFF_RAY_PX);
            let pixel = pixel.map(|v| v as i32);
            for a in 0..2 {
                pixels.low[a] = pixels.low[a].min(pixel[a]);
                pixels.high[a] = pixels.high[a].max(pixel[a]);
            }
            pixels.at.push(pixel);
        }
    }
    pixels.off_px /= pixels.seen.max(1) as f64;
    pixels
}

/// First pixel and size of the picture: that of the camera, or all that was seen.
fn frame_of(
    pixels: &Pixels,
    size_px: Option<[usize; 2]>,
) -> Result<([i32; 2], [usize; 2]), String> {
    let (mut low, mut high) = (pixels.low.map(i64::from), pixels.high.map(i64::from));
    if let Some(size) = size_px {
        for a in 0..2 {
            let size = i64::try_from(size[a]).unwrap_or(i64::MAX);
            if low[a] < -BEYOND_PX || high[a] >= size.saturating_add(BEYOND_PX) {
                return Err(format!(
                    "points are at {} {} to {} of a picture of {size}: it is not the camera of \
                     this cloud",
                    ["columns", "rows"][a],
                    low[a],
                    high[a]
                ));
            }
            (low[a], high[a]) = (low[a].min(0), high[a].max(size - 1));
        }
    }
    let size = [high[0] - low[0] + 1, high[1] - low[1] + 1];
    if size.iter().any(|side| *side > LONGEST_SIDE) || size[0] * size[1] > MOST_PIXELS {
        return Err(format!("the points would make a picture of {} x {} pixels", size[0], size[1]));
    }
    // A picture has more than one row and column.
    Ok((low.map(|v| v as i32), size.map(|v| (v as usize).max(2))))
}

fn fill<P: Points>(
    points: &P,
    pixels: &Pixels,
    first: [i32; 2],
    [width, height]: [usize; 2],
) -> PlacedPoints {
    let mut cloud = Cloud {
        xyz_m: vec![[f32::NAN; 3]; width * height],
        rgb: vec![[0; 3]; width * height],
        width,
        stamp_ns: points.stamp_ns(),
    };
    let mut pixel_of = vec![NO_PIXEL; points.len()];
    let mut doubled: Vec<(usize, [f32; 3], [u8; 3])> = Vec::new();
    let number = |[column, row]: [i32; 2]| {
        ((row - first[1]) as usize) * width + (column - first[0]) as usize
    };
    let [mut x, mut y, mut z] = [[0.0_f32; CHUNK]; 3];
    let mut colours = [0_u32; CHUNK];
    for start in (0..points.len()).step_by(CHUNK) {
        let count = CHUNK.min(points.len() - start);
        points.fill(start, &mut x[..count], &mut y[..count], &mut z[..count]);
        points.fill_rgb(start, &mut colours[..count]);
        for i in 0..count {
            let at = pixels.at[start + i];
            if at == NOWHERE {
                continue;
            }
            let ([r, g, b, _], p) = (colours[i].to_le_bytes(), [x[i], y[i], z[i]]);
            let pixel = number(at);
            if cloud.xyz_m[pixel][2].is_nan() {
                (cloud.xyz_m[pixel], cloud.rgb[pixel]) = (p, [r, g, b]);
                pixel_of[start + i] = pixel as u32;
            } else {
                doubled.push((start + i, p, [r, g, b]));
            }
        }
    }
    // No point goes lost where a pixel beside its own is free.
    let came = doubled.len();
    let mut moved = 0;
    for (index, p, rgb) in doubled {
        let [column, row] = [0, 1].map(|a| (pixels.at[index][a] - first[a]) as usize);
        let beside =
            (0..9).map(|n| [(column + n % 3).wrapping_sub(1), (row + n / 3).wrapping_sub(1)]);
        let free = beside
            .filter(|[c, r]| *c < width && *r < height)
            .map(|[c, r]| r * width + c)
            .find(|pixel| cloud.xyz_m[*pixel][2].is_nan());
        if let Some(pixel) = free {
            (cloud.xyz_m[pixel], cloud.rgb[pixel]) = (p, rgb);
            pixel_of[index] = pixel as u32;
            moved += 1;
        }
    }
    let doubled = came - moved;
    let placement = Placement {
        found: false,
        placed: pixels.seen - doubled,
        doubled,
        behind: pixels.behind,
        off_px: pixels.off_px,
        pinhole: Pinhole { fx: 1.0, fy: 1.0, cx: 0.0, cy: 0.0 },
    };
    PlacedPoints { cloud, pixel_of, placement }
}
