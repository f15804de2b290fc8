//! What stays in the map, what goes, and what is refused.

use citrange_cloud::{Cloud, Workspace};
use citrange_core::Pose;
use citrange_space::{CellState, Grid, Map, MapSettings, SpaceError, VoxelFrame};

use crate::synthetic::{Camera, Thing, frame, thing};

const MS: u64 = 1_000_000;

fn grid() -> Grid {
    Grid::new([-0.5, -0.6, -0.05], [1.0, 0.6, 0.8], 0.05).unwrap()
}

fn camera() -> Camera {
    Camera::new([-0.9, -0.1, 0.7], [0.4, 0.0, 0.1], 120, 90)
}

fn wall() -> Thing {
    thing(0, [2.0, 0.0, 0.5], [0.1, 4.0, 4.0])
}

fn block() -> Thing {
    thing(1, [0.3, 0.0, 0.2], [0.06, 0.06, 0.06])
}

fn look(camera: &Camera, things: &[Thing], stamp_ns: u64) -> (Cloud, VoxelFrame) {
    let cloud = camera.picture(things, stamp_ns, |_, _| false);
    let frame = frame(&grid(), &cloud, &camera.pose, things);
    (cloud, frame)
}

fn map(settings: MapSettings) -> Map {
    Map::new(&settings, &grid()).unwrap()
}

#[test]
fn an_obstacle_is_there_at_once_and_goes_when_it_was_seen_through_twice() {
    let camera = camera();
    let mut map = map(MapSettings::default());
    let (cloud, frame) = look(&camera, &[wall(), block()], MS);
    let report = map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
    let voxels = frame.voxels.len();
    assert!(voxels > 5);
    assert_eq!((report.appeared, report.cleared), (voxels, 0));
    let with_block = map.snapshot();
    assert_eq!(with_block.voxels().len(), voxels);
    assert_eq!(with_block.voxels()[0].rgb, [200, 100, 50]);

    let mut cleared = Vec::new();
    for stamp in 2..5 {
        let (cloud, frame) = look(&camera, &[wall()], stamp * MS);
        cleared.push(map.integrate(0, &cloud, &camera.view(), &frame).unwrap().cleared);
    }
    assert_eq!(cleared, [0, voxels, 0]);
    assert!(map.snapshot().voxels().is_empty());
    assert_eq!(map.snapshot().state(frame.voxels[0].key), CellState::Free);
    assert_eq!(map.snapshot().seen_ns(frame.voxels[0].key), Some(4 * MS));
    // Readers of the old snapshot see what they saw.
    assert_eq!(with_block.voxels().len(), voxels);
    assert_eq!(with_block.sequence(), 1);
    assert_eq!(map.snapshot().sequence(), 4);
}

#[test]
fn one_look_at_it_again_makes_an_obstacle_as_good_as_new() {
    let camera = camera();
    let mut map = map(MapSettings::default());
    for (stamp, there) in [(1, true), (2, false), (3, true), (4, false)] {
        let things = if there { vec![wall(), block()] } else { vec![wall()] };
        let (cloud, frame) = look(&camera, &things, stamp * MS);
        let report = map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
        assert_eq!(report.cleared, 0);
    }
    assert!(map.snapshot().voxels().iter().all(|v| v.hits == 2 && v.stamp_ns == 3 * MS));
}

#[test]
fn a_voxel_of_a_frame_is_not_carved_by_the_same_frame() {
    let camera = camera();
    let mut map = map(MapSettings { clear_frames: 1, ..MapSettings::default() });
    let (_, with_block) = look(&camera, &[wall(), block()], MS);
    // The picture sees through what the voxels say is there.
    let (through, _) = look(&camera, &[wall()], MS);
    let report = map.integrate(0, &through, &camera.view(), &with_block).unwrap();
    assert_eq!((report.appeared, report.cleared), (with_block.voxels.len(), 0));
    assert_eq!(map.snapshot().voxels().len(), with_block.voxels.len());
}

