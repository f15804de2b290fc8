//! Where in the image something may appear, on the safe side.

use crate::camera::Camera;
use crate::math::{self, Vec3};

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

    pub(crate) fn everything(camera: &Camera) -> Self {
        Self {
            x: [0.0, camera.width as f32],
            y: [0.0, camera.height as f32],
            z_min: camera.near_m as f32,
        }
    }
}

/// The edges of a box whose corner `i` has its axis `k` positive where bit `k` of `i` is set.
pub(crate) const BOX_EDGES: [[u8; 2]; 12] = [
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
    pub(crate) fn of_box(camera: &Camera, corners: &[Vec3; 8]) -> Self {
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
