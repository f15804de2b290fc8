//! What the states work with: the things around, the hand, the jaws.

use citrange_core::event::{AttemptFailed, Named};
use citrange_core::{Event, ObjectSeen, Observation};
use nalgebra::Vector3;

use crate::choice::{Around, Obstacle};
use crate::goal::WALLS;
use crate::grasp_plan::{all_yaws, over_z_m};
use crate::judge::checks::{middle_in_world, usable};
use crate::judge::{GraspSettings, NotPlaced, Placed, PlacementDetector, Region, Resting};
use crate::memory::Memory;
use crate::moves::{HandTarget, Limits, StraightMove};
use crate::pilot::Autopilot;
use crate::reason::Reason;
use crate::search::POSES_PER_TICK;
use crate::thing::Thing;

/// Most that the hand is sent aside for an arm that hangs.
const MOST_CORRECTION_M: f64 = 0.02;
/// Jaws that came this far of the way to where they were sent have closed on nothing.
const HALF_CLOSED: f64 = 0.4;
/// A thing may settle in the jaws when it leaves the table; what that is of the movement is only
/// told after so much of half its width.
const SETTLES: f64 = 0.6;
/// Things are carried this far above what stands around.
const CARRY_GAP_M: f64 = 0.012;
/// Steps in which a line is looked at before it is followed.
const LINE_STEPS: u32 = 16;
/// What stands up less than this above a surface is part of it.
const RIM_M: f64 = 0.001;

impl Autopilot {
    /// Name of a target by its place in the list.
    pub(crate) fn target_name(&self, target: usize) -> &str {
        &self.objects[self.targets[target]].name
    }

