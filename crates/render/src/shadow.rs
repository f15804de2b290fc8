//! Shadow maps: what a light sees, drawn by the same code as what a camera sees.
//!
//! A map remembers the nearest instance as well as its depth. A convex primitive cannot shade
//! the part of itself that faces the light, so it never tests against itself, and needs no bias
//! against self-shadowing. A directional light is a pinhole very far away.

use citrange_core::shape::Shape;
use citrange_lanes::{Isa, Kernel, LANES, Mask, Simd};

use crate::camera::{Camera, Intrinsics};
use crate::math::{self, Vec3};
use crate::packet::{NONE, Packet, RAYS, TILE};
use crate::scene::{Instance, Light, LightKind, Placement, SceneModel};
use crate::vec3::{V, equal, load, to_integers};
use crate::view::View;

/// How many times farther than the casters are wide a directional light's pinhole is.
const FAR_AWAY: f64 = 256.0;
/// Texels left free around the casters, for the filter.
const MARGIN: f64 = 4.0;
/// Side of the cells that summarise the map.
const CELL: usize = 4;
/// Cells along the side of a tile.
const CELLS: usize = TILE / CELL;
/// Cells that are looked at together before each point is looked at alone.
const MOST_CELLS: usize = 96;
/// Owner of a cell with more than one.
const MIXED: u32 = NONE - 1;
/// The receiver's own number for shapes that may shade themselves.
pub(crate) const NOBODY: u32 = NONE - 2;

/// Whether an instance blocks light.
pub(crate) fn casts(instance: &Instance) -> bool {
    let is_plane = matches!(instance.shape, Shape::Plane { .. });
    instance.casts_shadow && !is_plane && instance.material.rgba[3] >= 0.5
}

/// The nearest caster, and which instance it is.
#[derive(Debug, Clone, Copy)]
struct Texel {
    depth: f32,
    owner: u32,
}

/// Depths and owners around one texel block.
#[derive(Debug, Clone, Copy)]
struct Cell {
    low: f32,
    high: f32,
    /// `MIXED` if there are several.
    owner: u32,
    /// One bit for each owner, by its last five bits.
    owners: u32,
}

const EMPTY: Cell = Cell { low: f32::INFINITY, high: f32::INFINITY, owner: NONE, owners: 0 };

/// How far a tile of the map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tile {
    /// Up to date: nothing is there.
    Blank,
    /// Up to date.
    Drawn,
    /// From an earlier frame.
    Stale,
}

/// What a packet has met, all in all.
pub(crate) struct Reach {
    /// Nearest and farthest depth; the wrong way round if nothing was met.
    pub(crate) z: [f32; 2],
    /// `NOBODY` if there are several.
    pub(crate) owner: u32,
}

/// Finds the reach of a packet.
pub(crate) struct FindReach<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) owners: &'a [u32; RAYS],
}

impl Kernel for FindReach<'_> {
    type Output = Reach;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Reach {
        let first = self.owners[0];
        let (zero, one) = (V::splat(s, 0.0), V::splat(s, 1.0));
        let far = V::splat(s, f32::INFINITY);
        let (mut low, mut high, mut differs) = (far, zero, zero);
        for block in 0..self.packet.len.div_ceil(LANES) {
            let z = load(s, &self.packet.z, block);
            let missed = equal(s, self.owners, block, NONE);
            low = low.min(missed.select(far, z));
            high = high.max(missed.select(zero, z));
            let same = equal(s, self.owners, block, first);
            differs = differs.max(same.select(zero, one));
        }
        let z = [-(-low).reduce_max(), high.reduce_max()];
        Reach { z, owner: if differs.reduce_max() > 0.0 { NOBODY } else { first } }
    }
}

/// One light's map.
///
/// Its tiles are drawn when something visible first needs them.
#[derive(Debug)]
pub(crate) struct ShadowMap {
    pub(crate) view: View,
    side: usize,
    /// Tile by tile: neighbours in any direction are near in memory.
    texels: Vec<[Texel; RAYS]>,
    cells: Vec<Cell>,
    tiles: Vec<Tile>,
    /// For drawing tiles.
    packet: Packet,
    /// From the camera's frame: rotation and offset.
    rot: [f64; 9],
    offset: Vec3,
    /// The share of light that all points of the packet at hand have, if they have one.
    pub(crate) common: Option<f32>,
    /// `fx`, `fy`, `cx`, `cy` of the pinhole.
    pub(crate) focal: [f32; 4],
    /// Width of a texel per metre of distance.
    pub(crate) texel: f32,
}

