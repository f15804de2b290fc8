//! Instances as one camera sees them: frames, sizes and screen bounds.

use citrange_core::shape::Shape;
use citrange_lanes::Simd;

use crate::bounds::{BOX_EDGES, Outline, ScreenBox};
use crate::camera::Camera;
use crate::math::{self, Vec3};
use crate::scene::Placement;
use crate::vec3::{V, V3};

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
            Shape::Capsule { radius_m: r, half_height_m: h } => (Kind::Capsule, [*r, *r, *h]),
            Shape::Cylinder { radius_m: r, half_height_m: h } => (Kind::Cylinder, [*r, *r, *h]),
            Shape::Box { half_m } => (Kind::Box, *half_m),
            Shape::Mesh(_) => (Kind::Mesh, [1.0; 3]),
            // Refused before anything is drawn.
            Shape::Ring { .. } | Shape::Frustum { .. } => (Kind::Absent, [1.0; 3]),
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
        } else if let Some((centre, half)) = shape.bounds_m() {
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
