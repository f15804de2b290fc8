//! That a tool stays on its line between the places that were looked at.
//!
//! A point whose second derivative is at most `b` is nowhere further from the chord between two
//! of its places than `b h² / 8`. The chord is no further from the line than its ends are, since
//! what is within a distance of a line is convex. So with both ends on the line it is off by no
//! more than that; where this is not enough, the part is halved.

use nalgebra::UnitQuaternion;

use super::{StraightSettings, ToolLine};
use crate::timing::Spline;
use crate::tool::{Tool, rotation_between};

/// Halvings of a piece of the curve.
const DEPTH: u32 = 14;

/// Proofs of a tool and its line.
pub(super) struct LineProof<'a> {
    tool: &'a mut Tool,
    line: &'a ToolLine,
    settings: &'a StraightSettings,
    off_m: f64,
    turned_rad: f64,
}

/// Where the tool is at a place of the curve: off the line, off the orientation.
#[derive(Clone, Copy)]
struct Place {
    off_m: f64,
    off_rad: f64,
    fraction: f64,
}

impl<'a> LineProof<'a> {
    pub(super) fn new(
        tool: &'a mut Tool,
        line: &'a ToolLine,
        settings: &'a StraightSettings,
    ) -> Self {
        Self { tool, line, settings, off_m: 0.0, turned_rad: 0.0 }
    }

    /// Bounds of how far the tool is off the line and off its orientation; otherwise where it is
    /// too far, as a fraction of the line, and how far.
    pub(super) fn prove(&mut self, curve: &Spline) -> Result<(f64, f64), (f64, f64)> {
        for (part, length) in curve.parts() {
            let ends = [0.0, length].map(|at| self.place(&|joints| part.at(at, joints)));
            self.part(&part, [0.0, length], ends, DEPTH)?;
        }
        Ok((self.off_m, self.turned_rad))
    }

    fn part(
        &mut self,
        part: &crate::timing::CurvePart<'_>,
        [from, to]: [f64; 2],
        ends: [Place; 2],
        depth: u32,
    ) -> Result<(), (f64, f64)> {
        let off_m = ends[0].off_m.max(ends[1].off_m);
        let off_rad = ends[0].off_rad.max(ends[1].off_rad);
        let worst = if ends[0].off_m > ends[1].off_m { ends[0] } else { ends[1] };
        if off_m > self.settings.deviation_m
            || (self.line.is_exact && off_rad > self.settings.turn_rad)
        {
            return Err((worst.fraction, off_m));
        }
        let [rates, bends] = part.bounds(from, to, self.tool.joints());
        let most_m = off_m + self.tool.bend_m(&rates, &bends) / 8.0;
        // The tool turns as it should at most as fast as the line is passed.
        let length_m = self.line.length_m().max(1e-9);
        let along = (self.tool.speed_m(&rates) / length_m).min(1.0);
        let turn_rad = self.tool.turn_rad(&rates) + self.line.turn.norm() * along;
        let most_rad = off_rad + turn_rad / 2.0;
        let is_turned = !self.line.is_exact || most_rad <= self.settings.turn_rad;
        // Halved a little further than it must be, so that the bound is nearer to the truth.
        let is_on_line =
            most_m <= (off_m + 0.1 * self.settings.deviation_m).min(self.settings.deviation_m);
        if is_on_line && is_turned {
            self.off_m = self.off_m.max(most_m);
            self.turned_rad = self.turned_rad.max(most_rad);
            return Ok(());
        }
        if depth == 0 {
            return Err((worst.fraction, most_m));
        }
        let middle = f64::midpoint(from, to);
        let place = self.place(&|joints| part.at(middle, joints));
        self.part(part, [from, middle], [ends[0], place], depth - 1)?;
        self.part(part, [middle, to], [place, ends[1]], depth - 1)
    }

    fn place(&mut self, joints: &dyn Fn(&mut [f64])) -> Place {
        let mut at = vec![0.0; self.tool.joints()];
        joints(&mut at);
        let at = self.tool.place(&at);
        let way = self.line.to_m - self.line.from_m;
        let fraction = if way.norm() > super::SHORTEST_M {
            (at.pos_m - self.line.from_m).dot(&way) / way.norm_squared()
        } else {
            // It only turns.
            let turned = rotation_between(&self.line.from_rot, &at.rot);
            turned.dot(&self.line.turn) / self.line.turn.norm_squared().max(1e-12)
        };
        let fraction = fraction.clamp(0.0, 1.0);
        let (at_m, rot) = self.line.at(fraction);
        let wanted = UnitQuaternion::from_matrix(&rot);
        let off_rad = wanted.angle_to(&UnitQuaternion::from_matrix(&at.rot));
        Place { off_m: (at.pos_m - at_m).norm(), off_rad, fraction }
    }
}
