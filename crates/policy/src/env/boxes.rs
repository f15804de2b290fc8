//! Boxes along the axes of the map: what is in the way.

use citrange_core::shape::{PosedLinkShape, PosedShape, Shape};
use citrange_lanes::{F32x16, LANES, Lanes, Simd, Triple, dot, kernel, store};
use citrange_plan::Obstacles;
use citrange_space::MapSnapshot;
use nalgebra::Vector3;

/// Where boxes are that are none.
const NOWHERE_M: f32 = 1e3;

/// Solids are cut into at most so many cells along an edge.
const MOST_CELLS: usize = 256;

/// A box along the axes of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Its lower corner, in metres.
    pub low_m: [f32; 3],
    /// Its upper corner.
    pub high_m: [f32; 3],
}

impl Aabb {
    /// A box around its middle.
    #[must_use]
    pub fn around(middle_m: [f32; 3], half_m: [f32; 3]) -> Self {
        Self {
            low_m: std::array::from_fn(|a| middle_m[a] - half_m[a]),
            high_m: std::array::from_fn(|a| middle_m[a] + half_m[a]),
        }
    }

    /// A floor without end, below a height.
    #[must_use]
    pub fn floor(height_m: f32) -> Self {
        Self { low_m: [-20.0, -20.0, height_m - 2.0], high_m: [20.0, 20.0, height_m] }
    }

    /// As the cells of a grid that it is in: what a map would have of it.
    #[must_use]
    pub fn as_voxels(&self, voxel_m: f32) -> Self {
        Self {
            low_m: self.low_m.map(|x| (x / voxel_m + 1e-4).floor() * voxel_m),
            high_m: self.high_m.map(|x| (x / voxel_m - 1e-4).ceil() * voxel_m),
        }
    }

    /// For the planner.
    #[must_use]
    pub fn solid(&self) -> PosedShape {
        let middle = std::array::from_fn(|a| f64::from(self.low_m[a] + self.high_m[a]) / 2.0);
        let half = std::array::from_fn(|a| f64::from(self.high_m[a] - self.low_m[a]) / 2.0);
        PosedShape::cuboid(middle, [1.0, 0.0, 0.0, 0.0], half)
    }

    /// Distance of a point; 0 inside.
    #[must_use]
    pub fn distance_m(&self, point_m: [f64; 3]) -> f64 {
        let out = |a: usize| {
            let (low, high) = (f64::from(self.low_m[a]), f64::from(self.high_m[a]));
            (low - point_m[a]).max(point_m[a] - high).max(0.0)
        };
        (0..3).map(|a| out(a) * out(a)).sum::<f64>().sqrt()
    }
}

/// Boxes of sixteen copies. The first one is the floor of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneBoxes {
    pub(crate) low_m: Vec<[Lanes; 3]>,
    pub(crate) high_m: Vec<[Lanes; 3]>,
    pub(crate) velocity_m_s: Vec<[Lanes; 3]>,
    counts: [usize; LANES],
}

impl LaneBoxes {
    /// How many boxes the fullest lane has.
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// Takes another lane's boxes.
    pub(crate) fn set(&mut self, lane: usize, boxes: &[(Aabb, [f32; 3])]) {
        let nothing = [Lanes::splat(NOWHERE_M); 3];
        if self.low_m.len() < boxes.len() {
            self.low_m.resize(boxes.len(), nothing);
            self.high_m.resize(boxes.len(), nothing);
            self.velocity_m_s.resize(boxes.len(), [Lanes::splat(0.0); 3]);
        }
        for index in 0..self.low_m.len() {
            let (low, high, speed) = match boxes.get(index) {
                Some((of, speed)) => (of.low_m, of.high_m, *speed),
                None => ([NOWHERE_M; 3], [NOWHERE_M; 3], [0.0; 3]),
            };
            for axis in 0..3 {
                self.low_m[index][axis].0[lane] = low[axis];
                self.high_m[index][axis].0[lane] = high[axis];
                self.velocity_m_s[index][axis].0[lane] = speed[axis];
            }
        }
        self.counts[lane] = boxes.len();
    }

