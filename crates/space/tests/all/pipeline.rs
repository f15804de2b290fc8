//! The pipeline against a plain f64 loop: same cells, same counts, same colours.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use citrange_cloud::{Cloud, Workspace};
use citrange_core::Pose;
use citrange_core::shape::{Mesh, PosedLinkShape, Shape};
use citrange_space::{
    Clusters, EndEffectorSpheres, Fate, Grid, Isa, Pipeline, PipelineSettings, PosedRobot,
    SelfFilter, SpaceError, VoxelFrame,
};
use proptest::prelude::*;

/// Everything off but the crop.
fn bare(voxel_size_m: f64) -> PipelineSettings {
    PipelineSettings {
        voxel_size_m,
        self_filter: None,
        support: None,
        clusters: None,
        num_voxels: 1 << 20,
        ..PipelineSettings::default()
    }
}

/// What a voxel should hold: points, sums of colours.
type Sums = BTreeMap<u32, (u32, [u32; 3])>;

/// A point of the camera in the world.
fn world(pose: &Pose, point: [f32; 3]) -> [f64; 3] {
    let rotation = pose.isometry().rotation.to_rotation_matrix();
    let p = point.map(f64::from);
    std::array::from_fn(|a| {
        rotation[(a, 0)] * p[0] + rotation[(a, 1)] * p[1] + rotation[(a, 2)] * p[2] + pose.pos_m[a]
    })
}

fn by_plain_loop(grid: &Grid, cloud: &Cloud, pose: &Pose, own: impl Fn([f64; 3]) -> bool) -> Sums {
    let mut sums = Sums::new();
    // Zeros are how some cameras write that they saw nothing.
    let seen = cloud.xyz_m.iter().zip(&cloud.rgb).filter(|(point, _)| **point != [0.0; 3]);
    for (point, rgb) in seen {
        let at = world(pose, *point);
        if let Some(cell) = grid.cell(at).filter(|_| !own(at)) {
            let sum = sums.entry(grid.key(cell)).or_default();
            sum.0 += 1;
            (0..3).for_each(|i| sum.1[i] += u32::from(rgb[i]));
        }
    }
    sums
}

fn assert_same(frame: &VoxelFrame, sums: &Sums) {
    let got: Vec<_> = frame.voxels.iter().map(|v| (v.key, v.points, v.rgb)).collect();
    let mean = |sum: u32, points: u32| (f64::from(sum) / f64::from(points)).round() as u8;
    let want: Vec<_> =
        sums.iter().map(|(key, (n, rgb))| (*key, *n, rgb.map(|sum| mean(sum, *n)))).collect();
    assert_eq!(got, want);
}

/// A coordinate of any kind: on a border of 5 cm cells, anywhere, huge, or none.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => (-60..60_i32).prop_map(|i| (f64::from(i) * 0.05) as f32),
        2 => (-60..60_i32).prop_map(|i| i as f32 * 0.05),
        2 => (-8..8_i32).prop_map(|i| i as f32 * 0.25),
        8 => -2.5..2.5_f32,
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY)],
        1 => prop_oneof![Just(f32::MAX), Just(-f32::MAX), Just(1e7_f32), Just(f32::MIN_POSITIVE)],
    ]
}

fn cloud_of(points: Vec<[f32; 3]>, seed: u8) -> Cloud {
    let colour = |i: usize| [i as u8 ^ seed, (i * 7) as u8, 255 - (i % 5) as u8];
    let rgb = (0..points.len()).map(colour).collect();
    let width = points.len();
    Cloud::new(points, rgb, width, 7).unwrap()
}

