//! Statistical outliers against an implementation that looks at all pairs in f64.

use citrange_core::rng::Rng;
use citrange_space::{Isa, OutlierMode, OutlierScratch, Outliers, PictureXyz};
use proptest::prelude::*;

/// Open3D's rules, all pairs. Says per point: no point, kept, outlier, or too close to say.
fn by_all_pairs(cloud: &Axes, k: usize, ratio: f64) -> Vec<Option<bool>> {
    let points: Vec<Option<[f64; 3]>> = (0..cloud.x.len())
        .map(|i| {
            let p = [cloud.x[i], cloud.y[i], cloud.z[i]].map(f64::from);
            p.iter().all(|c| c.is_finite()).then_some(p)
        })
        .collect();
    let n = points.iter().flatten().count();
    let count = k.min(n);
    let value = |p: &[f64; 3]| {
        let mut d: Vec<f64> = (points.iter().flatten())
            .map(|q| (0..3).map(|a| (p[a] - q[a]).powi(2)).sum::<f64>().sqrt())
            .collect();
        d.sort_by(f64::total_cmp);
        d[..count].iter().sum::<f64>() / count as f64
    };
    let values: Vec<Option<f64>> = points.iter().map(|p| p.as_ref().map(value)).collect();
    let above = || values.iter().flatten().filter(|v| **v > 0.0);
    let mean = above().sum::<f64>() / n as f64;
    let squares = above().map(|v| (v - mean).powi(2)).sum::<f64>();
    let threshold = mean + ratio * (squares / (n as f64 - 1.0)).sqrt();
    let close = |v: f64| (v - threshold).abs() < 1e-12 * threshold;
    values
        .iter()
        .map(|v| match v {
            Some(v) if close(*v) => None,
            Some(v) => Some(!(*v > 0.0 && *v < threshold)),
            None => Some(false),
        })
        .collect()
}

#[derive(Clone, Debug, Default)]
struct Axes {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    width: usize,
}

impl Axes {
    fn of(points: &[[f32; 3]], width: usize) -> Self {
        let axis = |a: usize| points.iter().map(|p| p[a]).collect();
        Self { x: axis(0), y: axis(1), z: axis(2), width }
    }

    /// A picture of a pinhole camera with these depths.
    fn picture(depths_m: &[f32], width: usize, focal_px: f32) -> Self {
        let height = depths_m.len() / width;
        let points: Vec<_> = depths_m
            .iter()
            .enumerate()
            .map(|(i, &z)| {
                let column = (i % width) as f32 - width as f32 * 0.4;
                let row = (i / width) as f32 - height as f32 * 0.6;
                [column / focal_px * z, row / focal_px * z, z]
            })
            .collect();
        Self::of(&points, width)
    }

    fn find(&self, settings: &Outliers, isa: Isa, threads: usize) -> Vec<bool> {
        let picture = PictureXyz { x: &self.x, y: &self.y, z: &self.z, width: self.width };
        OutlierScratch::default().find(&picture, settings, isa, threads).to_vec()
    }

    /// Every instruction set and thread count finds what all pairs say.
    fn check(&self, neighbours: usize, std_ratio: f64) {
        let settings = Outliers { neighbours, std_ratio, mode: OutlierMode::Exact };
        let expected = by_all_pairs(self, neighbours, std_ratio);
        let first = self.find(&settings, Isa::SCALAR, 1);
        for (i, (found, expected)) in first.iter().zip(&expected).enumerate() {
            if let Some(expected) = expected {
                assert_eq!(found, expected, "point {i}");
            }
        }
        for isa in Isa::available() {
            for threads in 1..=3 {
                assert_eq!(first, self.find(&settings, isa, threads), "{isa:?}, {threads} threads");
            }
        }
    }
}

/// Numbers that look like chance and are the same every time.
fn noise(seed: u32) -> impl FnMut() -> f32 {
    let mut rng = Rng::new(seed.into());
    move || (rng.next_u64() >> 40) as f32 / 16_777_216.0
}

