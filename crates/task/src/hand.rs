//! The hand as bodies: what of it is the first jaw, the second, and the rest.

use citrange_core::rig::ConvexBody;
pub(crate) use citrange_robot::JawSide as Side;
use citrange_robot::{Chain, Kinematics, LinkShape, jaw_sides};
use nalgebra::Vector3;

use crate::hull::{Body3, chord_2d, hull_2d};

#[derive(Clone, Debug)]
struct Part {
    link: usize,
    hull: ConvexBody,
    side: Side,
}

/// The solid parts of a hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hand {
    parts: Vec<Part>,
}

/// A plane through the hand: `at` and the directions from jaw to jaw and of the tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JawPlane {
    pub(crate) at_m: Vector3<f64>,
    pub(crate) jaw: Vector3<f64>,
    pub(crate) tool: Vector3<f64>,
}

/// Sections with the plane of the jaws: convex polygons (from jaw to jaw, along the tool).
pub(crate) type Sections = Vec<Vec<[f64; 2]>>;

impl JawPlane {
    pub(crate) fn sections<'a>(&self, bodies: impl Iterator<Item = &'a Body3>) -> Sections {
        let cut = |body: &Body3| hull_2d(body.section(&self.at_m, [&self.jaw, &self.tool]));
        bodies.map(cut).filter(|polygon| polygon.len() > 2).collect()
    }
}

impl Hand {
    /// The hand of an arm, from the shapes of its links.
    pub(crate) fn new(chain: &Chain, shapes: &[LinkShape]) -> Self {
        let sides = jaw_sides(chain, shapes);
        let part = |shape: &LinkShape| {
            let link = shape.link?;
            let at = shape.link_from_shape.isometry();
            let hull = ConvexBody::of(&shape.shape)?;
            let place = |p: [f64; 3]| (at * nalgebra::Point3::from(p)).coords.into();
            let points_m = hull.points_m.into_iter().map(place).collect();
            Some(Part {
                link,
                hull: ConvexBody { points_m, radius_m: hull.radius_m },
                side: sides[link]?,
            })
        };
        Self { parts: shapes.iter().filter_map(part).collect() }
    }

    /// Its parts in the world, with the side they are on.
    pub(crate) fn bodies(&self, at: &Kinematics) -> Vec<(Side, Body3)> {
        let place = |part: &Part| {
            let link = at.link(part.link);
            let points = part.hull.points_m.iter();
            let points = points.map(|p| link.pos_m + link.rot * Vector3::from(*p)).collect();
            (part.side, Body3 { points, radius_m: part.hull.radius_m })
        };
        self.parts.iter().map(place).collect()
    }

    /// Whether it is known at all.
    pub(crate) fn is_known(&self) -> bool {
        self.parts.iter().any(|p| p.side == Side::Second)
    }
}

/// How far a thing is from each jaw, along the line between them: the least over all depths.
/// Infinite where a jaw is nowhere beside it.
pub(crate) fn jaw_gaps(hand: &[Sections; 2], thing: &Sections, step_m: f64) -> [f64; 2] {
    let depths = |sections: &Sections| {
        let all = sections.iter().flatten();
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| {
            [low.min(p[1]), high.max(p[1])]
        })
    };
    let [low, high] = depths(thing);
    let mut gaps = [f64::INFINITY; 2];
    let count = if high > low { ((high - low) / step_m).ceil() as usize } else { 0 };
    for k in 0..=count {
        // The ends themselves belong to the thing only within rounding.
        let at =
            (low + (high - low) * k as f64 / count.max(1) as f64).clamp(low + 1e-9, high - 1e-9);
        let Some([left, right]) = span(thing, at) else { continue };
        if let Some([_, face]) = span(&hand[0], at) {
            gaps[0] = gaps[0].min(left - face);
        }
        if let Some([face, _]) = span(&hand[1], at) {
            gaps[1] = gaps[1].min(face - right);
        }
    }
    gaps
}

/// From where to where convex polygons reach together at a depth.
pub(crate) fn span(polygons: &Sections, at: f64) -> Option<[f64; 2]> {
    let chords = polygons.iter().filter_map(|polygon| chord_2d(polygon, at));
    chords.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}
