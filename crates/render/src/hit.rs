//! Where rays meet surfaces: exact for every primitive, branch-free over lanes.
//!
//! Quadratics are solved around the point of the ray nearest to the centre (or axis): the
//! half chord comes from a difference of small numbers, not from `b² - 4ac`.

use citrange_lanes::{Kernel, LANES, Mask, Simd};

use crate::geom::{Geom, Kind, TileFrame, Triangle};
use crate::packet::{Packet, RAYS};
use crate::vec3::{V, V3, load, store, write};

/// Keeps divisions finite where a ray is parallel to an axis or face.
const TINY: f32 = 1e-20;

/// Entry depth and whether there is one.
type Entry<S> = (V<S>, Mask<S>);

trait Surface {
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S>;
}

/// Casts the rays of blocks `first..last` (in rays) at one primitive.
pub(crate) struct CastGeom<'a> {
    pub(crate) geom: &'a Geom,
    pub(crate) centre: [f64; 2],
    pub(crate) near: f32,
    pub(crate) surf: u32,
    pub(crate) rays: [usize; 2],
    pub(crate) packet: &'a mut Packet,
}

impl Kernel for CastGeom<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let frame = self.geom.hit.at(self.centre);
        let (geom, near, surf, rays) = (self.geom, self.near, self.surf, self.rays);
        match geom.kind {
            Kind::Plane => sweep(s, &Plane(geom, frame), near, surf, rays, self.packet),
            Kind::Ellipsoid => sweep(s, &UnitBall(frame), near, surf, rays, self.packet),
            Kind::Capsule => sweep(s, &Capsule(geom, frame), near, surf, rays, self.packet),
            Kind::Cylinder => sweep(s, &Cylinder(geom, frame), near, surf, rays, self.packet),
            Kind::Box => sweep(s, &Cuboid(geom, frame), near, surf, rays, self.packet),
            Kind::Absent | Kind::Mesh => {}
        }
    }
}

/// Casts the rays of blocks `first..last` (in rays) at one triangle.
pub(crate) struct CastTriangle<'a> {
    pub(crate) triangle: &'a Triangle,
    pub(crate) centre: [f64; 2],
    pub(crate) near: f32,
    pub(crate) surf: u32,
    pub(crate) rays: [usize; 2],
    pub(crate) packet: &'a mut Packet,
}

impl Kernel for CastTriangle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let t = self.triangle;
        let [a, b, c] = [
            gradient(t.edges[0], self.centre),
            gradient(t.edges[1], self.centre),
            gradient(t.edges[2], self.centre),
        ];
        let face = Face {
            edges: [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]],
            normal: gradient(t.normal, self.centre),
            offset: t.offset as f32,
        };
        sweep(s, &face, self.near, self.surf, self.rays, self.packet);
    }
}

/// The farthest depth in a packet.
pub(crate) struct Farthest<'a>(pub(crate) &'a [f32; RAYS]);

impl Kernel for Farthest<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f32 {
        let mut most = load(s, self.0, 0);
        for block in 1..RAYS / LANES {
            most = most.max(load(s, self.0, block));
        }
        most.reduce_max()
    }
}

#[inline(always)]
fn sweep<S: Simd>(
    s: S,
    surface: &impl Surface,
    near: f32,
    surf: u32,
    rays: [usize; 2],
    packet: &mut Packet,
) {
    let near = V::splat(s, near);
    for block in rays[0] / LANES..rays[1].div_ceil(LANES) {
        let (x, y) = (load(s, &packet.x, block), load(s, &packet.y, block));
        let (t, hit) = surface.entry(s, x, y);
        let z = load(s, &packet.z, block);
        let hit = hit & near.le(t) & t.lt(z);
        if hit.any() {
            store(hit.select(t, z), &mut packet.z, block);
            write(s, hit, &mut packet.surf, block, surf);
        }
    }
}

/// Replaces a denominator near zero by a tiny one of the same sign.
#[inline(always)]
fn nonzero<S: Simd>(s: S, d: V<S>) -> V<S> {
    let zero = V::splat(s, 0.0);
    let tiny = d.lt(zero).select(V::splat(s, -TINY), V::splat(s, TINY));
    let small = V::splat(s, -TINY).lt(d) & d.lt(V::splat(s, TINY));
    small.select(tiny, d)
}

/// Middle of the chord of the ray `o + t d` through a ball (or circle), and half of it squared;
/// negative for a miss. Around the Z axis if `IN_XY`, else around the origin.
#[inline(always)]
fn chord<S: Simd, const IN_XY: bool>(s: S, o: V3<S>, d: V3<S>, radius: f32) -> (V<S>, V<S>) {
    let (dd, od) = if IN_XY { (d.dot_xy(d), o.dot_xy(d)) } else { (d.dot(d), o.dot(d)) };
    let a = dd.max(V::splat(s, TINY));
    let middle = -od / a;
    let q = o + d.times(middle);
    let qq = if IN_XY { q.dot_xy(q) } else { q.dot(q) };
    (middle, (V::splat(s, radius * radius) - qq) / a)
}

