//! Occupied voxels without points: are they gone, or only not seen?
//!
//! [`super::carve`] frees a voxel only when all of its footprint is far behind it: safe for space
//! that was never seen, too strict for what leaves. A thing on a table leaves voxels that touch
//! the table, or that a hole or a single pixel of an edge covers, and they would stay for ever. So
//! voxels that were occupied and have no point in this frame are looked at pixel by pixel.

use nalgebra::Vector3;

use crate::map::carve::{Carver, NEAREST_M};

/// Pixels of a footprint that are looked at, along each side.
const SIDE: usize = 8;
/// Fewest pixels that say something.
const FEWEST: u32 = 2;
/// A pixel that ends so much of the margin behind the voxel has passed it.
const PASSED: f64 = 0.25;

/// Three deviations of a stereo camera's depths (0.08 px at 615 px and 5 cm), per square of the
/// depth: noise reaches so far behind a surface.
const NOISE_PER_M: f64 = 0.008;

/// What the pixels of a voxel's footprint say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Most see past it, hardly any is stopped before it.
    Passed,
    /// Most end at it, within the noise of the surface that is there.
    Touched,
    /// It is hidden, or too little is seen.
    Unclear,
}

impl Carver<'_> {
    /// What the picture says of one voxel that has no points now.
    pub(crate) fn recheck(&self, cell: [usize; 3]) -> Verdict {
        let centre = self.centre_m(cell, 1);
        let half = self.half_m(1);
        if centre.z - half.z < f64::from(NEAREST_M) {
            return Verdict::Unclear;
        }
        let [fx, fy, cx, cy] = self.pinhole.map(f64::from);
        let (width, height) = self.picture.size();
        // The footprint of a ball in the voxel: rays at its rim have no way through it.
        let reach = 0.5 * self.along_m[0].norm();
        let at = [fx * centre.x / centre.z + cx, fy * centre.y / centre.z + cy];
        let radius = [fx, fy].map(|focal| focal * reach / centre.z);
        let (mut passed, mut touched, mut hidden) = (0_u32, 0_u32, 0_u32);
        let margin = f64::from(self.margin_m);
        for j in 0..SIDE {
            for i in 0..SIDE {
                let part = |n: usize| (2 * n + 1) as f64 / SIDE as f64 - 1.0;
                let (column, row) =
                    ((at[0] + part(i) * radius[0]).round(), (at[1] + part(j) * radius[1]).round());
                if !(column >= 0.0 && row >= 0.0 && column < width as f64 && row < height as f64) {
                    continue;
                }
                let depth = self.picture.depth_m(column as usize, row as usize);
                if depth == f32::INFINITY {
                    continue;
                }
                let way = Vector3::new((column - cx) / fx, (row - cy) / fy, 1.0);
                let Some([enter, leave]) = self.crossing(&centre, &way) else { continue };
                let depth = f64::from(depth);
                if depth > leave + PASSED * margin {
                    passed += 1;
                } else if depth < enter - margin.max(NOISE_PER_M * depth * depth) {
                    hidden += 1;
                } else {
                    touched += 1;
                }
            }
        }
        let seen = passed + touched + hidden;
        if seen < FEWEST || 4 * hidden > seen {
            Verdict::Unclear
        } else if 2 * passed > passed + touched {
            Verdict::Passed
        } else {
            Verdict::Touched
        }
    }

    /// Depths at which a ray from the camera enters and leaves a voxel.
    fn crossing(&self, centre: &Vector3<f64>, way: &Vector3<f64>) -> Option<[f64; 2]> {
        let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
        for axis in &self.along_m {
            // Along the axis the voxel is as long as the axis' own length.
            let half = 0.5 * axis.norm_squared();
            let (middle, rate) = (axis.dot(centre), axis.dot(way));
            if rate.abs() < 1e-12 {
                if middle.abs() > half {
                    return None;
                }
                continue;
            }
            let sides = [(middle - half) / rate, (middle + half) / rate];
            enter = enter.max(sides[0].min(sides[1]));
            leave = leave.min(sides[0].max(sides[1]));
        }
        (enter < leave).then_some([enter, leave])
    }
}
