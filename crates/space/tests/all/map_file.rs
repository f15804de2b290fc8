//! Maps as files: written and read back, and bad ones refused.

use citrange_space::{CellState, Grid, MapSnapshot};

fn map() -> MapSnapshot {
    let grid = Grid::new([-0.5, -1.0, -0.1], [0.7, 0.3, 0.5], 0.05).unwrap();
    let keys: Vec<u32> = (0..grid.cells() as u32).filter(|key| key % 37 == 5).collect();
    MapSnapshot::from_voxels_within(&grid, &keys, 0.4).unwrap()
}

#[test]
fn a_map_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new folder/map.bin");
    let map = map();
    map.save(&path).unwrap();
    let back = MapSnapshot::load(&path).unwrap();
    assert_eq!(back.grid(), map.grid());
    assert_eq!(back.voxels(), map.voxels());
    assert_eq!(back.gap2(), map.gap2());
    assert_eq!(back.occupied_words(), map.occupied_words());
    assert_eq!(back.reach_m(), map.reach_m());
    for key in 0..map.grid().cells() as u32 {
        assert_eq!(back.state(key), map.state(key));
        assert_ne!(back.state(key), CellState::Unknown);
        assert_eq!(back.seen_ns(key), map.seen_ns(key));
    }
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left");
    let at = [0.1, -0.4, 0.2];
    assert_eq!(back.distance(at).distance_m, map.distance(at).distance_m);
}

#[test]
fn damaged_maps_are_refused_at_every_byte() {
    let bytes = map().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let error = MapSnapshot::from_bytes("map.bin", &bytes[..length]).unwrap_err().to_string();
        assert!(error.starts_with("map.bin: "), "{error}");
    }
    for at in 0..bytes.len() {
        for bit in [0, 7] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(MapSnapshot::from_bytes("map.bin", &changed).is_err(), "byte {at}, bit {bit}");
        }
    }
    let mut newer = bytes.clone();
    newer[7] = 9;
    let error = MapSnapshot::from_bytes("map.bin", &newer).unwrap_err().to_string();
    assert!(error.contains("format 9"), "{error}");
}
