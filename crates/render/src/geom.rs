//! Instances as one camera sees them: frames, sizes and screen bounds.

use pulp::Simd;

use crate::camera::Camera;
use crate::lanes::{V, V3};
use crate::math::{self, Vec3};
use crate::scene::Placement;
use crate::shape::Shape;

/// Which intersection and normal to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not in this view.
    Absent,
    Plane,
    Ellipsoid,
    Capsule,
    Cylinder,
    Box,
    Mesh,
}

/// Maps camera rays `(x, y, -1)` into an instance's frame: origin `o`, direction
/// `x * ax + y * ay + az`. The frame may be stretched; ray parameters do not change.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Frame {
    ax: Vec3,
    ay: Vec3,
    az: Vec3,
    o: Vec3,
}

/// A [`Frame`] whose `az` belongs to the centre of one tile, in single precision.
#[derive(Clone, Copy)]
pub(crate) struct TileFrame {
    pub(crate) ax: [f32; 3],
    pub(crate) ay: [f32; 3],
    pub(crate) az: [f32; 3],
    pub(crate) o: [f32; 3],
}

impl Frame {
    fn new(camera: &Camera, placement: &Placement, stretch: Vec3) -> Self {
        let m = math::mat_t_mul(&placement.rot, &camera.rot);
        let o = math::mul_t(&placement.rot, math::sub(camera.pos_m, placement.pos_m));
        let column = |c: usize| std::array::from_fn(|r| m[3 * r + c] * stretch[r]);
        Self {
            ax: column(0),
            ay: column(1),
            az: math::scale(column(2), -1.0),
            o: std::array::from_fn(|k| o[k] * stretch[k]),
        }
    }

    pub(crate) fn direction(&self, x: f64, y: f64) -> Vec3 {
        std::array::from_fn(|k| x * self.ax[k] + y * self.ay[k] + self.az[k])
    }

    pub(crate) fn origin(&self) -> Vec3 {
        self.o
    }

    pub(crate) fn at(&self, centre: [f64; 2]) -> TileFrame {
        TileFrame {
            ax: math::to_f32(self.ax),
            ay: math::to_f32(self.ay),
            az: math::to_f32(self.direction(centre[0], centre[1])),
            o: math::to_f32(self.o),
        }
    }
}

impl TileFrame {
    #[inline(always)]
    pub(crate) fn direction<S: Simd>(&self, s: S, x: V<S>, y: V<S>) -> V3<S> {
        V3::linear(s, x, y, self.ax, self.ay, self.az)
    }
}

/// Where something may appear: continuous pixel coordinates and nearest depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScreenBox {
    pub(crate) x: [f32; 2],
    pub(crate) y: [f32; 2],
    pub(crate) z_min: f32,
}

impl ScreenBox {
    /// Bounds of the part beyond the near plane of the convex hull of camera-frame `points`,
    /// given its edges; `None` if nothing of it can be in the image.
    pub(crate) fn of_hull(camera: &Camera, points: &[Vec3], edges: &[[u8; 2]]) -> Option<Self> {
        let near = camera.near_m;
        let k = &camera.intrinsics;
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let mut z_min = f64::INFINITY;
        let mut grow = |p: Vec3| {
            let at = [k.cx + k.fx * p[0] / -p[2], k.cy - k.fy * p[1] / -p[2]];
            for i in 0..2 {
                low[i] = low[i].min(at[i]);
                high[i] = high[i].max(at[i]);
            }
            z_min = z_min.min(-p[2]);
        };
        let mut all_in_front = true;
        for p in points {
            if -p[2] >= near {
                grow(*p);
            } else {
                all_in_front = false;
            }
        }
        if !all_in_front {
            for [a, b] in edges {
                let (p, q) = (points[usize::from(*a)], points[usize::from(*b)]);
                if (-p[2] >= near) != (-q[2] >= near) {
                    let f = (-near - p[2]) / (q[2] - p[2]);
                    let cut = math::add(p, math::scale(math::sub(q, p), f));
                    grow([cut[0], cut[1], -near]);
                }
            }
        }
        // A hair of slack for the rounding of the single-precision tests that follow.
        const SLACK: f64 = 0.01;
        let (w, h) = (camera.width as f64, camera.height as f64);
        let outside = high[0] + SLACK < 0.0
            || high[1] + SLACK < 0.0
            || low[0] - SLACK > w
            || low[1] - SLACK > h
            || z_min > camera.far_m
            || z_min.is_infinite();
        (!outside).then(|| Self {
            x: [(low[0] - SLACK).max(0.0) as f32, (high[0] + SLACK).min(w) as f32],
            y: [(low[1] - SLACK).max(0.0) as f32, (high[1] + SLACK).min(h) as f32],
            z_min: (z_min * (1.0 - 1e-6)) as f32,
        })
    }

