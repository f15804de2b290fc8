//! A pinhole for points that are no picture: the depths that they would make one of.

use citrange_cloud::{Pinhole, Points};

/// Points that are read at once.
const CHUNK: usize = 2048;
/// Rays flatter than this are of no single pinhole: lidars see all around.
const STEEPEST: f64 = 3.0;
/// So large a part of the points must be in front, and not too far to the side.
const MIN_INSIDE: f64 = 0.98;
/// Most columns and rows.
const LONGEST_SIDE: usize = 2048;
/// Fewest columns and rows: voxels need a footprint.
const SHORTEST_SIDE: usize = 16;

/// A pinhole and the size of its picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VirtualPicture {
    pub(crate) pinhole: Pinhole,
    pub(crate) size_px: [usize; 2],
}

impl VirtualPicture {
    /// A picture that holds all points, about one in a pixel; none where points are all around.
    /// The chunk is scratch memory.
    pub(crate) fn of<P: Points>(points: &P, chunk: &mut [Vec<f32>; 3]) -> Option<Self> {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let (mut inside, mut outside) = (0_usize, 0_usize);
        for_all(points, chunk, |x, y, z| {
            if !(x.is_finite() && y.is_finite() && z.is_finite()) || (x, y, z) == (0.0, 0.0, 0.0) {
                return;
            }
            let slopes = [x, y].map(|v| f64::from(v) / f64::from(z));
            if z <= 0.0 || slopes[0].abs().max(slopes[1].abs()) > STEEPEST {
                outside += 1;
                return;
            }
            inside += 1;
            for a in 0..2 {
                low[a] = low[a].min(slopes[a]);
                high[a] = high[a].max(slopes[a]);
            }
        });
        if inside == 0 || (inside as f64) < MIN_INSIDE * (inside + outside) as f64 {
            return None;
        }
        let span = [0, 1].map(|a| (high[a] - low[a]).max(1e-3));
        let focal = (inside as f64 / (span[0] * span[1])).sqrt();
        let longest = (LONGEST_SIDE - 2) as f64;
        let focal = focal.min(longest / span[0]).min(longest / span[1]);
        let size_px = span.map(|s| ((s * focal).ceil() as usize + 1).max(SHORTEST_SIDE));
        let pinhole = Pinhole { fx: focal, fy: focal, cx: -low[0] * focal, cy: -low[1] * focal };
        Some(Self { pinhole, size_px })
    }

    /// The pixel of a point; none beside the picture.
    #[inline(always)]
    pub(crate) fn pixel(&self, [x, y, z]: [f32; 3]) -> Option<usize> {
        let p = &self.pinhole;
        let column = p.fx as f32 * x / z + p.cx as f32 + 0.5;
        let row = p.fy as f32 * y / z + p.cy as f32 + 0.5;
        let [width, height] = self.size_px;
        // NaN is refused by the way the comparison is asked.
        let inside =
            z > 0.0 && column >= 0.0 && row >= 0.0 && column < width as f32 && row < height as f32;
        inside.then(|| row as usize * width + column as usize)
    }
}

fn for_all<P: Points>(points: &P, chunk: &mut [Vec<f32>; 3], mut each: impl FnMut(f32, f32, f32)) {
    let total = points.len();
    for start in (0..total).step_by(CHUNK) {
        let length = CHUNK.min(total - start);
        let [x, y, z] = chunk.each_mut().map(|part| &mut part[..length]);
        points.fill(start, x, y, z);
        for i in 0..length {
            each(x[i], y[i], z[i]);
        }
    }
}
