//! Readers hold a snapshot on other threads while the map goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use citrange_space::{CellState, Grid, Map, MapSettings, MapSnapshot};

use crate::synthetic::{Camera, frame, thing};

const MS: u64 = 1_000_000;

/// Everything in a snapshot belongs to the same moment.
fn check(snapshot: &MapSnapshot) {
    for voxel in snapshot.voxels() {
        let at = snapshot.grid().centre_m(snapshot.grid().cell_of(voxel.key));
        assert_eq!(snapshot.state(voxel.key), CellState::Occupied);
        assert_eq!(snapshot.gap2()[voxel.key as usize], 0);
        assert_eq!(snapshot.distance(at).distance_m, 0.0);
    }
    let bits: u32 = snapshot.occupied_words().iter().map(|word| word.count_ones()).sum();
    assert_eq!(bits as usize, snapshot.voxels().len());
}

#[test]
fn snapshots_stay_whole_while_the_map_goes_on() {
    fn shared<T: Send + Sync>(_: &T) {}
    let grid = Grid::new([-0.5, -0.6, -0.05], [1.0, 0.6, 0.8], 0.05).unwrap();
    let camera = Camera::new([-0.9, -0.1, 0.7], [0.4, 0.0, 0.1], 60, 45);
    let mut map =
        Map::new(&MapSettings { clear_frames: 1, ..MapSettings::default() }, &grid).unwrap();
    let newest = Mutex::new(map.snapshot());
    shared(&*newest.lock().unwrap());
    let done = AtomicBool::new(false);
    let (frames, seen) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = std::collections::BTreeSet::new();
                    while !done.load(Ordering::Relaxed) {
                        let snapshot = Arc::clone(&newest.lock().unwrap());
                        let voxels = snapshot.voxels().to_vec();
                        check(&snapshot);
                        assert_eq!(snapshot.voxels(), voxels);
                        seen.insert(snapshot.sequence());
                    }
                    seen.len()
                })
            })
            .collect();
        let mut frames = 0;
        // Until both readers have had a fair chance to see many maps.
        for step in 0..400_u64 {
            let at = 0.3 + 0.2 * (step as f64 * 0.3).sin();
            let things = [
                thing(0, [2.0, 0.0, 0.5], [0.1, 4.0, 4.0]),
                thing(1, [at, 0.0, 0.2], [0.06, 0.06, 0.06]),
            ];
            let cloud = camera.picture(&things, (step + 1) * MS, |_, _| false);
            let made = frame(&grid, &cloud, &camera.pose, &things);
            map.integrate(0, &cloud, &camera.view(), &made).unwrap();
            *newest.lock().unwrap() = map.snapshot();
            frames += 1;
        }
        done.store(true, Ordering::Relaxed);
        let seen: usize = readers.into_iter().map(|r| r.join().unwrap()).sum();
        (frames, seen)
    });
    assert_eq!(frames, 400);
    assert!(seen > 10, "readers saw only {seen} maps");
    check(&map.snapshot());
}