    /// The boxes of a lane as they are now.
    pub(crate) fn get(&self, lane: usize) -> Vec<(Aabb, [f32; 3])> {
        let of = |from: &[[Lanes; 3]], index: usize| from[index].map(|axis| axis.0[lane]);
        let each = (0..self.counts[lane]).map(|index| {
            let (low_m, high_m) = (of(&self.low_m, index), of(&self.high_m, index));
            (Aabb { low_m, high_m }, of(&self.velocity_m_s, index))
        });
        each.collect()
    }

    /// The same boxes for all lanes.
    pub(crate) fn set_all(&mut self, boxes: &[(Aabb, [f32; 3])]) {
        (0..LANES).for_each(|lane| self.set(lane, boxes));
    }

    /// Lets everything move for a time.
    pub(crate) fn pass(&mut self, time_s: f32) {
        let corners = self.low_m.iter_mut().zip(&mut self.high_m);
        for ((low, high), speed) in corners.zip(&self.velocity_m_s) {
            for axis in 0..3 {
                for lane in 0..LANES {
                    let step = speed[axis].0[lane] * time_s;
                    low[axis].0[lane] += step;
                    high[axis].0[lane] += step;
                }
            }
        }
    }

    /// The way from the nearest box to a point in every lane, and its squared length.
    #[inline(always)]
    pub(crate) fn nearest<S: Simd>(
        &self,
        simd: S,
        first: usize,
        point: &Triple<S>,
    ) -> (Triple<S>, F32x16<S>) {
        let mut best2 = simd.splat(NOWHERE_M * NOWHERE_M);
        let mut best = [simd.splat(NOWHERE_M), simd.splat(0.0), simd.splat(0.0)];
        let count = self.len().min(self.low_m.len()).min(self.high_m.len());
        for index in first.min(count)..count {
            let (low, high) = (simd.load3(&self.low_m[index]), simd.load3(&self.high_m[index]));
            let away = [
                point[0] - point[0].max(low[0]).min(high[0]),
                point[1] - point[1].max(low[1]).min(high[1]),
                point[2] - point[2].max(low[2]).min(high[2]),
            ];
            let distance2 = dot(&away, &away);
            let is_nearer = distance2.lt(best2);
            best2 = is_nearer.select(distance2, best2);
            best[0] = is_nearer.select(away[0], best[0]);
            best[1] = is_nearer.select(away[1], best[1]);
            best[2] = is_nearer.select(away[2], best[2]);
        }
        (best, best2)
    }
}

kernel! {
    /// Distance and direction away from the nearest box for one point of each lane.
    pub(crate) fn nearest_of(
        simd, boxes: &LaneBoxes, point: &[Lanes; 3], distance: &mut Lanes, away: &mut [Lanes; 3],
    ) {
        let (way, distance2) = boxes.nearest(simd, 0, &simd.load3(point));
        let length = distance2.sqrt();
        let scale = simd.splat(1.0) / length.max(simd.splat(1e-9));
        length.store(&mut distance.0);
        store(&[way[0] * scale, way[1] * scale, way[2] * scale], away);
    }
}

/// Everything in a robot's way as boxes: voxels as they are, runs of them as one; boxes along the
/// axes as they are; all else as the cells of `voxel_m` that it is in. Only what is within
/// `within_m` of `middle_m` counts.
#[must_use]
pub fn boxes_around(
    obstacles: &Obstacles,
    middle_m: [f64; 3],
    within_m: f64,
    voxel_m: f64,
) -> Vec<Aabb> {
    let mut boxes = Vec::new();
    if let Some(map) = &obstacles.map {
        runs(map, &mut boxes);
    }
    for solid in &obstacles.solids {
        match as_box(solid) {
            Some(of) => boxes.push(of),
            None => cut(solid, middle_m, within_m, voxel_m, &mut boxes),
        }
    }
    boxes.retain(|of| of.distance_m(middle_m) < within_m);
    boxes
}

