//! Points that lost their order: put back into their pixels they are filtered like the picture.

use citrange_cloud::{
    CameraModel, Cloud, Distortion, NO_PIXEL, Pinhole, PointOrder, Workspace, put_into_pixels,
};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_space::{Fate, Pipeline, PipelineSettings, PosedRobot, VoxelFrame};

const WIDTH: usize = 240;
const HEIGHT: usize = 180;
const PINHOLE: Pinhole = Pinhole { fx: 230.7, fy: 229.3, cx: 121.4, cy: 88.6 };

/// A box before a wall as a camera sees it, with points in the air at the box's edges and holes.
fn picture(distortion: Distortion) -> Cloud {
    let ray = |column: usize, row: usize| {
        let bent =
            [(column as f64 - PINHOLE.cx) / PINHOLE.fx, (row as f64 - PINHOLE.cy) / PINHOLE.fy];
        distortion.straighten(bent).unwrap()
    };
    let is_box = |column: usize, row: usize| {
        let [x, y] = ray(column, row);
        (-0.22..0.13).contains(&x) && (-0.2..0.17).contains(&y)
    };
    let mut chance = Rng::new(3);
    let mut points = Vec::new();
    for index in 0..WIDTH * HEIGHT {
        let (column, row) = (index % WIDTH, index / WIDTH);
        let edge = column > 0 && is_box(column, row) != is_box(column - 1, row);
        let depth = if edge {
            chance.uniform(1.1, 1.9)
        } else if chance.uniform(0.0, 1.0) < 0.15 {
            f64::NAN
        } else {
            (if is_box(column, row) { 1.0 } else { 2.0 }) * chance.uniform(0.999, 1.001)
        };
        let [x, y] = ray(column, row);
        points.push([x * depth, y * depth, depth].map(|v| v as f32));
    }
    let rgb = (0..points.len()).map(|i| [i as u8, (i / 3) as u8, 50]).collect();
    Cloud::new(points, rgb, WIDTH, 0).unwrap()
}

/// What is seen only, in any order.
fn dropped(cloud: &Cloud) -> Cloud {
    let mut seen: Vec<_> =
        cloud.xyz_m.iter().zip(&cloud.rgb).filter(|(p, _)| p[2].is_finite()).collect();
    let mut chance = Rng::new(5);
    for i in (1..seen.len()).rev() {
        let other = (chance.uniform(0.0, 1.0) * (i + 1) as f64) as usize;
        seen.swap(i, other.min(i));
    }
    let (xyz_m, rgb): (Vec<_>, Vec<_>) = seen.into_iter().map(|(p, c)| (*p, *c)).unzip();
    let width = xyz_m.len();
    Cloud::new(xyz_m, rgb, width, 0).unwrap()
}

fn voxels(cloud: &Cloud, pose: &Pose) -> VoxelFrame {
    let settings = PipelineSettings {
        workspace: Workspace { lower_m: [-1.5, -1.5, 0.2], upper_m: [1.5, 1.5, 3.0] },
        self_filter: None,
        clusters: None,
        voxel_size_m: 0.03,
        ..PipelineSettings::default()
    };
    let mut pipeline = Pipeline::new(settings).unwrap();
    pipeline.run(cloud, pose, &PosedRobot::default()).unwrap().clone()
}

/// Voxels between box and wall, and all others.
fn ghosts(frame: &VoxelFrame) -> [usize; 2] {
    let depth = |key| frame.grid.centre_m(frame.grid.cell_of(key))[2];
    let ghosts = frame.voxels.iter().filter(|v| (1.05..1.93).contains(&depth(v.key))).count();
    [ghosts, frame.voxels.len() - ghosts]
}

fn model(distortion: Distortion, size_px: Option<[usize; 2]>) -> CameraModel {
    CameraModel { pinhole: PINHOLE, distortion, size_px }
}

#[test]
fn dropped_points_are_filtered_as_their_picture() {
    let whole = picture(Distortion::default());
    let wanted = voxels(&whole, &Pose::IDENTITY);
    let loose = dropped(&whole);
    let unfiltered = voxels(&loose, &Pose::IDENTITY);
    assert!(ghosts(&unfiltered)[0] > 20 * (ghosts(&wanted)[0] + 1));
    let known = model(Distortion::default(), Some([WIDTH, HEIGHT]));
    // With intrinsics, and with those that the points tell themselves.
    for camera in [Some(&known), None] {
        let (order, placed) = put_into_pixels(&loose, camera);
        let placed = placed.unwrap();
        let PointOrder::Placed(found) = order else { panic!("{order:?}") };
        assert_eq!((found.found, found.doubled, found.behind), (camera.is_none(), 0, 0));
        assert!((found.pinhole.fx / PINHOLE.fx - 1.0).abs() < 1e-4, "{found:?}");
        let frame = voxels(&placed.cloud, &Pose::IDENTITY);
        assert_eq!(frame.voxels, wanted.voxels);
        assert_eq!(frame.counts.of_points(loose.xyz_m.len()).total(), loose.xyz_m.len() as u64);
        // Every point is where it says.
        for (point, pixel) in loose.xyz_m.iter().zip(&placed.pixel_of) {
            assert_ne!(*pixel, NO_PIXEL);
            assert_eq!(placed.cloud.xyz_m[*pixel as usize], *point);
        }
    }
}

