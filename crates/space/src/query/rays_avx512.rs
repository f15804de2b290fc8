//! Rays, eight lanes at a time: the same steps as one by one, the same answers to the bit.

#![expect(unsafe_code, reason = "gathers and the call across the edge of AVX-512")]

use std::arch::x86_64::*;

use crate::map::Snapshot;
use crate::query::rays::{NO_VOXEL, RayBatch, SLACK, STILL};

const LANES: usize = 8;

/// Groups of lanes that take turns, so that one works while another waits for memory.
const GROUPS: usize = 2;

/// Casts all rays but a rest smaller than a round; says how many. Needs AVX-512 F, DQ and VL and
/// a batch that was checked.
pub(super) fn cast(
    snapshot: &Snapshot,
    batch: &RayBatch,
    distances_m: &mut [f64],
    voxels: &mut [u32],
) -> usize {
    // SAFETY: called for `Isa::Avx512` only.
    unsafe { cast_lanes(snapshot, batch, distances_m, voxels) }
}

/// The map, as the lanes need it.
struct Scene<'a> {
    gap2: &'a [u16],
    words: &'a [u64],
    last: [__m512d; 3],
    size_x: __m512d,
    size_y: __m512d,
    row_words32: __m256i,
}

/// Eight rays under way.
struct Lanes {
    origin: [__m512d; 3],
    direction: [__m512d; 3],
    inverse: [__m512d; 3],
    /// One cell on along each axis: 1 or -1.
    step: [__m512d; 3],
    /// Far side of a cell along each axis: 1 or 0.
    far: [__m512d; 3],
    t: __m512d,
    end: __m512d,
    active: __mmask8,
    hit: __mmask8,
    distance: __m512d,
    key: __m256i,
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn cast_lanes(
    snapshot: &Snapshot,
    batch: &RayBatch,
    distances_m: &mut [f64],
    voxels: &mut [u32],
) -> usize {
    let size = snapshot.grid.size();
    let scene = Scene {
        gap2: &snapshot.gap2,
        words: snapshot.occupied.words(),
        last: size.map(|n| _mm512_set1_pd((n - 1) as f64)),
        size_x: _mm512_set1_pd(size[0] as f64),
        size_y: _mm512_set1_pd(size[1] as f64),
        row_words32: _mm256_set1_epi32(2 * snapshot.occupied.row_words() as i32),
    };
    let voxel_m = _mm512_set1_pd(snapshot.grid.voxel_m());
    let round = GROUPS * LANES;
    let whole = batch.max_m.len() / round * round;
    for start in (0..whole).step_by(round) {
        let mut groups: [Lanes; GROUPS] =
            std::array::from_fn(|g| Lanes::new(snapshot, batch, start + g * LANES));
        while groups.iter().any(|lanes| lanes.active != 0) {
            for lanes in &mut groups {
                lanes.advance(&scene);
            }
        }
        for (g, lanes) in groups.iter().enumerate() {
            let at = start + g * LANES..start + (g + 1) * LANES;
            let far = _mm512_set1_pd(f64::INFINITY);
            let distance = _mm512_mask_mul_pd(far, lanes.hit, lanes.distance, voxel_m);
            let none = _mm256_set1_epi32(NO_VOXEL as i32);
            let key = _mm256_mask_mov_epi32(none, lanes.hit, lanes.key);
            let (distances_m, voxels) = (&mut distances_m[at.clone()], &mut voxels[at]);
            // SAFETY: both slices are eight values long, by the lines above.
            unsafe {
                _mm512_storeu_pd(distances_m.as_mut_ptr(), distance);
                _mm256_storeu_si256(voxels.as_mut_ptr().cast(), key);
            }
        }
    }
    whole
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(values: &[f64], at: usize) -> __m512d {
    let values = &values[at..at + LANES];
    // SAFETY: the slice is eight values long, by the line above.
    unsafe { _mm512_loadu_pd(values.as_ptr()) }
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn new(snapshot: &Snapshot, batch: &RayBatch, at: usize) -> Self {
        let (lower, size) = (snapshot.grid.lower_m(), snapshot.grid.size());
        let scale = _mm512_set1_pd(1.0 / snapshot.grid.voxel_m());
        let (zero, one) = (_mm512_setzero_pd(), _mm512_set1_pd(1.0));
        let mut lanes = Self {
            origin: [zero; 3],
            direction: [zero; 3],
            inverse: [zero; 3],
            step: [zero; 3],
            far: [zero; 3],
            t: zero,
            end: _mm512_mul_pd(load(batch.max_m, at), scale),
            active: 0,
            hit: 0,
            distance: zero,
            key: _mm256_setzero_si256(),
        };
        for a in 0..3 {
            let lower = _mm512_set1_pd(lower[a]);
            let origin = _mm512_mul_pd(_mm512_sub_pd(load(batch.origins_m[a], at), lower), scale);
            let given = load(batch.directions[a], at);
            let still = _mm512_set1_pd(STILL);
            let standing = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(given), still);
            let direction = _mm512_mask_mov_pd(given, standing, still);
            let inverse = _mm512_div_pd(one, direction);
            let low = _mm512_mul_pd(_mm512_sub_pd(zero, origin), inverse);
            let high = _mm512_sub_pd(_mm512_set1_pd(size[a] as f64), origin);
            let high = _mm512_mul_pd(high, inverse);
            lanes.t = _mm512_max_pd(lanes.t, _mm512_min_pd(low, high));
            lanes.end = _mm512_min_pd(lanes.end, _mm512_max_pd(low, high));
            let back = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(direction, zero);
            lanes.step[a] = _mm512_mask_mov_pd(one, back, _mm512_set1_pd(-1.0));
            lanes.far[a] = _mm512_mask_mov_pd(one, back, zero);
            lanes.origin[a] = origin;
            lanes.direction[a] = direction;
            lanes.inverse[a] = inverse;
        }
        lanes.active = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(lanes.t, lanes.end);
        lanes
    }

    /// Where the rays reach the far side of a cell along an axis.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn side(&self, a: usize, floor: __m512d) -> __m512d {
        let far = _mm512_sub_pd(_mm512_add_pd(floor, self.far[a]), self.origin[a]);
        _mm512_mul_pd(far, self.inverse[a])
    }

