//! Colours of the surfaces a packet has met: Lambert and Blinn-Phong, per light, with shadows.

use citrange_core::shape::Shape;
use citrange_lanes::{Kernel, LANES, Mask, Simd};

use crate::geom::{Geom, Kind, TileFrame};
use crate::lights::{LightUse, Lights, LocalLight};
use crate::packet::{NONE, Packet, RAYS};
use crate::scene::{Material, SceneModel};
use crate::shadow::{NOBODY, ShadowMap};
use crate::surface::{self, Point};
use crate::vec3::{V, V3, equal, inverse_sqrt, load, lobe, range, store};
use crate::view::View;

/// Red, green and blue of each ray, 1 being full; those of a tile's pixels in block order.
#[repr(align(64))]
pub(crate) struct Colours {
    pub(crate) rgb: [[f32; RAYS]; 3],
}

impl Colours {
    pub(crate) fn new() -> Self {
        Self { rgb: [[0.0; RAYS]; 3] }
    }
}

/// What all rays of a frame share.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(crate) model: &'a SceneModel,
    pub(crate) view: &'a View,
    pub(crate) lights: &'a Lights,
    pub(crate) shadows: &'a [ShadowMap],
}

/// Shades a packet; rays that met nothing get the sky if `with_sky`, else keep their colour.
pub(crate) struct Shade<'a> {
    pub(crate) stage: Stage<'a>,
    pub(crate) tile: usize,
    pub(crate) packet: &'a Packet,
    /// Instance met by each ray.
    pub(crate) owners: &'a [u32; RAYS],
    pub(crate) with_sky: bool,
    pub(crate) out: &'a mut Colours,
}

impl Kernel for Shade<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let centre = self.stage.view.tile_centre(self.tile);
        let Shade { stage, packet, owners, with_sky, out, .. } = self;
        let mut cached = NONE;
        let mut frame = Geom::ABSENT.local.at(centre);
        for block in 0..packet.len.div_ceil(LANES) {
            let lanes = &owners[block * LANES..(block + 1) * LANES];
            for (i, &owner) in lanes.iter().enumerate() {
                // Each instance once per block, at its first lane.
                if lanes[..i].contains(&owner) || (owner == NONE && !with_sky) {
                    continue;
                }
                let mine = equal(s, owners, block, owner);
                let colour = if owner == NONE {
                    sky(s, &stage, centre, packet, block)
                } else {
                    if cached != owner {
                        cached = owner;
                        frame = stage.view.geoms[owner as usize].local.at(centre);
                    }
                    surface_colour(s, &stage, &frame, packet, block, owner, mine)
                };
                let [r, g, b] = &mut out.rgb;
                store(mine.select(colour.0, load(s, r, block)), r, block);
                store(mine.select(colour.1, load(s, g, block)), g, block);
                store(mine.select(colour.2, load(s, b, block)), b, block);
                if i == 0 && lanes[1..].iter().all(|o| *o == owner) {
                    break;
                }
            }
        }
    }
}

/// Colours as one integer per ray, `red + 256 green + 65536 blue`.
pub(crate) struct Pack<'a>(pub(crate) &'a Colours, pub(crate) &'a mut [u32; RAYS]);

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let [r, g, b] = &self.0.rgb;
        for block in 0..RAYS / LANES {
            V3(load(s, r, block), load(s, g, block), load(s, b, block)).store_rgb(self.1, block);
        }
    }
}

#[inline(always)]
fn sky<S: Simd>(s: S, stage: &Stage, centre: [f64; 2], packet: &Packet, block: usize) -> V3<S> {
    let rot = &stage.view.camera.rot;
    let x = load(s, &packet.x, block) + centre[0] as f32;
    let y = load(s, &packet.y, block) + centre[1] as f32;
    let up = x * rot[6] as f32 + y * rot[7] as f32 - rot[8] as f32;
    let blend = up * inverse_sqrt(x * x + y * y + 1.0) * 0.5 + 0.5;
    V3::mix(blend, stage.model.sky.bottom, stage.model.sky.top)
}

#[inline(always)]
fn surface_colour<S: Simd>(
    s: S,
    stage: &Stage,
    frame: &TileFrame,
    packet: &Packet,
    block: usize,
    owner: u32,
    mine: Mask<S>,
) -> V3<S> {
    let index = owner as usize;
    let instance = &stage.model.instances[index];
    let geom = &stage.view.geoms[index];
    let material = &instance.material;
    let (x, y) = (load(s, &packet.x, block), load(s, &packet.y, block));
    let t = load(s, &packet.z, block);
    let direction = frame.direction(s, x, y);
    // Lanes of other instances hold any depth: give them a harmless one.
    let t = mine.select(t, V::splat(s, 1.0));
    let position = V3::splat(s, frame.o) + direction.times(t);
    let mut point = Point { position, direction, t, normal: position, uv: None };
    match &instance.shape {
        Shape::Mesh(mesh) => {
            let from = block * LANES;
            surface::mesh_point(s, stage.view, mesh, packet, from, owner, &mut point);
        }
        _ => point.normal = surface::normal(s, geom, position),
    }
    let base = match &material.texture {
        Some(texture) => surface::textured(s, stage.view, geom, frame, material, texture, &point),
        None => V3::splat(s, [material.rgba[0], material.rgba[1], material.rgba[2]]),
    };
    let own = if geom.kind == Kind::Mesh { NOBODY } else { owner };
    let view_dir = V3(-direction.0, -direction.1, -direction.2).normalized();
    let [r, g, b] = stage.lights.ambient;
    let glow = material.emission;
    let mut diffuse = V3::splat(s, [r + glow, g + glow, b + glow]);
    let mut gloss = V3::splat(s, [0.0; 3]);
    for (light, local) in stage.lights.of(index) {
        let lit = Lit { light, local, own, material, mine };
        lit.add(s, stage.shadows, &point, view_dir, &mut diffuse, &mut gloss);
    }
    V3(base.0 * diffuse.0, base.1 * diffuse.1, base.2 * diffuse.2) + gloss
}

