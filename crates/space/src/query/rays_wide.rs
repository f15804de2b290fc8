//! Rays, eight lanes at a time, for sets that gather and scatter: the same steps as one by one,
//! the same answers to the bit.

use citrange_lanes::{F64x8, I32x8, Simd};

use crate::map::MapSnapshot;
use crate::query::rays::{NO_VOXEL, RayBatch, SLACK, STILL};

/// Groups of lanes that take turns, so that one works while another waits for memory.
const GROUPS: usize = 2;

/// With fewer lanes under way than this a group takes in new rays.
const FEW: u32 = 6;

/// Casts all rays of a batch that was checked, with as many places for answers as rays.
#[inline(always)]
pub(super) fn cast<S: Simd>(
    simd: S,
    snapshot: &MapSnapshot,
    batch: &RayBatch,
    distances_m: &mut [f64],
    voxels: &mut [u32],
) {
    // Lanes know their rays by 32 bits.
    const MOST: usize = 1 << 30;
    let scene = RayMap::new(simd, snapshot);
    for start in (0..batch.max_m.len()).step_by(MOST) {
        let part = start..(start + MOST).min(batch.max_m.len());
        let work = RaySlices {
            origins_m: batch.origins_m.map(|o| &o[part.clone()]),
            directions: batch.directions.map(|d| &d[part.clone()]),
            max_m: &batch.max_m[part.clone()],
            distances_m: &mut distances_m[part.clone()],
            voxels: &mut voxels[part],
            taken: 0,
        };
        cast_part(simd, &scene, work);
    }
}

/// Rays, their answers, and how many rays lanes have taken in. All slices are equally long.
struct RaySlices<'a> {
    origins_m: [&'a [f64]; 3],
    directions: [&'a [f64]; 3],
    max_m: &'a [f64],
    distances_m: &'a mut [f64],
    voxels: &'a mut [u32],
    taken: usize,
}

/// The map, as the lanes need it.
struct RayMap<'a, S: Simd> {
    gap2: &'a [u16],
    words: &'a [u64],
    lower_m: [F64x8<S>; 3],
    size: [F64x8<S>; 3],
    last: [F64x8<S>; 3],
    scale: F64x8<S>,
    voxel_m: F64x8<S>,
    row_words32: I32x8<S>,
}

impl<'a, S: Simd> RayMap<'a, S> {
    #[inline(always)]
    fn new(simd: S, snapshot: &'a MapSnapshot) -> Self {
        let size = snapshot.grid.size();
        Self {
            gap2: &snapshot.gap2,
            words: snapshot.occupied.words(),
            lower_m: splat3(simd, snapshot.grid.lower_m()),
            size: splat3(simd, size.map(|n| n as f64)),
            last: splat3(simd, size.map(|n| (n - 1) as f64)),
            scale: F64x8::splat(simd, 1.0 / snapshot.grid.voxel_m()),
            voxel_m: F64x8::splat(simd, snapshot.grid.voxel_m()),
            row_words32: I32x8::splat(simd, 2 * snapshot.occupied.row_words() as i32),
        }
    }
}

#[inline(always)]
fn splat3<S: Simd>(simd: S, of: [f64; 3]) -> [F64x8<S>; 3] {
    [F64x8::splat(simd, of[0]), F64x8::splat(simd, of[1]), F64x8::splat(simd, of[2])]
}

/// Eight rays under way.
#[derive(Clone, Copy)]
struct RayLanes<S: Simd> {
    simd: S,
    origin: [F64x8<S>; 3],
    direction: [F64x8<S>; 3],
    inverse: [F64x8<S>; 3],
    /// One cell on along each axis: 1 or -1.
    step: [F64x8<S>; 3],
    /// Far side of cell 0 along each axis, from the origin.
    far: [F64x8<S>; 3],
    t: F64x8<S>,
    end: F64x8<S>,
    /// Which rays they are.
    ray: I32x8<S>,
    active: u8,
}

#[inline(always)]
fn cast_part<S: Simd>(simd: S, scene: &RayMap<S>, mut work: RaySlices) {
    work.distances_m.fill(f64::INFINITY);
    work.voxels.fill(NO_VOXEL);
    let mut groups = [RayLanes::idle(simd); GROUPS];
    loop {
        let mut active = 0;
        for lanes in &mut groups {
            if lanes.active.count_ones() < FEW && work.taken < work.max_m.len() {
                lanes.take_rays(scene, &mut work);
            }
            lanes.advance(scene, &mut work);
            active |= lanes.active;
        }
        if active == 0 && work.taken == work.max_m.len() {
            return;
        }
    }
}

impl<S: Simd> RayLanes<S> {
    #[inline(always)]
    fn idle(simd: S) -> Self {
        let zero = [F64x8::splat(simd, 0.0); 3];
        Self {
            simd,
            origin: zero,
            direction: zero,
            inverse: zero,
            step: zero,
            far: zero,
            t: zero[0],
            end: zero[0],
            ray: I32x8::splat(simd, 0),
            active: 0,
        }
    }