#[test]
fn turned_and_cut_pictures_are_filtered_as_well() {
    let whole = picture(Distortion::default());
    let wanted = ghosts(&voxels(&whole, &Pose::IDENTITY));
    // A camera on its side: its right is what was down, its down what was left.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let pose = Pose { pos_m: [0.0; 3], quat_wxyz: [half, 0.0, 0.0, -half] };
    let turn = |p: &[f32; 3]| [-p[1], p[0], p[2]];
    let turned = Cloud { xyz_m: whole.xyz_m.iter().map(turn).collect(), ..whole.clone() };
    // The points still stand row by row of the picture that is not turned.
    for cloud in [turned.clone(), dropped(&turned)] {
        let (order, placed) = put_into_pixels(&cloud, None);
        assert!(matches!(order, PointOrder::Placed(found) if found.found), "{order:?}");
        let cloud = placed.unwrap().cloud;
        assert!(cloud.width < WIDTH && cloud.xyz_m.len() >= WIDTH * HEIGHT * 9 / 10);
        let [left, kept] = ghosts(&voxels(&cloud, &pose));
        assert!(
            left <= wanted[0] + 2 && kept.abs_diff(wanted[1]) * 100 <= wanted[1],
            "{left} {kept}"
        );
    }
    // A part of the picture, with the intrinsics of the whole one.
    let rows = (20..150).flat_map(|row| row * WIDTH + 15..row * WIDTH + 215);
    let xyz_m = rows.map(|i| whole.xyz_m[i]).collect();
    let cut = Cloud::new(xyz_m, Vec::new(), 200, 0).unwrap();
    let known = model(Distortion::default(), None);
    let (_, placed) = put_into_pixels(&cut, Some(&known));
    let pinhole = placed.unwrap().placement.pinhole;
    assert!((pinhole.cx - (PINHOLE.cx - 15.0)).abs() < 1.01, "{pinhole:?}");
    assert!((pinhole.cy - (PINHOLE.cy - 20.0)).abs() < 1.01, "{pinhole:?}");
}

#[test]
fn points_of_bent_rays_are_filtered_where_the_lens_is_known() {
    let plumb_bob = Distortion::new(&[0.14, -0.25, 0.001, -0.0006, 0.07]).unwrap();
    let rational = Distortion::new(&[0.5, -2.6, 0.0007, -0.0003, 1.5, 0.4, -2.4, 1.4]).unwrap();
    for lens in [plumb_bob, rational] {
        let whole = picture(lens);
        let [wanted_ghosts, wanted] = ghosts(&voxels(&whole, &Pose::IDENTITY));
        let loose = dropped(&whole);
        let bare = ghosts(&voxels(&loose, &Pose::IDENTITY))[0];
        let (order, placed) = put_into_pixels(&loose, Some(&model(lens, None)));
        let PointOrder::Placed(found) = order else { panic!("{order:?}") };
        assert!(found.off_px < 0.01 && found.doubled == 0, "{found:?}");
        let [left, kept] = ghosts(&voxels(&placed.unwrap().cloud, &Pose::IDENTITY));
        assert!(100 * left.abs_diff(wanted_ghosts) <= bare, "{left} {wanted_ghosts} of {bare}");
        assert!(100 * kept.abs_diff(wanted) <= wanted, "{kept} of {wanted}");
        // Nobody can tell such a lens from points alone.
        let (order, _) = put_into_pixels(&loose, None);
        assert!(matches!(order, PointOrder::Unordered { .. }), "{order:?}");
    }
}

#[test]
fn intrinsics_of_another_camera_are_told() {
    let loose = dropped(&picture(Distortion::default()));
    let other = Pinhole { fx: 300.0, fy: 300.0, ..PINHOLE };
    let other = CameraModel { pinhole: other, ..model(Distortion::default(), None) };
    let (order, _) = put_into_pixels(&loose, Some(&other));
    let PointOrder::Unordered { reason } = order else { panic!("{order:?}") };
    assert!(reason.contains("not of this cloud's camera"), "{reason}");
}

#[test]
fn zeros_are_points_that_were_not_seen() {
    let mut whole = picture(Distortion::default());
    // Three of five are gone, so that what is left has few neighbours.
    for points in whole.xyz_m.chunks_mut(5) {
        points.iter_mut().take(3).for_each(|point| *point = [f32::NAN; 3]);
    }
    let zeros = whole.xyz_m.iter().map(|p| if p[2].is_nan() { [0.0; 3] } else { *p }).collect();
    let zeros = Cloud { xyz_m: zeros, ..whole.clone() };
    let [a, b] = [&whole, &zeros].map(|cloud| voxels(cloud, &Pose::IDENTITY));
    assert_eq!(a.voxels, b.voxels);
    assert_eq!(a.counts, b.counts);
    assert!(b.counts.of(Fate::NotSeen) > 1000);
}
