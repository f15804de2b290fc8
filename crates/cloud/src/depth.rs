//! Depth pictures become points through the camera's pinhole.

use citrange_lanes::{Isa, Kernel, Simd};

use crate::cloud::{Pinhole, Points};
use crate::deinterleave;
use crate::error::CloudError;

const WHAT: &str = "depth image";

/// Depths of a picture, row by row.
#[derive(Clone, Copy, Debug)]
pub enum Depths<'a> {
    /// Whole numbers, as most cameras send them; 0 where nothing was seen.
    U16 {
        /// The numbers.
        data: &'a [u16],
        /// Metres of one; 0.001 for millimetres.
        scale_m: f32,
    },
    /// Metres; NaN, infinite, 0 or less where nothing was seen.
    Metres(&'a [f32]),
}

/// A depth picture and how it was taken. Depth is along the optical axis.
#[derive(Clone, Copy, Debug)]
pub struct DepthImage<'a> {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Depths.
    pub depths: Depths<'a>,
    /// How the camera sees.
    pub pinhole: Pinhole,
    /// Colours, pixel by pixel as the depths.
    pub rgb: Option<&'a [[u8; 3]]>,
    /// Nearest and farthest depth that is believed; everything else was not seen.
    pub range_m: Option<[f32; 2]>,
    /// When it was taken.
    pub stamp_ns: u64,
}

impl<'a> DepthImage<'a> {
    /// Depths in metres as a camera of a rig gives them: without colours, everything believed.
    #[must_use]
    pub fn metres(
        [width, height]: [usize; 2],
        depth_m: &'a [f32],
        pinhole: Pinhole,
        stamp_ns: u64,
    ) -> Self {
        let depths = Depths::Metres(depth_m);
        Self { width, height, depths, pinhole, rgb: None, range_m: None, stamp_ns }
    }

    /// Checks everything once; afterwards reading cannot fail.
    ///
    /// # Errors
    /// Says which size, focal length or range is wrong.
    pub fn points(&self) -> Result<DepthView<'a>, CloudError> {
        let bad = |reason: String| Err(CloudError::bad(WHAT, reason));
        let (width, height) = (self.width, self.height);
        let Some(len) = width.checked_mul(height) else {
            return bad(format!("{width} x {height} pixels are beyond all memory"));
        };
        let depths = match self.depths {
            Depths::U16 { data, .. } => data.len(),
            Depths::Metres(data) => data.len(),
        };
        if depths != len {
            return bad(format!("{depths} depths for {width} x {height} = {len} pixels"));
        }
        if let Some(colours) = self.rgb.map(<[_]>::len).filter(|n| *n != len) {
            return bad(format!("{colours} colours for {width} x {height} = {len} pixels"));
        }
        if let Depths::U16 { scale_m, .. } = self.depths
            && !(scale_m.is_finite() && scale_m > 0.0)
        {
            return bad(format!("scale {scale_m} is not above 0, such as 0.001"));
        }
        let Pinhole { fx, fy, cx, cy } = self.pinhole;
        for (name, focal) in [("fx", fx), ("fy", fy)] {
            if !(focal.is_finite() && focal > 0.0) {
                return bad(format!("{name} is {focal}, must be a number of pixels above 0"));
            }
        }
        for (name, centre) in [("cx", cx), ("cy", cy)] {
            if !centre.is_finite() {
                return bad(format!("{name} is {centre}, must be a number of pixels"));
            }
        }
        let [near, far] = self.range_m.unwrap_or([0.0, f32::MAX]);
        // NaN is refused by the way the comparison is asked.
        if !(near >= 0.0 && near <= far) {
            return bad(format!("range {near} to {far} m, must begin at 0 or above and rise"));
        }
        // Depth 0 is never seen, whatever the range says; nor is infinity.
        let near_m = near.max(f32::MIN_POSITIVE);
        let far_m = far.min(f32::MAX);
        Ok(DepthView { image: *self, near_m, far_m, isa: Isa::best() })
    }
}

