//! Which points their neighbours in the picture confirm.

use super::block::{BLOCK, LANES};
use crate::settings::Support;
use crate::simd::Isa;

/// Neighbours are looked for this many rows and columns away.
pub(crate) const REACH: usize = 1;

/// Set in a colour for a point that is confirmed.
const CONFIRMED: u32 = 1 << 24;

/// When neighbours confirm a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confirm {
    ratio: f32,
    neighbours: u32,
}

impl Confirm {
    /// The rule with these settings.
    pub(crate) fn new(settings: &Support) -> Self {
        Self { ratio: settings.depth_ratio as f32, neighbours: settings.neighbours }
    }

    /// Marks the colours of points that are confirmed. `rows` are depths of the rows around, with
    /// [`LANES`] columns more on both sides.
    pub(crate) fn mark(
        &self,
        rows: [&[f32]; 2 * REACH + 1],
        colours: &mut [u32; BLOCK],
        _isa: Isa,
    ) {
        let points = rows[REACH].len() - 2 * LANES;
        for (i, colour) in colours.iter_mut().enumerate().take(points) {
            let at = i + LANES;
            let depth = rows[REACH][at];
            let mut agree = 0;
            for row in rows {
                for near in &row[at - 1..=at + 1] {
                    agree += u32::from((near - depth).abs() < self.ratio * depth);
                }
            }
            // The point agrees with itself.
            *colour |= u32::from(agree > self.neighbours) * CONFIRMED;
        }
    }
}
