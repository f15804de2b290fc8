//! Covers shapes with spheres: every point of a shape is in some sphere, and no sphere reaches further
//! than a given overhang beyond the shape; of an ellipsoid, frustum, ring or mesh, beyond the box or
//! cylinder around it.
//!
//! A shape is cut into convex pieces, and each piece gets a sphere around it. A sphere of radius R
//! whose centre is `depth` inside of a convex shape reaches exactly `R - depth` beyond it; the
//! fewest pieces are taken for which that is never more than the overhang.
//!
//! - Capsule (radius r, half length h) by n spheres along its axis: all of radius r + e, the outer
//!   ones e inside of the ends. Neighbours meet on the mantle when
//!   `(r + e)² = r² + ((h - e) / (n - 1))²`, which gives the smallest e; e is also the overhang.
//! - Box by a lattice of equal cells; a cell with half edges a, b, c has the sphere
//!   R = |(a, b, c)| and the overhang R - min(a, b, c).
//! - Cylinder by layers. A layer of half thickness t is one sphere R² = r² + t² on the axis, or
//!   rings of sectors. A sector between the radii r1 and r2 with half angle φ fits around a
//!   point at `(r1 + r2) / (2 cos φ)`, where the corners of both arcs are equally far away. The
//!   layers at the ends may be thicker than the others: a deeper sphere stands out less.

use crate::chain::LinkShape;
use nalgebra::{Isometry3, Point3, Vector3};

use super::{Sphere, link_of};
use crate::error::RobotError;
use citrange_core::shape::Shape;

/// More cells per axis, layers, rings or sectors than this are not tried.
const MOST_CELLS: usize = 48;

/// Links up to this one pass closely over what the robot stands on, wherever they are.
const NEAR_BASE: usize = 2;

/// There a capsule that one sphere would do for gets a few more: that makes it nearly exact.
const NEAR_BASE_OVERHANG_M: f64 = 0.001;

/// A convex part of a shape and the sphere around it, in the shape's frame.
#[derive(Clone, Debug)]
struct Piece {
    centre_m: Vector3<f64>,
    radius_m: f64,
    /// The part lies within `rounding_m` of the hull of these points.
    hull_m: Vec<Vector3<f64>>,
    rounding_m: f64,
}

/// Spheres around all shapes, without those whose piece is inside of a larger shape of the same
/// link, and without those inside of another sphere.
pub(crate) fn spheres(shapes: &[LinkShape], overhang_m: f64) -> Result<Vec<Sphere>, RobotError> {
    let outlines: Vec<Shape> = shapes.iter().map(|s| outline(&s.shape)).collect();
    let poses: Vec<Isometry3<f64>> = shapes.iter().map(|s| s.link_from_shape.isometry()).collect();
    // Larger shapes may stand for pieces of smaller ones, never the other way round: so every
    // piece that is left out is covered by what is kept.
    let rank = |at: usize| (outlines[at].reach_m().iter().product::<f64>(), at);
    let mut all: Vec<Sphere> = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        let allowed_m = match outlines[index] {
            Shape::Capsule { half_height_m, .. }
                if half_height_m <= overhang_m && link_of(shape) <= NEAR_BASE =>
            {
                overhang_m.min(NEAR_BASE_OVERHANG_M)
            }
            _ => overhang_m,
        };
        let pieces = cover(&outlines[index], allowed_m).ok_or_else(|| {
            let reason = format!("{overhang_m} is too small for {}: more than 0.005?", shape.name);
            RobotError::setting("overhang_m", reason)
        })?;
        for piece in pieces {
            let is_covered = (0..shapes.len()).any(|other| {
                shapes[other].link == shape.link
                    && rank(other) > rank(index)
                    && piece.hull_m.iter().all(|corner| {
                        let in_link = poses[index] * Point3::from(*corner);
                        let there = poses[other].inverse_transform_point(&in_link);
                        depth_m(&outlines[other], &there.coords) >= piece.rounding_m
                    })
            });
            if !is_covered {
                let centre_m = (poses[index] * Point3::from(piece.centre_m)).coords.into();
                let link = link_of(shape) as u16;
                all.push(Sphere { link, centre_m, radius_m: piece.radius_m });
            }
        }
    }
    Ok(without_inner(all))
}

