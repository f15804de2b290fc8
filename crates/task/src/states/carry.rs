//! From the air to its place, and until it lies there.

use std::cell::Cell;

use citrange_core::event::SpotChosen;
use citrange_core::{Event, Observation};
use nalgebra::{Rotation3, Vector3};

use super::{ARRIVED_M, OVER_M, watch_current};
use crate::body::Body;
use crate::choice::{Around, Obstacle, ReleaseQuery};
use crate::judge::{NotPlaced, Placed, PlacementDetector};
use crate::memory::{GraspBelief, Memory};
use crate::moves::HandTarget;
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::search::{POSES_PER_TICK, SpotSearch};
use crate::spots::{self, Area, SpotSettings};
use crate::states::around::OnRoute;
use crate::table::Step;

/// Fraction of the gripper's range in which its grip goes from full to nothing.
const RELIEF: f64 = 0.02;
/// Above a wall a thing is let go from so high.
const DROP_GAP_M: f64 = 0.004;
/// Room that the hand should have when it lets go.
const ROOM_M: f64 = 0.002;
/// The least gap between things on a full goal.
const TIGHT_M: f64 = 0.003;
/// Things this near to a goal count as lying there.
const NEAR_M: f64 = 0.02;

/// Back towards the base, where the arm has room; as far as it reaches.
pub(crate) fn retreat(pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    if m.ticks == 0 {
        let z = m.carry_z_m;
        let from = Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z);
        let back = pilot.body.base(z) - from;
        let near = m.joints.clone();
        let tries = [1.0, 0.75, 0.5, 0.25, 0.0].map(|part| HandTarget {
            at_m: from + back * (pilot.settings.retreat_fraction * part),
            relative_yaw_rad: m.hand.relative_yaw_rad,
        });
        let least = pilot.body.ring_m[0].min((pilot.body.base(z) - from).norm());
        let safe = tries.into_iter().find(|place| {
            (place.at_m - pilot.body.base(z)).norm() >= least
                && pilot.body.reach(place, &near).is_some()
        });
        let Some(safe) = safe else { return Step::Fail(Reason::IkFailed) };
        pilot.send(m, safe, pilot.settings.travel_horizontal_speed);
    }
    if or_fail!(pilot.follow(m)) { Step::To(State::Transport) } else { Step::Stay }
}

/// Over its place, if need be around the base, then down to it.
pub(crate) fn transport(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    const LOOK: u32 = 0;
    const AROUND: u32 = 1;
    const OVER: u32 = 2;
    const DOWN: u32 = 3;
    let travel = pilot.settings.travel_horizontal_speed;
    let is_looking = m.part == LOOK;
    if is_looking {
        let Some(place) = or_fail!(release_place(pilot, m, seen)) else { return Step::Stay };
        m.release = place;
        m.part = AROUND;
    }
    let z = m.carry_z_m.max(m.release.at_m.z + OVER_M);
    let over =
        HandTarget { at_m: Vector3::new(m.release.at_m.x, m.release.at_m.y, z), ..m.release };
    if is_looking {
        match pilot.way(m, &over) {
            Some(via) => pilot.send(m, via, travel),
            None => {
                m.part = OVER;
                pilot.send(m, over, travel);
            }
        }
        pilot.look_ahead(m, &over, seen);
    }
    match pilot.go_around(m) {
        OnRoute::No => {}
        OnRoute::Yes => return Step::Stay,
        OnRoute::Over => {
            m.part = OVER;
            pilot.send(m, over, travel);
        }
    }
    if !or_fail!(pilot.follow(m)) {
        return Step::Stay;
    }
    match m.part {
        AROUND => pilot.send(m, over, travel),
        OVER => pilot.send(m, m.release, pilot.settings.descend_step_size),
        _ => {
            let has_arrived = (pilot.hand.at_m - m.hand.at_m).norm() < ARRIVED_M;
            let is_sure = m.grip == GraspBelief::Yes && has_arrived;
            return if is_sure { Step::To(State::Release) } else { Step::Stay };
        }
    }
    m.part = (m.part + 1).min(DOWN);
    Step::Stay
}