impl ShadowMap {
    pub(crate) fn new(isa: Isa) -> Self {
        Self {
            view: View::new(isa),
            side: 0,
            texels: Vec::new(),
            cells: Vec::new(),
            tiles: Vec::new(),
            packet: Packet::new(),
            rot: [0.0; 9],
            offset: [0.0; 3],
            common: None,
            focal: [0.0; 4],
            texel: 0.0,
        }
    }

    /// Points the map at the casters, for a camera whose packets will need it; nothing is drawn
    /// yet. `false` when there is nothing that could cast a shadow.
    pub(crate) fn aim(
        &mut self,
        model: &SceneModel,
        placements: &[Placement],
        light: &Light,
        texels: usize,
        camera: &Camera,
    ) -> bool {
        let side = texels.clamp(TILE, 8192).next_multiple_of(TILE);
        let Some(pinhole) = fit(model, placements, light, side) else { return false };
        self.view.build(model, placements, &pinhole, casts);
        self.rot = math::mat_t_mul(&pinhole.rot, &camera.rot);
        self.offset = math::mul_t(&pinhole.rot, math::sub(camera.pos_m, pinhole.pos_m));
        let k = &pinhole.intrinsics;
        self.focal = [k.fx as f32, k.fy as f32, k.cx as f32, k.cy as f32];
        self.texel = (1.0 / k.fx.min(k.fy)) as f32;
        if self.side != side {
            self.side = side;
            let tiles = side / TILE * (side / TILE);
            self.texels.clear();
            self.texels.resize(tiles, [Texel { depth: f32::INFINITY, owner: NONE }; RAYS]);
            self.cells.clear();
            self.cells.resize(side / CELL * (side / CELL), EMPTY);
            self.tiles.clear();
            self.tiles.resize(tiles, Tile::Blank);
        }
        self.packet.aim_at_pixels(&self.view);
        for (i, tile) in self.tiles.iter_mut().enumerate() {
            if *tile != Tile::Blank || !self.view.is_empty_tile(i) {
                *tile = Tile::Stale;
            }
        }
        true
    }

    /// Draws what is missing of the map where the points of a packet, with these slopes of their
    /// rays, may look at it, and finds out whether they have their share of light in common.
    pub(crate) fn attend(&mut self, slopes: [[f64; 2]; 2], reach: &Reach) {
        self.common = Some(1.0);
        if reach.z[0] > reach.z[1] {
            return;
        }
        let side = self.side as f64;
        let bounds = self.bounds(slopes, reach.z.map(f64::from));
        let [u, v, z] = bounds.unwrap_or([[0.0, side], [0.0, side], [0.0, f64::INFINITY]]);
        if u[1] < 0.0 || v[1] < 0.0 || u[0] > side || v[0] > side {
            return;
        }
        // The filter reaches two and a half texels; the rest is for rounding.
        let span = |[low, high]: [f64; 2], part: usize| {
            let last = self.side / part - 1;
            [(low - 3.0).max(0.0) as usize / part, ((high + 3.0) as usize / part).min(last)]
        };
        let ([x0, x1], [y0, y1]) = (span(u, TILE), span(v, TILE));
        let cells = (span(u, CELL), span(v, CELL));
        let mut all_blank = true;
        for row in y0..=y1 {
            for column in x0..=x1 {
                let tile = row * (self.side / TILE) + column;
                if self.tiles[tile] == Tile::Stale {
                    self.draw_tile(tile);
                }
                all_blank &= self.tiles[tile] == Tile::Blank;
            }
        }
        if all_blank {
            return;
        }
        let ([x0, x1], [y0, y1]) = cells;
        self.common = None;
        if (x1 - x0 + 1) * (y1 - y0 + 1) <= 4 * MOST_CELLS {
            // The bias against the light at its largest, and some for rounding.
            let nearest = z[0] * (1.0 - 12.5 * f64::from(self.texel) - 2e-6);
            let z = [nearest as f32, (z[1] * (1.0 + 2e-6)) as f32];
            let is_inside = u[0] > 4.0 && v[0] > 4.0 && u[1] < side - 4.0 && v[1] < side - 4.0;
            let common = self.judge([x0, x1], [y0, y1], z, reach.owner);
            // Outside of the map it is light; what several instances see may be themselves.
            if common == Some(1.0) || (is_inside && reach.owner != NOBODY) {
                self.common = common;
            }
        }
    }

