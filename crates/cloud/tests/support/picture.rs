//! A synthetic picture for tests.

use citrange_cloud::Cloud;
use citrange_core::rng::Rng;

/// A picture of a wavy wall through a pinhole, with pixels that saw nothing.
pub(crate) fn picture(width: usize, height: usize, seed: u64) -> Cloud {
    let mut rng = Rng::new(seed);
    let focal = width as f32;
    let points = (0..width * height).map(|i| {
        let (column, row) = ((i % width) as f32, (i / width) as f32);
        if rng.unit() < 0.1 {
            return [f32::NAN; 3];
        }
        let z = 1.0 + 0.1 * (column * 0.05).sin() + 0.05 * (row * 0.03).cos();
        [(column - width as f32 / 2.0) / focal * z, (row - height as f32 / 2.0) / focal * z, z]
    });
    let xyz_m = points.collect();
    let rgb = (0..width * height).map(|_| rng.next_u64().to_le_bytes()[..3].try_into().unwrap());
    Cloud::new(xyz_m, rgb.collect(), width, 1_700_000_000_123_456_789).unwrap()
}