/// Where the hand has to be so that the thing it holds comes to lie at a free place of the goal;
/// `None` while that is being looked for.
fn release_place(
    pilot: &mut Autopilot,
    m: &mut Memory,
    seen: &Observation,
) -> Result<Option<HandTarget>, Reason> {
    let current = m.current.ok_or(Reason::TargetNotSeen)?;
    let object = pilot.targets[current];
    if m.placing.is_none() {
        let thing = pilot.thing(object, seen).ok_or(Reason::LostInTransport)?;
        m.carried_m = thing.middle_m - pilot.hand.at_m;
        m.placing = Some(SpotSearch::new(seen, m.carried_m));
    }
    let mut memory = m.placing.take().unwrap_or_default();
    let seen = &memory.look.seen();
    let thing = pilot.thing(object, seen).ok_or(Reason::LostInTransport)?;
    let region = pilot.goal.region(seen).ok_or(Reason::PlateNotSeen)?;
    let surface_m = region.center_m()[2];
    let around = pilot.around(seen, object, Some(surface_m));
    let below_m = thing.middle_m.z - thing.lowest_m;
    let low_m = surface_m + below_m + pilot.settings.release_height;
    // Over the walls, where the hand finds no room between them.
    let top_m = pilot.goal_top_m(&around).map_or(low_m, |top| top + below_m + DROP_GAP_M);
    let others: Vec<&Obstacle> = around.obstacles.iter().filter(|o| pilot.is_target(o)).collect();
    let placed = m.fetches.iter().enumerate().filter(|(n, f)| f.is_placed && *n != current);
    let heights = if top_m > low_m + DROP_GAP_M { vec![low_m, top_m] } else { vec![low_m] };
    let search = Spots {
        area: pilot.goal.area(seen),
        middle: [region.center_m()[0], region.center_m()[1]],
        yaw_rad: pilot.goal.yaw(seen),
        around: &around,
        others: others.iter().map(|o| (o.at_m, o.radius_m)).collect(),
        remaining: (m.fetches.len() - placed.count()).max(1),
        radius_m: thing.radius_m(),
        openings: [m.plan.contact, m.plan.release],
        hand_z_m: heights.iter().map(|z| z - m.carried_m.z).collect(),
    };
    let settings = pilot.settings.spots.clone();
    // Where nothing keeps the usual gap, what is left is taken.
    let tight =
        SpotSettings { min_object_distance: 0.0, min_object_gap_m: TIGHT_M, ..settings.clone() };
    let mut left = POSES_PER_TICK;
    let all = search.remaining;
    let mut tries = Vec::new();
    for is_roomy in [true, false] {
        tries.extend((0..heights.len()).map(|height| (height, is_roomy, &settings, all)));
    }
    tries.push((0, false, &tight, 1));
    let mut found = None;
    for (height, is_roomy, settings, most) in tries {
        let tick = Tick { m: &*m, height, is_roomy, memory: &mut memory, left: &mut left };
        match search.find(&mut pilot.body, settings, most, tick) {
            Found::Later => {
                m.placing = Some(memory);
                return Ok(None);
            }
            Found::At(spot) => {
                found = Some((spot, height));
                break;
            }
            Found::None => {}
        }
    }
    let Some((spot, height)) = found else {
        let mm = |m: f64| (m * 1e3).round();
        pilot.because(format!(
            "no place within reach for a thing of {} mm radius beside {} others",
            mm(search.radius_m),
            search.others.len()
        ));
        return Err(Reason::NoSpot);
    };
    let (carried_m, z) = (m.carried_m, search.hand_z_m[height]);
    let at_m = search.hand_m(m, height, spot);
    let mut place = HandTarget { at_m, relative_yaw_rad: m.hand.relative_yaw_rad };
    if !memory.yaws.advance(&mut pilot.body, &search.query(m, at_m), &mut left) {
        m.placing = Some(memory);
        return Ok(None);
    }
    let [_, relative_yaw_rad, _] = memory.yaws.best.ok_or(Reason::NoSpot)?;
    // The thing rotates with the jaws: where it is in the hand rotates too.
    let before = pilot.body.yaw(&m.hand);
    place.relative_yaw_rad = relative_yaw_rad;
    let by = Rotation3::from_axis_angle(&Vector3::z_axis(), pilot.body.yaw(&place) - before);
    let carried = by * carried_m;
    place.at_m = Vector3::new(spot[0] - carried.x, spot[1] - carried.y, z);
    let (target, jaw_yaw_deg) =
        (pilot.target_name(current).to_owned(), Some(relative_yaw_rad.to_degrees()));
    pilot.note(Event::Spot(SpotChosen { target, spot_m: spot, jaw_yaw_deg }));
    Ok(Some(place))
}