    /// Where in the map, and at which depths, points may be whose rays have these slopes.
    fn bounds(&self, [xs, ys]: [[f64; 2]; 2], zs: [f64; 2]) -> Option<[[f64; 2]; 3]> {
        let mut out = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        let k = &self.view.camera.intrinsics;
        for i in 0..4 {
            let ray = math::mul(&self.rot, [xs[i & 1], ys[i >> 1], -1.0]);
            for z in zs {
                let p = math::add(math::scale(ray, z), self.offset);
                if p[2].is_nan() || p[2] >= -1e-3 {
                    return None;
                }
                let inverse = -1.0 / p[2];
                let at = [k.cx + k.fx * p[0] * inverse, k.cy - k.fy * p[1] * inverse, -p[2]];
                for (range, at) in out.iter_mut().zip(at) {
                    *range = [range[0].min(at), range[1].max(at)];
                }
            }
        }
        Some(out)
    }

    fn draw_tile(&mut self, tile: usize) {
        let is_empty = self.view.is_empty_tile(tile);
        self.tiles[tile] = if is_empty { Tile::Blank } else { Tile::Drawn };
        let packet = &mut self.packet;
        let (column, row) = (tile % self.view.tiles[0], tile / self.view.tiles[0]);
        packet.clear_hits(f32::INFINITY);
        self.view.cast(tile, packet, true, |_| true);
        if !self.view.triangles.is_empty() {
            for surf in &mut packet.surf {
                *surf = self.view.owner(*surf);
            }
        }
        let texels = &mut self.texels[tile];
        let cells = self.view.isa.run(Keep { packet, texels });
        let stride = self.side / CELL;
        for (i, cell) in cells.into_iter().enumerate() {
            let to = (row * CELLS + i / CELLS) * stride + column * CELLS + i % CELLS;
            self.cells[to] = cell;
        }
    }

    /// The share of light common to all points in a range, if it is clear that they have one.
    pub(crate) fn common_visibility(
        &self,
        u: [f32; 2],
        v: [f32; 2],
        z: [f32; 2],
        own: u32,
    ) -> Option<f32> {
        let last = self.side as f32 - 3.0;
        if u[1] < 3.0 || v[1] < 3.0 || u[0] > last || v[0] > last {
            return Some(1.0);
        }
        // Also false for NaN.
        if !(u[0] >= 3.0 && v[0] >= 3.0 && u[1] <= last && v[1] <= last) {
            return None;
        }
        let first = |at: f32| ((at - 0.5) as usize - 1) / CELL;
        let final_ = |at: f32| ((at - 0.5) as usize + 2) / CELL;
        let (x0, x1, y0, y1) = (first(u[0]), final_(u[1]), first(v[0]), final_(v[1]));
        if (x1 - x0 + 1) * (y1 - y0 + 1) > MOST_CELLS {
            return None;
        }
        self.judge([x0, x1], [y0, y1], z, own)
    }

    /// What a rectangle of cells says about points with depths in `z`.
    fn judge(&self, x: [usize; 2], y: [usize; 2], z: [f32; 2], own: u32) -> Option<f32> {
        let stride = self.side / CELL;
        let own_bit = 1 << (own & 31);
        let (mut all_lit, mut all_dark) = (true, true);
        for y in y[0]..=y[1] {
            for cell in &self.cells[y * stride + x[0]..=y * stride + x[1]] {
                all_lit &= (cell.owner == NONE) | (cell.owner == own) | (cell.low >= z[1]);
                all_dark &= (cell.owners & own_bit == 0) & (cell.high < z[0]);
            }
            if !(all_lit | all_dark) {
                return None;
            }
        }
        if all_lit {
            Some(1.0)
        } else if all_dark {
            Some(0.0)
        } else {
            None
        }
    }

