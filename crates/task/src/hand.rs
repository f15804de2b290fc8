//! The hand as bodies: what of it is the first jaw, the second, and the rest.

use citrange_core::rig::ConvexBody;
pub(crate) use citrange_robot::JawSide as Side;
use citrange_robot::{Chain, Kinematics, LinkShape, jaw_sides};
use nalgebra::Vector3;

use crate::hull::{Body3, Form, chord_2d, hull_2d};

#[derive(Clone, Debug)]
struct Part {
    link: usize,
    form: Form,
    side: Side,
}

impl Part {
    fn at(&self, at: &Kinematics) -> Body3 {
        let link = at.link(self.link);
        self.form.at(&link.rot, &link.pos_m)
    }
}

/// The solid parts of a hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hand {
    parts: Vec<Part>,
    /// Whether the first jaw stands still while the other closes.
    pub(crate) is_first_still: bool,
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
                form: Form::of(&ConvexBody { points_m, radius_m: hull.radius_m }),
                side: sides[link]?,
            })
        };
        let grippers = chain.joints.iter().filter(|joint| joint.gripper.is_some()).count();
        let is_first_still = grippers == 1 || chain.grasp.is_some_and(|grasp| grasp.from_face);
        Self { parts: shapes.iter().filter_map(part).collect(), is_first_still }
    }

    /// Its parts in the world, with the side they are on.
    pub(crate) fn bodies(&self, at: &Kinematics) -> Vec<(Side, Body3)> {
        self.parts.iter().map(|part| (part.side, part.at(at))).collect()
    }

    /// Its parts of one side in the world.
    pub(crate) fn side(&self, side: Side, at: &Kinematics) -> Vec<Body3> {
        self.parts.iter().filter(|part| part.side == side).map(|part| part.at(at)).collect()
    }

    /// Whether it is known at all.
    pub(crate) fn is_known(&self) -> bool {
        self.parts.iter().any(|p| p.side == Side::Second)
    }
}

/// The section of a thing, looked at in even steps of depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slices {
    /// Depth, and from where to where the thing reaches there; the depths go up.
    slices: Vec<(f64, [f64; 2])>,
}

impl Slices {
    pub(crate) fn new(thing: &Sections, step_m: f64) -> Self {
        let [low, high] = depths(thing);
        let count = if high > low { ((high - low) / step_m).ceil() as usize } else { 0 };
        let slice = |k: usize| {
            // The ends themselves belong to the thing only within rounding.
            let at = low + (high - low) * k as f64 / count.max(1) as f64;
            let at = at.clamp(low + 1e-9, high - 1e-9);
            span(thing, at).map(|ends| (at, ends))
        };
        let is_some = high - low > 4e-9;
        Self { slices: (0..=count).filter(|_| is_some).filter_map(slice).collect() }
    }

    /// How far the thing is from a jaw, along the line between the jaws: the least over all
    /// depths. Infinite where the jaw is nowhere beside it.
    pub(crate) fn gap_m(&self, side: Side, jaw: &Sections) -> f64 {
        let [low, high] = depths(jaw);
        let first = self.slices.partition_point(|(at, _)| *at < low);
        let beside = self.slices[first..].iter().take_while(|(at, _)| *at <= high);
        let gaps = beside.filter_map(|(at, [left, right])| {
            let [jaw_left, jaw_right] = span(jaw, *at)?;
            Some(if side == Side::First { left - jaw_right } else { jaw_left - right })
        });
        gaps.fold(f64::INFINITY, f64::min)
    }
}

/// Lowest and highest depth of sections.
fn depths(sections: &Sections) -> [f64; 2] {
    let all = sections.iter().flatten();
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| [low.min(p[1]), high.max(p[1])])
}

/// From where to where convex polygons reach together at a depth.
pub(crate) fn span(polygons: &Sections, at: f64) -> Option<[f64; 2]> {
    let chords = polygons.iter().filter_map(|polygon| chord_2d(polygon, at));
    chords.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}
