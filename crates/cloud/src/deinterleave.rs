//! Points and colours side by side in memory become separate numbers.

use citrange_lanes::{F32x16, Isa, LANES, kernel, widen_colours};

/// Writes x, y and z of points.
pub(crate) fn coordinates(points: &[[f32; 3]], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    let done = coordinates_by_vectors(Isa::best(), points, x, y, z);
    let rest = points.iter().zip(&mut *x).zip(&mut *y).zip(&mut *z).skip(done);
    for (((point, x), y), z) in rest {
        [*x, *y, *z] = *point;
    }
}

/// Writes colours: red in the lowest byte, then green and blue, 0 on top.
pub(crate) fn colours(rgb: &[[u8; 3]], out: &mut [u32]) {
    let done = colours_by_vectors(Isa::best(), rgb, out);
    for ([r, g, b], out) in rgb.iter().zip(out).skip(done) {
        *out = u32::from_le_bytes([*r, *g, *b, 0]);
    }
}

kernel! {
    /// Does as many points as fill vectors; answers how many.
    fn coordinates_by_vectors(
        simd, points: &[[f32; 3]], x: &mut [f32], y: &mut [f32], z: &mut [f32],
    ) -> usize {
        if !S::IS_WIDE {
            return 0;
        }
        let (points, _) = points.as_chunks::<LANES>();
        let (x, _) = x.as_chunks_mut::<LANES>();
        let (y, _) = y.as_chunks_mut::<LANES>();
        let (z, _) = z.as_chunks_mut::<LANES>();
        let mut done = 0;
        for (((points, x), y), z) in points.iter().zip(x).zip(y).zip(z) {
            let axes = F32x16::of_points(simd, points);
            axes[0].store(x);
            axes[1].store(y);
            axes[2].store(z);
            done += LANES;
        }
        done
    }
}

kernel! {
    /// Does as many colours as can be read in one piece; answers how many.
    fn colours_by_vectors(simd, rgb: &[[u8; 3]], out: &mut [u32]) -> usize {
        let (eights, _) = out.as_chunks_mut::<8>();
        let mut done = 0;
        for out in eights {
            // Eight are written, ten are read.
            let Some(rgb) = rgb.get(done..).and_then(<[[u8; 3]]>::first_chunk::<10>) else { break };
            widen_colours(simd, rgb, out);
            done += out.len();
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_keeps_every_number() {
        for length in 0..70 {
            let points: Vec<[f32; 3]> =
                (0..length).map(|i| [i as f32, 1000.0 + i as f32, 2000.0 + i as f32]).collect();
            let mut got = [vec![0.0; length], vec![0.0; length], vec![0.0; length]];
            let [x, y, z] = &mut got;
            coordinates(&points, x, y, z);
            for (axis, numbers) in got.iter().enumerate() {
                assert!(numbers.iter().zip(&points).all(|(n, p)| *n == p[axis]), "{length}");
            }
            let rgb: Vec<[u8; 3]> = (0..length as u8).map(|i| [i, 100 + i, 255 - i]).collect();
            let mut out = vec![0; length];
            colours(&rgb, &mut out);
            let want: Vec<u32> =
                rgb.iter().map(|c| u32::from_le_bytes([c[0], c[1], c[2], 0])).collect();
            assert_eq!(out, want);
        }
    }
}
