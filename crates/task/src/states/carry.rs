//! From the air to its place, and until it lies there.

use citrange_core::event::SpotChosen;
use citrange_core::{Event, Observation};
use nalgebra::{Rotation3, Vector3};

use super::{ARRIVED_M, OVER_M, watch_current};
use crate::body::Body;
use crate::choice::{Around, Obstacle, ReleaseQuery, release_yaw};
use crate::judge::{NotPlaced, Placed, PlacementDetector, Region};
use crate::memory::{GraspBelief, Memory};
use crate::moves::HandTarget;
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::spots::{self, Area, SpotSettings};
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
    const AROUND: u32 = 0;
    const OVER: u32 = 1;
    const DOWN: u32 = 2;
    let travel = pilot.settings.travel_horizontal_speed;
    if m.ticks == 0 {
        m.release = or_fail!(release_place(pilot, m, seen));
    }
    let z = m.carry_z_m.max(m.release.at_m.z + OVER_M);
    let over =
        HandTarget { at_m: Vector3::new(m.release.at_m.x, m.release.at_m.y, z), ..m.release };
    if m.ticks == 0 {
        match pilot.body.way_around(&m.hand.at_m, &over.at_m) {
            Some(at_m) => {
                let relative_yaw_rad = (m.hand.relative_yaw_rad + over.relative_yaw_rad) / 2.0;
                pilot.send(m, HandTarget { at_m, relative_yaw_rad }, travel);
            }
            None => {
                m.part = OVER;
                pilot.send(m, over, travel);
            }
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

/// Where the hand has to be so that the thing it holds comes to lie at a free place of the goal.
fn release_place(
    pilot: &mut Autopilot,
    m: &mut Memory,
    seen: &Observation,
) -> Result<HandTarget, Reason> {
    let current = m.current.ok_or(Reason::TargetNotSeen)?;
    let object = pilot.targets[current];
    let thing = pilot.thing(object, seen).ok_or(Reason::LostInTransport)?;
    let region = pilot.goal.region(seen).ok_or(Reason::PlateNotSeen)?;
    let surface_m = region.center_m()[2];
    let around = pilot.around(seen, object, Some(surface_m));
    m.carried_m = thing.middle_m - pilot.hand.at_m;
    let below_m = thing.middle_m.z - thing.lowest_m;
    let low_m = surface_m + below_m + pilot.settings.release_height;
    // Over the walls, where the hand finds no room between them.
    let top_m = pilot.goal_top_m(&around).map_or(low_m, |top| top + below_m + DROP_GAP_M);
    let others: Vec<&Obstacle> = around.obstacles.iter().filter(|o| pilot.is_target(o)).collect();
    let placed = m.fetches.iter().enumerate().filter(|(n, f)| f.is_placed && *n != current);
    let settings = pilot.settings.spots.clone();
    let search = SpotSearch {
        region,
        yaw_rad: pilot.goal.yaw(seen),
        around: &around,
        others: others.iter().map(|o| (o.at_m, o.radius_m)).collect(),
        remaining: (m.fetches.len() - placed.count()).max(1),
        radius_m: thing.radius_m(),
        openings: [m.plan.contact, m.plan.release],
        settings: &settings,
    };
    let heights = if top_m > low_m + DROP_GAP_M { vec![low_m, top_m] } else { vec![low_m] };
    let tries = [ROOM_M, f64::NEG_INFINITY];
    let tries = tries.iter().flat_map(|room| heights.iter().map(move |z| (*z, *room)));
    let mut found = tries.into_iter().find_map(|(z, room_m)| {
        search.find(&mut pilot.body, m, z - m.carried_m.z, room_m).map(|spot| (spot, z))
    });
    // Where nothing keeps the usual gap, what is left is taken.
    let tight =
        SpotSettings { min_object_distance: 0.0, min_object_gap_m: TIGHT_M, ..settings.clone() };
    if found.is_none() {
        let (region, others) = (search.region.clone(), search.others.clone());
        let search = SpotSearch { settings: &tight, remaining: 1, region, others, ..search };
        let hand_z_m = low_m - m.carried_m.z;
        let spot = search.find(&mut pilot.body, m, hand_z_m, f64::NEG_INFINITY);
        found = spot.map(|spot| (spot, low_m));
    }
    let Some((spot, z)) = found else {
        let mm = |m: f64| (m * 1e3).round();
        pilot.because(format!(
            "no place within reach for a thing of {} mm radius beside {} others",
            mm(search.radius_m),
            search.others.len()
        ));
        return Err(Reason::NoSpot);
    };
    let z = z - m.carried_m.z;
    let carried_m = m.carried_m;
    let mut place = HandTarget {
        at_m: Vector3::new(spot[0] - carried_m.x, spot[1] - carried_m.y, z),
        relative_yaw_rad: m.hand.relative_yaw_rad,
    };
    let query = search.query(m, place.at_m);
    let (relative_yaw_rad, _) = release_yaw(&mut pilot.body, &query).ok_or(Reason::NoSpot)?;
    // The thing rotates with the jaws: where it is in the hand rotates too.
    let before = pilot.body.yaw(&m.hand);
    place.relative_yaw_rad = relative_yaw_rad;
    let by = Rotation3::from_axis_angle(&Vector3::z_axis(), pilot.body.yaw(&place) - before);
    let carried = by * carried_m;
    place.at_m = Vector3::new(spot[0] - carried.x, spot[1] - carried.y, z);
    let (target, jaw_yaw_deg) =
        (pilot.target_name(current).to_owned(), Some(relative_yaw_rad.to_degrees()));
    pilot.note(Event::Spot(SpotChosen { target, spot_m: spot, jaw_yaw_deg }));
    Ok(place)
}

/// What a place at the goal is looked for with.
struct SpotSearch<'a> {
    region: Region,
    yaw_rad: Option<f64>,
    around: &'a Around,
    /// Middles and radii of the other things.
    others: Vec<([f64; 2], f64)>,
    /// Things to come, this one included.
    remaining: usize,
    radius_m: f64,
    openings: [f64; 2],
    settings: &'a SpotSettings,
}

impl SpotSearch<'_> {
    fn query<'a>(&'a self, m: &'a Memory, at_m: Vector3<f64>) -> ReleaseQuery<'a> {
        let (around, near, openings) = (self.around, &m.joints, self.openings);
        ReleaseQuery { at_m, over_z_m: m.carry_z_m, yaw_rad: self.yaw_rad, around, near, openings }
    }

    /// A place for the thing, with so much room for the hand, and for as many of those to come as
    /// fit.
    fn find(&self, body: &mut Body, m: &Memory, hand_z_m: f64, room_m: f64) -> Option<[f64; 2]> {
        // The thing rotates with the jaws about the vertical; near the axis that moves it little.
        let mut reachable = |xy: [f64; 2]| {
            let at_m = Vector3::new(xy[0] - m.carried_m.x, xy[1] - m.carried_m.y, hand_z_m);
            release_yaw(body, &self.query(m, at_m)).is_some_and(|(_, room)| room >= room_m)
        };
        let [x, y, _] = self.region.center_m();
        let area = match self.region {
            Region::Top { .. } => return reachable([x, y]).then_some([x, y]),
            Region::Disc { radius_m, .. } => Area::Disc { center_xy: [x, y], radius_m },
            Region::Inside { half_m, yaw_rad, .. } => {
                Area::Rectangle { center_xy: [x, y], half_m, yaw_rad }
            }
        };
        let near = area.size_m() / 2.0 + self.radius_m + NEAR_M;
        let others =
            || self.others.iter().filter(|(at, r)| (at[0] - x).hypot(at[1] - y) < near + r);
        // Things of different size keep the distance of the largest.
        let most = others().map(|(_, r)| *r).fold(self.radius_m, f64::max);
        let others: Vec<[f64; 2]> = others().map(|(at, _)| *at).collect();
        let radius_m = f64::midpoint(self.radius_m, most);
        // If not all of those to come fit, as many as may.
        (1..=self.remaining).rev().find_map(|remaining| {
            spots::choose(self.settings, &area, radius_m, &others, remaining, &mut reachable)
        })
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