    /// Share of the light that reaches the points in `lit`: `u`, `v` in texels, `z` their depth
    /// from the light. Three by three comparisons, each bilinear: four by four texels with
    /// tapered ends.
    #[inline(always)]
    pub(crate) fn visibility<S: Simd>(
        &self,
        s: S,
        [u, v, z]: [V<S>; 3],
        own: u32,
        lit: Mask<S>,
    ) -> V<S> {
        let (zero, one) = (V::splat(s, 0.0), V::splat(s, 1.0));
        let last = self.side as f32 - 3.0;
        // Also false for NaN.
        let inside = u.within(3.0, last) & v.within(3.0, last) & lit;
        // The others get column 0, which none of those inside has.
        let elsewhere = V::splat(s, 1.5);
        let (u, v) = (inside.select(u, elsewhere) - 0.5, inside.select(v, elsewhere) - 0.5);
        let (left, top) = (u.floor(), v.floor());
        let mut taps = Taps::EMPTY;
        self.gather(&to_integers(left - 1.0), &to_integers(top - 1.0), &mut taps);
        let (fu, fv) = (u - left, v - top);
        let (wu, wv) = ([one - fu, one, one, fu], [one - fv, one, one, fv]);
        let mut dark = [zero; 4];
        let mut all = inside;
        for y in 0..4 {
            for x in 0..4 {
                let depth = s.load(&taps.depth[4 * y + x]);
                let is_own = equal(s, &taps.owner[4 * y + x], 0, own);
                let blocked = is_own.select(V::splat(s, f32::INFINITY), depth).lt(z);
                dark[x] = dark[x] + blocked.select(wv[y] * wu[x], zero);
                all = all & blocked;
            }
        }
        let dark = (dark[0] + dark[1]) + (dark[2] + dark[3]);
        // Exactly none where all are dark: what a register wholly in the shadow gets.
        inside.select(all.select(zero, one - dark / 9.0), one)
    }

    /// Four by four texels for each lane, except at column 0.
    #[inline(always)]
    fn gather(&self, left: &[u32; LANES], top: &[u32; LANES], taps: &mut Taps) {
        for lane in 0..LANES {
            if left[lane] == 0 {
                continue;
            }
            let (x0, y0) = (left[lane] as usize, top[lane] as usize);
            for y in 0..4 {
                let tiles = (y0 + y) / TILE * (self.side / TILE);
                let row = (y0 + y) % TILE * TILE;
                for x in 0..4 {
                    let tile = &self.texels[tiles + (x0 + x) / TILE];
                    let texel = &tile[row + (x0 + x) % TILE];
                    taps.depth[4 * y + x][lane] = texel.depth;
                    taps.owner[4 * y + x][lane] = texel.owner;
                }
            }
        }
    }
}

/// Texels around the points of a register: by place, then by lane.
#[repr(align(64))]
struct Taps {
    depth: [[f32; LANES]; 16],
    owner: [[u32; LANES]; 16],
}

impl Taps {
    const EMPTY: Self = Self { depth: [[0.0; LANES]; 16], owner: [[NONE; LANES]; 16] };
}

/// Stores the texels of a tile, and finds its cells.
struct Keep<'a> {
    packet: &'a Packet,
    texels: &'a mut [Texel; RAYS],
}

impl Kernel for Keep<'_> {
    type Output = [Cell; CELLS * CELLS];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Self::Output {
        let Keep { packet, texels } = self;
        for i in 0..RAYS {
            texels[i] = Texel { depth: packet.z[i], owner: packet.surf[i] };
        }
        let mut cells = [EMPTY; CELLS * CELLS];
        for (row, cells) in cells.chunks_exact_mut(CELLS).enumerate() {
            summarise(packet, row * CELL, cells);
        }
        cells
    }
}

/// The cells of one row; column by column first: that runs in registers.
#[inline(always)]
fn summarise(packet: &Packet, y0: usize, cells: &mut [Cell]) {
    let (mut low, mut high) = ([f32::INFINITY; TILE], [0.0_f32; TILE]);
    let (mut every, mut any, mut owners) = ([u32::MAX; TILE], [0; TILE], [0; TILE]);
    for y in y0..y0 + CELL {
        let (z, surf) = (&packet.z[y * TILE..][..TILE], &packet.surf[y * TILE..][..TILE]);
        for k in 0..TILE {
            low[k] = if z[k] < low[k] { z[k] } else { low[k] };
            high[k] = if z[k] > high[k] { z[k] } else { high[k] };
            every[k] &= surf[k];
            any[k] |= surf[k];
            owners[k] |= 1_u32 << (surf[k] & 31);
        }
    }
    for (i, cell) in cells.iter_mut().enumerate() {
        let mut out = Cell { low: f32::INFINITY, high: 0.0, owner: MIXED, owners: 0 };
        let (mut common, mut union) = (u32::MAX, 0);
        for k in i * CELL..(i + 1) * CELL {
            out.low = if low[k] < out.low { low[k] } else { out.low };
            out.high = if high[k] > out.high { high[k] } else { out.high };
            out.owners |= owners[k];
            common &= every[k];
            union |= any[k];
        }
        // Numbers whose bits are all in common are one number.
        if common == union {
            out.owner = common;
        }
        *cell = out;
    }
}