/// Spheres in the order of their links, without those inside of others.
pub(super) fn without_inner(mut all: Vec<Sphere>) -> Vec<Sphere> {
    let inside = |a: &Sphere, b: &Sphere| {
        let apart = (Vector3::from(a.centre_m) - Vector3::from(b.centre_m)).norm();
        a.link == b.link && apart + a.radius_m <= b.radius_m
    };
    let mut kept: Vec<Sphere> = Vec::new();
    all.sort_by(|a, b| a.link.cmp(&b.link).then(b.radius_m.total_cmp(&a.radius_m)));
    for sphere in all {
        if !kept.iter().any(|larger| inside(&sphere, larger)) {
            kept.push(sphere);
        }
    }
    kept
}

/// The box, capsule or cylinder around a shape: the shape itself where it is one.
fn outline(shape: &Shape) -> Shape {
    match *shape {
        Shape::Box { .. } | Shape::Capsule { .. } | Shape::Cylinder { .. } => shape.clone(),
        Shape::Sphere { radius_m } => Shape::Capsule { radius_m, half_height_m: 0.0 },
        Shape::Frustum { .. } | Shape::Ring { .. } => {
            let [radius_m, _, half_height_m] = shape.reach_m();
            Shape::Cylinder { radius_m, half_height_m }
        }
        // Of a mesh the box whose middle is the shape's origin.
        Shape::Ellipsoid { .. } | Shape::Plane { .. } | Shape::Mesh(_) => {
            Shape::Box { half_m: shape.reach_m() }
        }
    }
}

/// Pieces that make up an outline, none of whose spheres reaches more than `overhang_m` beyond
/// it; `None` when that would take absurdly many.
fn cover(outline: &Shape, overhang_m: f64) -> Option<Vec<Piece>> {
    match *outline {
        Shape::Capsule { radius_m, half_height_m } => capsule(radius_m, half_height_m, overhang_m),
        Shape::Box { half_m } => match half_m {
            [0.0, 0.0, half] => capsule(0.0, half, overhang_m),
            _ => split_box(half_m, overhang_m),
        },
        Shape::Cylinder { radius_m, half_height_m } => {
            cylinder(radius_m, half_height_m, overhang_m)
        }
        _ => None,
    }
}

/// How deep a point is inside of an outline; negative outside.
fn depth_m(outline: &Shape, p: &Vector3<f64>) -> f64 {
    -outline.signed_m((*p).into()).0
}

fn capsule(radius: f64, half: f64, overhang: f64) -> Option<Vec<Piece>> {
    let inset = |spheres: usize| {
        if spheres == 1 {
            return half;
        }
        // (m² - 1) e² + 2 (r m² + h) e - h² = 0 with m = spheres - 1.
        let m2 = ((spheres - 1) * (spheres - 1)) as f64;
        let (a, b) = (m2 - 1.0, radius * m2 + half);
        // The stable form of the positive root; also right for a = 0.
        half * half / (b + (b * b + a * half * half).sqrt())
    };
    let spheres = (1..=MOST_CELLS).find(|n| inset(*n) <= overhang)?;
    let inset = inset(spheres);
    let step = if spheres == 1 { 0.0 } else { 2.0 * (half - inset) / (spheres - 1) as f64 };
    let piece = |index: usize| {
        let z = if spheres == 1 { 0.0 } else { inset - half + step * index as f64 };
        let from = if index == 0 { -half } else { z - step / 2.0 };
        let to = if index + 1 == spheres { half } else { z + step / 2.0 };
        Piece {
            centre_m: Vector3::new(0.0, 0.0, z),
            radius_m: radius + inset,
            hull_m: vec![Vector3::new(0.0, 0.0, from), Vector3::new(0.0, 0.0, to)],
            rounding_m: radius,
        }
    };
    Some((0..spheres).map(piece).collect())
}

