//! Free space against plain sampling along every ray.

use citrange_cloud::Cloud;
use citrange_space::{Carving, CellState, Grid, Map, MapSettings, MapSnapshot, VoxelFrame};

use crate::synthetic::{Camera, Thing, frame, thing, world_points};

fn room() -> (Grid, Vec<Thing>, Camera) {
    let grid = Grid::new([-0.5, -0.8, -0.05], [1.0, 0.8, 1.0], 0.05).unwrap();
    let things = vec![
        thing(0, [0.25, 0.0, -0.04], [1.5, 1.5, 0.04]),
        thing(1, [0.3, 0.1, 0.15], [0.08, 0.12, 0.15]),
        thing(2, [0.5, -0.3, 0.1], [0.1, 0.05, 0.1]),
        // Behind the grid.
        thing(3, [2.5, 0.0, 1.0], [0.1, 4.0, 3.0]),
    ];
    (grid, things, Camera::new([-0.9, -0.3, 0.9], [0.4, 0.0, 0.2], 120, 90))
}

fn holes(column: usize, row: usize) -> bool {
    (30..45).contains(&column) && (38..52).contains(&row)
        || (column * 31 + row * 17).is_multiple_of(23)
}

fn integrate(
    camera: &Camera,
    cloud: &Cloud,
    things: &[Thing],
    grid: &Grid,
) -> (MapSnapshot, Carving) {
    let mut map = Map::new(&MapSettings::default(), grid).unwrap();
    // As if a filter had taken all voxels away: carving alone must spare what has points in it.
    let frame = VoxelFrame { voxels: Vec::new(), ..frame(grid, cloud, &camera.pose, things) };
    let mut view = camera.view();
    // A picture says itself how its camera sees.
    if cloud.stamp_ns == 2 {
        view.pinhole = None;
    }
    let report = map.integrate(0, cloud, &view, &frame).unwrap();
    (MapSnapshot::clone(&map.snapshot()), report.carving)
}

/// No free voxel has a point in it or a ray that ended before it; returns the free voxels, and
/// how many there are at most: those that some ray goes through and none ends in or before.
fn check(camera: &Camera, cloud: &Cloud, grid: &Grid, snapshot: &MapSnapshot) -> (usize, usize) {
    let is_free = |key: u32| snapshot.state(key) == CellState::Free;
    for point in world_points(cloud, &camera.pose) {
        if let Some(cell) = grid.cell(point) {
            assert!(!is_free(grid.key(cell)), "{cell:?} has a point in it");
        }
    }
    let from = camera.pose.translation.vector;
    let [mut passed, mut stopped, mut touched] = [(); 3].map(|()| vec![false; grid.cells()]);
    for (pixel, point) in cloud.xyz_m.iter().enumerate().filter(|(_, p)| p[2].is_finite()) {
        let way = camera.ray(pixel % camera.width, pixel / camera.width);
        for depth in (0..750).map(|step| f64::from(step) * 0.004) {
            let sample = from + way * depth;
            // Corners that a ray cuts between two samples.
            let offs = (0..3).flat_map(|axis| [(axis, -0.004), (axis, 0.004)]);
            for (axis, off) in offs.filter(|_| depth <= f64::from(point[2])) {
                let near = sample + nalgebra::Vector3::ith(axis, off);
                if let Some(cell) = grid.cell(near.into()) {
                    touched[grid.key(cell) as usize] = true;
                }
            }
            if let Some(cell) = grid.cell(sample.into()) {
                let key = grid.key(cell);
                if depth > f64::from(point[2]) + 0.002 {
                    assert!(!is_free(key), "{cell:?} is behind a point of pixel {pixel}");
                    stopped[key as usize] = true;
                } else {
                    passed[key as usize] = true;
                }
            }
        }
    }
    let free = (0..grid.cells() as u32).filter(|k| is_free(*k));
    let most = passed.iter().zip(&stopped).filter(|(passed, stopped)| **passed && !**stopped);
    // What no ray went through is not known to be free.
    assert!(free.clone().all(|key| touched[key as usize]));
    (free.count(), most.count())
}

#[test]
fn pictures_carve_only_what_they_see_through() {
    let (grid, things, camera) = room();
    for stamp_ns in [1, 2] {
        // Without holes whole blocks are free at once.
        let cloud = camera.picture(&things, stamp_ns, |c, r| stamp_ns == 1 && holes(c, r));
        let (snapshot, carving) = integrate(&camera, &cloud, &things, &grid);
        assert_eq!(carving, Carving::Picture);
        let (free, most) = check(&camera, &cloud, &grid, &snapshot);
        assert!(free * 100 > most * 55, "{free} of {most}");
        // In the air before everything, and inside of a box.
        let state = |point| snapshot.state(grid.key(grid.cell(point).unwrap()));
        assert_eq!(state([-0.1, -0.1, 0.5]), CellState::Free);
        assert_eq!(state([0.3, 0.1, 0.15]), CellState::Unknown);
    }
}

#[test]
fn points_without_order_are_carved_as_the_picture_that_they_would_make() {
    let (grid, things, camera) = room();
    let mut cloud = camera.picture(&things, 1, holes);
    cloud.width = cloud.xyz_m.len();
    let (snapshot, carving) = integrate(&camera, &cloud, &things, &grid);
    assert_eq!(carving, Carving::Projected);
    let (free, most) = check(&camera, &cloud, &grid, &snapshot);
    assert!(free * 100 > most * 55, "{free} of {most}");
}

#[test]
fn points_all_around_are_carved_ray_by_ray() {
    let (grid, things, camera) = room();
    let cloud = camera.picture(&things, 1, holes);
    // Some are behind the camera, far beyond the grid.
    let mut around = cloud.clone();
    around.xyz_m.extend((0..cloud.xyz_m.len() / 10).map(|i| [i as f32 * 1e-3, 2.0, -3.0]));
    around.width = around.xyz_m.len();
    let (snapshot, carving) = integrate(&camera, &around, &things, &grid);
    assert_eq!(carving, Carving::Rays);
    let (free, most) = check(&camera, &cloud, &grid, &snapshot);
    assert!(free * 100 > most * 80, "{free} of {most}");
}

#[test]
fn a_pinhole_of_another_camera_is_refused() {
    let (grid, things, camera) = room();
    let cloud = camera.picture(&things, 1, holes);
    let frame = frame(&grid, &cloud, &camera.pose, &things);
    let mut map = Map::new(&MapSettings::default(), &grid).unwrap();
    let mut view = camera.view();
    view.pinhole.as_mut().unwrap().fx *= 1.2;
    let error = map.integrate(0, &cloud, &view, &frame).unwrap_err().to_string();
    assert!(error.contains("pinhole"), "{error}");
    assert_eq!(map.snapshot().sequence(), 0);
}
