//! Pictures as H.264 wants them: BT.601, limited range, colour at half size.
//!
//! Loops are plain; kernels compile them for the widest registers of the machine.
//! All arithmetic is in integers, so every machine gives the same bytes.

use citrange_lanes::{Isa, Kernel, Simd, kernel};
use openh264::formats::YUVSource;

/// One picture in three planes, and the memory to make it.
#[derive(Debug, Clone)]
pub(crate) struct Planes {
    width: usize,
    height: usize,
    pub(crate) y: Vec<u8>,
    pub(crate) u: Vec<u8>,
    pub(crate) v: Vec<u8>,
    rows: Rows,
}

/// Colours of one row apart, and sums over two rows.
#[derive(Debug, Clone, Default)]
struct Rows {
    one: [Vec<u8>; 3],
    sum: [Vec<u16>; 3],
}

impl Planes {
    /// Both sides must be even.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            y: vec![0; width * height],
            u: vec![0; width * height / 4],
            v: vec![0; width * height / 4],
            rows: Rows {
                one: [(); 3].map(|()| vec![0; width]),
                sum: [(); 3].map(|()| vec![0; width]),
            },
        }
    }

    /// `rgb` holds `width * height * 3` bytes; what is beyond is ignored.
    pub(crate) fn read_rgb(&mut self, rgb: &[u8]) {
        convert(Isa::best(), self, rgb);
    }

    #[inline(always)]
    fn convert(&mut self, rgb: &[u8]) {
        let (pixels, _) = rgb.as_chunks::<3>();
        let pairs = pixels.chunks_exact(2 * self.width);
        let luma = self.y.chunks_exact_mut(2 * self.width);
        let chroma =
            self.u.chunks_exact_mut(self.width / 2).zip(self.v.chunks_exact_mut(self.width / 2));
        for ((pixels, luma), (u, v)) in pairs.zip(luma).zip(chroma) {
            let (above, below) = pixels.split_at(self.width);
            let (luma_above, luma_below) = luma.split_at_mut(self.width);
            self.rows.luma::<true>(above, luma_above);
            self.rows.luma::<false>(below, luma_below);
            self.rows.chroma(u, v);
        }
    }

    /// Takes the planes of another picture of the same size; false where the size is another.
    pub(crate) fn copy_from(&mut self, other: &impl YUVSource) -> bool {
        if other.dimensions() != (self.width, self.height) {
            return false;
        }
        let (ys, us, vs) = other.strides();
        copy_rows(&mut self.y, self.width, other.y(), ys)
            && copy_rows(&mut self.u, self.width / 2, other.u(), us)
            && copy_rows(&mut self.v, self.width / 2, other.v(), vs)
    }
}

kernel! {
    fn convert(simd, planes: &mut Planes, rgb: &[u8]) {
        planes.convert(rgb);
    }
}

impl Rows {
    #[inline(always)]
    fn luma<const FIRST: bool>(&mut self, pixels: &[[u8; 3]], luma: &mut [u8]) {
        let [r, g, b] = &mut self.one;
        for (((p, r), g), b) in pixels.iter().zip(r.iter_mut()).zip(g.iter_mut()).zip(b.iter_mut())
        {
            [*r, *g, *b] = *p;
        }
        for (((y, &r), &g), &b) in luma.iter_mut().zip(&*r).zip(&*g).zip(&*b) {
            let sum = 66 * u16::from(r) + 129 * u16::from(g) + 25 * u16::from(b) + 128;
            *y = (sum >> 8) as u8 + 16;
        }
        for (sum, one) in self.sum.iter_mut().zip(&self.one) {
            for (sum, &one) in sum.iter_mut().zip(one) {
                *sum = if FIRST { u16::from(one) } else { *sum + u16::from(one) };
            }
        }
    }

    #[inline(always)]
    fn chroma(&self, u: &mut [u8], v: &mut [u8]) {
        let [r, g, b] = &self.sum;
        let (r, g, b) = (r.as_chunks::<2>().0, g.as_chunks::<2>().0, b.as_chunks::<2>().0);
        for ((((u, v), r), g), b) in u.iter_mut().zip(v.iter_mut()).zip(r).zip(g).zip(b) {
            let [r, g, b] = [r, g, b].map(|c| ((c[0] + c[1] + 2) >> 2) as i16);
            *u = (((112 * b - 38 * r - 74 * g + 128) >> 8) + 128) as u8;
            *v = (((112 * r - 94 * g - 18 * b + 128) >> 8) + 128) as u8;
        }
    }
}

fn copy_rows(to: &mut [u8], width: usize, from: &[u8], stride: usize) -> bool {
    let mut rows = from.chunks(stride.max(1));
    to.chunks_exact_mut(width).all(|to| match rows.next().and_then(|row| row.get(..width)) {
        Some(row) => {
            to.copy_from_slice(row);
            true
        }
        None => false,
    })
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }

    fn y(&self) -> &[u8] {
        &self.y
    }

    fn u(&self) -> &[u8] {
        &self.u
    }

    fn v(&self) -> &[u8] {
        &self.v
    }
}

