//! Cameras of a rig: what kinds there are, what each gives, and what one shows at a frame.

use serde::{Deserialize, Serialize};

use crate::picture::{DepthPicture, Picture};
use crate::pose::Pose;

/// What a camera gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraKind {
    /// Colours.
    #[default]
    Rgb,
    /// Depths.
    Depth,
    /// Both, pixel for pixel.
    RgbDepth,
}

impl CameraKind {
    /// Whether it gives colours.
    #[must_use]
    pub fn has_rgb(self) -> bool {
        self != Self::Depth
    }

    /// Whether it gives depths.
    #[must_use]
    pub fn has_depth(self) -> bool {
        self != Self::Rgb
    }
}

/// One camera of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraSpec {
    /// Name.
    pub name: String,
    /// Pixels across.
    pub width_px: u32,
    /// Pixels down.
    pub height_px: u32,
    /// What it gives.
    #[serde(default, skip_serializing_if = "is_rgb")]
    pub kind: CameraKind,
    /// Its pinhole, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intrinsics: Option<Intrinsics>,
    /// Pictures per second by its own clock; `None` where it takes one at every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_hz: Option<f64>,
}

fn is_rgb(kind: &CameraKind) -> bool {
    *kind == CameraKind::Rgb
}

impl CameraSpec {
    /// A camera of colours that takes a picture at every frame.
    #[must_use]
    pub fn rgb(name: &str, width_px: u32, height_px: u32) -> Self {
        let (kind, name) = (CameraKind::Rgb, name.to_owned());
        Self { name, width_px, height_px, kind, intrinsics: None, own_hz: None }
    }
}

/// A pinhole camera: focal lengths and centre, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intrinsics {
    /// Focal length across.
    pub fx: f64,
    /// Focal length down.
    pub fy: f64,
    /// Centre, from the left edge of the picture.
    pub cx: f64,
    /// Centre, from its upper edge.
    pub cy: f64,
}

/// What a camera shows.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraImage {
    /// Colours, where the camera has them.
    pub rgb: Option<Picture>,
    /// Depths, where it measures them.
    pub depth: Option<DepthPicture>,
    /// When it was taken, by the rig's clock.
    pub at_ns: u64,
    /// Whether it is another one than at the frame before: a camera with a clock of its own may
    /// have none that is new.
    pub fresh: bool,
    /// Where the camera stood then (x right, y down, z forward); `None` where nobody knows.
    pub world_from_camera: Option<Pose>,
}

impl CameraImage {
    /// A new picture without depths.
    #[must_use]
    pub fn rgb(picture: Picture, at_ns: u64) -> Self {
        Self { rgb: Some(picture), depth: None, at_ns, fresh: true, world_from_camera: None }
    }

    /// A picture that could not be made in time.
    #[must_use]
    pub fn left_out(at_ns: u64) -> Self {
        Self::rgb(Picture::left_out(), at_ns)
    }

    /// Whether it could not be made in time.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        self.rgb.as_ref().is_some_and(Picture::is_left_out)
            || self.depth.as_ref().is_some_and(DepthPicture::is_left_out)
    }

    /// Whether its pixels can be had without waiting.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.rgb.as_ref().is_none_or(Picture::is_ready)
            && self.depth.as_ref().is_none_or(DepthPicture::is_ready)
    }
}
