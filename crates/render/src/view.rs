//! What one camera (or light) sees: instances in its frame, sorted into tiles.

use citrange_core::shape::{Mesh, Shape};
use citrange_lanes::Isa;

use crate::bounds::{Outline, ScreenBox};
use crate::camera::Camera;
use crate::geom::{Geom, Kind, Triangle};
use crate::hit::{CastGeom, CastTriangle, Farthest};
use crate::math::{self, Vec3};
use crate::packet::{NONE, Packet, RAYS, TILE};
use crate::scene::{Instance, Placement, SceneModel};

/// Surfaces tried between two updates of a tile's farthest depth.
const CULL_INTERVAL: usize = 4;

/// Reused from frame to frame: its buffers only grow.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) camera: Camera,
    /// One per instance of the model.
    pub(crate) geoms: Vec<Geom>,
    pub(crate) triangles: Vec<Triangle>,
    pub(crate) tiles: [usize; 2],
    /// Per tile, surfaces that may be seen in it, from front to back.
    bins: Vec<Vec<u32>>,
    order: Vec<u32>,
    vertices: Vec<Vec3>,
    pub(crate) isa: Isa,
}

impl View {
    pub(crate) fn new(isa: Isa) -> Self {
        let none = [0.0; 3];
        Self {
            camera: Camera::from_fovy(none, math::look_along(none, none), 1.0, 1, 1),
            geoms: Vec::new(),
            triangles: Vec::new(),
            tiles: [0, 0],
            bins: Vec::new(),
            order: Vec::new(),
            vertices: Vec::new(),
            isa,
        }
    }

    /// Takes the instances that `wanted` picks; the inputs have been checked.
    pub(crate) fn build(
        &mut self,
        model: &SceneModel,
        placements: &[Placement],
        camera: &Camera,
        wanted: impl Fn(&Instance) -> bool,
    ) {
        self.camera = *camera;
        self.tiles = [camera.width.div_ceil(TILE), camera.height.div_ceil(TILE)];
        self.bins.iter_mut().for_each(Vec::clear);
        self.bins.resize_with(self.tiles[0] * self.tiles[1], Vec::new);
        self.triangles.clear();
        self.order.clear();
        self.geoms.clear();
        for (instance, placement) in model.instances.iter().zip(placements) {
            let present = instance.material.rgba[3] > 0.0 && wanted(instance);
            if present {
                self.order.push(self.geoms.len() as u32);
                self.geoms.push(Geom::new(camera, &instance.shape, placement));
            } else {
                self.geoms.push(Geom::ABSENT);
            }
        }
        let geoms = &self.geoms;
        self.order.sort_unstable_by(|a, b| {
            let key = |i: u32| geoms[i as usize].sort_z;
            key(*a).total_cmp(&key(*b)).then(a.cmp(b))
        });
        for at in 0..self.order.len() {
            let index = self.order[at];
            let i = index as usize;
            let Geom { bounds: Some(bounds), outline, .. } = self.geoms[i] else { continue };
            match &model.instances[i].shape {
                Shape::Mesh(mesh) => self.add_mesh(mesh, &placements[i], index),
                _ => self.bin(index, &bounds, &outline),
            }
        }
    }

    fn add_mesh(&mut self, mesh: &Mesh, placement: &Placement, instance: u32) {
        let camera = self.camera;
        let m = math::mat_t_mul(&camera.rot, &placement.rot);
        let o = math::mul_t(&camera.rot, math::sub(placement.pos_m, camera.pos_m));
        self.vertices.clear();
        let in_camera = |p: &[f32; 3]| math::add(math::mul(&m, p.map(f64::from)), o);
        self.vertices.extend(mesh.positions_m().iter().map(in_camera));
        for (index, corners) in mesh.triangles().iter().enumerate() {
            let corners = corners.map(|c| self.vertices[c as usize]);
            if let Some(triangle) = Triangle::new(&camera, corners, [instance, index as u32]) {
                let surf = (self.geoms.len() + self.triangles.len()) as u32;
                self.bin(surf, &triangle.bounds, &Outline::NONE);
                self.triangles.push(triangle);
            }
        }
    }

    fn bin(&mut self, surf: u32, bounds: &ScreenBox, outline: &Outline) {
        let span = |range: [f32; 2], tiles: usize| {
            let last = (range[1] as usize / TILE).min(tiles - 1);
            (range[0] as usize / TILE)..last + 1
        };
        for row in span(bounds.y, self.tiles[1]) {
            for column in span(bounds.x, self.tiles[0]) {
                let side = TILE as f32;
                if !outline.misses(column as f32 * side, row as f32 * side, side) {
                    self.bins[row * self.tiles[0] + column].push(surf);
                }
            }
        }
    }

