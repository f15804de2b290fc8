//! What a surface is like where a ray meets it: normals and texture.

use citrange_core::shape::Mesh;
use citrange_lanes::{LANES, Simd};

use crate::geom::{Geom, Kind, TileFrame};
use crate::packet::Packet;
use crate::scene::Material;
use crate::texture::{self, Texture};
use crate::vec3::{V, V3, sign};
use crate::view::View;

/// Where rays met an instance, in its frame.
pub(crate) struct Point<S: Simd> {
    pub(crate) position: V3<S>,
    /// Of the ray, not normalised.
    pub(crate) direction: V3<S>,
    pub(crate) t: V<S>,
    pub(crate) normal: V3<S>,
    /// Texture coordinates of a mesh that has them, and units of them per metre.
    pub(crate) uv: Option<V3<S>>,
}

/// Unit normal of a primitive at a point of its surface.
#[inline(always)]
pub(crate) fn normal<S: Simd>(s: S, geom: &Geom, p: V3<S>) -> V3<S> {
    let zero = V::splat(s, 0.0);
    let one = V::splat(s, 1.0);
    let [a, b, c] = geom.size;
    match geom.kind {
        Kind::Box => {
            let (x, y, z) = (p.0 * (1.0 / a), p.1 * (1.0 / b), p.2 * (1.0 / c));
            let (ax, ay, az) = (x * x, y * y, z * z);
            let is_x = ay.le(ax) & az.le(ax);
            let is_y = az.le(ay);
            V3(
                is_x.select(sign(x), zero),
                is_x.select(zero, is_y.select(sign(y), zero)),
                is_x.select(zero, is_y.select(zero, sign(z))),
            )
        }
        Kind::Cylinder => {
            let around = (p.0 * p.0 + p.1 * p.1) * (1.0 / (a * a));
            let cap = around.lt(p.2 * p.2 * (1.0 / (c * c)));
            let inverse = 1.0 / a;
            let (x, y) = (p.0 * inverse, p.1 * inverse);
            V3(cap.select(zero, x), cap.select(zero, y), cap.select(sign(p.2), zero))
        }
        Kind::Capsule => V3(p.0, p.1, p.2 - p.2.clamp(-c, c)).scaled([1.0 / a; 3]),
        Kind::Ellipsoid => {
            V3(p.0 * (1.0 / (a * a)), p.1 * (1.0 / (b * b)), p.2 * (1.0 / (c * c))).normalized()
        }
        Kind::Plane | Kind::Mesh | Kind::Absent => V3(zero, zero, one),
    }
}

/// Fills in normal and texture coordinates of lanes that met a triangle of `owner`.
#[inline(always)]
pub(crate) fn mesh_point<S: Simd>(
    s: S,
    view: &View,
    mesh: &Mesh,
    packet: &Packet,
    from: usize,
    owner: u32,
    point: &mut Point<S>,
) {
    let mut at = [[0.0; LANES]; 3];
    let mut normals = [[0.0; LANES]; 3];
    let mut coordinates = [[0.0; LANES]; 3];
    // Barycentric coordinates come from the position in the mesh's own frame.
    point.position.0.store(&mut at[0]);
    point.position.1.store(&mut at[1]);
    point.position.2.store(&mut at[2]);
    for lane in 0..LANES {
        let surf = packet.surf[from + lane] as usize;
        let Some(triangle) = surf.checked_sub(view.geoms.len()).and_then(|i| view.triangles.get(i))
        else {
            continue;
        };
        if triangle.instance != owner {
            continue;
        }
        let corner =
            Corner::new(mesh, triangle.index as usize, [at[0][lane], at[1][lane], at[2][lane]]);
        for k in 0..3 {
            normals[k][lane] = corner.normal[k];
            coordinates[k][lane] = corner.uv[k];
        }
    }
    point.normal = V3::load(s, &normals);
    point.uv = if mesh.uvs().is_some() { Some(V3::load(s, &coordinates)) } else { None };
}

/// A point of a mesh.
struct Corner {
    normal: [f32; 3],
    /// Coordinates, and units of them per metre.
    uv: [f32; 3],
}

impl Corner {
    fn new(mesh: &Mesh, index: usize, p: [f32; 3]) -> Self {
        let [a, b, c] = mesh.triangles()[index].map(|v| mesh.positions_m()[v as usize]);
        let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
        let flat = cross(ab, ac);
        let area2 = dot(flat, flat).max(f32::MIN_POSITIVE);
        let w1 = (dot(cross(ap, ac), flat) / area2).clamp(0.0, 1.0);
        let w2 = (dot(cross(ab, ap), flat) / area2).clamp(0.0, 1.0 - w1);
        let w0 = 1.0 - w1 - w2;
        let mut normal = flat;
        if let Some(normals) = mesh.normals() {
            let [n0, n1, n2] = normals[index];
            let smooth = std::array::from_fn(|k| w0 * n0[k] + w1 * n1[k] + w2 * n2[k]);
            if dot(smooth, smooth) > 1e-12 {
                normal = smooth;
            }
        }
        let mut uv = [0.0; 3];
        if let Some(uvs) = mesh.uvs() {
            let [t0, t1, t2] = uvs[index];
            for k in 0..2 {
                uv[k] = w0 * t0[k] + w1 * t1[k] + w2 * t2[k];
            }
            let area_uv = (t1[0] - t0[0]) * (t2[1] - t0[1]) - (t2[0] - t0[0]) * (t1[1] - t0[1]);
            uv[2] = (area_uv.abs() / area2.sqrt()).sqrt();
        }
        let length = dot(normal, normal).sqrt().max(f32::MIN_POSITIVE);
        Self { normal: normal.map(|v| v / length), uv }
    }
}

fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Colour of the material times that of its texture, filtered over the pixel.
#[inline(always)]
pub(crate) fn textured<S: Simd>(
    s: S,
    view: &View,
    geom: &Geom,
    frame: &TileFrame,
    material: &Material,
    texture: &Texture,
    point: &Point<S>,
) -> V3<S> {
    let (u, v, width_u, width_v) = coordinates(s, view, geom, frame, material, point);
    let [r, g, b, _] = material.rgba;
    match &texture.kind {
        texture::Kind::Checker([first, second]) => {
            let blend = V::splat(s, 0.5) - wave(s, u, width_u) * wave(s, v, width_v) * 0.5;
            V3::mix(blend, *first, *second).scaled([r, g, b])
        }
        texture::Kind::Image(levels) => {
            let mut values = [[0.0; LANES]; 4];
            u.store(&mut values[0]);
            v.store(&mut values[1]);
            width_u.store(&mut values[2]);
            width_v.store(&mut values[3]);
            let mut out = [[0.0; LANES]; 3];
            for lane in 0..LANES {
                let [u, v, wu, wv] = values.map(|of| of[lane]);
                let texel = texture::sample_image(levels, [u, v], [wu, wv]);
                for k in 0..3 {
                    out[k][lane] = texel[k];
                }
            }
            V3::load(s, &out).scaled([r, g, b])
        }
    }
}

/// Texture coordinates and the pixel's extent in them.
#[inline(always)]
fn coordinates<S: Simd>(
    s: S,
    view: &View,
    geom: &Geom,
    frame: &TileFrame,
    material: &Material,
    point: &Point<S>,
) -> (V<S>, V<S>, V<S>, V<S>) {
    let k = &view.camera.intrinsics;
    let (n, d, p) = (point.normal, point.direction, point.position);
    let [ru, rv] = material.repeat;
    let facing = n.dot(d);
    let tiny = V::splat(s, -1e-4);
    let facing = facing.min(tiny);
    if let Some(V3(u, v, per_metre)) = point.uv {
        let extent = point.t * (1.0 / k.fx.min(k.fy)) as f32 * per_metre;
        let extent = extent * (d.dot(d).sqrt() / -facing).sqrt();
        return (u * ru, v * rv, extent * ru, extent * rv);
    }
    // How far the hit moves on the tangent plane from one pixel to the next.
    let (ax, ay) = (V3::splat(s, frame.ax), V3::splat(s, frame.ay));
    let inverse = V::splat(s, 1.0) / facing;
    let dx = (ax - d.times(n.dot(ax) * inverse)).times(point.t * (1.0 / k.fx) as f32);
    let dy = (ay - d.times(n.dot(ay) * inverse)).times(point.t * (1.0 / k.fy) as f32);
    let extent = dx.abs() + dy.abs();
    let is_scaled = !material.uniform && geom.kind != Kind::Mesh;
    let scale = |k: usize| {
        let finite = geom.size[k].is_finite() && geom.size[k] > 0.0;
        if is_scaled && finite { 0.5 / geom.size[k] } else { 1.0 }
    };
    let shift = |k: usize| if is_scaled && geom.size[k].is_finite() { 0.5 } else { 0.0 };
    let scale = [scale(0), scale(1), scale(2)];
    let V3(ex, ey, ez) = extent.scaled(scale);
    let V3(px, py, pz) = p.scaled(scale) + V3::splat(s, [shift(0), shift(1), shift(2)]);
    if !material.cube_mapped {
        return (px * ru, py * rv, ex * ru, ey * rv);
    }
    let (nx, ny, nz) = (n.0 * n.0, n.1 * n.1, n.2 * n.2);
    let is_x = ny.lt(nx) & nz.lt(nx);
    let is_z = ny.le(nz);
    let (u, eu) = (is_x.select(py, px), is_x.select(ey, ex));
    let v = is_x.select(pz, is_z.select(py, pz));
    let ev = is_x.select(ez, is_z.select(ey, ez));
    (u * ru, v * rv, eu * ru, ev * rv)
}

/// Mean over `width` of the square wave that is +1 in the first half of each unit, -1 after.
#[inline(always)]
fn wave<S: Simd>(s: S, u: V<S>, width: V<S>) -> V<S> {
    let width = width.max(u.abs() * 1e-5 + 1e-3);
    let (low, high) = (u - width * 0.5, u + width * 0.5);
    let mean = ((low - low.floor() - 0.5).abs() - (high - high.floor() - 0.5).abs()) / width;
    mean.max(V::splat(s, -1.0)).min(V::splat(s, 1.0))
}
