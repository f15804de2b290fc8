//! How much work to spend on an image, and the image itself.

/// How silhouettes and creases are smoothed in the rgb image. Depth and ids never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Antialias {
    /// One colour sample per pixel.
    Off,
    /// Four samples on a rotated grid, in pixels at an edge only.
    #[default]
    Four,
    /// Eight samples, in pixels at an edge only.
    Eight,
}

/// What to draw. The default draws everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether lights that cast shadows do.
    pub shadows: bool,
    /// Smoothing of edges.
    pub antialias: Antialias,
    /// Side of the square shadow maps in texels; rounded up to a multiple of 16, 16 to 8192.
    pub shadow_texels: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { shadows: true, antialias: Antialias::Four, shadow_texels: 1024 }
    }
}

/// The images of one camera, row by row from the top left. Reusable: buffers only grow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes per pixel.
    pub rgb: Vec<u8>,
    /// Metres along the optical axis; infinity where nothing is hit.
    pub depth: Vec<f32>,
    /// `Instance::id` of what is seen; -1 where nothing is.
    pub ids: Vec<i32>,
}

impl Frame {
    /// An empty frame; rendering gives it its size.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        self.width = width;
        self.height = height;
        self.rgb.resize(3 * width * height, 0);
        self.depth.resize(width * height, f32::INFINITY);
        self.ids.resize(width * height, -1);
    }
}
