//! From place to place around what stands in the way.

use citrange_core::Observation;
use nalgebra::Vector3;

use super::home::SWING_RAMP_S;
use crate::judge::checks::usable;
use crate::memory::Memory;
use crate::moves::{HandTarget, Swing};
use crate::pilot::Autopilot;
use crate::route::{Route, RouteQuestion, box_numbers};

/// Steps in which a line is looked at.
const STEPS: u32 = 12;
/// What is lower than the thing in hand by this is passed over.
const BELOW_M: f64 = 0.02;

/// Whether the arm is on a way around.
pub(crate) enum OnRoute {
    No,
    Yes,
    /// Its end was reached at this tick.
    Over,
}

impl Autopilot {
    /// Before the hand goes along its line and from there to a place: if something tall stands
    /// around, asks for a way around it.
    pub(crate) fn look_ahead(&mut self, m: &mut Memory, to: &HandTarget, seen: &Observation) {
        let current = m.current.map(|n| self.targets[n]);
        let held = current.and_then(|object| {
            let at = seen.objects.get(object)?.as_ref().filter(|at| usable(at))?;
            Some((box_numbers(&at.pose, self.objects[object].box_m), self.thing(object, seen)?))
        });
        let Some((held, thing)) = held else { return };
        let low_m = thing.lowest_m.min(m.hand.at_m.z) - BELOW_M;
        let Some(things) = self.tall_things(current, low_m, seen) else { return };
        let Some(way) = self.joints_along(m, to) else { return };
        self.ask(m, RouteQuestion { way, held: Some(held), things });
    }

    /// The same before the arm swings home with nothing in the hand.
    pub(crate) fn look_ahead_home(&mut self, m: &mut Memory, seen: &Observation) {
        let arm = self.body.ik.arm_joints();
        let mut home = m.joints.clone();
        home[..arm].copy_from_slice(&self.body.home[..arm]);
        let low_m = m.hand.at_m.z - self.body.tip_m.max(0.0) - BELOW_M;
        let Some(things) = self.tall_things(None, low_m, seen) else { return };
        self.ask(m, RouteQuestion { way: vec![m.joints.clone(), home], held: None, things });
    }

    fn ask(&mut self, m: &mut Memory, question: RouteQuestion) {
        let ticks = self.router.ask(&question, self.tick_s);
        m.route = Route::Thinking(ticks, question);
    }

    /// Boxes of what is higher than `low_m`, but the thing in hand and the goal; none where
    /// nothing is, fixtures neither.
    fn tall_things(
        &self,
        current: Option<usize>,
        low_m: f64,
        seen: &Observation,
    ) -> Option<Vec<[f64; 10]>> {
        let mut things = Vec::new();
        for (object, at) in seen.objects.iter().enumerate() {
            let Some(at) = at.as_ref().filter(|at| Some(object) != current && usable(at)) else {
                continue;
            };
            let is_tall = self.thing(object, seen).is_some_and(|thing| thing.top_m > low_m);
            if is_tall && Some(object) != self.goal.object() {
                things.push(box_numbers(&at.pose, self.objects[object].box_m));
            }
        }
        (!things.is_empty() || self.router.has_tall(low_m)).then_some(things)
    }

    /// Joints along the line that the hand is sent on, and from its end to a place.
    fn joints_along(&mut self, m: &Memory, to: &HandTarget) -> Option<Vec<Vec<f64>>> {
        let via = m.line.map_or(m.hand, |line| line.to);
        let mut joints = m.joints.clone();
        let mut all = vec![joints.clone()];
        for [from, to] in [[m.hand, via], [via, *to]] {
            for step in 1..=STEPS {
                let part = f64::from(step) / f64::from(STEPS);
                let turn = to.relative_yaw_rad - from.relative_yaw_rad;
                let place = HandTarget {
                    at_m: from.at_m.lerp(&to.at_m, part),
                    relative_yaw_rad: from.relative_yaw_rad + turn * part,
                };
                let mut goal = self.body.goal(&place);
                goal.at_m += m.correction_m;
                let _as_near_as_it_comes = self.body.ik.solve(&goal, &mut joints);
                all.push(joints.clone());
            }
        }
        let mut end = joints;
        let goal = self.body.goal(to);
        self.body.ik.solve(&goal, &mut end).keeps(&self.body.within).then_some(all)
    }

    /// Waits for a way around, and goes it.
    pub(crate) fn go_around(&mut self, m: &mut Memory) -> OnRoute {
        match std::mem::take(&mut m.route) {
            Route::None => OnRoute::No,
            Route::Thinking(0, question) => {
                let mut points = self.router.take(&question);
                if points.is_empty() {
                    return OnRoute::No;
                }
                points.reverse();
                m.line = None;
                m.route = Route::Points(points);
                OnRoute::Yes
            }
            Route::Thinking(ticks, question) => {
                m.route = Route::Thinking(ticks - 1, question);
                OnRoute::Yes
            }
            Route::Points(mut points) => {
                let arm = self.body.ik.arm_joints();
                let Some(next) = points.last() else { return OnRoute::No };
                let mut swing = m.swing.take().unwrap_or_else(|| {
                    let mut to = m.joints.clone();
                    to[..arm].copy_from_slice(&next[..arm]);
                    Swing::new(&m.joints, &to, &self.body.speeds)
                });
                let is_there = swing.go(self.tick_s, SWING_RAMP_S, &mut m.joints[..arm]);
                m.hand = self.body.place(&m.joints);
                m.correction_m = Vector3::zeros();
                if is_there {
                    points.pop();
                } else {
                    m.swing = Some(swing);
                }
                if points.is_empty() {
                    return OnRoute::Over;
                }
                m.route = Route::Points(points);
                OnRoute::Yes
            }
        }
    }
}