fn poses() -> impl Strategy<Value = Pose> {
    let quat = prop_oneof![
        Just([1.0, 0.0, 0.0, 0.0]),
        Just([0.0, 1.0, 0.0, 0.0]),
        Just([0.5, 0.5, -0.5, 0.5]),
        Just([1e-6, 0.0, 0.0, 1e-6]),
        prop::array::uniform4(-1.0..1.0_f64)
            .prop_filter("length", |q| { q.iter().map(|v| v * v).sum::<f64>() > 1e-3 }),
    ];
    let pos = prop_oneof![
        Just([0.0; 3]),
        prop::array::uniform3(-2.0..2.0_f64),
        prop::array::uniform3((-40..40_i32).prop_map(|i| f64::from(i) * 0.05)),
    ];
    (pos, quat).prop_map(|(pos_m, quat_wxyz)| Pose { pos_m, quat_wxyz })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cells_and_sums_are_those_of_f64(
        points in prop::collection::vec(prop::array::uniform3(coordinate()), 1..900),
        pose in poses(),
        voxel_size_m in prop_oneof![Just(0.05), Just(0.1), Just(0.25), 0.03..0.3_f64],
        upper_m in prop_oneof![Just([1.2, 1.25, 1.5]), prop::array::uniform3(0.1..2.0_f64)],
        seed in any::<u8>(),
    ) {
        let workspace = Workspace { lower_m: [-0.5, -1.0, -0.1], upper_m };
        let settings = PipelineSettings { workspace, ..bare(voxel_size_m) };
        let grid = settings.grid().unwrap();
        let cloud = cloud_of(points, seed);
        let sums = by_plain_loop(&grid, &cloud, &pose, |_| false);
        for isa in Isa::available() {
            for threads in [1, 2, 3] {
                let pipeline = Pipeline::new(settings.clone()).unwrap();
                let mut pipeline = pipeline.with_isa(isa).with_threads(threads);
                // Twice: the second run must find nothing of the first.
                pipeline.run(&cloud, &pose, &PosedRobot::default()).unwrap();
                let frame = pipeline.run_with_fates(&cloud, &pose, &PosedRobot::default()).unwrap();
                assert_same(frame, &sums);
                prop_assert_eq!(frame.counts.total(), cloud.xyz_m.len() as u64);
                let counts = frame.counts;
                for fate in Fate::ALL {
                    let found = pipeline.fates().iter().filter(|f| **f == fate).count();
                    prop_assert_eq!(counts.of(fate), found as u64, "{:?}", fate);
                }
            }
        }
    }

    #[test]
    fn the_robot_is_taken_away_to_the_point(
        points in prop::collection::vec(prop::array::uniform3(-0.9..0.9_f32), 1..1500),
        pose in poses(),
        shapes in 0..80_usize,
        voxel_size_m in 0.03..0.2_f64,
    ) {
        let shapes: Vec<PosedLinkShape> = (0..shapes).map(robot_part).collect();
        let hand = [0.2, 0.1, 0.3];
        let spheres = EndEffectorSpheres::default();
        let settings = PipelineSettings {
            self_filter: Some(SelfFilter { padding_m: 0.025 }),
            end_effector_spheres: Some(spheres.clone()),
            ..bare(voxel_size_m)
        };
        let grid = settings.grid().unwrap();
        let cloud = cloud_of(points, 0);
        let on_robot = |at: [f64; 3]| shapes.iter().any(|s| s.distance_m(at) <= 0.025);
        let in_sphere = |at: [f64; 3]| spheres.offsets_m.iter().any(|o| {
            let squared: f64 = (0..3).map(|a| (at[a] - hand[a] - o[a]).powi(2)).sum();
            squared.sqrt() <= spheres.radius_m
        });
        let sums = by_plain_loop(&grid, &cloud, &pose, |at| on_robot(at) || in_sphere(at));
        let inside = cloud.xyz_m.iter().map(|p| world(&pose, *p)).filter(|at| grid.contains(*at));
        let robots = inside.filter(|at| on_robot(*at)).count() as u64;
        for isa in Isa::available() {
            let mut pipeline = Pipeline::new(settings.clone()).unwrap().with_isa(isa);
            let robot = PosedRobot { shapes: &shapes, end_effector_m: Some(hand) };
            let frame = pipeline.run_with_fates(&cloud, &pose, &robot).unwrap();
            assert_same(frame, &sums);
            prop_assert_eq!(frame.counts.of(Fate::Robot), robots);
            prop_assert_eq!(frame.counts.total(), cloud.xyz_m.len() as u64);
            let counts = frame.counts;
            for fate in Fate::ALL {
                let found = pipeline.fates().iter().filter(|f| **f == fate).count();
                prop_assert_eq!(counts.of(fate), found as u64, "{:?}", fate);
            }
        }
    }

    #[test]
    fn groups_are_those_of_a_plain_search(
        cells in prop::collection::btree_set(prop::array::uniform3(0..7_usize), 0..90),
        least in 1..6_usize,
    ) {
        let workspace = Workspace { lower_m: [0.0; 3], upper_m: [0.7; 3] };
        let settings = PipelineSettings {
            workspace,
            clusters: Some(Clusters { min_voxels: least }),
            ..bare(0.1)
        };
        let grid = settings.grid().unwrap();
        let points = cells.iter().map(|c| grid.centre_m(*c).map(|v| v as f32)).collect();
        let mut pipeline = Pipeline::new(settings).unwrap();
        let frame =
            pipeline.run(&cloud_of(points, 0), &Pose::IDENTITY, &PosedRobot::default()).unwrap();
        let got: BTreeMap<u32, u32> = frame.voxels.iter().map(|v| (v.key, v.cluster)).collect();
        let (want, groups) = groups_by_search(&grid, cells.iter().copied().collect(), least);
        prop_assert_eq!(got, want);
        prop_assert_eq!(frame.clusters, groups);
    }
}