#[test]
fn what_is_hidden_or_in_a_hole_stays() {
    let camera = camera();
    let mut map = map(MapSettings::default());
    let (cloud, first) = look(&camera, &[wall(), block()], MS);
    map.integrate(0, &cloud, &camera.view(), &first).unwrap();
    let screen = thing(0, [-0.5, -0.05, 0.5], [0.01, 0.6, 0.6]);
    for stamp in 2..8 {
        let hidden = camera.picture(&[wall(), screen], stamp * MS, |_, _| false);
        let nothing = camera.picture(&[wall()], stamp * MS, |_, _| true);
        let cloud = if stamp % 2 == 0 { hidden } else { nothing };
        let frame = frame(&grid(), &cloud, &camera.pose, &[screen]);
        map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
    }
    let snapshot = map.snapshot();
    assert!(first.voxels.iter().all(|v| snapshot.state(v.key) == CellState::Occupied));
}

#[test]
fn a_second_camera_sees_through_as_well_and_keeps_its_own_time() {
    let (near, far) = (camera(), Camera::new([1.4, 0.9, 0.8], [0.3, 0.0, 0.2], 120, 90));
    let back = thing(0, [-3.0, -2.0, 0.5], [0.2, 4.0, 4.0]);
    let mut map = map(MapSettings::default());
    let (cloud, frame) = look(&near, &[wall(), block()], 900 * MS);
    map.integrate(0, &cloud, &near.view(), &frame).unwrap();
    for stamp in [10, 20] {
        let (cloud, frame) = look(&far, &[back], stamp * MS);
        map.integrate(7, &cloud, &far.view(), &frame).unwrap();
    }
    assert!(map.snapshot().voxels().is_empty());
    assert_eq!(map.newest_ns(7), Some(20 * MS));
    assert_eq!(map.newest_ns(3), None);
    assert!((map.age_s(7, 1020 * MS).unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(map.stale_cameras(1020 * MS, 0.5).collect::<Vec<_>>(), [7]);
    assert_eq!(map.snapshot().stamp_ns(), 900 * MS);
}

#[test]
fn several_hits_can_be_asked_for_and_old_voxels_forgotten() {
    let camera = camera();
    let settings = MapSettings { min_hits: 2, max_age_s: Some(0.1), ..MapSettings::default() };
    let mut map = map(settings);
    let nothing = |stamp_ns| camera.picture(&[], stamp_ns, |_, _| true);
    let mut counts = Vec::new();
    for stamp in [1, 30, 60, 120, 140] {
        let (cloud, frame) = if stamp < 60 {
            look(&camera, &[wall(), block()], stamp * MS)
        } else {
            let cloud = nothing(stamp * MS);
            let frame = frame(&grid(), &cloud, &camera.pose, &[]);
            (cloud, frame)
        };
        let report = map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
        counts.push((
            report.appeared > 0,
            report.forgotten > 0,
            !map.snapshot().voxels().is_empty(),
        ));
    }
    let [no, yes] = [false, true];
    assert_eq!(counts, [(no, no, no), (yes, no, yes), (no, no, yes), (no, no, yes), (no, yes, no)]);
}

#[test]
fn voxels_that_a_finer_map_has_are_left_out() {
    let hole = Workspace { lower_m: [0.2, -0.2, 0.0], upper_m: [0.52, 0.2, 0.4] };
    let mut map = map(MapSettings { left_out: Some(hole), ..MapSettings::default() });
    let camera = camera();
    let floor = thing(0, [0.3, 0.0, -0.02], [2.0, 2.0, 0.02]);
    let (cloud, frame) = look(&camera, &[wall(), block(), floor], MS);
    map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
    let half = grid().voxel_m() / 2.0;
    let inside = |key: u32| {
        let centre = grid().centre_m(grid().cell_of(key));
        (0..3).all(|a| {
            centre[a] - half > hole.lower_m[a] - 1e-6 && centre[a] + half < hole.upper_m[a] + 1e-6
        })
    };
    let expected: Vec<u32> = frame.voxels.iter().map(|v| v.key).filter(|k| !inside(*k)).collect();
    let found: Vec<u32> = map.snapshot().voxels().iter().map(|v| v.key).collect();
    assert!(expected.len() < frame.voxels.len());
    assert_eq!(found, expected);
}

#[test]
fn bad_frames_are_refused_and_change_nothing() {
    let camera = camera();
    let mut map = map(MapSettings::default());
    let (cloud, frame) = look(&camera, &[wall(), block()], 5 * MS);
    map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
    let before = map.snapshot();
    let mut refused = |view: &citrange_cloud::View, frame: &VoxelFrame| {
        let error = map.integrate(0, &cloud, view, frame).unwrap_err();
        assert_eq!(map.snapshot().sequence(), before.sequence());
        error
    };
    let again = refused(&camera.view(), &frame);
    assert!(matches!(again, SpaceError::TimeBackwards { stamp_ns, newest_ns }
        if stamp_ns == 5 * MS && newest_ns == 5 * MS));
    let newer = VoxelFrame { stamp_ns: 6 * MS, ..frame.clone() };
    let other = Grid::new([0.0; 3], [1.0; 3], 0.05).unwrap();
    let other = VoxelFrame { grid: other, ..newer.clone() };
    assert!(refused(&camera.view(), &other).to_string().contains("grid"));
    let mut outside = newer.clone();
    outside.voxels[0].key = grid().cells() as u32;
    assert!(refused(&camera.view(), &outside).to_string().contains("cells 0 to"));
    for (pos_m, quat_wxyz) in [([f64::NAN; 3], [1.0, 0.0, 0.0, 0.0]), ([0.0; 3], [0.0; 4])] {
        let mut view = camera.view();
        view.world_from_camera = Pose { pos_m, quat_wxyz };
        assert!(refused(&view, &newer).to_string().contains("pose"));
    }
    // The same frame with nothing wrong goes in.
    map.integrate(0, &cloud, &camera.view(), &newer).unwrap();
}

#[test]
fn clouds_of_nothing_change_nothing() {
    let camera = camera();
    let mut map = map(MapSettings::default());
    let (cloud, frame) = look(&camera, &[wall(), block()], MS);
    map.integrate(0, &cloud, &camera.view(), &frame).unwrap();
    let before = map.snapshot();
    let unseen = camera.picture(&[], 2 * MS, |_, _| true);
    let empty = Cloud { width: 0, ..Cloud::default() };
    let nowhere = Cloud { xyz_m: vec![[f32::INFINITY; 3], [0.0; 3]], width: 2, ..Cloud::default() };
    for (step, cloud) in [unseen, empty, nowhere].into_iter().enumerate() {
        let nothing =
            VoxelFrame { stamp_ns: (2 + step as u64) * MS, voxels: Vec::new(), ..frame.clone() };
        let report = map.integrate(0, &cloud, &camera.view(), &nothing).unwrap();
        assert_eq!((report.appeared, report.cleared), (0, 0));
        assert_eq!(map.snapshot().voxels(), before.voxels());
        assert_eq!(map.snapshot().gap2(), before.gap2());
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let good = MapSettings::default();
    for (key, settings) in [
        ("reach_m", MapSettings { reach_m: f64::NAN, ..good }),
        ("reach_m", MapSettings { reach_m: 20.0, ..good }),
        ("min_hits", MapSettings { min_hits: 0, ..good }),
        ("clear_frames", MapSettings { clear_frames: 0, ..good }),
        ("max_age_s", MapSettings { max_age_s: Some(-1.0), ..good }),
        ("carve_margin_m", MapSettings { carve_margin_m: -0.1, ..good }),
    ] {
        let error = Map::new(&settings, &grid()).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}
