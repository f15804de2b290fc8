//! The camera: a pinhole with its pose, focal lengths and depth range.

use crate::error::RenderError;
use crate::math;
use crate::scene::check_pose;

/// Largest image side.
const MAX_SIDE: usize = 8192;

/// Focal lengths and principal point in pixels. The centre of column `u` is at `u + 0.5`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intrinsics {
    /// Horizontal focal length.
    pub fx: f64,
    /// Vertical focal length.
    pub fy: f64,
    /// Column of the optical axis.
    pub cx: f64,
    /// Row of the optical axis.
    pub cy: f64,
}

/// A pinhole camera without distortion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Optical centre in the world.
    pub pos_m: [f64; 3],
    /// `world_from_camera`, row-major. The camera looks along its -Z, +Y is up, +X right.
    pub rot: [f64; 9],
    /// Focal lengths and principal point.
    pub intrinsics: Intrinsics,
    /// Columns of the image.
    pub width: usize,
    /// Rows of the image.
    pub height: usize,
    /// Surfaces nearer than this are not seen.
    pub near_m: f64,
    /// Surfaces farther than this are not seen.
    pub far_m: f64,
}

impl Camera {
    /// A camera with square pixels and the given vertical field of view.
    pub fn from_fovy(
        pos_m: [f64; 3],
        rot: [f64; 9],
        fovy_rad: f64,
        width: usize,
        height: usize,
    ) -> Self {
        let f = 0.5 * height as f64 / (0.5 * fovy_rad).tan();
        let intrinsics =
            Intrinsics { fx: f, fy: f, cx: 0.5 * width as f64, cy: 0.5 * height as f64 };
        Self { pos_m, rot, intrinsics, width, height, near_m: 0.01, far_m: 100.0 }
    }

    /// A camera at `pos_m` that looks at `target_m`, with the world's +Z up in the image.
    pub fn look_at(
        pos_m: [f64; 3],
        target_m: [f64; 3],
        fovy_rad: f64,
        width: usize,
        height: usize,
    ) -> Self {
        let rot = math::look_along(math::sub(target_m, pos_m), [0.0, 0.0, 1.0]);
        Self::from_fovy(pos_m, rot, fovy_rad, width, height)
    }

    pub(crate) fn check(&self) -> Result<(), RenderError> {
        let bad = |what, valid| Err(RenderError::BadCamera { what, valid });
        check_pose(&self.pos_m, &self.rot, || "camera".into())?;
        if !(1..=MAX_SIDE).contains(&self.width) || !(1..=MAX_SIDE).contains(&self.height) {
            return bad("width and height", "1 to 8192 pixels");
        }
        let Intrinsics { fx, fy, cx, cy } = self.intrinsics;
        if !(1.0..=1e6).contains(&fx) || !(1.0..=1e6).contains(&fy) {
            return bad("fx and fy", "1 to 1e6 pixels");
        }
        if !(-1e5..=1e5).contains(&cx) || !(-1e5..=1e5).contains(&cy) {
            return bad("cx and cy", "within 1e5 pixels");
        }
        if !(1e-6..=1e6).contains(&self.near_m) {
            return bad("near_m", "1e-6 to 1e6 m");
        }
        if !(self.near_m < self.far_m && self.far_m <= 1e7) {
            return bad("far_m", "more than near_m and at most 1e7 m");
        }
        Ok(())
    }
}