    /// The next rays go into the lanes that have none.
    #[inline(always)]
    fn take_rays(&mut self, scene: &RayMap<S>, work: &mut RaySlices) {
        let simd = self.simd;
        let start = work.taken;
        let mut idle = !self.active;
        while idle.count_ones() as usize > work.max_m.len() - start {
            idle &= idle - 1;
        }
        work.taken += idle.count_ones() as usize;
        let next = start..work.taken;
        let (zero, one) = (F64x8::splat(simd, 0.0), F64x8::splat(simd, 1.0));
        let (mut t, mut end) =
            (zero, F64x8::expand(simd, idle, &work.max_m[next.clone()]) * scene.scale);
        for a in 0..3 {
            let origin = F64x8::expand(simd, idle, &work.origins_m[a][next.clone()]);
            let origin = (origin - scene.lower_m[a]) * scene.scale;
            let given = F64x8::expand(simd, idle, &work.directions[a][next.clone()]);
            let still = F64x8::splat(simd, STILL);
            let direction = still.where_or(given.abs().lt(still), given);
            let inverse = one / direction;
            let low = (zero - origin) * inverse;
            let high = (scene.size[a] - origin) * inverse;
            t = t.max(low.min(high));
            end = end.min(low.max(high));
            let back = direction.lt(zero);
            let step = F64x8::splat(simd, -1.0).where_or(back, one);
            let far = zero.where_or(back, one) - origin;
            self.origin[a] = origin.where_or(idle, self.origin[a]);
            self.direction[a] = direction.where_or(idle, self.direction[a]);
            self.inverse[a] = inverse.where_or(idle, self.inverse[a]);
            self.step[a] = step.where_or(idle, self.step[a]);
            self.far[a] = far.where_or(idle, self.far[a]);
        }
        let order = I32x8::load(simd, &[0, 1, 2, 3, 4, 5, 6, 7]);
        self.ray = self.ray.replaced(idle, order + I32x8::splat(simd, start as i32));
        self.t = t.where_or(idle, self.t);
        self.end = end.where_or(idle, self.end);
        self.active |= idle & t.le(end);
    }

    /// One step of all lanes that are under way.
    #[inline(always)]
    fn advance(&mut self, scene: &RayMap<S>, work: &mut RaySlices) {
        let mut exit = F64x8::splat(self.simd, f64::INFINITY);
        let zero = F64x8::splat(self.simd, 0.0);
        let mut cell = [zero; 3];
        for a in 0..3 {
            let floor = (self.origin[a] + self.t * self.direction[a]).floor();
            let side = (floor + self.far[a]) * self.inverse[a];
            let passed = side.le(self.t);
            let floor = (floor + self.step[a]).where_or(passed, floor);
            let side = (side + self.inverse[a].abs()).where_or(passed, side);
            exit = exit.min(side);
            cell[a] = floor.max(zero).min(scene.last[a]);
        }
        // Whole numbers below 2^53: exact, fused or not.
        let row = cell[2] * scene.size[1] + cell[1];
        let key = (row * scene.size[0] + cell[0]).truncate();
        let gap2 = key.look_up_u16(scene.gap2, self.active);
        let near = self.active & !gap2.nonzero();
        if near != 0 {
            self.find_hits(scene, near, cell, row, key, work);
        }
        let clear = gap2.single_roots() - SLACK;
        self.t = exit.max(self.t + clear);
        self.active &= self.t.le(self.end);
    }

    /// Answers the lanes among `near` that are in an occupied cell.
    #[inline(always)]
    fn find_hits(
        &mut self,
        scene: &RayMap<S>,
        near: u8,
        cell: [F64x8<S>; 3],
        row: F64x8<S>,
        key: I32x8<S>,
        work: &mut RaySlices,
    ) {
        let x = cell[0].truncate();
        // A word of 64 bits is two of 32, the lower first.
        let word = row.truncate() * scene.row_words32 + x.shift_right(5);
        let bits = word.look_up_halves(scene.words, near).shift_right_each(x & 31);
        let hit = near & (bits & 1).nonzero();
        if hit == 0 {
            return;
        }
        let (zero, one) = (F64x8::splat(self.simd, 0.0), F64x8::splat(self.simd, 1.0));
        let mut entry = zero;
        for a in 0..3 {
            let back = self.direction[a].lt(zero);
            let near_side = (cell[a] + one).where_or(back, cell[a]);
            entry = entry.max((near_side - self.origin[a]) * self.inverse[a]);
        }
        (entry * scene.voxel_m).scatter(work.distances_m, self.ray, hit);
        key.scatter(work.voxels, self.ray, hit);
        self.active &= !hit;
    }
}