/// The pinhole that sees all casters, tightly; `None` when there are none.
fn fit(model: &SceneModel, placements: &[Placement], light: &Light, side: usize) -> Option<Camera> {
    let usable = 0.5 * side as f64 - MARGIN;
    if light.kind == LightKind::Directional {
        let rot = math::look_along(light.dir, [0.0, 0.0, 1.0]);
        let (low, high) = caster_bounds(model, placements, &rot)?;
        let centre: Vec3 = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
        let half: Vec3 = std::array::from_fn(|k| 0.5 * (high[k] - low[k]));
        let widest = half[0].max(half[1]).max(half[2]).max(1e-3);
        let distance = FAR_AWAY * widest;
        let eye = math::mul(&rot, math::add(centre, [0.0, 0.0, distance]));
        let nearest = distance - half[2];
        return Some(Camera {
            pos_m: eye,
            rot,
            intrinsics: square(side, [half[0], half[1]].map(|h| usable * nearest / h.max(1e-3))),
            width: side,
            height: side,
            near_m: nearest - 0.01 * widest,
            far_m: distance + half[2] + 0.01 * widest,
        });
    }
    let world = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let (low, high) = caster_bounds(model, placements, &world)?;
    let centre: Vec3 = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
    let (axis, widest_tan) = match light.kind {
        LightKind::Spot { cutoff_rad, .. } => {
            (light.dir, f64::from(cutoff_rad).min(80_f64.to_radians()).tan().max(1e-3))
        }
        _ => (math::sub(centre, light.pos_m), 70_f64.to_radians().tan()),
    };
    let rot = math::look_along(axis, [0.0, 0.0, 1.0]);
    let mut tan = [1e-3_f64; 2];
    let mut range = [f64::INFINITY, 0.0_f64];
    for i in 0..8 {
        let corner = std::array::from_fn(|k| if i >> k & 1 == 1 { high[k] } else { low[k] });
        let p = math::mul_t(&rot, math::sub(corner, light.pos_m));
        let z = -p[2];
        range = [range[0].min(z), range[1].max(z)];
        for k in 0..2 {
            let slope = if z > 1e-3 { p[k].abs() / z } else { f64::INFINITY };
            tan[k] = tan[k].max(slope).min(widest_tan);
        }
    }
    (range[1] > 1e-3).then(|| Camera {
        pos_m: light.pos_m,
        rot,
        intrinsics: square(side, tan.map(|t| usable / t)),
        width: side,
        height: side,
        near_m: range[0].max(1e-3),
        far_m: range[1] * 1.01,
    })
}

fn square(side: usize, [fx, fy]: [f64; 2]) -> Intrinsics {
    let centre = 0.5 * side as f64;
    Intrinsics { fx, fy, cx: centre, cy: centre }
}

/// Bounds of all casters along the axes of `rot`.
fn caster_bounds(
    model: &SceneModel,
    placements: &[Placement],
    rot: &[f64; 9],
) -> Option<(Vec3, Vec3)> {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (instance, placement) in model.instances.iter().zip(placements) {
        let Some((centre, half)) = instance.shape.bounds_m().filter(|_| casts(instance)) else {
            continue;
        };
        let middle = math::add(math::mul(&placement.rot, centre), placement.pos_m);
        let middle = math::mul_t(rot, middle);
        let m = math::mat_t_mul(rot, &placement.rot);
        let is_ball = matches!(instance.shape, Shape::Sphere { .. });
        for k in 0..3 {
            let reach =
                if is_ball { half[0] } else { (0..3).map(|c| m[3 * k + c].abs() * half[c]).sum() };
            low[k] = low[k].min(middle[k] - reach);
            high[k] = high[k].max(middle[k] + reach);
        }
    }
    (low[0] <= high[0]).then_some((low, high))
}
