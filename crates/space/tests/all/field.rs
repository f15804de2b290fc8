//! Maps that are not from a camera, and the bound that their gap field gives.

use citrange_space::{CellState, Grid, MapSnapshot};
use proptest::prelude::*;

/// Distance of a point to a cube, straight from the definition.
fn distance_to_cube_m(grid: &Grid, key: u32, point_m: [f64; 3]) -> f64 {
    let centre_m = grid.centre_m(grid.cell_of(key));
    let out = |a: usize| ((point_m[a] - centre_m[a]).abs() - grid.voxel_m() / 2.0).max(0.0);
    (out(0).powi(2) + out(1).powi(2) + out(2).powi(2)).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_point_is_nearer_than_the_gap_of_its_cell(
        picks in prop::collection::vec(any::<u32>(), 1..20),
        points in prop::collection::vec([-0.8_f64..1.6, -0.8_f64..1.6, -0.8_f64..1.6], 50),
        voxel_m in prop_oneof![Just(0.02), Just(0.05)],
    ) {
        let grid = Grid::new([-0.1, -0.2, -0.3], [0.9, 0.5, 0.6], voxel_m).unwrap();
        let keys: Vec<u32> = picks.iter().map(|p| p % grid.cells() as u32).collect();
        let snapshot = MapSnapshot::from_voxels(&grid, &keys).unwrap();
        for point_m in points {
            let cell = std::array::from_fn(|a| {
                let at = ((point_m[a] - grid.lower_m()[a]) / voxel_m).floor().max(0.0) as usize;
                at.min(grid.size()[a] - 1)
            });
            let gap_m = f64::from(snapshot.gap2()[grid.key(cell) as usize]).sqrt() * voxel_m;
            let nearest_m = keys
                .iter()
                .map(|key| distance_to_cube_m(&grid, *key, point_m))
                .fold(f64::INFINITY, f64::min);
            prop_assert!(gap_m <= nearest_m + 1e-9, "{gap_m} {nearest_m}");
            // Inside of the grid the bound is off by the diagonal of a cell at most.
            if grid.contains(point_m) && nearest_m < snapshot.reach_m() {
                prop_assert!(nearest_m <= gap_m + 3_f64.sqrt() * voxel_m + 1e-9);
            }
        }
    }
}

#[test]
fn given_voxels_are_occupied_and_everything_else_is_free() {
    let grid = Grid::new([0.0; 3], [1.0; 3], 0.1).unwrap();
    let snapshot = MapSnapshot::from_voxels(&grid, &[999, 7, 7]).unwrap();
    let keys: Vec<u32> = snapshot.voxels().iter().map(|v| v.key).collect();
    assert_eq!(keys, [7, 999]);
    assert_eq!(snapshot.state(7), CellState::Occupied);
    assert_eq!(snapshot.state(8), CellState::Free);
    assert_eq!(snapshot.state(1000), CellState::Unknown);
    assert_eq!(snapshot.occupied_words()[0], 1 << 7);
    assert_eq!(snapshot.gap2()[0], 25);
}

#[test]
fn keys_outside_and_reaches_of_nothing_are_refused() {
    let grid = Grid::new([0.0; 3], [1.0; 3], 0.1).unwrap();
    let error = MapSnapshot::from_voxels(&grid, &[1000]).unwrap_err().to_string();
    assert!(error.contains("1000") && error.contains("999"), "{error}");
    assert!(MapSnapshot::from_voxels_within(&grid, &[], 0.0).is_err());
    assert!(MapSnapshot::from_voxels_within(&grid, &[], f64::NAN).is_err());
}
