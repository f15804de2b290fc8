//! After the first frames, a frame on one thread allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use citrange_cloud::Cloud;
use citrange_core::Pose;
use citrange_core::shape::PosedLinkShape;
use citrange_space::{Pipeline, PipelineSettings, PosedRobot};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
#[expect(unsafe_code, reason = "an allocator that counts")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A wall with a step, as a picture.
fn picture(depth_m: f32) -> Cloud {
    let points = (0..160 * 120).map(|i| {
        let (column, row) = ((i % 160) as f32, (i / 160) as f32);
        let z = if column < 80.0 { depth_m } else { depth_m + 0.3 };
        [(column - 80.0) / 150.0 * z, (row - 60.0) / 150.0 * z, z]
    });
    let xyz_m: Vec<[f32; 3]> = points.collect();
    let rgb = vec![[9, 8, 7]; xyz_m.len()];
    Cloud::new(xyz_m, rgb, 160, 1).unwrap()
}

#[test]
fn a_frame_allocates_nothing() {
    let mut pipeline = Pipeline::new(PipelineSettings::default()).unwrap();
    let shapes = [PosedLinkShape::capsule(0, [0.0, 0.0, 0.8], [0.4, 0.0, 1.0], 0.1)];
    let robot = PosedRobot { shapes: &shapes, end_effector_m: Some([0.1; 3]) };
    let clouds = [picture(0.9), picture(1.0)];
    // Memory is taken with the first frames, by each thread when it first helps.
    for cloud in clouds.iter().cycle().take(40) {
        assert!(!pipeline.run(cloud, &Pose::IDENTITY, &robot).unwrap().voxels.is_empty());
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for cloud in clouds.iter().cycle().take(10) {
        pipeline.run(cloud, &Pose::IDENTITY, &robot).unwrap();
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
}
