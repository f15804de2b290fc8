//! Textures that stay quiet when they are far away: filtered checkers and images with mips.

use crate::error::RenderError;

/// Largest width or height of an image texture.
const MAX_SIDE: usize = 16_384;

/// A pattern that repeats every unit of its coordinates `(u, v)`.
#[derive(Debug, Clone)]
pub struct Texture {
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Two by two squares per unit; the one that starts at (0, 0) has the first colour.
    Checker([[f32; 3]; 2]),
    Image(Vec<Level>),
}

#[derive(Debug, Clone)]
pub(crate) struct Level {
    width: usize,
    height: usize,
    texels: Vec<[f32; 3]>,
}

impl Texture {
    /// A checker of two by two squares per unit, box-filtered exactly over each pixel.
    pub fn checker(first_rgb: [f32; 3], second_rgb: [f32; 3]) -> Result<Self, RenderError> {
        if first_rgb.iter().chain(&second_rgb).any(|v| !(0.0..=1.0).contains(v)) {
            return Err(bad("checker colours must be in 0..=1".into()));
        }
        Ok(Self { kind: Kind::Checker([first_rgb, second_rgb]) })
    }

    /// An image of `width * height` rgb bytes, row by row; `v` grows downwards.
    pub fn from_rgb8(width: usize, height: usize, rgb: &[u8]) -> Result<Self, RenderError> {
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(bad(format!("size {width}x{height}; each side must be 1..={MAX_SIDE}")));
        }
        let want = 3 * width * height;
        if rgb.len() != want {
            let got = rgb.len();
            return Err(bad(format!("{got} bytes for {width}x{height} rgb, which needs {want}")));
        }
        let (pixels, _) = rgb.as_chunks::<3>();
        let texels = pixels.iter().map(|p| p.map(|v| f32::from(v) / 255.0)).collect();
        let mut levels = vec![Level { width, height, texels }];
        while let Some(next) = levels.last().and_then(Level::halved) {
            levels.push(next);
        }
        Ok(Self { kind: Kind::Image(levels) })
    }

    /// The colour it has from far away.
    #[must_use]
    pub fn mean_rgb(&self) -> [f32; 3] {
        match &self.kind {
            Kind::Checker([a, b]) => std::array::from_fn(|k| (a[k] + b[k]) / 2.0),
            Kind::Image(levels) => {
                levels.last().and_then(|l| l.texels.first()).copied().unwrap_or_default()
            }
        }
    }
}

fn bad(what: String) -> RenderError {
    RenderError::BadTexture { what }
}

impl Level {
    /// The next mip level, `None` after the 1x1 one.
    fn halved(&self) -> Option<Self> {
        if self.width == 1 && self.height == 1 {
            return None;
        }
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let texel = |x: usize, y: usize| {
            self.texels[y.min(self.height - 1) * self.width + x.min(self.width - 1)]
        };
        let mut texels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let four =
                    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| texel(2 * x + dx, 2 * y + dy));
                texels.push(std::array::from_fn(|k| {
                    0.25 * (four[0][k] + four[1][k] + four[2][k] + four[3][k])
                }));
            }
        }
        Some(Self { width, height, texels })
    }

    fn bilinear(&self, u: f32, v: f32) -> [f32; 3] {
        let (x0, x1, fx) = wrap(u, self.width);
        let (y0, y1, fy) = wrap(v, self.height);
        let at = |x: usize, y: usize| self.texels[y * self.width + x];
        let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
        std::array::from_fn(|k| {
            let top = a[k] + fx * (b[k] - a[k]);
            let bottom = c[k] + fx * (d[k] - c[k]);
            top + fy * (bottom - top)
        })
    }
}

/// The two texels around a repeating coordinate and the weight of the second.
fn wrap(coordinate: f32, size: usize) -> (usize, usize, f32) {
    let t = (coordinate - coordinate.floor()) * size as f32 - 0.5;
    let low = t.floor();
    let first = if low < 0.0 { size - 1 } else { (low as usize).min(size - 1) };
    let second = if first + 1 == size { 0 } else { first + 1 };
    (first, second, t - low)
}

/// Trilinear sample; `width_u`, `width_v` are the pixel's extent in texture units.
pub(crate) fn sample_image(levels: &[Level], uv: [f32; 2], width_uv: [f32; 2]) -> [f32; 3] {
    let Some(base) = levels.first() else { return [1.0; 3] };
    let texels = (width_uv[0] * base.width as f32).max(width_uv[1] * base.height as f32);
    // log2 in halving steps: exact on every machine, and short.
    let (mut level, mut rest) = (0, if texels.is_finite() { texels } else { f32::MAX });
    while rest >= 2.0 && level + 1 < levels.len() {
        rest *= 0.5;
        level += 1;
    }
    let near = levels[level].bilinear(uv[0], uv[1]);
    let blend = (rest - 1.0).clamp(0.0, 1.0);
    match levels.get(level + 1) {
        Some(next) if blend > 0.0 => {
            let far = next.bilinear(uv[0], uv[1]);
            std::array::from_fn(|k| near[k] + blend * (far[k] - near[k]))
        }
        _ => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mip_is_the_mean_and_near_samples_are_the_texels() {
        let texture =
            Texture::from_rgb8(2, 2, &[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]).unwrap();
        let Kind::Image(levels) = &texture.kind else { panic!("an image") };
        assert_eq!(sample_image(levels, [0.25, 0.25], [0.0; 2]), [1.0, 0.0, 0.0]);
        assert_eq!(sample_image(levels, [1.75, -0.75], [0.0; 2]), [0.0, 1.0, 0.0]);
        assert_eq!(sample_image(levels, [0.3, 0.9], [9.0; 2]), [0.5; 3]);
    }

    #[test]
    fn sizes_are_checked() {
        assert!(Texture::from_rgb8(2, 2, &[0; 11]).is_err());
        assert!(Texture::from_rgb8(0, 2, &[]).is_err());
        assert!(Texture::checker([0.0, 0.0, f32::NAN], [1.0; 3]).is_err());
    }
}