/// A part of a robot; every kind of shape in turn.
fn robot_part(index: usize) -> PosedLinkShape {
    let t = index as f64 * 0.37;
    let from = [t.sin() * 0.8, t.cos() * 0.8, (0.5 * t).sin().abs()];
    let size_m = 0.02 + 0.001 * t;
    let vertices = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.1], [0.0, 0.2, 0.0], [0.1, 0.1, 0.25]];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let shape = match index % 7 {
        0 | 4 => {
            return PosedLinkShape::capsule(0, from, [from[0], from[2], 0.2 * from[1]], size_m);
        }
        1 => Shape::Mesh(Arc::new(Mesh::new(vertices.to_vec(), triangles).unwrap())),
        2 => Shape::Ellipsoid { radii_m: [0.1, size_m, 0.05] },
        3 => Shape::Frustum { radius_m: 0.1, top_radius_m: size_m, half_height_m: 0.08 },
        5 => Shape::Ring { radius_m: 0.15, bar_radius_m: size_m },
        _ => Shape::Cylinder { radius_m: 0.1, half_height_m: size_m },
    };
    let quat_wxyz = [t.cos(), 0.3, t.sin(), 0.2 * t.sin()];
    PosedLinkShape::new(0, &Pose { pos_m: from, quat_wxyz }, &shape)
}

/// Breadth first, from the lowest key on.
fn groups_by_search(
    grid: &Grid,
    cells: Vec<[usize; 3]>,
    least: usize,
) -> (BTreeMap<u32, u32>, u32) {
    let mut left: BTreeMap<u32, [usize; 3]> =
        cells.into_iter().map(|cell| (grid.key(cell), cell)).collect();
    let (mut found, mut groups) = (BTreeMap::new(), 0);
    while let Some((_, start)) = left.pop_first() {
        let (mut group, mut queue) = (vec![start], VecDeque::from([start]));
        while let Some(cell) = queue.pop_front() {
            let touches = |other: &[usize; 3]| {
                let steps: Vec<usize> = (0..3).map(|a| cell[a].abs_diff(other[a])).collect();
                steps.iter().all(|s| *s <= 1) && steps.iter().sum::<usize>() <= 2
            };
            let near: Vec<u32> =
                left.iter().filter(|(_, other)| touches(other)).map(|(key, _)| *key).collect();
            for key in near {
                let other = left.remove(&key).unwrap();
                group.push(other);
                queue.push_back(other);
            }
        }
        if group.len() >= least {
            found.extend(group.into_iter().map(|cell| (grid.key(cell), groups)));
            groups += 1;
        }
    }
    (found, groups)
}

/// Points in the middle of cells along x, from `from`, each `times` times.
fn row(grid: &Grid, from: usize, cells: usize, times: usize) -> Vec<[f32; 3]> {
    (from..from + cells)
        .flat_map(|x| std::iter::repeat_n(grid.centre_m([x, 20, 5]).map(|v| v as f32), times))
        .collect()
}