    fn everything(camera: &Camera) -> Self {
        Self {
            x: [0.0, camera.width as f32],
            y: [0.0, camera.height as f32],
            z_min: camera.near_m as f32,
        }
    }
}

/// The edges of a box whose corner `i` has its axis `k` positive where bit `k` of `i` is set.
const BOX_EDGES: [[u8; 2]; 12] = [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
    [0, 2],
    [1, 3],
    [4, 6],
    [5, 7],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

/// Lines that bound the image of a box: `a x + b y + c`, in pixels, is negative outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    lines: [[f32; 3]; 8],
    count: usize,
}

impl Outline {
    pub(crate) const NONE: Self = Self { lines: [[0.0; 3]; 8], count: 0 };

    /// No lines at all when a corner is not before the camera.
    fn of_box(camera: &Camera, corners: &[Vec3; 8]) -> Self {
        let mut out = Self::NONE;
        if corners.iter().any(|p| -p[2] < camera.near_m) {
            return out;
        }
        let k = &camera.intrinsics;
        let image = corners.map(|p| [k.cx + k.fx * p[0] / -p[2], k.cy - k.fy * p[1] / -p[2]]);
        for [a, b] in BOX_EDGES {
            let (p, q) = (image[usize::from(a)], image[usize::from(b)]);
            let normal = [p[1] - q[1], q[0] - p[0]];
            let length = normal[0].hypot(normal[1]);
            if length < 1e-6 {
                continue;
            }
            let offset = -(normal[0] * p[0] + normal[1] * p[1]);
            let side = image.map(|c| (normal[0] * c[0] + normal[1] * c[1] + offset) / length);
            // The image lies on one side of its outline's edges, give or take a hair.
            let (least, most) =
                side.iter().fold((0.0_f64, 0.0_f64), |(l, m), s| (l.min(*s), m.max(*s)));
            let sign = if least > -0.01 {
                1.0
            } else if most < 0.01 {
                -1.0
            } else {
                continue;
            };
            if out.count < out.lines.len() {
                let line = [normal[0], normal[1], offset].map(|v| (sign * v / length) as f32);
                out.lines[out.count] = line;
                out.count += 1;
            }
        }
        out
    }

    /// Whether the square tile at `(x, y)` lies wholly outside.
    pub(crate) fn misses(&self, x: f32, y: f32, side: f32) -> bool {
        self.lines[..self.count].iter().any(|[a, b, c]| {
            let corner_x = if *a > 0.0 { x + side } else { x };
            let corner_y = if *b > 0.0 { y + side } else { y };
            // Slack for the hair above and for rounding far from the origin.
            a * corner_x + b * corner_y + c < -0.05
        })
    }
}

/// One instance in one view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geom {
    pub(crate) kind: Kind,
    /// Unstretched, for shading.
    pub(crate) local: Frame,
    /// For intersection: stretched to the unit ball for ellipsoids.
    pub(crate) hit: Frame,
    /// Radii or half extents.
    pub(crate) size: [f32; 3],
    /// For boxes, planes and cylinders: lower and upper faces as seen from the ray origin.
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
    pub(crate) bounds: Option<ScreenBox>,
    pub(crate) outline: Outline,
    /// Where it comes in the front-to-back order.
    pub(crate) sort_z: f64,
}

impl Geom {
    pub(crate) const ABSENT: Self = Self {
        kind: Kind::Absent,
        local: Frame { ax: [0.0; 3], ay: [0.0; 3], az: [0.0; 3], o: [0.0; 3] },
        hit: Frame { ax: [0.0; 3], ay: [0.0; 3], az: [0.0; 3], o: [0.0; 3] },
        size: [0.0; 3],
        low: [0.0; 3],
        high: [0.0; 3],
        bounds: None,
        outline: Outline::NONE,
        sort_z: 0.0,
    };