/// What a place at the goal is looked for with.
struct Spots<'a> {
    /// `None` for a goal of one place.
    area: Option<Area>,
    middle: [f64; 2],
    yaw_rad: Option<f64>,
    around: &'a Around,
    /// Middles and radii of the other things.
    others: Vec<([f64; 2], f64)>,
    /// Things to come, this one included.
    remaining: usize,
    radius_m: f64,
    openings: [f64; 2],
    /// Heights of the hand at which the thing may be let go.
    hand_z_m: Vec<f64>,
}

/// What a tick may still look at, and what ticks before it found.
struct Tick<'a> {
    m: &'a Memory,
    height: usize,
    is_roomy: bool,
    memory: &'a mut SpotSearch,
    left: &'a mut usize,
}

enum Found {
    At([f64; 2]),
    None,
    /// The tick's time is over.
    Later,
}

impl Spots<'_> {
    fn hand_m(&self, m: &Memory, height: usize, xy: [f64; 2]) -> Vector3<f64> {
        Vector3::new(xy[0] - m.carried_m.x, xy[1] - m.carried_m.y, self.hand_z_m[height])
    }

    fn query<'a>(&'a self, m: &'a Memory, at_m: Vector3<f64>) -> ReleaseQuery<'a> {
        let (around, near, openings) = (self.around, &m.joints, self.openings);
        ReleaseQuery { at_m, over_z_m: m.carry_z_m, yaw_rad: self.yaw_rad, around, near, openings }
    }

    /// A place for the thing, with room for the hand if that is asked for, and for as many of those
    /// to come as fit, at most `remaining`.
    fn find(
        &self,
        body: &mut Body,
        settings: &SpotSettings,
        remaining: usize,
        tick: Tick<'_>,
    ) -> Found {
        let [x, y] = self.middle;
        let near = self.area.map_or(0.0, |area| area.size_m()) / 2.0 + self.radius_m + NEAR_M;
        let others =
            || self.others.iter().filter(|(at, r)| (at[0] - x).hypot(at[1] - y) < near + r);
        // Things of different size keep the distance of the largest.
        let most = others().map(|(_, r)| *r).fold(self.radius_m, f64::max);
        let others: Vec<[f64; 2]> = others().map(|(at, _)| *at).collect();
        let radius_m = f64::midpoint(self.radius_m, most);
        let places = self.area.map_or(vec![self.middle], |area| area.places(settings, radius_m));
        let Tick { m, height, is_roomy, memory, left } = tick;
        let is_late = Cell::new(false);
        // The thing rotates with the jaws about the vertical; near the axis that moves it little.
        let mut reachable = |xy: [f64; 2]| {
            let Some(index) = places.iter().position(|place| *place == xy) else { return false };
            let bit = 1 << index;
            if memory.places[height].known & bit == 0 {
                let query = self.query(m, self.hand_m(m, height, xy));
                if is_late.get() || !memory.yaws.advance(body, &query, left) {
                    is_late.set(true);
                    return false;
                }
                let seen = &mut memory.places[height];
                seen.known |= bit;
                if let Some([.., room]) = std::mem::take(&mut memory.yaws).best {
                    seen.reached |= bit;
                    seen.roomy |= if room >= ROOM_M { bit } else { 0 };
                }
            }
            let seen = &memory.places[height];
            (if is_roomy { seen.roomy } else { seen.reached }) & bit != 0
        };
        let Some(area) = &self.area else {
            return match (reachable(self.middle), is_late.get()) {
                (_, true) => Found::Later,
                (true, false) => Found::At(self.middle),
                (false, false) => Found::None,
            };
        };
        // If not all of those to come fit, as many as may.
        for remaining in (1..=remaining).rev() {
            let found = spots::choose(settings, area, radius_m, &others, remaining, &mut reachable);
            match (found, is_late.get()) {
                (_, true) => return Found::Later,
                (Some(spot), false) => return Found::At(spot),
                (None, false) => {}
            }
        }
        Found::None
    }
}

