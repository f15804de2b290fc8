//! Answers of a snapshot against straightforward formulas over all cubes.

use citrange_space::{Grid, MapSnapshot, NO_VOXEL, Nearest, RayBatch};
use proptest::prelude::*;

/// Rounding of the answers, far below a hair's breadth.
const TINY_M: f64 = 1e-9;

struct Cubes {
    grid: Grid,
    keys: Vec<u32>,
    snapshot: MapSnapshot,
}

impl Cubes {
    /// Cells at the borders and corners as often as anywhere.
    fn new(picks: &[[u32; 3]], voxel_m: f64, reach_m: f64) -> Self {
        let grid = Grid::new([-0.3, -0.4, -0.1], [0.51, 0.5, 0.6], voxel_m).unwrap();
        let keys = picks.iter().map(|pick| {
            grid.key(std::array::from_fn(|a| match pick[a] % 8 {
                0 => 0,
                1 => grid.size()[a] - 1,
                _ => pick[a] as usize / 8 % grid.size()[a],
            }))
        });
        let keys: Vec<u32> = keys.collect();
        let snapshot = MapSnapshot::from_voxels_within(&grid, &keys, reach_m).unwrap();
        Self { grid, keys, snapshot }
    }

    fn bounds_m(&self, key: u32) -> [[f64; 3]; 2] {
        let (centre, half) =
            (self.grid.centre_m(self.grid.cell_of(key)), self.grid.voxel_m() / 2.0);
        [centre.map(|c| c - half), centre.map(|c| c + half)]
    }

    fn distance_to_m(&self, key: u32, p: [f64; 3]) -> f64 {
        let [low, high] = self.bounds_m(key);
        let out: [f64; 3] = std::array::from_fn(|a| (low[a] - p[a]).max(p[a] - high[a]).max(0.0));
        (out[0] * out[0] + out[1] * out[1] + out[2] * out[2]).sqrt()
    }

    fn distance_m(&self, p: [f64; 3]) -> f64 {
        self.keys.iter().map(|k| self.distance_to_m(*k, p)).fold(f64::INFINITY, f64::min)
    }

    /// Entry into the first of the cubes, all grown by `grow_m` on each side.
    fn ray_m(&self, origin: [f64; 3], way: [f64; 3], grow_m: f64) -> f64 {
        let enter = |key: &u32| {
            let [low, high] = self.bounds_m(*key);
            let (mut first, mut last) = (0.0_f64, f64::INFINITY);
            for a in 0..3 {
                let (low, high) = (low[a] - grow_m - origin[a], high[a] + grow_m - origin[a]);
                if way[a] == 0.0 {
                    if low > 0.0 || high < 0.0 {
                        return f64::INFINITY;
                    }
                } else {
                    let (t0, t1) = (low / way[a], high / way[a]);
                    first = first.max(t0.min(t1));
                    last = last.min(t0.max(t1));
                }
            }
            if first <= last { first } else { f64::INFINITY }
        };
        self.keys.iter().map(enter).fold(f64::INFINITY, f64::min)
    }

    /// Distance of a segment, by ternary search on a convex function.
    fn segment_m(&self, key: u32, from: [f64; 3], to: [f64; 3]) -> f64 {
        let at = |t: f64| std::array::from_fn(|a| from[a] + t * (to[a] - from[a]));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.distance_to_m(key, at(a)) <= self.distance_to_m(key, at(b)) {
                high = b;
            } else {
                low = a;
            }
        }
        [0.0, 1.0, low].map(|t| self.distance_to_m(key, at(t))).into_iter().fold(f64::MAX, f64::min)
    }
}

fn cubes() -> impl Strategy<Value = Cubes> {
    let voxel_m = prop_oneof![Just(0.02), Just(0.05)];
    let reach_m = prop_oneof![Just(0.5), Just(0.12)];
    let picks = prop::collection::vec([any::<u32>(), any::<u32>(), any::<u32>()], 0..40);
    (picks, voxel_m, reach_m)
        .prop_map(|(picks, voxel_m, reach_m)| Cubes::new(&picks, voxel_m, reach_m))
}

fn point() -> [std::ops::Range<f64>; 3] {
    [-0.7..0.9, -0.7..0.9, -0.5..1.0]
}