/// One coordinate of a point in another frame.
#[inline(always)]
fn transformed<S: Simd>(s: S, row: &[f32; 4], p: V3<S>) -> V<S> {
    p.0 * row[0] + p.1 * row[1] + p.2 * row[2] + V::splat(s, row[3])
}

/// One light on one surface.
struct Lit<'a, S: Simd> {
    light: &'a LightUse,
    local: &'a LocalLight,
    own: u32,
    material: &'a Material,
    mine: Mask<S>,
}

impl<S: Simd> Lit<'_, S> {
    #[inline(always)]
    fn add(
        &self,
        s: S,
        shadows: &[ShadowMap],
        point: &Point<S>,
        view_dir: V3<S>,
        diffuse: &mut V3<S>,
        gloss: &mut V3<S>,
    ) {
        let zero = V::splat(s, 0.0);
        let one = V::splat(s, 1.0);
        let at = V3::splat(s, self.local.at);
        let mut power = one;
        let to_light = if self.light.is_directional {
            at
        } else {
            let way = at - point.position;
            let unit = way.normalized();
            if let Some([constant, linear, quadratic]) = self.light.attenuation {
                let distance2 = way.dot(way);
                let fade = distance2.sqrt() * linear + distance2 * quadratic + constant;
                power = one / fade.max(V::splat(s, 1e-6));
            }
            if let Some([cutoff, exponent]) = self.light.spot {
                let along = zero - unit.dot(V3::splat(s, self.local.axis));
                let inside = V::splat(s, cutoff).le(along);
                power = inside.select(power * lobe(along, exponent), zero);
            }
            unit
        };
        let facing = point.normal.dot(to_light).max(zero);
        let lit = zero.lt(facing) & self.mine & zero.lt(power);
        if !lit.any() {
            return;
        }
        if let Some(map) = self.light.shadow.and_then(|i| shadows.get(i)) {
            power = match map.common {
                Some(share) => power * share,
                None => power * self.shadow(s, map, point, facing, lit),
            };
        }
        let lambert = facing * power;
        let [r, g, b] = self.light.diffuse;
        *diffuse = *diffuse + V3(lambert * r, lambert * g, lambert * b);
        if self.material.specular > 0.0 {
            // With unit vectors n, l, v and h between l and v: (n.h)² = (n.l + n.v)² / (2 + 2 l.v).
            let top = (facing + point.normal.dot(view_dir)).max(zero);
            let bottom = to_light.dot(view_dir) * 2.0 + 2.0;
            let exponent = 64.0 * self.material.shininess;
            // Where the lobe ends, to save the division on most surfaces.
            let glossy = lit & (bottom * (1.0 - 16.0 / exponent.max(1e-3))).lt(top * top);
            if glossy.any() {
                let half2 = (top * top) / bottom.max(V::splat(s, 1e-6));
                let shine = lobe(half2.min(one), exponent) * power * self.material.specular;
                let shine = glossy.select(shine, zero);
                let [r, g, b] = self.light.specular;
                *gloss = *gloss + V3(shine * r, shine * g, shine * b);
            }
        }
    }

    #[inline(always)]
    fn shadow(&self, s: S, map: &ShadowMap, point: &Point<S>, facing: V<S>, lit: Mask<S>) -> V<S> {
        let [row_x, row_y, row_z] = &self.local.shadow_rows;
        let one = V::splat(s, 1.0);
        let depth = (-transformed(s, row_z, point.position)).max(V::splat(s, 1e-6));
        let inverse = one / depth;
        let (x, y) = (transformed(s, row_x, point.position), transformed(s, row_y, point.position));
        let [fx, fy, cx, cy] = map.focal;
        let u = x * inverse * fx + cx;
        let v = V::splat(s, cy) - y * inverse * fy;
        // The filter is two texels wide: over it, a tilted surface changes its depth by this.
        let cos2 = facing * facing;
        let sin2 = (one - cos2).max(V::splat(s, 1e-6));
        let tilt = sin2 * inverse_sqrt(sin2) * inverse_sqrt(cos2.max(V::splat(s, 1e-3)));
        let biased = depth - depth * map.texel * (tilt.min(V::splat(s, 6.0)) * 2.0 + 0.5);
        // Most registers lie wholly in the light or wholly in the shadow.
        let (us, vs, zs) = (range(u, lit), range(v, lit), range(biased, lit));
        if let Some(share) = map.common_visibility(us, vs, zs, self.own) {
            return V::splat(s, share);
        }
        map.visibility(s, [u, v, biased], self.own, lit)
    }
}
