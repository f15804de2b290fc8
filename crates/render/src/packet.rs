//! The unit of work: up to 256 rays of one tile.

use crate::view::View;

/// Side of a tile in pixels.
pub(crate) const TILE: usize = 16;
/// Rays in a packet; a multiple of every lane count.
pub(crate) const RAYS: usize = TILE * TILE;
/// No surface.
pub(crate) const NONE: u32 = u32::MAX;

/// Rays `(x0 + x, y0 + y, -1)` in the camera frame, `(x0, y0)` being the centre of the tile,
/// and the nearest surface each has met so far.
///
/// Offsets from the tile's centre are small, so that single precision loses little in them;
/// what belongs to the centre itself is computed in double precision once per tile.
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

    /// Adds a ray through a point of the tile, in pixels from its upper left corner.
    pub(crate) fn push(&mut self, view: &View, column: f64, row: f64) {
        let [x, y] = view.offset(column, row);
        self.x[self.len] = x;
        self.y[self.len] = y;
        self.len += 1;
    }
}
