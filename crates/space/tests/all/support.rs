//! Which voxels stay because neighbours in the picture confirm their points.

use citrange_cloud::{Cloud, Workspace};
use citrange_core::Pose;
use citrange_space::{Fate, Isa, Pipeline, PipelineSettings, PosedRobot, Support, VoxelFrame};

const WIDTH: usize = 97;
const HEIGHT: usize = 61;

/// A picture of depths; what is not finite was not seen.
fn picture(depth_m: impl Fn(usize, usize) -> f32) -> Cloud {
    let at = |i: usize| {
        let (column, row) = (i % WIDTH, i / WIDTH);
        let z = depth_m(column, row);
        [(column as f32 - 48.0) / 300.0 * z, (row as f32 - 30.0) / 300.0 * z, z]
    };
    let xyz_m: Vec<[f32; 3]> = (0..WIDTH * HEIGHT).map(at).collect();
    let rgb = (0..xyz_m.len()).map(|i| [i as u8, (i / 3) as u8, 50]).collect();
    Cloud::new(xyz_m, rgb, WIDTH, 0).unwrap()
}

fn settings(support: Option<Support>) -> PipelineSettings {
    PipelineSettings {
        workspace: Workspace { lower_m: [-1.0, -1.0, 0.2], upper_m: [1.0, 1.0, 3.0] },
        support,
        self_filter: None,
        clusters: None,
        voxel_size_m: 0.02,
        ..PipelineSettings::default()
    }
}

fn run(cloud: &Cloud, support: Option<Support>, isa: Isa, threads: usize) -> VoxelFrame {
    let pipeline = Pipeline::new(settings(support)).unwrap();
    let mut pipeline = pipeline.with_isa(isa).with_threads(threads);
    pipeline.run(cloud, &Pose::IDENTITY, &PosedRobot::default()).unwrap().clone()
}

/// A box before a wall, with points in the air along its left edge.
fn edge(column: usize, row: usize) -> f32 {
    match column {
        ..40 => 2.0,
        40 => 1.1 + 0.7 * ((row * 37 % 61) as f32 / 61.0),
        _ => 1.0,
    }
}

/// What the rule says, for one pixel at a time.
fn confirmed(cloud: &Cloud, index: usize, rule: Support) -> bool {
    let (column, row) = ((index % WIDTH) as i64, (index / WIDTH) as i64);
    let depth = cloud.xyz_m[index][2];
    let (mut agree, mut seen) = (0, 0);
    for dy in -2..=2_i64 {
        for dx in -2..=2_i64 {
            let (x, y) = (column + dx, row + dy);
            let inside = (0..WIDTH as i64).contains(&x) && (0..HEIGHT as i64).contains(&y);
            if (dx, dy) == (0, 0) || !inside {
                continue;
            }
            let near = cloud.xyz_m[y as usize * WIDTH + x as usize][2];
            let ratio = (rule.depth_ratio * ((dx * dx + dy * dy) as f64).sqrt()) as f32;
            seen += u32::from(near.is_finite());
            agree += u32::from((near - depth).abs() < ratio * depth);
        }
    }
    agree >= rule.neighbours && agree as f32 >= rule.fraction as f32 * seen as f32
}

#[test]
fn points_in_the_air_at_an_edge_go_and_surfaces_stay() {
    let cloud = picture(edge);
    let bare = run(&cloud, None, Isa::best(), 1);
    let frame = run(&cloud, Some(Support::default()), Isa::best(), 1);
    let in_the_air = |frame: &VoxelFrame| {
        let depth = |key| frame.grid.centre_m(frame.grid.cell_of(key))[2];
        frame.voxels.iter().filter(|v| (1.05..1.95).contains(&depth(v.key))).count()
    };
    assert!(in_the_air(&bare) > 30);
    assert_eq!(in_the_air(&frame), 0);
    assert_eq!(frame.voxels.len(), bare.voxels.len() - in_the_air(&bare));
    assert_eq!(frame.counts.of(Fate::Unsupported), HEIGHT as u64);
}

#[test]
fn a_slanted_surface_with_holes_stays() {
    // 6 mm per row where a pixel is 3 mm wide, and only every third pixel was seen.
    let cloud =
        picture(
            |column, row| {
                if (column * 7 + row * 5) % 3 == 0 { 1.0 + 0.006 * row as f32 } else { f32::NAN }
            },
        );
    let frame = run(&cloud, Some(Support::default()), Isa::best(), 1);
    assert_eq!(frame.counts.of(Fate::Unsupported), 0);
    assert!(frame.counts.of(Fate::Kept) > 1900);
}

#[test]
fn every_instruction_set_and_thread_follows_the_rule() {
    // Steps, slants, holes and noise.
    let cloud = picture(|column, row| {
        let noise = ((column * 7919 + row * 104_729) % 1009) as f32 / 1009.0;
        match (column * 31 + row * 17) % 11 {
            0 | 1 => f32::NAN,
            2 => 0.8 + noise,
            _ => 1.0 + 0.008 * column as f32 + 0.02 * noise,
        }
    });
    let rule = Support { depth_ratio: 0.005, neighbours: 3, fraction: 0.35 };
    let grid = settings(None).grid().unwrap();
    let mut keys: Vec<u32> = (0..cloud.xyz_m.len())
        .filter(|i| confirmed(&cloud, *i, rule))
        .filter_map(|i| grid.cell(cloud.xyz_m[i].map(f64::from)))
        .map(|cell| grid.key(cell))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let bare = run(&cloud, None, Isa::best(), 1);
    assert!(keys.len() * 10 < bare.voxels.len() * 9);
    let kept: Vec<_> = bare.voxels.into_iter().filter(|v| keys.contains(&v.key)).collect();
    for isa in Isa::available() {
        for threads in [1, 2, 5] {
            let frame = run(&cloud, Some(rule), isa, threads);
            assert_eq!(frame.voxels, kept, "{isa:?} {threads}");
            assert_eq!(frame.counts.total(), cloud.xyz_m.len() as u64);
        }
    }
}

#[test]
fn a_cloud_that_is_no_picture_is_left_alone() {
    let cloud = Cloud { width: WIDTH * HEIGHT, ..picture(edge) };
    let bare = run(&cloud, None, Isa::best(), 1);
    let frame = run(&cloud, Some(Support::default()), Isa::best(), 1);
    assert_eq!(frame.voxels, bare.voxels);
    assert_eq!(frame.counts, bare.counts);
}
