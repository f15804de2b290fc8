//! Whatever the instructions and the number of threads: the same frame, bit by bit.

use citrange_cloud::Cloud;
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::{PosedLinkShape, Shape};
use citrange_space::{
    EndEffectorSpheres, Fate, Isa, Outliers, Pipeline, PipelineSettings, PosedRobot,
};

/// A table and a box before a wall, seen by a camera with noise, holes and points in the air.
fn scene() -> Cloud {
    let (width, height) = (203, 151);
    let mut rng = Rng::new(7);
    let mut chance = || (rng.next_u64() >> 40) as f32 / (1_u64 << 24) as f32;
    let mut xyz_m = Vec::new();
    let mut rgb = Vec::new();
    for i in 0..width * height {
        let (column, row) = ((i % width) as f32, (i / width) as f32);
        let (x, y) = ((column - 101.0) / 190.0, (row - 75.0) / 190.0);
        let table = if y > 0.02 { 0.35 / y } else { f32::MAX };
        let far = table.min(1.9);
        let boxed = (60.0..110.0).contains(&column) && (50.0..120.0).contains(&row);
        let mut z = if boxed { 0.9 } else { far } + 0.006 * (chance() - 0.5);
        match chance() {
            c if c < 0.05 => z = f32::NAN,
            c if c < 0.08 => z = 0.9 + (far - 0.9) * chance(),
            _ => {}
        }
        xyz_m.push([x * z, y * z, z]);
        rgb.push([(chance() * 255.0) as u8, (chance() * 255.0) as u8, (i % 251) as u8]);
    }
    Cloud::new(xyz_m, rgb, width, 5).unwrap()
}

#[test]
fn frames_are_the_same_bit_by_bit() {
    let cloud = scene();
    // Looks along the world's +x, a little down.
    let pose = Pose { pos_m: [-0.7, 0.1, 0.6], quat_wxyz: [0.45, -0.55, 0.45, -0.55] };
    let boxed = Pose { pos_m: [0.1, 0.0, 0.5], quat_wxyz: [0.9, 0.1, 0.4, 0.1] };
    let shapes = [
        PosedLinkShape::capsule(0, [0.2, 0.0, 0.0], [0.3, 0.1, 0.9], 0.06),
        PosedLinkShape::new(1, &boxed, &Shape::Box { half_m: [0.1, 0.05, 0.2] }),
        PosedLinkShape::new(2, &boxed, &Shape::Cylinder { radius_m: 0.12, half_height_m: 0.03 }),
    ];
    let robot = PosedRobot { shapes: &shapes, end_effector_m: Some([0.0, 0.2, 0.3]) };
    for voxel_size_m in [0.1, 0.05, 0.02] {
        for outliers in [None, Some(Outliers::default())] {
            let settings = PipelineSettings {
                voxel_size_m,
                outliers,
                end_effector_spheres: Some(EndEffectorSpheres::default()),
                robot_voxel_safe_distance_m: Some(0.04),
                min_points: 2,
                ..PipelineSettings::default()
            };
            let mut first = Pipeline::new(settings.clone()).unwrap().with_isa(Isa::SCALAR);
            let want = first.run_with_fates(&cloud, &pose, &robot).unwrap().clone();
            // Every stage has something to do, and every point one fate.
            for fate in Fate::ALL {
                let found = first.fates().iter().filter(|f| **f == fate).count() as u64;
                assert_eq!(found, want.counts.of(fate), "{fate:?}");
                assert!(found > 0 || (fate == Fate::Outlier && outliers.is_none()), "{fate:?}");
            }
            for isa in Isa::available() {
                for threads in [1, 2, 3] {
                    let pipeline = Pipeline::new(settings.clone()).unwrap();
                    let mut pipeline = pipeline.with_isa(isa).with_threads(threads);
                    let frame = pipeline.run(&cloud, &pose, &robot).unwrap();
                    assert_eq!(frame.voxels, want.voxels, "{isa:?} {threads} {voxel_size_m}");
                    assert_eq!(frame.counts, want.counts, "{isa:?} {threads} {voxel_size_m}");
                    assert_eq!(frame.clusters, want.clusters);
                }
            }
        }
    }
}
