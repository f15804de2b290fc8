//! Finding outliers allocates nothing once clouds of a size have been seen.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use citrange_space::{Isa, OutlierMode, OutlierScratch, Outliers, PictureXyz};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does the work; counting touches no memory of its callers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A wall with holes and far points; which ones depends on the random seed.
fn picture(seed: usize) -> [Vec<f32>; 3] {
    let (width, height) = (160, 60);
    let mut axes = [Vec::new(), Vec::new(), Vec::new()];
    for i in 0..width * height {
        let mixed = (i + seed * 7919) * 2_654_435_761 % 4_294_967_296;
        let depth = match mixed % 53 {
            0 => f32::NAN,
            1 => 0.4 + (mixed % 1000) as f32 * 1e-3,
            _ => 1.5 + (mixed % 1000) as f32 * 3e-6,
        };
        axes[0].push(((i % width) as f32 - 80.0) / 300.0 * depth);
        axes[1].push(((i / width) as f32 - 30.0) / 300.0 * depth);
        axes[2].push(depth);
    }
    axes
}

#[test]
fn nothing_is_allocated_after_the_first_clouds() {
    let clouds: Vec<_> = (0..6).map(picture).collect();
    for isa in Isa::available() {
        for mode in [OutlierMode::Exact, OutlierMode::Fast] {
            for (neighbours, ordered) in [(20, true), (40, true), (20, false)] {
                let settings = Outliers { neighbours, mode, ..Outliers::default() };
                let mut scratch = OutlierScratch::default();
                let mut outliers = 0;
                let mut counts = Vec::with_capacity(clouds.len());
                for [x, y, z] in &clouds {
                    let picture =
                        PictureXyz { x, y, z, width: if ordered { 160 } else { x.len() } };
                    let before = ALLOCATIONS.get();
                    let found = scratch.find(&picture, &settings, isa, 1);
                    counts.push(ALLOCATIONS.get() - before);
                    outliers += found.iter().filter(|o| **o).count();
                }
                assert!(counts[0] > 0 && outliers > 0);
                assert_eq!(counts[2..], [0; 4], "{isa:?} {mode:?} {neighbours} {ordered}");
            }
        }
    }
}
