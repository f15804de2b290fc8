//! The unit of work: up to 256 rays of one tile.

use crate::view::View;

/// Side of a tile in pixels.
pub(crate) const TILE: usize = 16;
/// Rays in a packet; a multiple of every lane count.
pub(crate) const RAYS: usize = TILE * TILE;
/// Side of the squares of pixels that colouring keeps together.
const BLOCK: usize = 4;
/// No surface.
pub(crate) const NONE: u32 = u32::MAX;

/// Where a pixel is in block order: squares of four by four, row by row, and so are their
/// pixels. Neighbours in a register are then neighbours in the image, so that they more often
/// see the same surface, and the same light.
pub(crate) fn in_blocks(column: usize, row: usize) -> usize {
    let block = row / BLOCK * BLOCK + column / BLOCK;
    (block * BLOCK + row % BLOCK) * BLOCK + column % BLOCK
}

/// From the order of pixels to block order, or back: four rows of four groups are transposed.
pub(crate) fn reorder<T: Copy>(from: &[T; RAYS], to: &mut [T; RAYS]) {
    let (from, _) = from.as_chunks::<BLOCK>();
    let (to, _) = to.as_chunks_mut::<BLOCK>();
    let (from, _) = from.as_chunks::<{ BLOCK * BLOCK }>();
    let (to, _) = to.as_chunks_mut::<{ BLOCK * BLOCK }>();
    for (from, to) in from.iter().zip(to) {
        for row in 0..BLOCK {
            for block in 0..BLOCK {
                to[block * BLOCK + row] = from[row * BLOCK + block];
            }
        }
    }
}

/// Rays `(x0 + x, y0 + y, -1)` in the camera frame, `(x0, y0)` being the centre of the tile,
/// and the nearest surface each has met so far.
///
/// Offsets from the tile's centre are small, so that single precision loses little in them;
/// what belongs to the centre itself is computed in double precision once per tile.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Packet {
    pub(crate) x: [f32; RAYS],
    pub(crate) y: [f32; RAYS],
    /// Depth along the optical axis, which is also the ray parameter.
    pub(crate) z: [f32; RAYS],
    /// Instance index, or number of instances plus triangle index.
    pub(crate) surf: [u32; RAYS],
    /// Rays in use.
    pub(crate) len: usize,
}

impl Packet {
    pub(crate) fn new() -> Self {
        Self { x: [0.0; RAYS], y: [0.0; RAYS], z: [0.0; RAYS], surf: [NONE; RAYS], len: 0 }
    }

    /// Forgets the surfaces met.
    pub(crate) fn clear_hits(&mut self, far: f32) {
        self.z.fill(far);
        self.surf.fill(NONE);
    }

    /// One ray through each pixel centre of any tile.
    pub(crate) fn aim_at_pixels(&mut self, view: &View) {
        for row in 0..TILE {
            for column in 0..TILE {
                let [x, y] = view.offset(column as f64 + 0.5, row as f64 + 0.5);
                self.x[row * TILE + column] = x;
                self.y[row * TILE + column] = y;
            }
        }
        self.len = RAYS;
    }

    /// The same rays, in block order.
    pub(crate) fn aim_at_blocks(&mut self, view: &View) {
        for row in 0..TILE {
            for column in 0..TILE {
                let [x, y] = view.offset(column as f64 + 0.5, row as f64 + 0.5);
                self.x[in_blocks(column, row)] = x;
                self.y[in_blocks(column, row)] = y;
            }
        }
        self.len = RAYS;
    }

    /// Adds a ray through a point of the tile, in pixels from its upper left corner.
    pub(crate) fn push(&mut self, view: &View, column: f64, row: f64) {
        let [x, y] = view.offset(column, row);
        self.x[self.len] = x;
        self.y[self.len] = y;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_order_is_there_and_back() {
        let pixels: [usize; RAYS] = std::array::from_fn(|i| i);
        let (mut blocks, mut back) = ([0; RAYS], [0; RAYS]);
        reorder(&pixels, &mut blocks);
        reorder(&blocks, &mut back);
        assert_eq!(back, pixels);
        for pixel in pixels {
            assert_eq!(blocks[in_blocks(pixel % TILE, pixel / TILE)], pixel);
        }
        assert_eq!(blocks[..5], [0, 1, 2, 3, 16]);
    }
}