    /// The thing in hand as it is seen.
    pub(crate) fn target<'a>(&self, m: &Memory, seen: &'a Observation) -> Option<&'a ObjectSeen> {
        seen.objects.get(self.targets[m.current?])?.as_ref()
    }

    /// An object where it is seen; `None` when it is not seen or at no number.
    pub(crate) fn thing(&self, object: usize, seen: &Observation) -> Option<Thing> {
        let at = seen.objects.get(object)?.as_ref().filter(|at| usable(at))?;
        Some(Thing::new(&self.forms[object], at))
    }

    /// The thing in hand.
    pub(crate) fn current_thing(&self, m: &Memory, seen: &Observation) -> Option<Thing> {
        self.thing(self.targets[m.current?], seen)
    }

    /// The thing in hand as judges see it: at its middle, wherever its origin is.
    pub(crate) fn target_middle(&self, m: &Memory, seen: &Observation) -> Option<ObjectSeen> {
        let mut target = *self.target(m, seen)?;
        if usable(&target) {
            let box_m = &self.objects[self.targets[m.current?]].box_m;
            let middle = middle_in_world(&target.pose.isometry(), box_m);
            target.pose.pos_m = middle.into();
        }
        Some(target)
    }

    /// How far the jaws are closed on the thing in hand.
    pub(crate) fn closed(&self, m: &Memory) -> f64 {
        let squeeze = self.settings.grip_squeeze.max(self.body.least_squeeze);
        (m.plan.contact - squeeze).max(self.settings.gripper_closed)
    }

    /// The grasp's limits for the thing in hand: what hardly keeps the jaws apart shows little of
    /// a gap.
    pub(crate) fn grasp_limits(&self, m: &Memory) -> GraspSettings {
        let mut limits = self.settings.grasp_detection.clone();
        let gap = (m.plan.contact - self.closed(m)).max(0.0);
        limits.jaw_gap_min = limits.jaw_gap_min.min(gap * HALF_CLOSED);
        limits.min_move_m = limits.min_move_m.max(m.plan.half_width_m * SETTLES);
        limits
    }

    /// Says in figures why the attempt is about to fail.
    pub(crate) fn because(&mut self, why: String) {
        self.why = Some(why);
    }

    /// Everything that the hand must not meet while it works at one thing. Of a goal that it works
    /// inside (`surface_m`) only what stands up above the surface.
    pub(crate) fn around(
        &self,
        seen: &Observation,
        target: usize,
        surface_m: Option<f64>,
    ) -> Around {
        let mut around = Around::default();
        for (index, (spec, object)) in self.objects.iter().zip(&seen.objects).enumerate() {
            let Some(object) = object.as_ref().filter(|at| index != target && usable(at)) else {
                continue;
            };
            let mut thing = Thing::new(&self.forms[index], object);
            if let Some(surface_m) = surface_m.filter(|_| Some(index) == self.goal.object()) {
                thing.bodies.retain(|b| b.extent(&Vector3::z())[1] > surface_m + RIM_M);
            }
            let at_m = [thing.middle_m.x, thing.middle_m.y];
            let (radius_m, top_m) = (thing.radius_m(), thing.top_m);
            let (name, bodies) = (spec.name.clone(), thing.bodies);
            around.obstacles.push(Obstacle { name, at_m, radius_m, top_m, bodies });
        }
        around.obstacles.extend(self.goal.walls());
        around
    }

    /// Height at which the middle of a thing is carried: over everything that stands around, or at
    /// least over the goal, as far as the arm reaches there.
    pub(crate) fn carry_z_m(&mut self, thing: &Thing, others: &Around, seen: &Observation) -> f64 {
        let usual = self.body.height(self.settings.transport_height);
        let below = thing.middle_m.z - thing.lowest_m;
        let Some(region) = self.goal.region(seen) else { return usual };
        let [x, y, surface] = region.center_m();
        let goal_top = self.goal_top_m(others).unwrap_or(surface);
        let home = self.body.home.clone();
        for top in [others.top_m(self.body.floor_z_m), goal_top] {
            let z = usual.max(top + below + CARRY_GAP_M);
            let place = HandTarget { at_m: Vector3::new(x, y, z), relative_yaw_rad: 0.0 };
            if z <= usual || self.body.reach(&place, &home).is_some() {
                return z;
            }
        }
        usual
    }

    /// Whether something that is around is one of the things to be brought.
    pub(crate) fn is_target(&self, o: &Obstacle) -> bool {
        self.targets.iter().any(|target| self.objects[*target].name == o.name)
    }

    /// Top of the goal's rim or walls among what is around.
    pub(crate) fn goal_top_m(&self, around: &Around) -> Option<f64> {
        let object = self.goal.object().map(|index| self.objects[index].name.as_str());
        let is_goal = |o: &&Obstacle| object == Some(o.name.as_str()) || o.name == WALLS;
        around.obstacles.iter().filter(is_goal).map(|o| o.top_m).reduce(f64::max)
    }

    /// Looks whether some place of the goal is within reach, some hand poses at a time, `refused`
    /// of which were found to be not; answers when that is clear: nothing, or why none is.
    pub(crate) fn goal_out_of_reach(
        &mut self,
        thing: &Thing,
        seen: &Observation,
        refused: &mut usize,
    ) -> Option<Result<(), String>> {
        let Some(region) = self.goal.region(seen) else { return Some(Ok(())) };
        let [x, y, surface_m] = region.center_m();
        let z = surface_m + thing.middle_m.z - thing.lowest_m + self.settings.release_height;
        let places = match self.goal.area(seen) {
            Some(area) => area.places(&self.settings.spots, thing.radius_m()),
            None => vec![[x, y]],
        };
        let home = self.body.home.clone();
        let yaws = all_yaws();
        for _ in 0..POSES_PER_TICK {
            let Some(at) = places.get(*refused / yaws.len()) else {
                return Some(Err(self.goal_away(&Vector3::new(x, y, z))));
            };
            let relative_yaw_rad = yaws[*refused % yaws.len()];
            let place = HandTarget { at_m: Vector3::new(at[0], at[1], z), relative_yaw_rad };
            if self.body.reach(&place, &home).is_some() {
                return Some(Ok(()));
            }
            *refused += 1;
        }
        None
    }

    /// How far a goal is from what the hand reaches.
    fn goal_away(&self, middle_m: &Vector3<f64>) -> String {
        let away = (middle_m - self.body.base(middle_m.z)).norm();
        let [near, far] = self.body.ring_m;
        let mm = |m: f64| (m * 1e3).round();
        format!(
            "no place of the goal is within reach: its middle is {} mm from the arm's axis, \
             the hand reaches from {} to {} mm",
            mm(away),
            mm(near),
            mm(far)
        )
    }

    /// Height at which the open jaws travel to a thing: over what stands around, where the arm
    /// gets there, and over the thing itself.
    pub(crate) fn travel_z_m(&mut self, thing: &Thing, others: &Around, m: &Memory) -> f64 {
        let over = over_z_m(&self.body, &self.settings, thing, &m.plan);
        let top = others.top_m(self.body.floor_z_m).max(thing.top_m);
        let clear = top + m.plan.tip_below_m + self.settings.over_clearance_m;
        let place =
            HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, clear), ..m.hand };
        let near = m.joints.clone();
        if clear > over && self.body.reach(&place, &near).is_some() { clear } else { over }
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
        let thing = seen.objects.get(object).and_then(Option::as_ref);
        // Its own shape says how high its middle is above its lowest point, as it lies now.
        let low = self.thing(object, seen).map(|thing| thing.lowest_m);
        let middle = thing
            .filter(|thing| usable(thing))
            .map(|thing| middle_in_world(&thing.pose.isometry(), box_m).z);
        let resting = Resting {
            box_m,
            rest_height_m: middle.zip(low).map(|(middle, low)| middle - low),
            upright: matches!(region, Region::Top { .. }),
        };
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

    /// A place on the way to another at which the arm can follow straight lines from and to; none
    /// where the straight line does.
    pub(crate) fn way(&mut self, m: &Memory, to: &HandTarget) -> Option<HandTarget> {
        let around = self.body.way_around(&m.hand.at_m, &to.at_m);
        if around.is_none() && self.can_follow(m, &[m.hand, *to]) {
            return None;
        }
        let relative_yaw_rad = (m.hand.relative_yaw_rad + to.relative_yaw_rad) / 2.0;
        let half_way = self.body.half_way(&m.hand.at_m, &to.at_m);
        let mut via = around.into_iter().chain(half_way);
        let via = via.find(|at_m| {
            let via = HandTarget { at_m: *at_m, relative_yaw_rad };
            self.can_follow(m, &[m.hand, via, *to])
        });
        via.or(around).map(|at_m| HandTarget { at_m, relative_yaw_rad })
    }

    /// Whether the arm can follow straight lines, looked at in steps.
    fn can_follow(&mut self, m: &Memory, places: &[HandTarget]) -> bool {
        let mut joints = m.joints.clone();
        places.windows(2).all(|ends| {
            (1..=LINE_STEPS).all(|k| {
                let part = f64::from(k) / f64::from(LINE_STEPS);
                let turn = ends[1].relative_yaw_rad - ends[0].relative_yaw_rad;
                let place = HandTarget {
                    at_m: ends[0].at_m.lerp(&ends[1].at_m, part),
                    relative_yaw_rad: ends[0].relative_yaw_rad + turn * part,
                };
                let mut goal = self.body.goal(&place);
                goal.at_m += m.correction_m;
                self.body.ik.solve(&goal, &mut joints).keeps(&self.body.within)
            })
        })
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
            detail: self.why.take(),
        };
        self.note(Event::Failed(failed));
    }
}
