//! The hand around a thing: how far each jaw is from it at every opening.

use nalgebra::Vector3;

use crate::body::Body;
use crate::hand::{JawPlane, Sections, Side, Slices};
use crate::hull::Body3;
use crate::thing::Thing;

/// A section is looked at in steps of so much.
pub(crate) const SECTION_STEP_M: f64 = 0.001;
/// The hand moves over a thing from at least so high.
const SWEEP_M: f64 = 0.15;
/// Halvings in which an opening is found.
const HALVINGS: u32 = 14;

/// The way of a thing as the hand sees it that comes down around it.
pub(crate) fn sweep() -> Vector3<f64> {
    -Vector3::z() * SWEEP_M
}

/// The hand around a thing, with the arm where the candidate wants it.
pub(crate) struct Stand<'a> {
    pub(crate) body: &'a mut Body,
    pub(crate) joints: Vec<f64>,
    pub(crate) plane: JawPlane,
    pub(crate) thing: Sections,
    slices: Slices,
    swept: Slices,
    /// How far a first jaw that does not move is from the thing, and from all that it passes.
    still_m: Option<[f64; 2]>,
}

impl<'a> Stand<'a> {
    pub(crate) fn new(body: &'a mut Body, joints: &[f64], thing: &Thing) -> Self {
        let hand = body.hand(joints);
        let plane = JawPlane { at_m: hand.at_m, jaw: hand.jaw_axis, tool: hand.tool_axis };
        let thing = plane.sections(thing.bodies.iter());
        let slices = Slices::new(&thing, SECTION_STEP_M);
        let joints = joints.to_vec();
        let swept = Slices::default();
        let mut stand = Self { body, joints, plane, thing, slices, swept, still_m: None };
        stand.keep_still();
        stand
    }

    /// Looks at what the thing passes when the hand comes down around it, too.
    pub(crate) fn sweep(&mut self, thing: &Thing) {
        let swept: Vec<Body3> = thing.bodies.iter().map(|body| body.swept(&sweep())).collect();
        self.swept = Slices::new(&self.plane.sections(swept.iter()), SECTION_STEP_M);
        self.keep_still();
    }

    fn keep_still(&mut self) {
        if self.body.hand_shape.is_first_still {
            self.still_m = None;
            let first = self.jaw(Side::First);
            let gaps = [&self.slices, &self.swept].map(|s| s.gap_m(Side::First, &first));
            self.still_m = Some(gaps);
        }
    }

    fn jaw(&self, side: Side) -> Sections {
        let parts = self.body.hand_shape.side(side, self.body.ik.kinematics());
        self.plane.sections(parts.iter())
    }

    /// Sections of the two sides at an opening.
    pub(crate) fn jaws(&mut self, opening: f64) -> [Sections; 2] {
        self.body.set_jaws(opening, &mut self.joints);
        self.body.hand(&self.joints);
        [Side::First, Side::Second].map(|side| self.jaw(side))
    }

    /// How far both jaws are from the thing, or from all that it passes.
    pub(crate) fn gaps(&mut self, opening: f64, is_swept: bool) -> [f64; 2] {
        self.body.set_jaws(opening, &mut self.joints);
        self.body.hand(&self.joints);
        let slices = if is_swept { &self.swept } else { &self.slices };
        let first = match self.still_m {
            Some(still_m) => still_m[usize::from(is_swept)],
            None => slices.gap_m(Side::First, &self.jaw(Side::First)),
        };
        [first, slices.gap_m(Side::Second, &self.jaw(Side::Second))]
    }

    /// The smallest opening between two that leaves so much room, both sides together.
    pub(crate) fn opening(&mut self, room_m: f64, is_swept: bool, from: f64) -> Option<f64> {
        let leaves = |stand: &mut Self, opening: f64| {
            let [a, b] = stand.gaps(opening, is_swept);
            a + b >= room_m
        };
        if !leaves(self, 1.0) {
            return None;
        }
        let [mut low, mut high] = [from, 1.0];
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if leaves(self, middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}
