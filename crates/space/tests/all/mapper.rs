//! From a depth picture in memory to an answer of the map, without a file.

use citrange_cloud::{Cloud, DepthImage, Pinhole, Points as _, View, Workspace};
use citrange_core::Pose;
use citrange_core::shape::PosedLinkShape;
use citrange_space::{Map, MapSettings, Mapper, Pipeline, PipelineSettings, PosedRobot};

const SIZE: [usize; 2] = [96, 64];
const PINHOLE: Pinhole = Pinhole { fx: 80.0, fy: 80.0, cx: 47.5, cy: 31.5 };

/// A camera 1 m above the world's origin that looks straight down.
fn from_above() -> Pose {
    Pose { pos_m: [0.0, 0.0, 1.0], quat_wxyz: [0.0, 1.0, 0.0, 0.0] }
}

fn settings() -> PipelineSettings {
    let workspace = Workspace { lower_m: [-0.5, -0.5, 0.02], upper_m: [0.5, 0.5, 0.9] };
    PipelineSettings { workspace, voxel_size_m: 0.02, ..PipelineSettings::default() }
}

/// The floor, and a tower of 0.3 m under the middle of the picture.
fn tower() -> Vec<f32> {
    let is_tower = |i: usize| (i % SIZE[0]).abs_diff(48) <= 6 && (i / SIZE[0]).abs_diff(32) <= 6;
    (0..SIZE[0] * SIZE[1]).map(|i| if is_tower(i) { 0.7 } else { 1.0 }).collect()
}

#[test]
fn a_depth_slice_becomes_an_answer() {
    let depth_m = tower();
    let mut mapper = Mapper::new(settings(), &MapSettings::default()).unwrap();
    let nothing = mapper.snapshot();
    let image = DepthImage::metres(SIZE, &depth_m, PINHOLE, 1_000_000);
    let report = mapper.see_depth(0, &image, &from_above(), &PosedRobot::default()).unwrap();
    assert!(report.appeared > 9, "{report:?}");
    let map = mapper.snapshot();
    // The top of the tower is at 0.3 m, in the layer of voxels that begins there or just below.
    let above = map.distance([0.0, 0.0, 0.45]).distance_m;
    assert!((0.12..=0.16).contains(&above), "{above}");
    assert!(map.sphere_hit([0.0, 0.0, 0.33], 0.05));
    assert!(!map.sphere_hit([0.2, 0.2, 0.3], 0.05));
    assert!(!nothing.sphere_hit([0.0, 0.0, 0.33], 0.05), "readers keep what they were given");

    // The tower is taken away: the floor is seen where it stood, so it goes from the map.
    let floor = vec![1.0; depth_m.len()];
    for stamp in 2..5 {
        let image = DepthImage::metres(SIZE, &floor, PINHOLE, stamp * 1_000_000);
        mapper.see_depth(0, &image, &from_above(), &PosedRobot::default()).unwrap();
    }
    assert!(!mapper.snapshot().sphere_hit([0.0, 0.0, 0.33], 0.05));
    // What is not newer is refused, and says so.
    let old = DepthImage::metres(SIZE, &depth_m, PINHOLE, 3_000_000);
    let error = mapper.see_depth(0, &old, &from_above(), &PosedRobot::default()).unwrap_err();
    assert!(error.to_string().contains("time goes backwards"), "{error}");
    let short = DepthImage::metres(SIZE, &depth_m[1..], PINHOLE, 9_000_000);
    assert!(mapper.see_depth(0, &short, &from_above(), &PosedRobot::default()).is_err());
}

#[test]
fn the_slice_and_the_cloud_make_the_same_map() {
    let depth_m = tower();
    let image = DepthImage::metres(SIZE, &depth_m, PINHOLE, 1_000_000);
    let robot = [PosedLinkShape::capsule(0, [0.04, 0.0, 0.3], [0.3, 0.0, 0.3], 0.01)];
    let robot = PosedRobot { shapes: &robot, ..PosedRobot::default() };
    let mut mapper = Mapper::new(settings(), &MapSettings::default()).unwrap();
    mapper.see_depth(0, &image, &from_above(), &robot).unwrap();

    let points = image.points().unwrap();
    let [mut x, mut y, mut z] = [(); 3].map(|()| vec![0.0; points.len()]);
    points.fill(0, &mut x, &mut y, &mut z);
    let xyz_m = (0..points.len()).map(|i| [x[i], y[i], z[i]]).collect();
    let cloud = Cloud::new(xyz_m, Vec::new(), SIZE[0], 1_000_000).unwrap();
    let view = View::new(from_above(), Some(PINHOLE));
    let mut pipeline = Pipeline::new(settings()).unwrap();
    let frame = pipeline.run(&cloud, &view.world_from_camera, &robot).unwrap();
    let mut map = Map::new(&MapSettings::default(), &frame.grid).unwrap();
    map.integrate(0, &cloud, &view, frame).unwrap();

    let keys =
        |voxels: &[citrange_space::MapVoxel]| voxels.iter().map(|v| v.key).collect::<Vec<_>>();
    assert_eq!(keys(mapper.snapshot().voxels()), keys(map.snapshot().voxels()));
    assert!(!map.snapshot().voxels().is_empty());
}