/// Opens the jaws, draws the hand up, and watches the thing come to rest.
pub(crate) fn release(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if m.ticks == 0 {
        // From where they stand: what the servo pressed beyond that only held the thing.
        m.jaws_from = pilot.body.jaws(&seen.joint_pos);
        m.grip = GraspBelief::Unknown;
        if let Some(fetch) = m.fetch() {
            fetch.watch = PlacementDetector::default();
        }
    }
    if !ease_open(pilot, m) {
        return Step::Stay;
    }
    // A jaw that does not move still touches the thing: first away from it, then up.
    if m.part == 0 {
        m.part = 1;
        let (sin, cos) = pilot.body.yaw(&m.hand).sin_cos();
        let by = Vector3::new(cos, sin, 0.0) * m.plan.aside_m;
        let aside = HandTarget { at_m: m.hand.at_m - by, ..m.hand };
        if m.plan.aside_m > 0.0 && pilot.joints_for(m, &aside).is_ok() {
            pilot.send(m, aside, pilot.settings.descend_step_size);
        }
    }
    let is_there = or_fail!(pilot.follow(m));
    if m.part == 1 && is_there {
        m.part = 2;
        let high = pilot.body.height(pilot.settings.transport_height);
        let clear = pilot.current_thing(m, seen).map_or(high, |thing| {
            thing.top_m + m.plan.tip_below_m + pilot.settings.over_clearance_m
        });
        let z = high.max(clear).max(m.hand.at_m.z + OVER_M);
        let up = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
        let up = if pilot.joints_for(m, &up).is_ok() { up } else { over(m, OVER_M) };
        pilot.send(m, up, pilot.settings.lift_step_size);
    }
    let is_up = is_there && m.part == 2 && m.line.is_none();
    if !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let placed = watch_current(pilot, m, seen);
    if is_up && placed == Placed::Yes {
        return Step::To(State::ReturnHome);
    }
    if pilot.in_state_s(m) > pilot.settings.frames_s(pilot.settings.release_duration_steps) {
        if let Placed::NotYet(why) | Placed::Unknown(why) = placed {
            pilot.because(format!("it does not count as placed: {}", why.as_str()));
        }
        return Step::Fail(match placed {
            Placed::NotYet(NotPlaced::Moving | NotPlaced::Settling) => Reason::NotAtRest,
            _ => Reason::OffPlate,
        });
    }
    Step::Stay
}

/// Straight above where the hand is.
fn over(m: &Memory, by_m: f64) -> HandTarget {
    HandTarget { at_m: m.hand.at_m + Vector3::z() * by_m, ..m.hand }
}

/// Opens the jaws: slowly while they let go, so that the thing is not flicked away, then quickly.
fn ease_open(pilot: &Autopilot, m: &mut Memory) -> bool {
    let settings = &pilot.settings;
    let (slow, quick) = (
        settings.frames_s(settings.release_ease_steps),
        settings.frames_s(settings.release_open_steps),
    );
    let time_s = (m.ticks + 1) as f64 * pilot.tick_s;
    let eased = m.jaws_from - RELIEF / 2.0 + RELIEF * (time_s / slow.max(pilot.tick_s)).min(1.0);
    let rest = ((time_s - slow) / quick).clamp(0.0, 1.0);
    let open = (m.jaws_from + m.plan.release - m.plan.contact).max(m.plan.release);
    let open = open.min(settings.gripper_release);
    m.jaws = eased + rest * (open - eased);
    pilot.body.set_jaws(m.jaws, &mut m.joints);
    rest >= 1.0
}