    pub(crate) fn new(camera: &Camera, shape: &Shape, placement: &Placement) -> Self {
        let (kind, size) = match shape {
            Shape::Plane { half_m } => {
                let [x, y] = half_m.map(|h| h.unwrap_or(f64::INFINITY));
                (Kind::Plane, [x, y, 0.0])
            }
            Shape::Sphere { radius_m: r } => (Kind::Ellipsoid, [*r; 3]),
            Shape::Ellipsoid { radii_m } => (Kind::Ellipsoid, *radii_m),
            Shape::Capsule { radius_m: r, half_length_m: h } => (Kind::Capsule, [*r, *r, *h]),
            Shape::Cylinder { radius_m: r, half_length_m: h } => (Kind::Cylinder, [*r, *r, *h]),
            Shape::Box { half_m } => (Kind::Box, *half_m),
            Shape::Mesh(_) => (Kind::Mesh, [1.0; 3]),
        };
        let local = Frame::new(camera, placement, [1.0; 3]);
        let hit = if kind == Kind::Ellipsoid {
            Frame::new(camera, placement, size.map(|r| 1.0 / r))
        } else {
            local
        };
        let o = local.o;
        let mut out = Self {
            kind,
            local,
            hit,
            size: math::to_f32(size),
            low: std::array::from_fn(|k| (-size[k] - o[k]) as f32),
            high: std::array::from_fn(|k| (size[k] - o[k]) as f32),
            bounds: Some(ScreenBox::everything(camera)),
            outline: Outline::NONE,
            sort_z: f64::INFINITY,
        };
        if kind == Kind::Plane && o[2] <= 0.0 {
            out.bounds = None;
        } else if let Some((centre, half)) = shape.bounds() {
            let is_ball = matches!(shape, Shape::Sphere { .. });
            let corners = box_corners(camera, placement, centre, half, is_ball);
            out.bounds = ScreenBox::of_hull(camera, &corners, &BOX_EDGES);
            out.outline = Outline::of_box(camera, &corners);
            out.sort_z = out.bounds.map_or(f64::INFINITY, |b| f64::from(b.z_min));
        }
        out
    }
}

/// Corners, in the camera frame, of a box around a shape; along the camera's axes for a ball.
fn box_corners(
    camera: &Camera,
    placement: &Placement,
    centre: Vec3,
    half: Vec3,
    is_ball: bool,
) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let corner = std::array::from_fn(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] });
        if is_ball {
            let centre = math::sub(placement.pos_m, camera.pos_m);
            return math::add(math::mul_t(&camera.rot, centre), corner);
        }
        let world =
            math::add(math::mul(&placement.rot, math::add(centre, corner)), placement.pos_m);
        math::mul_t(&camera.rot, math::sub(world, camera.pos_m))
    })
}

/// One triangle in one view: linear functions of the ray direction, by their gradient.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    /// Edge functions; all three are positive for rays through the triangle, and their values
    /// are in proportion to the barycentric coordinates of the hit.
    pub(crate) edges: [Vec3; 3],
    /// Normal and offset of the plane: depth is `offset / (normal . direction)`.
    pub(crate) normal: Vec3,
    pub(crate) offset: f64,
    pub(crate) bounds: ScreenBox,
    pub(crate) instance: u32,
    /// Index in the mesh.
    pub(crate) index: u32,
}

impl Triangle {
    /// `None` when seen from behind, edge-on or outside the image.
    pub(crate) fn new(camera: &Camera, [a, b, c]: [Vec3; 3], owner: [u32; 2]) -> Option<Self> {
        let normal = math::cross(math::sub(b, a), math::sub(c, a));
        let offset = math::dot(normal, a);
        if offset >= 0.0 {
            return None;
        }
        let bounds = ScreenBox::of_hull(camera, &[a, b, c], &[[0, 1], [1, 2], [2, 0]])?;
        let edges = [math::cross(c, b), math::cross(a, c), math::cross(b, a)];
        let [instance, index] = owner;
        Some(Self { edges, normal, offset, bounds, instance, index })
    }
}