fn split_box(half: [f64; 3], overhang: f64) -> Option<Vec<Piece>> {
    let mut best: Option<([usize; 3], f64)> = None;
    for x in 1..=MOST_CELLS {
        for y in 1..=MOST_CELLS {
            for z in 1..=MOST_CELLS {
                let count = [x, y, z];
                let fewest = best.map_or(usize::MAX, |(n, _)| n.iter().product());
                if x * y * z > fewest {
                    break;
                }
                let cell = Vector3::from_fn(|a, _| half[a] / count[a] as f64);
                let out = cell.norm() - cell.min();
                let better = x * y * z < fewest || best.is_none_or(|(_, o)| out < o);
                if out <= overhang && better {
                    best = Some((count, out));
                }
            }
        }
    }
    let (count, _) = best?;
    let cell = Vector3::from_fn(|a, _| half[a] / count[a] as f64);
    let piece = |index: usize| {
        let at = [index % count[0], index / count[0] % count[1], index / count[0] / count[1]];
        let centre_m = Vector3::from_fn(|a, _| (2 * at[a] + 1) as f64 * cell[a] - half[a]);
        let corner = |k: usize| {
            let sign = |a: usize| if k >> a & 1 == 1 { 1.0 } else { -1.0 };
            centre_m + Vector3::from_fn(|a, _| sign(a) * cell[a])
        };
        let hull_m = (0..8).map(corner).collect();
        Piece { centre_m, radius_m: cell.norm(), hull_m, rounding_m: 0.0 }
    };
    Some((0..count.iter().product()).map(piece).collect())
}

fn cylinder(radius: f64, half: f64, overhang: f64) -> Option<Vec<Piece>> {
    let mut best: Option<Vec<Piece>> = None;
    for layers in 1..=MOST_CELLS {
        if best.as_ref().is_some_and(|b| b.len() <= layers) {
            break;
        }
        let thick = half / layers as f64;
        let mut pieces = Vec::new();
        let complete = (0..layers).all(|layer| {
            let is_end = layer == 0 || layer + 1 == layers;
            // On the axis, this thickness makes a sphere stand out of the end by the overhang.
            let deep = (radius * radius - overhang * overhang) / (2.0 * overhang);
            let mut options = vec![thick];
            if is_end && deep > thick && deep <= half {
                options.push(deep);
            }
            let found = options.into_iter().filter_map(|thick_now| {
                let z = (2 * layer + 1) as f64 * thick - half;
                let z = z.clamp(thick_now - half, half - thick_now);
                disc(radius, half, z, thick_now, overhang)
            });
            let found = found.min_by_key(Vec::len);
            let is_found = found.is_some();
            pieces.extend(found.into_iter().flatten());
            is_found
        });
        if complete && best.as_ref().is_none_or(|b| pieces.len() < b.len()) {
            best = Some(pieces);
        }
    }
    best
}

/// Fewest pieces for the layer `z ± thick` of a cylinder.
fn disc(radius: f64, half: f64, z: f64, thick: f64, overhang: f64) -> Option<Vec<Piece>> {
    let fits = |sphere: f64, out: f64| sphere - (radius - out).min(half - z.abs()) <= overhang;
    let around = |out: f64, angle: f64, sphere: f64| {
        let centre_m = Vector3::new(out * angle.cos(), out * angle.sin(), z);
        Piece { centre_m, radius_m: sphere, hull_m: vec![centre_m], rounding_m: sphere }
    };
    let on_axis = radius.hypot(thick);
    if fits(on_axis, 0.0) {
        return Some(vec![around(0.0, 0.0, on_axis)]);
    }
    let mut best: Option<Vec<Piece>> = None;
    for rings in 1..=MOST_CELLS {
        let mut pieces = Vec::new();
        let width = radius / rings as f64;
        let complete = (0..rings).all(|ring| {
            let (inner, outer) = (ring as f64 * width, (ring + 1) as f64 * width);
            let sector = |sectors: usize| {
                let cos = (std::f64::consts::PI / sectors as f64).cos();
                let out = ((inner + outer) / (2.0 * cos)).min(outer * cos);
                let far = |r: f64| r * r + out * out - 2.0 * r * out * cos;
                (out, (far(inner).max(far(outer)) + thick * thick).sqrt())
            };
            if ring == 0 && fits(outer.hypot(thick), 0.0) {
                pieces.push(around(0.0, 0.0, outer.hypot(thick)));
                return true;
            }
            let fitting = (3..=MOST_CELLS).find(|sectors| {
                let (out, sphere) = sector(*sectors);
                fits(sphere, out)
            });
            let Some(sectors) = fitting else { return false };
            let (out, sphere) = sector(sectors);
            let step = std::f64::consts::TAU / sectors as f64;
            pieces.extend((0..sectors).map(|k| around(out, step * k as f64, sphere)));
            true
        });
        if complete && best.as_ref().is_none_or(|b| pieces.len() < b.len()) {
            best = Some(pieces);
        }
        if best.as_ref().is_some_and(|b| b.len() <= rings * 3) {
            break;
        }
    }
    best
}