impl std::fmt::Debug for Cubes {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.grid, self.keys)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn distances_are_those_of_the_nearest_cube(
        cubes in cubes(), points in prop::collection::vec(point(), 40),
    ) {
        let mut answers = vec![Nearest::default(); points.len()];
        cubes.snapshot.distances(&points, &mut answers).unwrap();
        let reach_m = cubes.snapshot.reach_m();
        for (p, answer) in points.into_iter().zip(answers) {
            let expected_m = cubes.distance_m(p);
            prop_assert!(cubes.snapshot.lower_bound_m(p) <= expected_m + TINY_M);
            let Some(key) = answer.voxel else {
                prop_assert!(expected_m >= reach_m - TINY_M);
                prop_assert_eq!(answer.distance_m, reach_m);
                prop_assert_eq!(answer.gradient, [0.0; 3]);
                continue;
            };
            prop_assert!((answer.distance_m - expected_m).abs() < TINY_M);
            prop_assert!((cubes.distance_to_m(key, p) - expected_m).abs() < TINY_M);
            prop_assert!(cubes.keys.contains(&key));
            if expected_m == 0.0 {
                prop_assert_eq!(answer.gradient, [0.0; 3]);
                continue;
            }
            // A step away from this cube is as much further from it.
            let further = std::array::from_fn(|a| p[a] + 1e-3 * answer.gradient[a]);
            let norm = answer.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            prop_assert!((norm - 1.0).abs() < 1e-9);
            prop_assert!((cubes.distance_to_m(key, further) - expected_m - 1e-3).abs() < 1e-8);
        }
    }

    #[test]
    fn rays_enter_the_first_cube(
        cubes in cubes(),
        rays in prop::collection::vec((point(), [-1.0_f64..1.0, -1.0_f64..1.0, -1.0_f64..1.0],
            prop_oneof![Just(f64::INFINITY), 0.0_f64..1.0], 0_usize..6), 50),
    ) {
        let (mut o, mut d, mut max_m) = ([vec![], vec![], vec![]], [vec![], vec![], vec![]], vec![]);
        for (origin, mut way, length_m, kind) in rays {
            // Some along an axis, some in a plane.
            if kind < 3 { way[kind] = 0.0; }
            if kind == 0 { way[1] = 0.0; }
            let norm = way.iter().map(|v| v * v).sum::<f64>().sqrt();
            if norm < 1e-3 { continue; }
            for a in 0..3 {
                o[a].push(origin[a]);
                d[a].push(way[a] / norm);
            }
            max_m.push(length_m);
        }
        let (origins_m, directions) = ([&o[0][..], &o[1], &o[2]], [&d[0][..], &d[1], &d[2]]);
        let batch = RayBatch { origins_m, directions, max_m: &max_m };
        let (mut distances_m, mut voxels) = (vec![0.0; max_m.len()], vec![0; max_m.len()]);
        cubes.snapshot.rays(&batch, &mut distances_m, &mut voxels).unwrap();
        for i in 0..max_m.len() {
            let (origin, way) = (o.each_ref().map(|o| o[i]), d.each_ref().map(|d| d[i]));
            // Cubes a hair larger are hit no later, cubes a hair smaller no earlier.
            let early_m = cubes.ray_m(origin, way, TINY_M) - 1e-7;
            let late_m = cubes.ray_m(origin, way, -TINY_M) + 1e-7;
            if voxels[i] == NO_VOXEL {
                prop_assert_eq!(distances_m[i], f64::INFINITY);
                prop_assert!(late_m >= max_m[i], "{} {}", late_m, max_m[i]);
            } else {
                prop_assert!(early_m <= distances_m[i] && distances_m[i] <= late_m);
                prop_assert!(distances_m[i] <= max_m[i] + TINY_M);
                let at = std::array::from_fn(|a| origin[a] + distances_m[i] * way[a]);
                prop_assert!(cubes.distance_to_m(voxels[i], at) < TINY_M);
                prop_assert!(cubes.keys.contains(&voxels[i]));
            }
        }
    }

    #[test]
    fn spheres_touch_what_is_within_their_radius(
        cubes in cubes(),
        spheres in prop::collection::vec((point(), 0.0_f64..0.8), 50),
    ) {
        let (centres, radii): (Vec<_>, Vec<_>) = spheres.into_iter().unzip();
        let mut hits = vec![false; radii.len()];
        cubes.snapshot.spheres_hit(&centres, &radii, &mut hits).unwrap();
        for i in 0..hits.len() {
            let distance_m = cubes.distance_m(centres[i]);
            if (distance_m - radii[i]).abs() > TINY_M {
                prop_assert_eq!(hits[i], distance_m < radii[i]);
            }
        }
    }

    #[test]
    fn capsules_touch_what_is_within_their_radius(
        cubes in cubes(), from in point(), to in point(), near in 0.8_f64..1.2,
    ) {
        let distance_m =
            cubes.keys.iter().map(|k| cubes.segment_m(*k, from, to)).fold(1.0, f64::min);
        // Radii that just touch and just do not are the hard ones.
        for radius_m in [0.0, 0.03, 0.3, distance_m * near, distance_m - 1e-6, distance_m + 1e-6] {
            if (distance_m - radius_m).abs() > 1e-7 && distance_m < 1.0 {
                let hit = cubes.snapshot.capsule_hit(from, to, radius_m);
                prop_assert_eq!(hit, distance_m < radius_m, "{} {}", distance_m, radius_m);
            }
        }
    }
}

#[test]
fn nonsense_is_refused_or_answered_on_the_safe_side() {
    let cubes = Cubes::new(&[[100, 100, 100]], 0.05, 0.5);
    let snapshot = &cubes.snapshot;
    assert!(snapshot.distance([f64::NAN, 0.0, 0.0]).distance_m.is_nan());
    assert!(snapshot.sphere_hit([f64::NAN, 0.0, 0.0], 0.1));
    assert!(snapshot.sphere_hit([0.0; 3], f64::NAN));
    assert!(!snapshot.sphere_hit([9.0; 3], -1.0));
    assert!(snapshot.capsule_hit([0.0; 3], [f64::INFINITY, 0.0, 0.0], 0.1));
    assert!(snapshot.distances(&[[0.0; 3]], &mut []).is_err());
    let (mut distances_m, mut voxels) = ([0.0], [0]);
    let one = |origin: &[f64], way: &[f64], max_m: &[f64], d: &mut [f64], v: &mut [u32]| {
        let batch = RayBatch { origins_m: [origin; 3], directions: [way; 3], max_m };
        snapshot.rays(&batch, d, v).map_err(|e| e.to_string())
    };
    let unit = 1.0 / 3_f64.sqrt();
    one(&[0.0], &[unit], &[1.0], &mut distances_m, &mut voxels).unwrap();
    for (origin, way, max_m) in
        [(f64::NAN, unit, 1.0), (0.0, 1.0, 1.0), (0.0, f64::NAN, 1.0), (0.0, unit, -1.0)]
    {
        let error = one(&[origin], &[way], &[max_m], &mut distances_m, &mut voxels).unwrap_err();
        assert!(error.contains("ray 0"), "{error}");
    }
    assert!(one(&[0.0, 0.0], &[unit], &[1.0], &mut distances_m, &mut voxels).is_err());
}
