//! Points as a camera delivers them.

use citrange_core::{Intrinsics, Pose};

use crate::deinterleave;
use crate::distortion::Distortion;
use crate::error::CloudError;
use crate::pixel_order::CameraModel;

/// Points that the pipeline can read, whatever their layout in memory.
///
/// Points are in the camera's frame: x right, y down, z forward. A point that was not seen is
/// NaN. An organised cloud is a picture: point `row * width + column`.
pub trait Points: Sync {
    /// Number of points, seen or not.
    fn len(&self) -> usize;

    /// Whether there is no point at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns of the picture; [`Points::len`] for a cloud that is none.
    fn width(&self) -> usize;

    /// When it was taken, in nanoseconds of the camera's clock.
    fn stamp_ns(&self) -> u64;

    /// Writes points `start..start + x.len()` as separate coordinates. All three slices have the
    /// same length and the points exist.
    fn fill(&self, start: usize, x: &mut [f32], y: &mut [f32], z: &mut [f32]);

    /// Colour of a point that exists; black where the cloud has none.
    fn rgb(&self, index: usize) -> [u8; 3];

    /// Writes colours of points `start..start + out.len()`, which exist: red in the lowest byte,
    /// then green and blue, 0 on top.
    fn fill_rgb(&self, start: usize, out: &mut [u32]) {
        for (i, out) in out.iter_mut().enumerate() {
            let [r, g, b] = self.rgb(start + i);
            *out = u32::from_le_bytes([r, g, b, 0]);
        }
    }

    /// Rows of the picture; 1 for a cloud that is none.
    fn height(&self) -> usize {
        self.len().checked_div(self.width()).unwrap_or(0)
    }
}

/// A cloud in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Points in the camera's frame, NaN where nothing was seen.
    pub xyz_m: Vec<[f32; 3]>,
    /// Their colours; empty if the camera gave none.
    pub rgb: Vec<[u8; 3]>,
    /// Columns of the picture; the number of points for a cloud that is none.
    pub width: usize,
    /// When it was taken.
    pub stamp_ns: u64,
}

impl Cloud {
    /// A cloud whose parts fit together.
    ///
    /// # Errors
    /// When there are colours for some points only, or the width does not divide the number of
    /// points.
    pub fn new(
        xyz_m: Vec<[f32; 3]>,
        rgb: Vec<[u8; 3]>,
        width: usize,
        stamp_ns: u64,
    ) -> Result<Self, CloudError> {
        let points = xyz_m.len();
        if !rgb.is_empty() && rgb.len() != points {
            let reason = format!("{} colours for {points} points", rgb.len());
            return Err(CloudError::bad("cloud", reason));
        }
        if !points.is_multiple_of(width) {
            let reason = format!("{points} points do not make rows of {width}");
            return Err(CloudError::bad("cloud", reason));
        }
        Ok(Self { xyz_m, rgb, width, stamp_ns })
    }

    /// The same points in memory of their own, without colours.
    #[must_use]
    pub fn of_points<P: Points>(points: &P) -> Self {
        const CHUNK: usize = 1024;
        let [mut x, mut y, mut z] = [[0.0; CHUNK]; 3];
        let mut xyz_m = Vec::with_capacity(points.len());
        for start in (0..points.len()).step_by(CHUNK) {
            let count = CHUNK.min(points.len() - start);
            points.fill(start, &mut x[..count], &mut y[..count], &mut z[..count]);
            xyz_m.extend((0..count).map(|i| [x[i], y[i], z[i]]));
        }
        Self { xyz_m, rgb: Vec::new(), width: points.width(), stamp_ns: points.stamp_ns() }
    }
}

impl Points for Cloud {
    fn len(&self) -> usize {
        self.xyz_m.len()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }

    fn fill(&self, start: usize, x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
        deinterleave::coordinates(&self.xyz_m[start..start + x.len()], x, y, z);
    }

    fn rgb(&self, index: usize) -> [u8; 3] {
        self.rgb.get(index).copied().unwrap_or_default()
    }

    fn fill_rgb(&self, start: usize, out: &mut [u32]) {
        match self.rgb.get(start..start + out.len()) {
            Some(rgb) => deinterleave::colours(rgb, out),
            None => out.fill(0),
        }
    }
}

/// How a pinhole camera sees: pixel `(column, row)` looks along
/// `((column - cx) / fx, (row - cy) / fy, 1)`.
#[derive(
    Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Pinhole {
    /// Focal length in pixels, across.
    pub fx: f64,
    /// Focal length in pixels, down.
    pub fy: f64,
    /// Column of the optical axis.
    pub cx: f64,
    /// Row of the optical axis.
    pub cy: f64,
}

impl From<Intrinsics> for Pinhole {
    /// A rig counts its picture's centre from the picture's edge, clouds from the middle of the
    /// first pixel.
    fn from(Intrinsics { fx, fy, cx, cy }: Intrinsics) -> Self {
        Self { fx, fy, cx: cx - 0.5, cy: cy - 0.5 }
    }
}

/// Where a frame was taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Pose of the camera (x right, y down, z forward) in the world.
    pub world_from_camera: Pose,
    /// How it sees, where that is known.
    pub pinhole: Option<Pinhole>,
    /// How its lens bends rays.
    pub distortion: Distortion,
}

impl View {
    /// Of a camera whose rays go straight.
    #[must_use]
    pub fn new(world_from_camera: Pose, pinhole: Option<Pinhole>) -> Self {
        Self { world_from_camera, pinhole, distortion: Distortion::default() }
    }

    /// How the camera sees, where that is known.
    #[must_use]
    pub fn model(&self) -> Option<CameraModel> {
        let distortion = self.distortion;
        self.pinhole.map(|pinhole| CameraModel { pinhole, distortion, size_px: None })
    }

    /// The view of a camera whose pose is given as in State: +x forward, +z up in the picture.
    #[must_use]
    pub fn forward_x(world_from_camera: &Pose, pinhole: Option<Pinhole>) -> Self {
        // The picture's right is the body's -y, down is -z, forward is x.
        let rotated = Pose { pos_m: [0.0; 3], quat_wxyz: [0.5, -0.5, 0.5, -0.5] };
        let pose = world_from_camera.isometry() * rotated.isometry();
        Self::new(pose.into(), pinhole)
    }

    /// World from camera as rows of a 4 x 4 matrix.
    #[must_use]
    pub fn matrix(&self) -> [[f64; 4]; 4] {
        let m = self.world_from_camera.isometry().to_homogeneous();
        std::array::from_fn(|row| std::array::from_fn(|column| m[(row, column)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_of_states_look_along_x() {
        let at = Pose { pos_m: [1.0, 2.0, 3.0], ..Pose::IDENTITY };
        let m = View::forward_x(&at, None).matrix();
        let want = [
            [0.0, 0.0, 1.0, 1.0],
            [-1.0, 0.0, 0.0, 2.0],
            [0.0, -1.0, 0.0, 3.0],
            [0.0, 0.0, 0.0, 1.0],
        ];
        for (row, want) in m.iter().zip(want) {
            assert!(row.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-15), "{m:?}");
        }
    }
}
