//! Rays, eight lanes at a time: the same steps as one by one, the same answers to the bit.

#![expect(unsafe_code, reason = "gathers, scatters and the call across the edge of AVX-512")]

use std::arch::x86_64::*;

use crate::map::Snapshot;
use crate::query::rays::{NO_VOXEL, RayBatch, SLACK, STILL};

/// Groups of lanes that take turns, so that one works while another waits for memory.
const GROUPS: usize = 2;

/// With fewer lanes under way than this a group takes in new rays.
const FEW: u32 = 6;

/// Casts all rays. Needs AVX-512 F, DQ and VL, a batch that was checked, and as many places for
/// answers as rays.
pub(super) fn cast(
    snapshot: &Snapshot,
    batch: &RayBatch,
    distances_m: &mut [f64],
    voxels: &mut [u32],
) {
    // Lanes know their rays by 32 bits.
    const MOST: usize = 1 << 30;
    for start in (0..batch.max_m.len()).step_by(MOST) {
        let part = start..(start + MOST).min(batch.max_m.len());
        let work = Work {
            origins_m: batch.origins_m.map(|o| &o[part.clone()]),
            directions: batch.directions.map(|d| &d[part.clone()]),
            max_m: &batch.max_m[part.clone()],
            distances_m: &mut distances_m[part.clone()],
            voxels: &mut voxels[part],
            taken: 0,
        };
        // SAFETY: called for `Isa::Avx512` only.
        unsafe { cast_part(snapshot, work) };
    }
}

/// Rays, their answers, and how many rays lanes have taken in. All slices are equally long.
struct Work<'a> {
    origins_m: [&'a [f64]; 3],
    directions: [&'a [f64]; 3],
    max_m: &'a [f64],
    distances_m: &'a mut [f64],
    voxels: &'a mut [u32],
    taken: usize,
}

/// The map, as the lanes need it.
struct Scene<'a> {
    gap2: &'a [u16],
    words: &'a [u64],
    lower_m: [__m512d; 3],
    size: [__m512d; 3],
    last: [__m512d; 3],
    scale: __m512d,
    voxel_m: __m512d,
    row_words32: __m256i,
}

