//! One frame: what is seen, then its colour, then more samples where it has edges.

use citrange_lanes::Isa;

use crate::camera::Camera;
use crate::edges::{self, EdgeMap};
use crate::error::RenderError;
use crate::fine::FineSamples;
use crate::geom::Kind;
use crate::glass::Glass;
use crate::lights::Lights;
use crate::packet::{NONE, Packet, RAYS, TILE, reorder};
use crate::scene::{Placement, SceneModel};
use crate::settings::{Frame, Settings};
use crate::shade::{Colours, Pack, Shade, Stage};
use crate::shadow::{FindReach, NOBODY, Reach, ShadowMap};
use crate::view::View;

/// From this opacity on, nothing behind is visible.
pub(crate) const OPAQUE: f32 = 0.999;
/// From this opacity on, a surface is in the depth and ids images.
const SOLID: f32 = 0.5;

/// Draws frames, one at a time, and keeps its memory between them.
#[derive(Debug)]
pub struct Renderer {
    view: View,
    glass: Glass,
    shadows: Vec<ShadowMap>,
    shadow_of: Vec<Option<usize>>,
    lights: Lights,
    edges: EdgeMap,
    /// Tile by tile: depth and surface of what is opaque.
    z: Vec<[f32; RAYS]>,
    surf: Vec<[u32; RAYS]>,
    /// Of each instance.
    ids: Vec<i32>,
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

impl Renderer {
    /// A renderer that has drawn nothing yet.
    pub fn new() -> Self {
        Self::with_isa(Isa::best())
    }