/// Entry and exit of the ray through the slab between two faces of one axis.
#[inline(always)]
fn slab<S: Simd>(s: S, d: V<S>, low: f32, high: f32) -> (V<S>, V<S>) {
    let d = nonzero(s, d);
    let back = d.lt(V::splat(s, 0.0));
    let (low, high) = (V::splat(s, low), V::splat(s, high));
    let inverse = V::splat(s, 1.0) / d;
    (back.select(high, low) * inverse, back.select(low, high) * inverse)
}

struct Plane<'a>(&'a Geom, TileFrame);

impl Surface for Plane<'_> {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let Plane(geom, frame) = self;
        let d = frame.direction(s, x, y);
        let falling = d.2.lt(V::splat(s, -TINY));
        let t = V::splat(s, geom.high[2]) / nonzero(s, d.2);
        let hit = (d.0 * t).within(geom.low[0], geom.high[0])
            & (d.1 * t).within(geom.low[1], geom.high[1]);
        (t, falling & hit)
    }
}

struct UnitBall(TileFrame);

impl Surface for UnitBall {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let d = self.0.direction(s, x, y);
        let (middle, half2) = chord::<S, false>(s, V3::splat(s, self.0.o), d, 1.0);
        let zero = V::splat(s, 0.0);
        (middle - half2.max(zero).sqrt(), zero.le(half2))
    }
}

struct Capsule<'a>(&'a Geom, TileFrame);

impl Surface for Capsule<'_> {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let Capsule(geom, frame) = self;
        let zero = V::splat(s, 0.0);
        let (o, d) = (V3::splat(s, frame.o), frame.direction(s, x, y));
        let (middle, half2) = chord::<S, true>(s, o, d, geom.size[0]);
        let on_axis = zero.le(half2);
        if !on_axis.any() {
            return (middle, on_axis);
        }
        let side = middle - half2.max(zero).sqrt();
        let height = o.2 + side * d.2;
        let end = height.clamp(-geom.size[2], geom.size[2]);
        let on_side = end.le(height) & height.le(end);
        // Beyond an end, the ray can only enter through the ball around that end.
        let (ball_middle, ball_half2) =
            chord::<S, false>(s, V3(o.0, o.1, o.2 - end), d, geom.size[0]);
        let ball = ball_middle - ball_half2.max(zero).sqrt();
        (on_side.select(side, ball), on_axis & (on_side | zero.le(ball_half2)))
    }
}

struct Cylinder<'a>(&'a Geom, TileFrame);

impl Surface for Cylinder<'_> {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let Cylinder(geom, frame) = self;
        let zero = V::splat(s, 0.0);
        let d = frame.direction(s, x, y);
        let (middle, half2) = chord::<S, true>(s, V3::splat(s, frame.o), d, geom.size[0]);
        let half = half2.max(zero).sqrt();
        let (entry, exit) = slab(s, d.2, geom.low[2], geom.high[2]);
        let (entry, exit) = (entry.max(middle - half), exit.min(middle + half));
        (entry, zero.le(half2) & entry.le(exit))
    }
}

struct Cuboid<'a>(&'a Geom, TileFrame);

impl Surface for Cuboid<'_> {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let Cuboid(geom, frame) = self;
        let d = frame.direction(s, x, y);
        let (x0, x1) = slab(s, d.0, geom.low[0], geom.high[0]);
        let (y0, y1) = slab(s, d.1, geom.low[1], geom.high[1]);
        let (z0, z1) = slab(s, d.2, geom.low[2], geom.high[2]);
        let entry = x0.max(y0).max(z0);
        (entry, entry.le(x1.min(y1).min(z1)))
    }
}

/// A linear function of the direction, around the centre of a tile.
#[inline(always)]
fn gradient(g: [f64; 3], [x, y]: [f64; 2]) -> [f32; 3] {
    [g[0] as f32, g[1] as f32, (x * g[0] + y * g[1] - g[2]) as f32]
}

struct Face {
    /// By coefficient, then by edge.
    edges: [[f32; 3]; 3],
    normal: [f32; 3],
    offset: f32,
}

impl Surface for Face {
    #[inline(always)]
    fn entry<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> Entry<S> {
        let zero = V::splat(s, 0.0);
        let [ax, ay, az] = self.edges;
        let weights = V3::linear(s, x, y, ax, ay, az);
        let [nx, ny, nz] = self.normal;
        let facing = x * nx + y * ny + V::splat(s, nz);
        let hit = zero.le(weights.0) & zero.le(weights.1) & zero.le(weights.2) & facing.lt(zero);
        (V::splat(s, self.offset) / nonzero(s, facing), hit)
    }
}
