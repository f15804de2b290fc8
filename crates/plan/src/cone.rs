//! A tool that is kept upright, or any direction of it within a cone: for whole motions, proved
//! for every configuration in between.

use nalgebra::Vector3;

use crate::arm::PlannedArm;
use crate::config::Config;
use crate::error::PlanError;
use crate::motions::Motions;
use crate::search::Constrained;
use crate::tool::Tool;

/// Halvings of an edge in its proof.
const DEPTH: u32 = 14;

/// What rounding may take from a cosine.
const ROUNDING: f64 = 1e-7;

/// Steps of a projection.
const STEPS: usize = 12;

/// A projection goes so far into the cone: edges between its ends then have room to bend.
const INSIDE: f64 = 0.5;

/// Directions of the tool that are allowed all the way.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCone {
    /// A direction in the tool's frame.
    pub axis_in_tool: [f64; 3],
    /// Where it should point in the world.
    pub axis_in_world: [f64; 3],
    /// How far from there it may point, rad.
    pub half_angle_rad: f64,
}

impl ToolCone {
    /// The tool as level as it is with the arm's joints there, such as for a glass in the hand.
    #[must_use]
    pub fn upright(arm: &PlannedArm, joints: &[f64], half_angle_rad: f64) -> Self {
        let at = Tool::new(arm).place(joints);
        let axis_in_tool = (at.rot.transpose() * Vector3::z()).into();
        Self { axis_in_tool, axis_in_world: [0.0, 0.0, 1.0], half_angle_rad }
    }

    /// Of seven numbers: a direction of the tool, where it should point in the world, and how
    /// many degrees it may be off.
    ///
    /// # Errors
    /// When a word is not a number, there are not seven, or a direction has no length.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let numbers = crate::goal::numbers(text)?;
        let [a, b, c, d, e, f, degrees] = numbers[..] else {
            let reason = format!(
                "{} numbers; right are 7: a direction of the tool, where it should point in the \
                 world, and by how many degrees it may be off, such as \"0 0 1 0 0 -1 10\"",
                numbers.len()
            );
            return Err(PlanError::bad(format!("cone {text:?}"), reason));
        };
        let half_angle_rad = degrees.to_radians();
        Self { axis_in_tool: [a, b, c], axis_in_world: [d, e, f], half_angle_rad }.checked()
    }

    /// With axes of unit length.
    ///
    /// # Errors
    /// When an axis has no direction, or the angle is not between 0.1 and 180 degrees.
    pub fn checked(self) -> Result<Self, PlanError> {
        let unit = |axis: [f64; 3]| {
            let axis = Vector3::from(axis);
            let sane = axis.iter().all(|c| c.is_finite() && c.abs() < 1e6);
            axis.try_normalize(1e-6).filter(|_| sane).map(Into::into).ok_or_else(|| {
                PlanError::bad("cone", format!("{axis:?} is no direction, such as 0 0 1"))
            })
        };
        let degrees = self.half_angle_rad.to_degrees();
        if !(0.1..=180.0).contains(&degrees) {
            let reason = format!("{degrees} degrees; 0.1 to 180 are right");
            return Err(PlanError::bad("half angle of a cone", reason));
        }
        Ok(Self {
            axis_in_tool: unit(self.axis_in_tool)?,
            axis_in_world: unit(self.axis_in_world)?,
            ..self
        })
    }
}

/// A cone and the arm whose tool it is about.
#[derive(Clone, Debug)]
pub(crate) struct ConeCheck {
    tool: Tool,
    of_tool: Vector3<f64>,
    toward: Vector3<f64>,
    half_angle_rad: f64,
    least_cos: f64,
    ranges: Vec<[f64; 2]>,
}

impl ConeCheck {
    pub(crate) fn new(arm: &PlannedArm, cone: &ToolCone) -> Result<Self, PlanError> {
        let cone = cone.clone().checked()?;
        Ok(Self {
            tool: Tool::new(arm),
            of_tool: Vector3::from(cone.axis_in_tool),
            toward: Vector3::from(cone.axis_in_world),
            half_angle_rad: cone.half_angle_rad,
            least_cos: cone.half_angle_rad.cos() + ROUNDING,
            ranges: arm.limits().iter().map(|limit| limit.range).collect(),
        })
    }

    /// The cosine of how far the direction is off, there.
    fn cos(&mut self, joints: &[f64]) -> f64 {
        (self.tool.place(joints).rot * self.of_tool).dot(&self.toward)
    }

    /// How far the direction is off, rad.
    pub(crate) fn angle_rad(&mut self, joints: &[f64]) -> f64 {
        let axis = self.tool.place(joints).rot * self.of_tool;
        axis.cross(&self.toward).norm().atan2(axis.dot(&self.toward))
    }

    /// Whether it is kept there with room to spare: 0.1 degrees.
    pub(crate) fn has_room(&mut self, joints: &[f64]) -> bool {
        self.angle_rad(joints) < self.half_angle_rad - 0.1_f64.to_radians()
    }

    /// How far the direction may be off, rad.
    pub(crate) fn half_angle_rad(&self) -> f64 {
        self.half_angle_rad
    }

