//! Free bodies: the engine keeps angular velocity in the body's frame, State in the world's.

use citrange_core::pose::matrix_from_quat;

/// Bits kept below the fastest axis' leading bit. Turning there and back loses about three bits
/// of f64's 53; rounding to a grid that is coarser than that makes the two exact inverses.
const GRID_BITS: u64 = 46;
const MANTISSA_BITS: u64 = 52;
/// Exponent bits of speeds above 1e303 rad/s and of what is not a finite number.
const TOO_FAST: u64 = 0x7f0;
/// A sum with 1.5 x 2^52 grid steps keeps whole steps only: the last bit of the sum is one step.
const ROUNDER: f64 = 1.5 * (1_u64 << (MANTISSA_BITS - GRID_BITS)) as f64;

/// Angular velocity in the world frame, on a grid of 2^-46 of the fastest axis (1.4e-14).
pub(crate) fn world_from_body(quat_wxyz: [f64; 4], w_body: [f64; 3]) -> [f64; 3] {
    on_grid(rotated(&matrix_from_quat(quat_wxyz), w_body))
}

/// The body-frame velocity that [`world_from_body`] turns into exactly `w_world`, when that is
/// on the grid (as every velocity that was read is).
pub(crate) fn body_from_world(quat_wxyz: [f64; 4], w_world: [f64; 3]) -> [f64; 3] {
    let m = matrix_from_quat(quat_wxyz);
    let rotated_back = |w: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| m[i] * w[0] + m[3 + i] * w[1] + m[6 + i] * w[2])
    };
    let w_body = rotated_back(w_world);
    // The matrix is orthogonal only up to rounding: correct by what the way back misses.
    let back = rotated(&m, w_body);
    let missing = rotated_back(std::array::from_fn(|i| w_world[i] - back[i]));
    std::array::from_fn(|i| w_body[i] + missing[i])
}

fn rotated(m: &[f64; 9], w: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[3 * i] * w[0] + m[3 * i + 1] * w[1] + m[3 * i + 2] * w[2])
}

/// Never minus zero. Neither division nor call nor branch on the sizes of the axes: State reads
/// this for every free body.
fn on_grid(w: [f64; 3]) -> [f64; 3] {
    // Numbers of one sign are ordered as their bits are.
    let [x, y, z] = w.map(|c| c.abs().to_bits());
    let exponent = x.max(y).max(z) >> MANTISSA_BITS;
    match exponent {
        0..=GRID_BITS => [0.0; 3],
        TOO_FAST.. => w,
        _ => {
            // The power of two at or below the fastest axis.
            let rounder = f64::from_bits(exponent << MANTISSA_BITS) * ROUNDER;
            w.map(|c| (c + rounder) - rounder)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::rng::Rng;

    #[test]
    fn what_was_read_is_set_back_bit_for_bit() {
        let mut rng = Rng::new(3);
        let mut inexact = 0;
        const CASES: usize = 100_000;
        for case in 0..CASES {
            let mut quat: [f64; 4] = std::array::from_fn(|_| rng.uniform(-1.0, 1.0));
            let norm = quat.iter().map(|c| c * c).sum::<f64>().sqrt();
            quat.iter_mut().for_each(|c| *c /= norm);
            // Slow, fast, and with one axis much slower than the others.
            let scale = [1e-9, 1.0, 30.0][case % 3];
            let mut w: [f64; 3] = std::array::from_fn(|_| rng.uniform(-scale, scale));
            if case % 5 == 0 {
                w[case % 2] *= 1e-8;
            }
            let world = world_from_body(quat, w);
            let again = world_from_body(quat, body_from_world(quat, world));
            inexact += usize::from(again.map(f64::to_bits) != world.map(f64::to_bits));
            for i in 0..3 {
                let plain = rotated(&matrix_from_quat(quat), w)[i];
                assert!((world[i] - plain).abs() <= 2e-14 * scale * 2.0);
            }
        }
        assert_eq!(inexact, 0, "of {CASES}");
    }
}
