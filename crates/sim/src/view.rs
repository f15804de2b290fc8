//! What one camera is to show at a frame: pictures that are handed out before they are drawn, and
//! the other ends of them. The one place in this crate that knows the kinds of cameras.

use citrange_core::picture::ImagePool;
use citrange_core::{CameraImage, CameraKind, Pose, Undrawn};
use citrange_render::{Camera, Frame};

/// Memory for one camera's pictures.
#[derive(Clone, Default)]
pub(crate) struct CameraBuffers {
    rgb: ImagePool<u8>,
    depth: ImagePool<f32>,
}

/// One camera's pictures to fill.
pub(crate) struct View {
    pub(crate) camera: Camera,
    rgb: Option<Undrawn<u8>>,
    depth: Option<Undrawn<f32>>,
}

impl CameraBuffers {
    /// Pictures to hand out, and what is to be drawn into them.
    pub(crate) fn order(
        &mut self,
        kind: CameraKind,
        camera: Camera,
        at_ns: u64,
        world_from_camera: Pose,
    ) -> (CameraImage, View) {
        let (rgb, undrawn_rgb) = kind.has_rgb().then(|| self.rgb.order()).unzip();
        let (depth, undrawn_depth) = kind.has_depth().then(|| self.depth.order()).unzip();
        let world_from_camera = Some(world_from_camera);
        let image = CameraImage { rgb, depth, at_ns, fresh: true, world_from_camera };
        (image, View { camera, rgb: undrawn_rgb, depth: undrawn_depth })
    }
}

impl View {
    /// Draws in place: the pictures lend their memory to the frame.
    pub(crate) fn draw<E>(
        &mut self,
        frame: &mut Frame,
        render: impl FnOnce(&Camera, &mut Frame) -> Result<(), E>,
    ) -> Result<(), E> {
        self.swap(frame);
        let drawn = render(&self.camera, frame);
        self.swap(frame);
        drawn
    }

    fn swap(&mut self, frame: &mut Frame) {
        if let Some(rgb) = &mut self.rgb {
            std::mem::swap(&mut frame.rgb, rgb.pixels_mut());
        }
        if let Some(depth) = &mut self.depth {
            std::mem::swap(&mut frame.depth, depth.pixels_mut());
        }
    }

    /// Whoever waits gets the pixels.
    pub(crate) fn finish(self) {
        self.rgb.into_iter().for_each(Undrawn::finish);
        self.depth.into_iter().for_each(Undrawn::finish);
    }

    /// Whoever waits gets the reason.
    pub(crate) fn fail(self, reason: &str) {
        self.rgb.into_iter().for_each(|rgb| rgb.fail(reason));
        self.depth.into_iter().for_each(|depth| depth.fail(reason));
    }
}