    pub(crate) fn holds(&mut self, joints: &[f64]) -> bool {
        self.cos(joints) >= self.least_cos
    }

    /// Whether the direction stays within on all of the straight way between two configurations.
    fn holds_between(&mut self, from: &Config, to: &Config) -> bool {
        let joints = self.tool.joints();
        let (a, b) = (from.positions(joints), to.positions(joints));
        let rates: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b - a).abs()).collect();
        let bend = self.tool.direction_bend(&rates, &vec![0.0; joints]);
        let ends = [self.cos(&a), self.cos(&b)];
        self.holds_part(&a, &b, [0.0, 1.0], ends, bend, DEPTH)
    }

    /// A function whose second derivative is at most `bend` is nowhere further below the chord
    /// between two of its values than `bend h² / 8`.
    fn holds_part(
        &mut self,
        a: &[f64],
        b: &[f64],
        [from, to]: [f64; 2],
        ends: [f64; 2],
        bend: f64,
        depth: u32,
    ) -> bool {
        let least = ends[0].min(ends[1]);
        let width = to - from;
        if least < self.least_cos {
            return false;
        }
        if least - bend * width * width / 8.0 >= self.least_cos {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let middle = f64::midpoint(from, to);
        let at: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + (b - a) * middle).collect();
        let cos = self.cos(&at);
        self.holds_part(a, b, [from, middle], [ends[0], cos], bend, depth - 1)
            && self.holds_part(a, b, [middle, to], [cos, ends[1]], bend, depth - 1)
    }

    /// Whether it holds wherever every joint is within `half_width` of `at`: by how much it
    /// changes with each joint there, and how much that can change.
    fn holds_in_box(&mut self, at: &Config, half_width: &Config) -> bool {
        let joints = self.tool.joints();
        let widths = half_width.positions(joints);
        let cos = self.cos(&at.positions(joints));
        let turn_rad = self.tool.turn_rad(&widths);
        if cos.clamp(-1.0, 1.0).acos() + turn_rad <= self.half_angle_rad - ROUNDING {
            return true;
        }
        let slopes: f64 =
            self.slopes().iter().zip(&widths).map(|(slope, width)| slope.abs() * width).sum();
        let bend = self.tool.direction_bend(&widths, &vec![0.0; joints]);
        cos - slopes - bend / 2.0 >= self.least_cos
    }

    /// How the cosine changes with each joint, at the last place.
    fn slopes(&self) -> Vec<f64> {
        let axis = self.tool.last().rot * self.of_tool;
        let across = axis.cross(&self.toward);
        (0..self.tool.joints()).map(|joint| self.tool.column(joint).1.dot(&across)).collect()
    }

    /// The nearest configuration that is well within the cone, as far as a few steps find it.
    pub(crate) fn project(&mut self, at: &Config) -> Option<Config> {
        let joints = self.tool.joints();
        let mut q = at.positions(joints);
        let wanted = (INSIDE * self.half_angle_rad).cos();
        for _ in 0..STEPS {
            let cos = self.cos(&q);
            if cos >= wanted {
                let made = Config::of(&q);
                return self.holds(&made.positions(joints)).then_some(made);
            }
            let mut slopes = self.slopes();
            for ((slope, q), [low, high]) in slopes.iter_mut().zip(&q).zip(&self.ranges) {
                // What is at the end of its range does not go further.
                if (*slope > 0.0 && *q >= *high) || (*slope < 0.0 && *q <= *low) {
                    *slope = 0.0;
                }
            }
            let norm2: f64 = slopes.iter().map(|s| s * s).sum();
            if norm2 < 1e-8 {
                return None;
            }
            // Towards the angle, not the cosine: near the axis that one is flat.
            let angle_rad = cos.clamp(-1.0, 1.0).acos();
            let gain = (angle_rad - 0.9 * INSIDE * self.half_angle_rad) * angle_rad.sin().max(1e-6);
            let step = (gain / norm2).min(0.5 / norm2.sqrt());
            for ((q, slope), [low, high]) in q.iter_mut().zip(&slopes).zip(&self.ranges) {
                *q = (*q + step * slope).clamp(*low, *high);
            }
        }
        None
    }
}

/// Motions that must touch nothing and keep a cone.
pub(crate) struct Coned<'a, 'c, M> {
    pub(crate) inner: &'a mut M,
    pub(crate) cone: &'c mut ConeCheck,
}

impl<M: Motions> Motions for Coned<'_, '_, M> {
    fn checks(&self) -> u64 {
        self.inner.checks()
    }

    fn joints(&self) -> usize {
        self.inner.joints()
    }

    fn is_free(&mut self, at: &Config) -> bool {
        self.cone.holds(&at.positions(self.inner.joints())) && self.inner.is_free(at)
    }

    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        self.cone.holds_between(from, to) && self.inner.is_motion_free(from, to)
    }

    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
        self.cone.holds_in_box(at, half_width) && self.inner.is_box_free(at, half_width)
    }
}

impl<M: Motions> Constrained for Coned<'_, '_, M> {
    fn project(&mut self, at: &Config) -> Option<Config> {
        self.cone.project(at)
    }
}
