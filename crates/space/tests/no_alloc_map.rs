//! After the first frames the map and questions to it allocate nothing.

mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use citrange_space::{Carving, Grid, Map, MapSettings, Nearest, RayBatch};
use synthetic::{Camera, frame, thing};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: everything is left to the system's allocator.
#[expect(unsafe_code, reason = "counts what the system's allocator is asked for")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test only: others would be counted in.
#[test]
fn nothing_is_allocated_after_the_first_frames() {
    let grid = Grid::new([-0.5, -0.6, -0.05], [1.0, 0.6, 0.8], 0.05).unwrap();
    let camera = Camera::new([-0.9, -0.1, 0.7], [0.4, 0.0, 0.1], 120, 90);
    let settings = MapSettings { max_age_s: Some(10.0), ..MapSettings::default() };
    let mut map = Map::new(&settings, &grid).unwrap();
    let mut pictures = Vec::new();
    for step in 0..24_u32 {
        // There and back twice, so that the second time needs no more room than the first.
        let part = step % 12;
        let y = 0.03 * f64::from(if part < 6 { part } else { 11 - part });
        let things = [
            thing(0, [0.25, 0.0, -0.03], [1.5, 1.5, 0.03]),
            thing(1, [0.3, y, 0.2], [0.08, 0.08, 0.1]),
        ];
        let mut cloud = camera.picture(&things, 1 + u64::from(step) * 33_000_000, |_, _| false);
        // Pictures and other clouds in turn.
        if step % 2 == 1 {
            cloud.width = cloud.xyz_m.len();
        }
        let frame = frame(&grid, &cloud, &camera.pose, &things);
        pictures.push((cloud, frame));
    }
    let points = [[0.1, 0.2, 0.3], [0.3, 0.0, 0.2], [5.0, 0.0, 0.0]];
    let (zeros, ones) = ([0.0; 20], [1.0; 20]);
    let batch = RayBatch {
        origins_m: [&zeros, &zeros, &ones],
        directions: [&ones, &zeros, &zeros],
        max_m: &ones,
    };
    let mut reader = map.snapshot();
    let mut counted = 0;
    for (step, (cloud, frame)) in pictures.iter().enumerate() {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let report = map.integrate(0, cloud, &camera.view(), frame).unwrap();
        let snapshot = map.snapshot();
        let mut nearest = [Nearest::default(); 3];
        snapshot.distances(&points, &mut nearest).unwrap();
        let (mut distances_m, mut voxels) = ([0.0; 20], [0; 20]);
        snapshot.rays(&batch, &mut distances_m, &mut voxels).unwrap();
        let mut hits = [false; 3];
        snapshot.spheres_hit(&points, &[0.1; 3], &mut hits).unwrap();
        let hit = snapshot.capsule_hit(points[0], points[1], 0.05);
        let after = ALLOCATIONS.load(Ordering::Relaxed);
        assert!(hit && hits[1]);
        let expected = if step % 2 == 1 { Carving::Projected } else { Carving::Picture };
        assert_eq!(report.carving, expected);
        if step >= 12 {
            counted += after - before;
        }
        // A reader holds on to every second snapshot for a while.
        if step % 2 == 0 {
            reader = snapshot;
        }
    }
    assert!(reader.sequence() > 0);
    assert_eq!(counted, 0);
}
