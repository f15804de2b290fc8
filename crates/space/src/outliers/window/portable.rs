//! Plain Rust: arrays of eight.

const LANES: usize = 8;
type V = [f32; LANES];

#[inline(always)]
fn splat(value: f32) -> V {
    [value; LANES]
}

#[inline(always)]
fn load(from: &[f32], at: usize) -> V {
    std::array::from_fn(|i| from[at + i])
}

#[inline(always)]
fn store(to: &mut [f32; LANES], value: V) {
    *to = value;
}

#[inline(always)]
fn add(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] + b[i])
}

#[inline(always)]
fn sub(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] - b[i])
}

#[inline(always)]
fn mul(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] * b[i])
}

#[inline(always)]
fn div(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] / b[i])
}

/// The second where one is not a number, as the instruction has it.
#[inline(always)]
fn min(a: V, b: V) -> V {
    std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
}

#[inline(always)]
fn max(a: V, b: V) -> V {
    std::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
}

#[inline(always)]
fn root(a: V) -> V {
    std::array::from_fn(|i| a[i].sqrt())
}

/// A bit for each lane where `a` is below `b`.
#[inline(always)]
fn lanes_below(a: V, b: V) -> u32 {
    (0..LANES).fold(0, |bits, i| bits | u32::from(a[i] < b[i]) << i)
}

super::window_kernel!();