/// Voxels of a map: runs along x, then equal runs of rows above each other in y as one box.
fn runs(map: &MapSnapshot, to: &mut Vec<Aabb>) {
    let grid = map.grid();
    let (edge, lower) = (grid.voxel_m(), grid.lower_m());
    // Of the plane: runs that may still grow along y, with the row that they end at.
    let mut open: Vec<([usize; 2], [usize; 2], usize)> = Vec::new();
    let mut finish = |(x, y, z): ([usize; 2], [usize; 2], usize)| {
        let at = |axis: usize, cell: usize| (lower[axis] + cell as f64 * edge) as f32;
        to.push(Aabb {
            low_m: [at(0, x[0]), at(1, y[0]), at(2, z)],
            high_m: [at(0, x[1]), at(1, y[1]), at(2, z + 1)],
        });
    };
    let mut voxels = map.voxels().iter().map(|voxel| grid.cell_of(voxel.key)).peekable();
    while let Some([x, y, z]) = voxels.next() {
        let mut end = x + 1;
        while voxels.peek() == Some(&[end, y, z]) {
            voxels.next();
            end += 1;
        }
        let run = [x, end];
        match open.iter_mut().find(|(x, ys, at)| *x == run && ys[1] == y && *at == z) {
            Some((_, ys, _)) => ys[1] = y + 1,
            None => open.push((run, [y, y + 1], z)),
        }
        open.retain(|run| {
            let may_grow = run.2 == z && run.1[1] + 1 > y;
            if !may_grow {
                finish(*run);
            }
            may_grow
        });
    }
    open.into_iter().for_each(finish);
}

/// A box whose edges are along the axes.
fn as_box(solid: &PosedShape) -> Option<Aabb> {
    let Shape::Box { half_m } = &solid.shape else { return None };
    let pose = solid.pose.isometry();
    let rotation = pose.rotation.to_rotation_matrix();
    if rotation.matrix().iter().any(|n| n.abs() > 1e-6 && (n.abs() - 1.0).abs() > 1e-6) {
        return None;
    }
    let half = rotation.matrix().abs() * Vector3::from(*half_m);
    let middle = pose.translation.vector;
    Some(Aabb::around(
        std::array::from_fn(|a| middle[a] as f32),
        std::array::from_fn(|a| half[a] as f32),
    ))
}