    /// One step of all lanes that are still under way.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn advance(&mut self, scene: &Scene) {
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        let mut exit = _mm512_set1_pd(f64::INFINITY);
        let mut cell = [_mm512_setzero_pd(); 3];
        for a in 0..3 {
            let at = _mm512_add_pd(self.origin[a], _mm512_mul_pd(self.t, self.direction[a]));
            let mut floor = _mm512_roundscale_pd::<DOWN>(at);
            let mut side = self.side(a, floor);
            let passed = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(side, self.t);
            if passed != 0 {
                floor = _mm512_mask_add_pd(floor, passed, floor, self.step[a]);
                side = self.side(a, floor);
            }
            exit = _mm512_min_pd(exit, side);
            cell[a] = _mm512_min_pd(_mm512_max_pd(floor, _mm512_setzero_pd()), scene.last[a]);
        }
        let row = _mm512_fmadd_pd(cell[2], scene.size_y, cell[1]);
        let key = _mm512_cvttpd_epi32(_mm512_fmadd_pd(row, scene.size_x, cell[0]));
        // SAFETY: keys are those of cells of the grid, and there is one value more than cells:
        // four bytes from each lie inside.
        let gap2 = unsafe {
            let none = _mm256_setzero_si256();
            let base = scene.gap2.as_ptr().cast();
            _mm256_mmask_i32gather_epi32::<2>(none, self.active, key, base)
        };
        let gap2 = _mm256_and_si256(gap2, _mm256_set1_epi32(0xffff));
        let near = _mm256_mask_testn_epi32_mask(self.active, gap2, gap2);
        if near != 0 {
            self.find_hits(scene, near, cell, row, key);
        }
        let clear = _mm512_cvtps_pd(_mm256_sqrt_ps(_mm256_cvtepi32_ps(gap2)));
        let clear = _mm512_sub_pd(clear, _mm512_set1_pd(SLACK));
        self.t = _mm512_max_pd(exit, _mm512_add_pd(self.t, clear));
        self.active &= _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.t, self.end);
    }

    /// Ends the lanes among `near` that are in an occupied cell.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn find_hits(
        &mut self,
        scene: &Scene,
        near: __mmask8,
        cell: [__m512d; 3],
        row: __m512d,
        key: __m256i,
    ) {
        let x = _mm512_cvttpd_epi32(cell[0]);
        let row = _mm256_mullo_epi32(_mm512_cvttpd_epi32(row), scene.row_words32);
        let word = _mm256_add_epi32(row, _mm256_srli_epi32::<5>(x));
        // SAFETY: the cells are in the grid, so the words are in its rows of bits; a word of 64
        // bits is two of 32, the lower first.
        let bits = unsafe {
            let none = _mm256_setzero_si256();
            let base = scene.words.as_ptr().cast();
            _mm256_mmask_i32gather_epi32::<4>(none, near, word, base)
        };
        let bit = _mm256_and_si256(x, _mm256_set1_epi32(31));
        let bits = _mm256_srlv_epi32(bits, bit);
        let hit = _mm256_mask_test_epi32_mask(near, bits, _mm256_set1_epi32(1));
        if hit == 0 {
            return;
        }
        let mut entry = _mm512_setzero_pd();
        for a in 0..3 {
            let near_side = _mm512_sub_pd(_mm512_set1_pd(1.0), self.far[a]);
            let side = _mm512_sub_pd(_mm512_add_pd(cell[a], near_side), self.origin[a]);
            entry = _mm512_max_pd(entry, _mm512_mul_pd(side, self.inverse[a]));
        }
        self.distance = _mm512_mask_mov_pd(self.distance, hit, entry);
        self.key = _mm256_mask_mov_epi32(self.key, hit, key);
        self.hit |= hit;
        self.active &= !hit;
    }
}