#[test]
fn voxels_with_few_points_go_before_groups_are_made() {
    let settings = PipelineSettings {
        min_points: 3,
        clusters: Some(Clusters { min_voxels: 3 }),
        ..bare(0.05)
    };
    let grid = settings.grid().unwrap();
    // Two voxels, a thin one, two voxels: without the thin one both groups are too small.
    let mut points = row(&grid, 2, 2, 3);
    points.extend(row(&grid, 4, 1, 2));
    points.extend(row(&grid, 5, 2, 3));
    points.extend(row(&grid, 12, 3, 4));
    let mut pipeline = Pipeline::new(settings).unwrap();
    let frame =
        pipeline.run(&cloud_of(points, 0), &Pose::IDENTITY, &PosedRobot::default()).unwrap();
    assert_eq!(frame.voxels.len(), 3);
    assert_eq!(frame.clusters, 1);
    assert_eq!(frame.counts.of(Fate::Sparse), 2);
    assert_eq!(frame.counts.of(Fate::SmallCluster), 12);
    assert_eq!(frame.counts.of(Fate::Kept), 12);
}

#[test]
fn voxels_near_the_robot_go_by_the_distance_of_their_surface() {
    let settings = PipelineSettings { robot_voxel_safe_distance_m: Some(0.1), ..bare(0.05) };
    let grid = settings.grid().unwrap();
    let points = row(&grid, 4, 12, 1);
    let mut pipeline = Pipeline::new(settings).unwrap();
    // A sphere whose surface is at the lower face of cell 10, along x.
    let centre = grid.centre_m([10, 20, 5]);
    let at = [centre[0] - 0.025 + 0.2, centre[1], centre[2]];
    let sphere = [PosedLinkShape::capsule(0, at, at, 0.2)];
    let robot = PosedRobot { shapes: &sphere, end_effector_m: None };
    let frame = pipeline.run(&cloud_of(points, 0), &Pose::IDENTITY, &robot).unwrap();
    let left: Vec<usize> = frame.voxels.iter().map(|v| grid.cell_of(v.key)[0]).collect();
    // Cell 7 ends 10 cm before the surface; rounding of the faces decides, so it is left out.
    assert_eq!(left.iter().copied().filter(|x| *x != 7).collect::<Vec<_>>(), [4, 5, 6]);
    let gone = 12 - left.len() as u64;
    assert_eq!(frame.counts.of(Fate::NearRobot), gone);
}

#[test]
fn too_many_voxels_are_refused_after_all_filters_and_the_next_frame_is_fine() {
    let settings = PipelineSettings {
        num_voxels: 4,
        clusters: Some(Clusters { min_voxels: 3 }),
        ..bare(0.05)
    };
    let grid = settings.grid().unwrap();
    let mut pipeline = Pipeline::new(settings).unwrap();
    let run = |pipeline: &mut Pipeline, points| {
        let cloud = cloud_of(points, 0);
        pipeline.run(&cloud, &Pose::IDENTITY, &PosedRobot::default()).map(|f| f.voxels.len())
    };
    let error = run(&mut pipeline, row(&grid, 2, 5, 1)).unwrap_err();
    assert!(matches!(error, SpaceError::TooManyVoxels { found: 5, limit: 4 }), "{error}");
    // Four, and a pair that is taken away before they are counted.
    let mut points = row(&grid, 2, 4, 1);
    points.extend(row(&grid, 10, 2, 1));
    assert_eq!(run(&mut pipeline, points).unwrap(), 4);
}

#[test]
fn empty_unseen_and_far_clouds_make_empty_frames() {
    let mut pipeline = Pipeline::new(PipelineSettings::default()).unwrap();
    let nan = [f32::NAN, 0.0, 1.0];
    let clouds = [
        Cloud::default(),
        cloud_of(vec![nan; 1000], 0),
        cloud_of(vec![[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]], 0),
        Cloud::new(vec![nan; 1000], Vec::new(), 100, 1).unwrap(),
        Cloud { width: 0, ..cloud_of(vec![[9.0; 3]; 300], 0) },
        Cloud { width: 7, ..cloud_of(vec![[9.0; 3]; 300], 0) },
    ];
    for cloud in &clouds {
        let frame = pipeline.run(cloud, &Pose::IDENTITY, &PosedRobot::default()).unwrap();
        assert!(frame.voxels.is_empty());
        assert_eq!(frame.counts.total(), cloud.xyz_m.len() as u64);
        assert_eq!(frame.clusters, 0);
    }
}