/// A checked depth picture, ready to be read.
#[derive(Clone, Copy, Debug)]
pub struct DepthView<'a> {
    image: DepthImage<'a>,
    near_m: f32,
    far_m: f32,
    isa: Isa,
}

impl DepthView<'_> {
    /// The same, read with given instructions.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// Points of one row from a column on.
    fn fill_row(&self, start: usize, x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
        let Pinhole { fx, fy, cx, cy } = self.image.pinhole;
        let (row, column) = (start / self.image.width, start % self.image.width);
        let ray = Ray {
            first_column: column as f32 - cx as f32,
            per_column: (1.0 / fx) as f32,
            down: ((row as f64 - cy) / fy) as f32,
            near_m: self.near_m,
            far_m: self.far_m,
        };
        let seen = start..start + x.len();
        match self.image.depths {
            Depths::U16 { data, scale_m } => {
                self.isa.run(FillRow { depths: &data[seen], scale_m, ray, out: (x, y, z) });
            }
            Depths::Metres(data) => {
                self.isa.run(FillRow { depths: &data[seen], scale_m: 1.0, ray, out: (x, y, z) });
            }
        }
    }
}

impl Points for DepthView<'_> {
    fn len(&self) -> usize {
        self.image.width * self.image.height
    }

    fn width(&self) -> usize {
        self.image.width
    }

    fn stamp_ns(&self) -> u64 {
        self.image.stamp_ns
    }

    fn fill(&self, start: usize, x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
        let width = self.image.width;
        let mut done = 0;
        while done < x.len() {
            let index = start + done;
            let count = (width - index % width).min(x.len() - done);
            let part = done..done + count;
            let (x, y) = (&mut x[part.clone()], &mut y[part.clone()]);
            self.fill_row(index, x, y, &mut z[part]);
            done += count;
        }
    }

    fn rgb(&self, index: usize) -> [u8; 3] {
        self.image.rgb.and_then(|rgb| rgb.get(index).copied()).unwrap_or_default()
    }

    fn fill_rgb(&self, start: usize, out: &mut [u32]) {
        match self.image.rgb.and_then(|rgb| rgb.get(start..start + out.len())) {
            Some(rgb) => deinterleave::colours(rgb, out),
            None => out.fill(0),
        }
    }
}

/// Where the pixels of a row look, and which depths are believed.
#[derive(Clone, Copy)]
struct Ray {
    /// First column, from the optical axis.
    first_column: f32,
    /// Ray's x for each column.
    per_column: f32,
    /// Ray's y of the row.
    down: f32,
    near_m: f32,
    far_m: f32,
}

/// A depth as a camera sends it.
trait Depth: Copy {
    fn number(self) -> f32;
}

impl Depth for u16 {
    #[inline(always)]
    fn number(self) -> f32 {
        f32::from(self)
    }
}

impl Depth for f32 {
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
}

type Outputs<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [f32]);

/// One row, compiled for each instruction set.
struct FillRow<'a, D> {
    depths: &'a [D],
    scale_m: f32,
    ray: Ray,
    out: Outputs<'a>,
}

impl<D: Depth> Kernel for FillRow<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        plain(self.depths, self.scale_m, self.ray, self.out);
    }
}

#[inline(always)]
fn plain<D: Depth>(depths: &[D], scale_m: f32, ray: Ray, (x, y, z): Outputs<'_>) {
    for (i, (((depth, x), y), z)) in depths.iter().zip(x).zip(y).zip(z).enumerate() {
        let depth_m = depth.number() * scale_m;
        let believed = depth_m >= ray.near_m && depth_m <= ray.far_m;
        let depth_m = if believed { depth_m } else { f32::NAN };
        *x = (ray.first_column + i as i32 as f32) * ray.per_column * depth_m;
        *y = ray.down * depth_m;
        *z = depth_m;
    }
}