/// Any shape as the cells that it is in, runs of them as one box.
fn cut(solid: &PosedShape, middle_m: [f64; 3], within_m: f64, voxel_m: f64, to: &mut Vec<Aabb>) {
    let solid = PosedLinkShape::new(0, &solid.pose, &solid.shape);
    let [low, high] = solid.bounds_m(0.0);
    let first: [f64; 3] =
        std::array::from_fn(|a| (low[a].max(middle_m[a] - within_m) / voxel_m).floor());
    let last: [f64; 3] =
        std::array::from_fn(|a| (high[a].min(middle_m[a] + within_m) / voxel_m).ceil());
    let count = |a: usize| ((last[a] - first[a]).max(0.0) as usize).min(MOST_CELLS);
    let touch_m = voxel_m * 3.0_f64.sqrt() / 2.0;
    let centre = |cell: [usize; 3]| -> [f64; 3] {
        std::array::from_fn(|a| (first[a] + cell[a] as f64 + 0.5) * voxel_m)
    };
    for z in 0..count(2) {
        for y in 0..count(1) {
            let mut begin = None;
            for x in 0..=count(0) {
                let is_in = x < count(0) && solid.distance_m(centre([x, y, z])) <= touch_m;
                match (is_in, begin) {
                    (true, None) => begin = Some(x),
                    (false, Some(from)) => {
                        begin = None;
                        let corner = |cell: [usize; 3]| -> [f32; 3] {
                            std::array::from_fn(|a| ((first[a] + cell[a] as f64) * voxel_m) as f32)
                        };
                        to.push(Aabb {
                            low_m: corner([from, y, z]),
                            high_m: corner([x, y + 1, z + 1]),
                        });
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use citrange_core::Pose;
    use citrange_core::rng::Rng;
    use citrange_lanes::Isa;
    use citrange_space::Grid;

    use super::*;

    /// The distance and the direction that a policy senses are those that the map answers.
    #[test]
    fn boxes_of_a_map_are_as_far_as_the_map_says() {
        let grid = Grid::new([-0.5, -1.0, -0.1], [1.2, 1.25, 1.5], 0.05).unwrap();
        let mut rng = Rng::new(9);
        let mut keys: Vec<u32> = (0..150).map(|_| rng.below(grid.cells()) as u32).collect();
        for _ in 0..4 {
            let corner = [rng.below(25), rng.below(35), rng.below(22)];
            for i in 0..(5 * 6 * 4) {
                keys.push(grid.key([corner[0] + i % 5, corner[1] + i / 5 % 6, corner[2] + i / 30]));
            }
        }
        let map = MapSnapshot::from_voxels(&grid, &keys).unwrap();
        let obstacles = Obstacles { map: Some(Arc::new(map.clone())), ..Obstacles::default() };
        let boxes = boxes_around(&obstacles, [0.0; 3], 10.0, 0.05);
        assert!(boxes.len() < map.voxels().len());
        let moving: Vec<_> = boxes.iter().map(|of| (*of, [0.0; 3])).collect();
        let mut lanes = LaneBoxes::default();
        lanes.set_all(&moving);
        for _ in 0..200 {
            let points: [[f64; 3]; LANES] = std::array::from_fn(|_| {
                [rng.uniform(-0.7, 1.4), rng.uniform(-1.2, 1.4), rng.uniform(-0.2, 1.6)]
            });
            let point: [Lanes; 3] =
                std::array::from_fn(|a| Lanes(std::array::from_fn(|l| points[l][a] as f32)));
            let (mut distance, mut away) = (Lanes::splat(0.0), [Lanes::splat(0.0); 3]);
            nearest_of(Isa::best(), &lanes, &point, &mut distance, &mut away);
            for lane in 0..LANES {
                let told = map.distance(points[lane]);
                if told.distance_m < 0.45 {
                    let ours = f64::from(distance.0[lane]);
                    assert!((ours - told.distance_m).abs() < 1e-5, "{ours} {told:?}");
                    if told.distance_m > 1e-3 {
                        let along: f64 =
                            (0..3).map(|a| f64::from(away[a].0[lane]) * told.gradient[a]).sum();
                        // Two cubes may be equally far.
                        let other = boxes
                            .iter()
                            .filter(|b| b.distance_m(points[lane]) < told.distance_m + 1e-5);
                        assert!(along > 0.999 || other.count() > 1, "{along}");
                    }
                }
            }
        }
    }

    /// Cells hold all of what they stand for.
    #[test]
    fn solids_are_inside_of_their_cells() {
        let pose = Pose { pos_m: [0.4, 0.1, 0.3], quat_wxyz: [0.9238795, 0.3826834, 0.0, 0.0] };
        let solids = [
            PosedShape::sphere([0.3, -0.2, 0.5], 0.11),
            PosedShape::new(pose, Shape::Box { half_m: [0.2, 0.05, 0.1] }),
            PosedShape::cylinder(pose, 0.05, 0.2),
        ];
        let mut rng = Rng::new(1);
        for solid in solids {
            let boxes = boxes_around(&Obstacles::of(vec![solid.clone()]), [0.0; 3], 2.0, 0.05);
            let mut inside = 0;
            for _ in 0..20_000 {
                let p = [rng.uniform(0.0, 0.8), rng.uniform(-0.5, 0.5), rng.uniform(0.0, 0.8)];
                if PosedLinkShape::new(0, &solid.pose, &solid.shape).distance_m(p) <= 0.0 {
                    inside += 1;
                    assert!(boxes.iter().any(|b| b.distance_m(p) < 1e-6), "{p:?}");
                }
            }
            // The cylinder has the 200th part of the room.
            assert!(inside > 50, "{inside}");
        }
    }
}