#[test]
fn what_f32_cannot_tell_is_decided_in_f64() {
    let turned = [0.3, 0.0, 0.0, 0.9];
    // A camera far from the workspace, and both far from the origin with cells of their own size.
    let near_origin = Workspace { lower_m: [-0.5, -1.0, -0.1], upper_m: [1.2, 1.25, 1.5] };
    let mut cases = Vec::new();
    for far in [1e3, 1e5, 1e6] {
        let pose = Pose { pos_m: [-far, 0.0, 0.0], quat_wxyz: [1.0, 0.0, 0.0, 0.0] };
        cases.push((near_origin, 0.05, pose, far as f32));
    }
    for far in [1e4, 1e7, 1e12, 1e300] {
        let edge = (1e-5_f64 * far).max(2.0);
        let workspace =
            Workspace { lower_m: [far, -edge, -edge], upper_m: [far * 1.1, edge, edge] };
        let pose = Pose { pos_m: [far * 1.05, 0.0, 0.0], quat_wxyz: turned };
        cases.push((workspace, 0.1 * edge, pose, 0.0));
    }
    for (workspace, voxel_size_m, pose, forward) in cases {
        let settings = PipelineSettings { workspace, ..bare(voxel_size_m) };
        let grid = settings.grid().unwrap();
        let points = (0..999).map(|i| [0.004 * i as f32 - 1.0 + forward, 0.05, 0.001 * i as f32]);
        let cloud = cloud_of(points.collect(), 1);
        let sums = by_plain_loop(&grid, &cloud, &pose, |_| false);
        assert!(!sums.is_empty(), "{pose:?}");
        for isa in Isa::available() {
            let mut pipeline = Pipeline::new(settings.clone()).unwrap().with_isa(isa);
            assert_same(pipeline.run(&cloud, &pose, &PosedRobot::default()).unwrap(), &sums);
        }
    }
}

#[test]
fn poses_and_robots_that_are_none_are_named() {
    let mut pipeline = Pipeline::new(PipelineSettings::default()).unwrap();
    let cloud = cloud_of(vec![[0.0; 3]; 9], 0);
    for (pose, word) in [
        (Pose { pos_m: [0.0, f64::NAN, 0.0], ..Pose::IDENTITY }, "position"),
        (Pose { quat_wxyz: [0.0; 4], ..Pose::IDENTITY }, "quaternion"),
        (Pose { quat_wxyz: [f64::INFINITY, 0.0, 0.0, 0.0], ..Pose::IDENTITY }, "quaternion"),
    ] {
        let error = pipeline.run(&cloud, &pose, &PosedRobot::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let shapes = [PosedLinkShape::capsule(0, [f64::NAN; 3], [0.0; 3], 0.1)];
    let robot = PosedRobot { shapes: &shapes, end_effector_m: None };
    let error = pipeline.run(&cloud, &Pose::IDENTITY, &robot).unwrap_err().to_string();
    assert!(error.contains("shape 0"), "{error}");
}

#[test]
fn ten_million_points_are_no_trouble_and_seventeen_are_refused() {
    let mut pipeline = Pipeline::new(bare(0.05)).unwrap();
    let points = 10_000_000;
    let mut cloud =
        Cloud { xyz_m: vec![[0.3, 0.2, 0.4]; points], width: points, ..Cloud::default() };
    for width in [points, 5_000, 5_000_000] {
        cloud.width = width;
        let frame = pipeline.run(&cloud, &Pose::IDENTITY, &PosedRobot::default()).unwrap();
        assert_eq!(frame.voxels.len(), 1);
        assert_eq!(frame.voxels[0].points, points as u32);
    }
    cloud.xyz_m.resize(17_000_000, [0.0; 3]);
    assert!(pipeline.run(&cloud, &Pose::IDENTITY, &PosedRobot::default()).is_err());
}
