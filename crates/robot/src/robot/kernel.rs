//! What is done for sixteen configurations at once. One code, compiled for each instruction set;
//! all give the same bits.

use citrange_lanes::{F32x16, Lanes, Simd, dot, kernel, store, sub};

use super::self_collision::LinkPair;
use super::sphere_chain::SphereChain;
use crate::lane_chain::LaneFrame;

kernel! {
    /// Centres of all spheres for one block.
    pub(crate) fn place(
        simd,
        robot: &SphereChain,
        block: &[Lanes],
        frames: &mut [LaneFrame<Lanes>],
        centres: &mut [[Lanes; 3]],
    ) {
        robot.chain.place::<F32x16<S>>(simd, block, frames);
        for (sphere, centre) in robot.spheres.iter().zip(centres) {
            store(&robot.centre(simd, sphere, frames), centre);
        }
    }
}

kernel! {
    /// Where a point of a link is.
    pub(crate) fn place_point(
        simd, frame: &LaneFrame<Lanes>, point_m: [f32; 3], at: &mut [Lanes; 3],
    ) {
        store(&frame.point(simd, point_m), at);
    }
}

kernel! {
    /// In which configurations spheres of a pair are nearer than the margin, as bits.
    pub(crate) fn self_hits(
        simd,
        pairs: &[LinkPair],
        centres: &[[Lanes; 3]],
        radii_m: &[f32],
        margin_m: f32,
    ) -> u16 {
        hits(simd, pairs, centres, radii_m, margin_m)
    }
}

#[inline(always)]
fn hits<S: Simd>(
    simd: S,
    pairs: &[LinkPair],
    centres: &[[Lanes; 3]],
    radii_m: &[f32],
    margin_m: f32,
) -> u16 {
    // Least of squared distance less squared sum of radii: below 0 is a touch.
    let mut least = simd.splat(f32::INFINITY);
    for pair in pairs {
        let second = &centres[pair.second.clone()];
        for (from, r) in centres[pair.first.clone()].iter().zip(&radii_m[pair.first.clone()]) {
            let from = simd.load3(from);
            for (to, s) in second.iter().zip(&radii_m[pair.second.clone()]) {
                let away = sub(&from, &simd.load3(to));
                let reach = (r + s + margin_m).max(0.0);
                least = (dot(&away, &away) - reach * reach).min(least);
            }
        }
    }
    least.lt(simd.splat(0.0)).bits()
}
