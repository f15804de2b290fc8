//! Points and colours side by side in memory become separate numbers.

/// Writes x, y and z of points.
pub(crate) fn coordinates(points: &[[f32; 3]], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    let done = coordinates_by_vectors(points, x, y, z);
    let rest = points.iter().zip(&mut *x).zip(&mut *y).zip(&mut *z).skip(done);
    for (((point, x), y), z) in rest {
        [*x, *y, *z] = *point;
    }
}

/// Writes colours: red in the lowest byte, then green and blue, 0 on top.
pub(crate) fn colours(rgb: &[[u8; 3]], out: &mut [u32]) {
    let done = colours_by_vectors(rgb, out);
    for ([r, g, b], out) in rgb.iter().zip(out).skip(done) {
        *out = u32::from_le_bytes([*r, *g, *b, 0]);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn coordinates_by_vectors(_: &[[f32; 3]], _: &mut [f32], _: &mut [f32], _: &mut [f32]) -> usize {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn colours_by_vectors(_: &[[u8; 3]], _: &mut [u32]) -> usize {
    0
}

#[cfg(target_arch = "x86_64")]
use x86::{colours_by_vectors, coordinates_by_vectors};

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and stores take pointers")]
mod x86 {
    use std::arch::x86_64::*;

    /// Points per vector.
    const LANES: usize = 16;

    /// Does as many points as fill vectors; answers how many.
    pub(super) fn coordinates_by_vectors(
        points: &[[f32; 3]],
        x: &mut [f32],
        y: &mut [f32],
        z: &mut [f32],
    ) -> usize {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions.
            unsafe { coordinates_avx512(points, x, y, z) }
        } else {
            0
        }
    }

    #[target_feature(enable = "avx512f")]
    fn coordinates_avx512(
        points: &[[f32; 3]],
        x: &mut [f32],
        y: &mut [f32],
        z: &mut [f32],
    ) -> usize {
        // Of the 48 numbers of 16 points, those of one coordinate: from the first 32 of them,
        // then the last five or six from the other 16.
        const FIRST: [[i32; LANES]; 3] = places(false);
        const LAST: [[i32; LANES]; 3] = places(true);
        let vectors = points.len().min(x.len()).min(y.len()).min(z.len()) / LANES;
        let numbers = points.as_flattened().as_ptr();
        let out = [x.as_mut_ptr(), y.as_mut_ptr(), z.as_mut_ptr()];
        for v in 0..vectors {
            // SAFETY: `vectors * LANES` points are there to read and to write.
            unsafe {
                let from = numbers.add(3 * LANES * v);
                let a = _mm512_loadu_ps(from);
                let b = _mm512_loadu_ps(from.add(LANES));
                let c = _mm512_loadu_ps(from.add(2 * LANES));
                for axis in 0..3 {
                    let first = _mm512_loadu_si512(FIRST[axis].as_ptr().cast());
                    let last = _mm512_loadu_si512(LAST[axis].as_ptr().cast());
                    let most = _mm512_permutex2var_ps(a, first, b);
                    let all = _mm512_permutex2var_ps(most, last, c);
                    _mm512_storeu_ps(out[axis].add(LANES * v), all);
                }
            }
        }
        vectors * LANES
    }

    const fn places(last: bool) -> [[i32; LANES]; 3] {
        let mut table = [[0; LANES]; 3];
        let mut axis = 0;
        while axis < 3 {
            let mut i = 0;
            while i < LANES {
                let at = (3 * i + axis) as i32;
                table[axis][i] = match (last, at < 32) {
                    (false, true) => at,
                    (false, false) => 0,
                    (true, true) => i as i32,
                    (true, false) => 16 + at - 32,
                };
                i += 1;
            }
            axis += 1;
        }
        table
    }

    /// Does as many colours as can be read in one piece; answers how many.
    pub(super) fn colours_by_vectors(rgb: &[[u8; 3]], out: &mut [u32]) -> usize {
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            unsafe { colours_avx2(rgb, out) }
        } else {
            0
        }
    }

    #[target_feature(enable = "avx2")]
    fn colours_avx2(rgb: &[[u8; 3]], out: &mut [u32]) -> usize {
        /// Colours per vector, and how many must be there to read it: 28 bytes are read.
        const COLOURS: usize = 8;
        const READ: usize = 10;
        let spread = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
        ));
        let mut done = 0;
        while done + READ <= rgb.len() && done + COLOURS <= out.len() {
            // SAFETY: 30 bytes are there from `done` on, and eight places.
            unsafe {
                let from = rgb.as_flattened().as_ptr().add(3 * done);
                let low = _mm_loadu_si128(from.cast());
                let high = _mm_loadu_si128(from.add(12).cast());
                let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
                let wide = _mm256_shuffle_epi8(both, spread);
                _mm256_storeu_si256(out.as_mut_ptr().add(done).cast(), wide);
            }
            done += COLOURS;
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