/// Eight rays under way.
struct Lanes {
    origin: [__m512d; 3],
    direction: [__m512d; 3],
    inverse: [__m512d; 3],
    /// One cell on along each axis: 1 or -1.
    step: [__m512d; 3],
    /// Far side of cell 0 along each axis, from the origin.
    far: [__m512d; 3],
    t: __m512d,
    end: __m512d,
    /// Which rays they are.
    ray: __m256i,
    active: __mmask8,
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn cast_part(snapshot: &Snapshot, mut work: Work) {
    let size = snapshot.grid.size();
    let scene = Scene {
        gap2: &snapshot.gap2,
        words: snapshot.occupied.words(),
        lower_m: snapshot.grid.lower_m().map(|v| _mm512_set1_pd(v)),
        size: size.map(|n| _mm512_set1_pd(n as f64)),
        last: size.map(|n| _mm512_set1_pd((n - 1) as f64)),
        scale: _mm512_set1_pd(1.0 / snapshot.grid.voxel_m()),
        voxel_m: _mm512_set1_pd(snapshot.grid.voxel_m()),
        row_words32: _mm256_set1_epi32(2 * snapshot.occupied.row_words() as i32),
    };
    work.distances_m.fill(f64::INFINITY);
    work.voxels.fill(NO_VOXEL);
    let mut groups: [Lanes; GROUPS] = std::array::from_fn(|_| Lanes::idle());
    loop {
        let mut active = 0;
        for lanes in &mut groups {
            if lanes.active.count_ones() < FEW && work.taken < work.max_m.len() {
                lanes.take_rays(&scene, &mut work);
            }
            lanes.advance(&scene, &mut work);
            active |= lanes.active;
        }
        if active == 0 && work.taken == work.max_m.len() {
            return;
        }
    }
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn idle() -> Self {
        let zero = [_mm512_setzero_pd(); 3];
        Self {
            origin: zero,
            direction: zero,
            inverse: zero,
            step: zero,
            far: zero,
            t: zero[0],
            end: zero[0],
            ray: _mm256_setzero_si256(),
            active: 0,
        }
    }

    /// The next rays go into the lanes that have none.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn take_rays(&mut self, scene: &Scene, work: &mut Work) {
        let start = work.taken;
        let mut idle = !self.active;
        while idle.count_ones() as usize > work.max_m.len() - start {
            idle &= idle - 1;
        }
        work.taken += idle.count_ones() as usize;
        let next = |values: &[f64]| {
            let values = &values[start..work.taken];
            // SAFETY: as many values are read as lanes are idle, which is what the slice has.
            unsafe { _mm512_maskz_expandloadu_pd(idle, values.as_ptr()) }
        };
        let (zero, one) = (_mm512_setzero_pd(), _mm512_set1_pd(1.0));
        let (mut t, mut end) = (zero, _mm512_mul_pd(next(work.max_m), scene.scale));
        for a in 0..3 {
            let origin = _mm512_sub_pd(next(work.origins_m[a]), scene.lower_m[a]);
            let origin = _mm512_mul_pd(origin, scene.scale);
            let given = next(work.directions[a]);
            let still = _mm512_set1_pd(STILL);
            let standing = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(given), still);
            let direction = _mm512_mask_mov_pd(given, standing, still);
            let inverse = _mm512_div_pd(one, direction);
            let low = _mm512_mul_pd(_mm512_sub_pd(zero, origin), inverse);
            let high = _mm512_mul_pd(_mm512_sub_pd(scene.size[a], origin), inverse);
            t = _mm512_max_pd(t, _mm512_min_pd(low, high));
            end = _mm512_min_pd(end, _mm512_max_pd(low, high));
            let back = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(direction, zero);
            let step = _mm512_mask_mov_pd(one, back, _mm512_set1_pd(-1.0));
            let far = _mm512_sub_pd(_mm512_mask_mov_pd(one, back, zero), origin);
            self.origin[a] = _mm512_mask_mov_pd(self.origin[a], idle, origin);
            self.direction[a] = _mm512_mask_mov_pd(self.direction[a], idle, direction);
            self.inverse[a] = _mm512_mask_mov_pd(self.inverse[a], idle, inverse);
            self.step[a] = _mm512_mask_mov_pd(self.step[a], idle, step);
            self.far[a] = _mm512_mask_mov_pd(self.far[a], idle, far);
        }
        let order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let ray = _mm256_add_epi32(order, _mm256_set1_epi32(start as i32));
        self.ray = _mm256_mask_expand_epi32(self.ray, idle, ray);
        self.t = _mm512_mask_mov_pd(self.t, idle, t);
        self.end = _mm512_mask_mov_pd(self.end, idle, end);
        self.active |= _mm512_mask_cmp_pd_mask::<_CMP_LE_OQ>(idle, t, end);
    }

    /// One step of all lanes that are under way.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn advance(&mut self, scene: &Scene, work: &mut Work) {
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        let mut exit = _mm512_set1_pd(f64::INFINITY);
        let mut cell = [_mm512_setzero_pd(); 3];
        for a in 0..3 {
            let at = _mm512_add_pd(self.origin[a], _mm512_mul_pd(self.t, self.direction[a]));
            let floor = _mm512_roundscale_pd::<DOWN>(at);
            let side = _mm512_mul_pd(_mm512_add_pd(floor, self.far[a]), self.inverse[a]);
            let passed = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(side, self.t);
            let floor = _mm512_mask_add_pd(floor, passed, floor, self.step[a]);
            let side = _mm512_mask_add_pd(side, passed, side, _mm512_abs_pd(self.inverse[a]));
            exit = _mm512_min_pd(exit, side);
            cell[a] = _mm512_min_pd(_mm512_max_pd(floor, _mm512_setzero_pd()), scene.last[a]);
        }
        let row = _mm512_fmadd_pd(cell[2], scene.size[1], cell[1]);
        let key = _mm512_cvttpd_epi32(_mm512_fmadd_pd(row, scene.size[0], cell[0]));
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
            self.find_hits(scene, near, cell, row, key, work);
        }
        let clear = _mm512_cvtps_pd(_mm256_sqrt_ps(_mm256_cvtepi32_ps(gap2)));
        let clear = _mm512_sub_pd(clear, _mm512_set1_pd(SLACK));
        self.t = _mm512_max_pd(exit, _mm512_add_pd(self.t, clear));
        self.active &= _mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.t, self.end);
    }

    /// Answers the lanes among `near` that are in an occupied cell.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn find_hits(
        &mut self,
        scene: &Scene,
        near: __mmask8,
        cell: [__m512d; 3],
        row: __m512d,
        key: __m256i,
        work: &mut Work,
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
            let back = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.direction[a], _mm512_setzero_pd());
            let near_side = _mm512_mask_add_pd(cell[a], back, cell[a], _mm512_set1_pd(1.0));
            let side = _mm512_sub_pd(near_side, self.origin[a]);
            entry = _mm512_max_pd(entry, _mm512_mul_pd(side, self.inverse[a]));
        }
        let distance_m = _mm512_mul_pd(entry, scene.voxel_m);
        // SAFETY: lanes under way hold numbers of rays that were taken from `work`, and its
        // slices are equally long.
        unsafe {
            let distances_m = work.distances_m.as_mut_ptr().cast();
            _mm512_mask_i32scatter_pd::<8>(distances_m, hit, self.ray, distance_m);
            _mm256_mask_i32scatter_epi32::<4>(work.voxels.as_mut_ptr().cast(), hit, self.ray, key);
        }
        self.active &= !hit;
    }
}
