//! What the states work with: the things around, the hand, the jaws.

use citrange_core::event::{AttemptFailed, Named};
use citrange_core::{Event, ObjectSeen, Observation};
use nalgebra::Vector3;

use crate::choice::{Around, Obstacle};
use crate::judge::{NotPlaced, Placed, PlacementDetector, Region, Resting};
use crate::memory::Memory;
use crate::moves::{HandTarget, Limits, StraightMove};
use crate::pilot::Autopilot;
use crate::reason::Reason;
use crate::settings::GraspYaw;

/// Most that the hand is sent aside for an arm that hangs.
const MOST_CORRECTION_M: f64 = 0.02;

impl Autopilot {
    /// Name of a target by its place in the list.
    pub(crate) fn target_name(&self, target: usize) -> &str {
        &self.objects[self.targets[target]].name
    }

    /// The thing in hand as it is seen.
    pub(crate) fn target<'a>(&self, m: &Memory, seen: &'a Observation) -> Option<&'a ObjectSeen> {
        seen.objects.get(self.targets[m.current?])?.as_ref()
    }

    /// Half the width of an object between the jaws.
    pub(crate) fn half_width_m(&self, object: usize) -> f64 {
        let [low, high] = self.objects[object].box_m;
        ((high[0] - low[0]).min(high[1] - low[1])) / 2.0
    }

    /// Height of an object's origin above its underside.
    pub(crate) fn below_m(&self, object: usize) -> f64 {
        -self.objects[object].box_m[0][2]
    }

    /// Everything that the jaws must not meet while they work at one thing.
    pub(crate) fn around(&self, seen: &Observation, target: usize, at_goal: bool) -> Around {
        let mut around = Around::default();
        for (index, (spec, object)) in self.objects.iter().zip(&seen.objects).enumerate() {
            let Some(object) = object.filter(|_| index != target) else { continue };
            // The goal is in the way from outside, not for things that are at it.
            if Some(index) == self.goal.object() && at_goal {
                continue;
            }
            let [low, high] = spec.box_m;
            let half = ((high[0] - low[0]).max(high[1] - low[1])) / 2.0;
            let [x, y, z] = object.pose.pos_m;
            around.obstacles.push(Obstacle { at_m: [x, y], radius_m: half, top_m: z + high[2] });
        }
        if at_goal {
            around.rim = self.goal.rim(seen);
        }
        around
    }

    /// Whether an object lies at the goal now, by one more sample of a detector.
    pub(crate) fn rests(
        &self,
        watch: &mut PlacementDetector,
        object: usize,
        region: Option<&Region>,
        seen: &Observation,
    ) -> Placed {
        let Some(region) = region else {
            return Placed::Unknown(NotPlaced::NotSeen);
        };
        let box_m = &self.objects[object].box_m;
        let is_round = self.settings.grasp_yaw == GraspYaw::Free;
        let resting = Resting {
            box_m,
            rest_height_m: is_round.then(|| (box_m[1][2] - box_m[0][2]) / 2.0),
            upright: matches!(region, Region::Top { .. }),
        };
        let thing = seen.objects.get(object).and_then(Option::as_ref);
        watch.sample(&self.settings.placement, region, thing, &resting)
    }

    /// Whether this tick is a frame.
    pub(crate) fn is_frame(&self, seen: &Observation) -> bool {
        self.rates.is_frame(seen.tick)
    }

    pub(crate) fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    /// How far the jaws stand open beyond what they were commanded.
    pub(crate) fn jaw_gap(&self, m: &Memory, seen: &Observation) -> f64 {
        self.body.jaws(&seen.joint_pos) - m.jaws
    }

    /// Sends the hand along a line from where it was sent last.
    pub(crate) fn send(&self, m: &mut Memory, to: HandTarget, step_m: f64) {
        let speed = self.settings.speed_m_s(step_m);
        m.line = Some(StraightMove::new(m.hand, to, speed, self.settings.yaw_speed_rad_s));
    }

    /// Follows the line; answers whether its end is reached.
    pub(crate) fn follow(&mut self, m: &mut Memory) -> Result<bool, Reason> {
        let Some(mut line) = m.line else { return Ok(true) };
        let limits =
            Limits { speed: line.speed_m_s, acceleration: self.settings.acceleration_m_s2 };
        let mut ramp = line.ramp.after(self.tick_s, &limits);
        let mut joints = self.joints_for(m, &line.at(&ramp))?;
        // Where the joints cannot follow, the hand waits for them.
        let arm = self.body.ik.arm_joints();
        let steps = joints.iter().zip(&m.joints).zip(&self.body.speeds).take(arm);
        let most = steps.map(|((to, from), v)| (to - from).abs() / (v * self.tick_s));
        let most = most.fold(0.0, f64::max);
        if most > 1.0 {
            ramp = line.ramp.slowed(&ramp, 1.0 / most);
            joints = self.joints_for(m, &line.at(&ramp))?;
        }
        line.ramp = ramp;
        m.hand = line.at(&ramp);
        m.joints[..arm].copy_from_slice(&joints[..arm]);
        let is_over = ramp.is_over();
        m.line = (!is_over).then_some(line);
        Ok(is_over)
    }

    /// Joints that bring the hand to a place, near those in force.
    pub(crate) fn joints_for(
        &mut self,
        m: &Memory,
        place: &HandTarget,
    ) -> Result<Vec<f64>, Reason> {
        let mut goal = self.body.goal(place);
        goal.at_m += m.correction_m;
        let mut joints = m.joints.clone();
        let fit = self.body.ik.solve(&goal, &mut joints);
        if fit.keeps(&self.body.within) { Ok(joints) } else { Err(Reason::IkFailed) }
    }

    /// Moves the jaws evenly towards an opening, `frames` after the state began it is reached.
    pub(crate) fn move_jaws(&self, m: &mut Memory, to: f64, frames: f64) -> bool {
        let time_s = (m.ticks + 1) as f64 * self.tick_s;
        let fraction = (time_s / self.settings.frames_s(frames).max(self.tick_s)).min(1.0);
        m.jaws = m.jaws_from + fraction * (to - m.jaws_from);
        self.body.set_jaws(m.jaws, &mut m.joints);
        fraction >= 1.0
    }

    /// Adds to the correction what the hand misses sideways and in height.
    pub(crate) fn correct(&self, m: &mut Memory, miss_m: &Vector3<f64>, per_sec: f64) {
        m.correction_m += miss_m * (per_sec * self.tick_s).min(1.0);
        if m.correction_m.norm() > MOST_CORRECTION_M {
            m.correction_m *= MOST_CORRECTION_M / m.correction_m.norm();
        }
    }

    /// Seconds spent in the state.
    pub(crate) fn in_state_s(&self, m: &Memory) -> f64 {
        m.ticks as f64 * self.tick_s
    }

    /// Notes why the attempt at a target failed.
    pub(crate) fn note_failure(
        &mut self,
        m: &Memory,
        target: Option<usize>,
        reason: Reason,
        seen: &Observation,
    ) {
        let object = target.and_then(|n| seen.objects.get(self.targets[n])?.as_ref());
        let failed = AttemptFailed {
            target: target.map(|n| self.target_name(n).to_owned()),
            attempt: Some(target.map_or(0, |n| m.fetches[n].attempts.into())),
            state: Some(Named::Known(m.state)),
            reason: Named::Known(reason),
            object_m: object.map(|o| o.pose.pos_m),
        };
        self.note(Event::Failed(failed));
    }
}
