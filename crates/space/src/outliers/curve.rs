//! Unordered points in the order of a space-filling curve, so that a tile of them lies together.

use super::PictureXyz;
use super::field::{PointTiles, TILE_COLUMNS, TILE_POINTS, TILE_ROWS, takes_part};

/// Bits of a coordinate on the curve.
const AXIS_BITS: u32 = 16;
/// Bits that one pass of the sort looks at.
const DIGIT_BITS: u32 = 12;

/// The order of the points of a cloud along the curve.
#[derive(Debug, Default)]
pub(super) struct Curve {
    /// Place on the curve and number in the cloud.
    order: Vec<(u64, u32)>,
    spare: Vec<(u64, u32)>,
    starts: Vec<u32>,
}

impl Curve {
    /// Sorts the points that take part and writes them to the field, tile after tile.
    pub(super) fn lay_out(&mut self, cloud: &PictureXyz<'_>, field: &mut PointTiles) {
        self.order.clear();
        let points = || cloud.x.iter().zip(cloud.y).zip(cloud.z).map(|((&x, &y), &z)| [x, y, z]);
        let mut low = [f32::INFINITY; 3];
        let mut high = [f32::NEG_INFINITY; 3];
        for p in points().filter(|p| takes_part(p[0], p[1], p[2])) {
            for axis in 0..3 {
                low[axis] = low[axis].min(p[axis]);
                high[axis] = high[axis].max(p[axis]);
            }
        }
        let widest = (0..3).map(|a| high[a] - low[a]).fold(f32::MIN_POSITIVE, f32::max);
        let cells_per_m = ((1_u32 << AXIS_BITS) - 1) as f32 / widest;
        for (p, number) in points().zip(0..) {
            if takes_part(p[0], p[1], p[2]) {
                let cell = |a: usize| spread(((p[a] - low[a]) * cells_per_m) as u16);
                self.order.push((cell(0) | cell(1) << 1 | cell(2) << 2, number));
            }
        }
        self.sort();

        let tiles = self.order.len().div_ceil(TILE_POINTS).max(1);
        field.resize(tiles * TILE_COLUMNS, TILE_ROWS);
        for tile in 0..tiles {
            for row in 0..TILE_ROWS {
                let column = tile * TILE_COLUMNS;
                let at = |i: usize| self.order.get(tile * TILE_POINTS + row * TILE_COLUMNS + i);
                let run: [[f32; 3]; TILE_COLUMNS] = std::array::from_fn(|i| {
                    at(i).map_or([f32::NAN; 3], |&(_, number)| {
                        let n = number as usize;
                        [cloud.x[n], cloud.y[n], cloud.z[n]]
                    })
                });
                let [x, y, z] = [0, 1, 2].map(|axis| run.map(|p| p[axis]));
                field.write(column, row, &x, &y, &z);
            }
        }
    }

    /// Number in the cloud of a point of the field, counted in the order of tiles.
    pub(super) fn number(&self, place: usize) -> usize {
        self.order[place].1 as usize
    }

    /// Radix sort by place on the curve, lowest digit first; digits that are all the same cost
    /// one look.
    fn sort(&mut self) {
        let digits = 1_usize << DIGIT_BITS;
        for shift in (0..3 * AXIS_BITS).step_by(DIGIT_BITS as usize) {
            let digit = |key: u64| (key >> shift) as usize & (digits - 1);
            self.starts.clear();
            self.starts.resize(digits, 0);
            for &(key, _) in &self.order {
                self.starts[digit(key)] += 1;
            }
            if self
                .order
                .first()
                .is_none_or(|&(key, _)| self.starts[digit(key)] as usize == self.order.len())
            {
                continue;
            }
            let mut sum = 0;
            for start in &mut self.starts {
                sum += std::mem::replace(start, sum);
            }
            self.spare.clear();
            self.spare.resize(self.order.len(), (0, 0));
            for &entry in &self.order {
                let to = &mut self.starts[digit(entry.0)];
                self.spare[*to as usize] = entry;
                *to += 1;
            }
            std::mem::swap(&mut self.order, &mut self.spare);
        }
    }
}

/// Two zero bits between the bits of a coordinate.
fn spread(cell: u16) -> u64 {
    let mut bits = u64::from(cell);
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_bits_are_three_apart() {
        for bit in 0..16 {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread(u16::MAX).count_ones(), 16);
    }
}