    pub(crate) fn is_empty_tile(&self, tile: usize) -> bool {
        self.bins[tile].is_empty()
    }

    pub(crate) fn surfaces_in(&self, tile: usize) -> &[u32] {
        &self.bins[tile]
    }

    /// The instance a surface belongs to.
    #[inline(always)]
    pub(crate) fn owner(&self, surf: u32) -> u32 {
        if surf == NONE || (surf as usize) < self.geoms.len() {
            surf
        } else {
            self.triangles[surf as usize - self.geoms.len()].instance
        }
    }

    /// Slope of the ray through the centre of a tile.
    pub(crate) fn tile_centre(&self, tile: usize) -> [f64; 2] {
        let (column, row) = (tile % self.tiles[0], tile / self.tiles[0]);
        let k = &self.camera.intrinsics;
        let half = 0.5 * TILE as f64;
        [((column * TILE) as f64 + half - k.cx) / k.fx, -((row * TILE) as f64 + half - k.cy) / k.fy]
    }

    /// Slope, relative to the tile's centre, of a point in pixels from the tile's corner.
    pub(crate) fn offset(&self, column: f64, row: f64) -> [f32; 2] {
        let k = &self.camera.intrinsics;
        let half = 0.5 * TILE as f64;
        [((column - half) / k.fx) as f32, (-(row - half) / k.fy) as f32]
    }

    /// Casts the packet at the surfaces of its tile. `on_grid`: one ray per pixel, in order.
    pub(crate) fn cast(
        &self,
        tile: usize,
        packet: &mut Packet,
        on_grid: bool,
        wanted: impl Fn(u32) -> bool,
    ) {
        let centre = self.tile_centre(tile);
        let near = self.camera.near_m as f32;
        let top = (tile / self.tiles[0] * TILE) as f32;
        let mut farthest = f32::INFINITY;
        let mut tried = 0;
        for &surf in &self.bins[tile] {
            if !wanted(surf) {
                continue;
            }
            if tried == CULL_INTERVAL {
                farthest = self.isa.run(Farthest(&packet.z));
                tried = 0;
            }
            let geom = self.geoms.get(surf as usize);
            let bounds = match geom {
                Some(geom) => geom.bounds,
                None => self.triangles.get(surf as usize - self.geoms.len()).map(|t| t.bounds),
            };
            let Some(bounds) = bounds else { continue };
            if bounds.z_min >= farthest {
                continue;
            }
            let rays = if on_grid {
                let first = (bounds.y[0] - top).max(0.0) as usize;
                let last = ((bounds.y[1] - top).max(0.0) as usize + 1).min(TILE);
                [first * TILE, last * TILE]
            } else {
                [0, packet.len]
            };
            tried += 1;
            match geom {
                Some(geom) => {
                    if geom.kind == Kind::Plane {
                        let most = self.isa.run(Farthest(&packet.z));
                        if self.plane_is_hidden(geom, centre, most) {
                            continue;
                        }
                    }
                    self.isa.run(CastGeom { geom, centre, near, surf, rays, packet });
                }
                None => {
                    let triangle = &self.triangles[surf as usize - self.geoms.len()];
                    self.isa.run(CastTriangle { triangle, centre, near, surf, rays, packet });
                }
            }
        }
    }

    /// Whether a plane lies above the tile's rays or beyond `farthest` on all of them.
    fn plane_is_hidden(&self, geom: &Geom, centre: [f64; 2], farthest: f32) -> bool {
        let half = [0.5 * TILE as f64; 2];
        let [dx, dy] = [half[0] / self.camera.intrinsics.fx, half[1] / self.camera.intrinsics.fy];
        // Depth is `-height / slope`; the steepest of the four corner rays meets it first.
        let steepest = [[-dx, -dy], [dx, -dy], [-dx, dy], [dx, dy]]
            .map(|[x, y]| geom.hit.direction(centre[0] + x, centre[1] + y)[2])
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let nearest = geom.hit.origin()[2] / -steepest;
        steepest >= 0.0 || nearest > f64::from(farthest) * (1.0 + 1e-6)
    }
}

const _: () = assert!(RAYS.is_multiple_of(16), "whole registers at every lane count");
