//! What is done for sixteen configurations at once. One code in plain Rust, compiled for each
//! instruction set; all give the same bits.

use citrange_lanes::kernel;

use super::lanes::{LANES, Lane};
use super::self_collision::LinkPair;
use super::tree::{LaneFrame, Tree};

kernel! {
    /// Centres of all spheres for one block.
    pub(crate) fn place(
        simd,
        tree: &Tree,
        block: &[Lane],
        frames: &mut [LaneFrame],
        centres: &mut [[Lane; 3]],
    ) {
        place_plain(tree, block, frames, centres);
    }
}

#[inline(always)]
fn place_plain(tree: &Tree, block: &[Lane], frames: &mut [LaneFrame], centres: &mut [[Lane; 3]]) {
    tree.place(block, frames);
    for (sphere, centre) in tree.spheres.iter().zip(centres) {
        *centre = tree.centre(sphere, frames);
    }
}

kernel! {
    /// In which configurations spheres of a pair are nearer than the margin, as bits.
    pub(crate) fn self_hits(
        simd,
        pairs: &[LinkPair],
        centres: &[[Lane; 3]],
        radii_m: &[f32],
        margin_m: f32,
    ) -> u16 {
        self_hits_plain(pairs, centres, radii_m, margin_m)
    }
}

#[inline(always)]
fn self_hits_plain(
    pairs: &[LinkPair],
    centres: &[[Lane; 3]],
    radii_m: &[f32],
    margin_m: f32,
) -> u16 {
    // Least of squared distance less squared sum of radii: below 0 is a touch.
    let mut least = Lane::splat(f32::INFINITY);
    for pair in pairs {
        let second = &centres[pair.second.clone()];
        for (from, r) in centres[pair.first.clone()].iter().zip(&radii_m[pair.first.clone()]) {
            for (to, s) in second.iter().zip(&radii_m[pair.second.clone()]) {
                let (x, y, z) = (from[0] - to[0], from[1] - to[1], from[2] - to[2]);
                let reach = (r + s + margin_m).max(0.0);
                least = (x * x + y * y + z * z - Lane::splat(reach * reach)).lesser(least);
            }
        }
    }
    least.below(&[0.0; LANES])
}