    /// The same with given instructions; the pictures are the same to the bit.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Self {
        Self {
            view: View::new(isa),
            glass: Glass::new(isa),
            shadows: Vec::new(),
            shadow_of: Vec::new(),
            lights: Lights::default(),
            edges: EdgeMap::default(),
            z: Vec::new(),
            surf: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Draws the scene, with `placements[i]` being the pose of instance `i`, into `frame`.
    ///
    /// The result depends on the arguments only, to the last bit. On an error `frame` is as it
    /// was before.
    pub fn render(
        &mut self,
        model: &SceneModel,
        placements: &[Placement],
        camera: &Camera,
        settings: &Settings,
        frame: &mut Frame,
    ) -> Result<(), RenderError> {
        model.check(placements)?;
        camera.check()?;
        frame.resize(camera.width, camera.height);
        let alpha = |i: &crate::scene::Instance| i.material.rgba[3];
        self.view.build(model, placements, camera, |i| alpha(i) >= OPAQUE);
        self.glass.view.build(model, placements, camera, |i| alpha(i) < OPAQUE);
        let mut packet = Packet::new();
        self.aim_shadows(model, placements, settings);
        self.lights.build(model, placements, camera, &self.shadows, &self.shadow_of);
        self.ids.clear();
        self.ids.extend(model.instances.iter().map(|i| i.id));
        self.edges.resize(camera.width, camera.height);
        let tiles = self.view.tiles[0] * self.view.tiles[1];
        self.z.resize(tiles, [0.0; RAYS]);
        self.surf.resize(tiles, [NONE; RAYS]);
        packet.aim_at_pixels(&self.view);
        for tile in 0..tiles {
            self.see_tile(model, tile, &mut packet, frame);
        }
        let samples = edges::samples(settings.antialias);
        if !samples.is_empty() {
            self.edges.find(self.view.isa, camera.intrinsics.fx.min(camera.intrinsics.fy));
        }
        self.colour_tiles(model, samples, &mut packet, frame);
        Ok(())
    }

    /// Makes the shadow maps ready; they are drawn where they turn out to be needed.
    fn aim_shadows(&mut self, model: &SceneModel, placements: &[Placement], settings: &Settings) {
        let camera = self.view.camera;
        self.shadow_of.clear();
        let mut used = 0;
        for light in &model.lights {
            let mut map = None;
            if settings.shadows && light.casts_shadow {
                if self.shadows.len() == used {
                    self.shadows.push(ShadowMap::new(self.view.isa));
                }
                let texels = settings.shadow_texels;
                if self.shadows[used].aim(model, placements, light, texels, &camera) {
                    map = Some(used);
                    used += 1;
                }
            }
            self.shadow_of.push(map);
        }
    }

    /// Draws what the shadow maps lack around the points of a packet.
    fn attend_shadows(&mut self, tile: usize, packet: &Packet, owners: &[u32; RAYS]) {
        let used = self.shadow_of.iter().flatten().count();
        if used == 0 {
            return;
        }
        let mut reach = self.view.isa.run(FindReach { packet, owners });
        if !self.glass.view.is_empty_tile(tile) {
            let camera = &self.view.camera;
            reach = Reach { z: [camera.near_m as f32, camera.far_m as f32], owner: NOBODY };
        } else if self.view.geoms.get(reach.owner as usize).is_some_and(|g| g.kind == Kind::Mesh) {
            reach.owner = NOBODY;
        }
        let [x, y] = self.view.tile_centre(tile);
        let [dx, dy] = self.view.offset(TILE as f64, 0.0).map(f64::from);
        let slopes = [[x - dx, x + dx], [y - dy, y + dy]];
        for map in &mut self.shadows[..used] {
            map.attend(slopes, &reach);
        }
    }

    /// Finds what the pixel centres of a tile see: depth and ids are then done.
    fn see_tile(
        &mut self,
        model: &SceneModel,
        tile: usize,
        packet: &mut Packet,
        frame: &mut Frame,
    ) {
        packet.clear_hits(self.view.camera.far_m as f32);
        self.view.cast(tile, packet, true, |_| true);
        self.z[tile] = packet.z;
        self.surf[tile] = packet.surf;
        let mut owners = [NONE; RAYS];
        find_owners(&self.view, packet, &mut owners);
        if !self.glass.view.is_empty_tile(tile) {
            let glass = &self.glass.view;
            let is_solid = |surf| {
                let owner = glass.owner(surf) as usize;
                model.instances[owner].material.rgba[3] >= SOLID
            };
            packet.surf.fill(NONE);
            glass.cast(tile, packet, true, is_solid);
            for (owner, surf) in owners.iter_mut().zip(&packet.surf) {
                if *surf != NONE {
                    *owner = glass.owner(*surf);
                }
            }
        }
        self.write_tile(tile, &owners, packet, frame);
    }

    /// Depth and ids of a tile, and what finding edges needs.
    fn write_tile(
        &mut self,
        tile: usize,
        owners: &[u32; RAYS],
        packet: &Packet,
        frame: &mut Frame,
    ) {
        let [x0, y0] = self.corner(tile);
        let columns = TILE.min(frame.width - x0);
        let mut inverse = [0.0; RAYS];
        let mut depth = [0.0; RAYS];
        for i in 0..RAYS {
            let missed = owners[i] == NONE;
            depth[i] = if missed { f32::INFINITY } else { packet.z[i] };
            inverse[i] = if missed { 0.0 } else { 1.0 / packet.z[i] };
        }
        for row in 0..TILE.min(frame.height - y0) {
            let from = row * TILE;
            let to = (y0 + row) * self.edges.stride() + x0;
            let out = (y0 + row) * frame.width + x0;
            let owners = &owners[from..from + TILE];
            self.edges.owner[to..to + TILE].copy_from_slice(owners);
            self.edges.inverse_depth[to..to + TILE].copy_from_slice(&inverse[from..from + TILE]);
            frame.depth[out..out + columns].copy_from_slice(&depth[from..from + columns]);
            let ids = &mut frame.ids[out..out + columns];
            let id = |owner: u32| self.ids.get(owner as usize).copied().unwrap_or(-1);
            if owners.iter().fold(0, |diff, owner| diff | (owner ^ owners[0])) == 0 {
                ids.fill(id(owners[0]));
            } else {
                for (to, owner) in ids.iter_mut().zip(owners) {
                    *to = id(*owner);
                }
            }
        }
    }

    fn corner(&self, tile: usize) -> [usize; 2] {
        [tile % self.view.tiles[0] * TILE, tile / self.view.tiles[0] * TILE]
    }

    /// Colours of all tiles, with more samples at the edges.
    fn colour_tiles(
        &mut self,
        model: &SceneModel,
        samples: &[[f64; 2]],
        packet: &mut Packet,
        frame: &mut Frame,
    ) {
        let mut colours = Colours::new();
        let mut fine = FineSamples::new();
        packet.aim_at_blocks(&self.view);
        for tile in 0..self.view.tiles[0] * self.view.tiles[1] {
            reorder(&self.z[tile], &mut packet.z);
            reorder(&self.surf[tile], &mut packet.surf);
            self.colour(model, tile, packet, &mut colours);
            let corner @ [x0, y0] = self.corner(tile);
            if !samples.is_empty() {
                for row in 0..TILE.min(frame.height - y0) {
                    let mut bits = self.edges.bits(x0, y0 + row);
                    while bits != 0 {
                        let column = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        fine.push(&self.view, [column, row], samples);
                        if fine.is_full(samples) {
                            self.colour_fine(model, tile, &mut fine, samples, &mut colours);
                        }
                    }
                }
                self.colour_fine(model, tile, &mut fine, samples, &mut colours);
            }
            write_rgb(self.view.isa, &colours, corner, frame);
        }
    }

    /// Replaces the colours of edge pixels by the mean of their samples.
    fn colour_fine(
        &mut self,
        model: &SceneModel,
        tile: usize,
        fine: &mut FineSamples,
        samples: &[[f64; 2]],
        colours: &mut Colours,
    ) {
        if fine.count == 0 {
            return;
        }
        fine.packet.clear_hits(self.view.camera.far_m as f32);
        self.view.cast(tile, &mut fine.packet, false, |_| true);
        fine.sort(&self.view);
        self.colour(model, tile, &fine.sorted, &mut fine.colours);
        let share = 1.0 / samples.len() as f32;
        for (to, from) in colours.rgb.iter_mut().zip(&fine.colours.rgb) {
            let pixels = fine.pixels[..fine.count].iter();
            for (pixel, places) in pixels.zip(fine.places.chunks_exact(samples.len())) {
                // Each sample saturates on its own, like the pixels around it.
                let values = places.iter().map(|place| from[usize::from(*place)].clamp(0.0, 1.0));
                to[*pixel] = share * values.sum::<f32>();
            }
        }
        fine.count = 0;
        fine.packet.len = 0;
    }

    /// Colours of a packet that has met its opaque surfaces.
    fn colour(&mut self, model: &SceneModel, tile: usize, packet: &Packet, colours: &mut Colours) {
        let mut owners = [NONE; RAYS];
        find_owners(&self.view, packet, &mut owners);
        self.attend_shadows(tile, packet, &owners);
        let (view, lights, shadows) = (&self.view, &self.lights, &self.shadows[..]);
        let stage = Stage { model, view, lights, shadows };
        let owners = &owners;
        let out = &mut *colours;
        self.view.isa.run(Shade { stage, tile, packet, owners, with_sky: true, out });
        if !self.glass.view.is_empty_tile(tile) {
            self.glass.blend(&stage, tile, packet, colours);
        }
    }
}

fn find_owners(view: &View, packet: &Packet, owners: &mut [u32; RAYS]) {
    if view.triangles.is_empty() {
        *owners = packet.surf;
    } else {
        for (owner, surf) in owners.iter_mut().zip(&packet.surf) {
            *owner = view.owner(*surf);
        }
    }
}

fn write_rgb(isa: Isa, colours: &Colours, [x0, y0]: [usize; 2], frame: &mut Frame) {
    let mut packed = [0; RAYS];
    let mut blocks = [0; RAYS];
    isa.run(Pack(colours, &mut blocks));
    reorder(&blocks, &mut packed);
    let columns = TILE.min(frame.width - x0);
    for row in 0..TILE.min(frame.height - y0) {
        let to = 3 * ((y0 + row) * frame.width + x0);
        let words = &packed[row * TILE..row * TILE + columns];
        let out = &mut frame.rgb[to..to + 3 * columns];
        let (fours, rest) = words.as_chunks::<4>();
        let (twelves, rest_out) = out.as_chunks_mut::<12>();
        // Four pixels of three bytes are three words.
        for (pixels, bytes) in fours.iter().zip(twelves) {
            let [a, b, c, d] = pixels.map(u128::from);
            let all = a | b << 24 | c << 48 | d << 72;
            bytes.copy_from_slice(&all.to_le_bytes()[..12]);
        }
        let (threes, _) = rest_out.as_chunks_mut::<3>();
        for (pixel, bytes) in rest.iter().zip(threes) {
            let [r, g, b, _] = pixel.to_le_bytes();
            *bytes = [r, g, b];
        }
    }
}