/// Writes a decoded picture as rgb8; false where its planes are too short.
pub(crate) fn write_rgb(picture: &impl YUVSource, rgb: &mut Vec<u8>) -> bool {
    let (width, height) = picture.dimensions();
    rgb.resize(width * height * 3, 0);
    Isa::best().run(ToRgb { picture, rgb })
}

struct ToRgb<'a, P> {
    picture: &'a P,
    rgb: &'a mut [u8],
}

impl<P: YUVSource> Kernel for ToRgb<'_, P> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let Self { picture, rgb } = self;
        let (width, _) = picture.dimensions();
        let (ys, us, vs) = picture.strides();
        let half = width.div_ceil(2);
        for (row, rgb) in rgb.chunks_exact_mut(3 * width.max(1)).enumerate() {
            let y = picture.y().get(row * ys..row * ys + width);
            let u = picture.u().get(row / 2 * us..row / 2 * us + half);
            let v = picture.v().get(row / 2 * vs..row / 2 * vs + half);
            let (Some(y), Some(u), Some(v)) = (y, u, v) else { return false };
            rgb_row(y, u, v, rgb);
        }
        true
    }
}

#[inline(always)]
fn rgb_row(y: &[u8], u: &[u8], v: &[u8], rgb: &mut [u8]) {
    let (pixels, _) = rgb.as_chunks_mut::<3>();
    for (((pixels, y), &u), &v) in pixels.chunks_mut(2).zip(y.chunks(2)).zip(u).zip(v) {
        let (u, v) = (i32::from(u) - 128, i32::from(v) - 128);
        let add = [409 * v + 128, 128 - 100 * u - 208 * v, 516 * u + 128];
        for (pixel, &y) in pixels.iter_mut().zip(y) {
            let y = 298 * (i32::from(y) - 16);
            *pixel = add.map(|add| ((y + add) >> 8).clamp(0, 255) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The formulas, one pixel at a time.
    fn reference(rgb: &[u8], width: usize, height: usize) -> [Vec<u8>; 3] {
        let at = |x: usize, y: usize, c: usize| i32::from(rgb[3 * (y * width + x) + c]);
        let (mut luma, mut us, mut vs) = (vec![], vec![], vec![]);
        for y in 0..height {
            for x in 0..width {
                let [r, g, b] = [0, 1, 2].map(|c| at(x, y, c));
                luma.push((((66 * r + 129 * g + 25 * b + 128) >> 8) + 16) as u8);
            }
        }
        for y in (0..height).step_by(2) {
            for x in (0..width).step_by(2) {
                let [r, g, b] = [0, 1, 2].map(|c| {
                    (at(x, y, c) + at(x + 1, y, c) + at(x, y + 1, c) + at(x + 1, y + 1, c) + 2) >> 2
                });
                us.push((((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128) as u8);
                vs.push((((112 * r - 94 * g - 18 * b + 128) >> 8) + 128) as u8);
            }
        }
        [luma, us, vs]
    }

    #[test]
    fn corners_of_the_colour_cube_are_where_bt601_has_them() {
        // Y, Cb, Cr of white, black, red, green, blue in limited range.
        let known = [
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 0], [16, 128, 128]),
            ([255, 0, 0], [82, 90, 240]),
            ([0, 255, 0], [144, 54, 34]),
            ([0, 0, 255], [41, 240, 110]),
        ];
        for (rgb, yuv) in known {
            let mut planes = Planes::new(16, 16);
            planes.read_rgb(&rgb.repeat(256));
            assert_eq!([planes.y[0], planes.u[0], planes.v[0]], yuv, "{rgb:?}");
            let mut back = vec![];
            assert!(write_rgb(&planes, &mut back));
            for (a, b) in back.iter().zip(rgb.repeat(256)) {
                assert!(a.abs_diff(b) <= 2, "{rgb:?}: {:?}", &back[..3]);
            }
        }
    }

    proptest! {
        #[test]
        fn fast_and_plain_give_the_same_bytes(
            half_width in 1usize..90, half_height in 1usize..4, seed: u64,
        ) {
            let (width, height) = (2 * half_width, 2 * half_height);
            let mut rng = citrange_core::rng::Rng::new(seed);
            let rgb: Vec<u8> = (0..width * height * 3).map(|_| {
                let bits = rng.next_u64();
                // Extremes are where sums could overflow.
                match bits >> 61 { 0 => 0, 1 => 255, _ => bits as u8 }
            }).collect();
            let mut planes = Planes::new(width, height);
            planes.read_rgb(&rgb);
            let [y, u, v] = reference(&rgb, width, height);
            prop_assert_eq!(&planes.y, &y);
            prop_assert_eq!(&planes.u, &u);
            prop_assert_eq!(&planes.v, &v);
        }
    }
}