/// A scene with a slanted plane, a step, holes, noise and isolated points.
fn scene(width: usize, height: usize, seed: u32, hole: f32, lonely: f32) -> Vec<f32> {
    let mut chance = noise(seed);
    let (slant, step_at) = (chance() * 0.02, (chance() * width as f32) as usize);
    (0..width * height)
        .map(|i| {
            let (column, row) = (i % width, i / width);
            let step = if column > step_at { 0.4 } else { 0.0 };
            let depth = 1.0 + slant * row as f32 + step + 0.003 * chance();
            let (kind, far) = (chance(), chance());
            if kind < hole {
                f32::NAN
            } else if kind < hole + lonely {
                depth * (0.3 + 0.7 * far)
            } else {
                depth
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pictures_are_exact(
        width in 2_usize..70,
        height in 1_usize..30,
        seed in 0_u32..10_000,
        hole in prop::sample::select(vec![0.0_f32, 0.1, 0.6, 0.97]),
        lonely in prop::sample::select(vec![0.0_f32, 0.02, 0.3]),
        focal_px in prop::sample::select(vec![30.0_f32, 300.0, 600.0]),
        neighbours in prop::sample::select(vec![2_usize, 3, 9, 20, 21, 64]),
        ratio in prop::sample::select(vec![0.5, 1.0, 2.0]),
    ) {
        let depths = scene(width, height, seed, hole, lonely);
        Axes::picture(&depths, width, focal_px).check(neighbours, ratio);
    }

    #[test]
    fn unordered_clouds_are_exact(
        points in 0_usize..900,
        seed in 0_u32..10_000,
        neighbours in prop::sample::select(vec![2_usize, 5, 20, 64]),
        scale in prop::sample::select(vec![1e-3_f32, 1.0, 1e4]),
        ratio in prop::sample::select(vec![0.5, 2.0]),
    ) {
        let mut chance = noise(seed);
        let cloud: Vec<[f32; 3]> = (0..points)
            .map(|i| match i % 50 {
                0 => [f32::NAN, 0.0, 0.0],
                1 => [chance() * 9.0, -chance() * 9.0, chance() * 9.0].map(|c| c * scale),
                _ => [chance(), chance(), chance() * 0.1 - 0.5].map(|c| c * scale),
            })
            .collect();
        Axes::of(&cloud, points).check(neighbours, ratio);
    }

    #[test]
    fn duplicates_are_counted_as_open3d_does(
        points in 1_usize..400,
        seed in 0_u32..10_000,
        neighbours in prop::sample::select(vec![2_usize, 5, 20]),
    ) {
        let mut chance = noise(seed);
        let cloud: Vec<[f32; 3]> =
            (0..points).map(|_| [(chance() * 8.0).floor(), (chance() * 4.0).floor(), 1.0]).collect();
        Axes::of(&cloud, points).check(neighbours, 2.0);
    }
}

#[test]
fn large_pictures_with_gaps_are_exact() {
    let depths = scene(130, 40, 3, 0.3, 0.03);
    let mut cloud = Axes::picture(&depths, 130, 600.0);
    for i in 0..cloud.x.len() {
        if (30..90).contains(&(i % 130)) && i / 130 > 5 {
            cloud.y[i] = f32::NAN;
        }
    }
    cloud.check(20, 2.0);
}

#[test]
fn pictures_of_no_pinhole_camera_are_exact() {
    let mut cloud = Axes::picture(&scene(60, 20, 5, 0.1, 0.02), 60, 300.0);
    // One point is not where its pixel looks, and a wave goes over all.
    cloud.x[333] += 0.2;
    cloud.check(20, 2.0);
    for i in 0..cloud.x.len() {
        cloud.x[i] += 0.05 * (i as f32).sin();
    }
    cloud.check(20, 2.0);
}

#[test]
fn points_behind_the_camera_are_exact() {
    let mut cloud = Axes::picture(&scene(60, 20, 7, 0.1, 0.02), 60, 300.0);
    for i in (0..cloud.x.len()).step_by(97) {
        (cloud.x[i], cloud.y[i], cloud.z[i]) = (-cloud.x[i], -cloud.y[i], -cloud.z[i]);
    }
    cloud.z[100] = 0.0;
    cloud.check(20, 2.0);
}

#[test]
fn clouds_with_next_to_nothing() {
    let settings = Outliers::default();
    let nothing = Axes::of(&[], 0);
    assert!(nothing.find(&settings, Isa::best(), 2).is_empty());
    let unseen = Axes::of(&[[f32::NAN; 3]; 640], 32);
    assert_eq!(unseen.find(&settings, Isa::best(), 2), [false; 640]);
    // What Open3D 0.20 says of these.
    let one = Axes::of(&[[0.0, 0.0, 1.0]], 1);
    assert_eq!(one.find(&settings, Isa::best(), 1), [true]);
    let two = Axes::of(&[[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]], 2);
    assert_eq!(two.find(&settings, Isa::best(), 1), [true, true]);
    let four = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [10.0, 0.0, 0.0]];
    let four = Axes::of(&four, 4);
    assert_eq!(four.find(&settings, Isa::best(), 1), [false; 4]);
    let strict = Outliers { std_ratio: 1.0, ..settings };
    assert_eq!(four.find(&strict, Isa::best(), 1), [false, false, false, true]);
    let mut same = vec![[0.0, 0.0, 0.0]; 5];
    same.extend([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]);
    let three = Outliers { neighbours: 3, ..settings };
    let expected = [true, true, true, true, true, false, false, true];
    assert_eq!(Axes::of(&same, 8).find(&three, Isa::best(), 1), expected);
}

#[test]
fn scratch_forgets_the_last_cloud() {
    let settings = Outliers::default();
    let mut scratch = OutlierScratch::default();
    for (width, height, seed) in [(90, 30, 1), (40, 50, 2), (90, 30, 3), (33, 7, 4), (90, 29, 5)] {
        let mut cloud = Axes::picture(&scene(width, height, seed, 0.2, 0.05), width, 300.0);
        for unordered in [false, true] {
            cloud.width = if unordered { cloud.x.len() } else { width };
            let Axes { x, y, z, width } = &cloud;
            let picture = PictureXyz { x, y, z, width: *width };
            let again = scratch.find(&picture, &settings, Isa::best(), 1);
            assert_eq!(again, cloud.find(&settings, Isa::best(), 1));
        }
    }
}

#[test]
fn fast_differs_in_few_points_and_on_no_processor() {
    let cloud = Axes::picture(&scene(300, 200, 11, 0.1, 0.01), 300, 600.0);
    let exact = cloud.find(&Outliers::default(), Isa::best(), 1);
    let settings = Outliers { mode: OutlierMode::Fast, ..Outliers::default() };
    let fast = cloud.find(&settings, Isa::SCALAR, 1);
    let outliers = exact.iter().filter(|o| **o).count();
    let different = exact.iter().zip(&fast).filter(|(a, b)| a != b).count();
    assert!(outliers > 100 && different * 50 < outliers, "{different} of {outliers}");
    for isa in Isa::available() {
        assert_eq!(fast, cloud.find(&settings, isa, 2), "{isa:?}");
    }
}

#[test]
fn neighbours_beyond_what_can_be_asked_for_are_taken_as_the_most() {
    let cloud = Axes::picture(&scene(40, 30, 13, 0.1, 0.05), 40, 300.0);
    let with = |neighbours| Outliers { neighbours, ..Outliers::default() };
    assert_eq!(cloud.find(&with(64), Isa::best(), 1), cloud.find(&with(9999), Isa::best(), 1));
    assert_eq!(cloud.find(&with(2), Isa::best(), 1), cloud.find(&with(0), Isa::best(), 1));
}

/// Clouds that make a search look at everything: each took minutes once.
#[test]
fn points_in_few_places_and_points_far_away_take_no_longer() {
    let settings = Outliers { neighbours: 20, std_ratio: 2.0, mode: OutlierMode::Exact };
    let count = 307_200;
    let find = |points: &[[f32; 3]]| Axes::of(points, points.len()).find(&settings, Isa::best(), 1);
    // All in one place: no value is above 0, so none stays.
    assert!(find(&vec![[0.1, -0.2, 0.7]; count]).iter().all(|outlier| *outlier));
    // In a few hundred places, and one point alone.
    let place = |i: usize| [(i % 17) as f32 * 0.01, (i % 29) as f32 * 0.02, 1.0];
    let mut few: Vec<_> = (0..count).map(place).collect();
    few[777] = [9.0, 9.0, 9.0];
    assert!(find(&few)[777]);
    // A cloud of a metre, and a point a thousand kilometres away: coarse cells hold all the others.
    let mut chance = noise(8);
    let mut wide: Vec<_> = (0..count).map(|_| [chance(), chance(), chance()]).collect();
    wide[5] = [1e6, 0.0, 0.0];
    let found = find(&wide);
    assert!(found[5] && found.iter().filter(|outlier| **outlier).count() == 1);
    // The same distance everywhere: all are on the threshold and have to be known exactly.
    let lattice = |i: usize| [i % 64, i / 64 % 64, i / 4096].map(|v| v as f32 * 0.125);
    let even: Vec<_> = (0..64 * 64 * 64).map(lattice).collect();
    let found = find(&even);
    assert!(found[0] && !found[32 * 4096 + 32 * 64 + 32]);
}
