//! How a thing is taken: which yaw of the jaws, how deep between them, how far they open; from the
//! shapes of the thing and of the hand. All candidates are scored, the best is taken.

use std::f64::consts::PI;

use nalgebra::Vector3;

use crate::body::Body;
use crate::choice::Around;
use crate::grip::grip;
use crate::hull::Body3;
use crate::moves::HandTarget;
use crate::refusal::Refusal;
use crate::settings::{AutopilotSettings, GraspYaw};
use crate::stand::{Stand, sweep};
use crate::thing::Thing;

/// Room beyond this does not make a grasp better.
const ROOMY_M: f64 = 0.015;
/// What a radian of yaw costs in metres of room: the arm's own way is the smoothest.
const YAW_COST_M: f64 = 0.004;
/// What it costs to do again what failed before.
const AGAIN_COST_M: f64 = 0.02;
/// What jaws cost that press as slantingly as they may.
const SLANT_COST_M: f64 = 0.012;
/// What a metre of depth away from the preferred one costs, and one away from the thing's middle.
const DEPTH_COST: f64 = 0.25;
/// Yaws nearer than this are the same.
const SAME_YAW_RAD: f64 = 0.6;
/// Yaws tried for round things, to both sides.
const YAWS: i32 = 8;
/// Depths that are tried lie so far apart, and there are at most so many.
const DEPTH_STEP_M: f64 = 0.005;
const MOST_DEPTHS: usize = 16;
/// Between the hand and a thing that is not (yet) held.
const HAND_GAP_M: f64 = 0.0005;
/// What an arm that hangs a little may miss of its height.
const FLOOR_MARGIN_M: f64 = 0.001;
/// A jaw must at least overlap a thing by so much of its depth.
const LEAST_DEPTH_M: f64 = 0.003;

/// How a thing is taken. Openings are fractions of the gripper's range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GraspPlan {
    /// Yaw of the jaws against the arm's direction.
    pub(crate) relative_yaw_rad: f64,
    /// Where in the hand the thing's middle is when it is held: in the frame of the tool.
    pub(crate) point_m: Vector3<f64>,
    /// How far aside the hand stands before the jaws close, away from the second jaw.
    pub(crate) aside_m: f64,
    /// How far the jaws open to take it.
    pub(crate) open: f64,
    /// Where they meet it.
    pub(crate) contact: f64,
    /// How far they open to let it go.
    pub(crate) release: f64,
    /// Half the thing's width between the jaws.
    pub(crate) half_width_m: f64,
    /// How far the jaws' tips reach below the thing's middle.
    pub(crate) tip_below_m: f64,
}

/// What a plan is as numbers.
pub(crate) const PLAN_NUMBERS: usize = 10;

impl GraspPlan {
    pub(crate) fn numbers(&self) -> [f64; PLAN_NUMBERS] {
        let [x, y, z] = self.point_m.into();
        let (open, contact, release) = (self.open, self.contact, self.release);
        let yaw = self.relative_yaw_rad;
        let (half, tip) = (self.half_width_m, self.tip_below_m);
        [yaw, x, y, z, self.aside_m, open, contact, release, half, tip]
    }

    pub(crate) fn of_numbers(numbers: [f64; PLAN_NUMBERS]) -> Self {
        let [relative_yaw_rad, x, y, z, aside_m, open, contact, release, half_width_m, tip_below_m] =
            numbers;
        let point_m = Vector3::new(x, y, z);
        Self {
            relative_yaw_rad,
            point_m,
            aside_m,
            open,
            contact,
            release,
            half_width_m,
            tip_below_m,
        }
    }
}

/// A thing and what is to be minded when it is taken.
pub(crate) struct GraspQuery<'a> {
    pub(crate) thing: &'a Thing,
    pub(crate) around: &'a Around,
    /// Yaws that failed before.
    pub(crate) failed: &'a [f64],
    /// How high it must be lifted, as a height of its middle.
    pub(crate) lift_z_m: f64,
}

/// A candidate that is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    relative_yaw_rad: f64,
    tip_below_m: f64,
    /// No score can be better than this.
    most: f64,
}

/// A search for the best way to take a thing, as far as it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GraspSearch {
    /// How many candidates were looked at.
    pub(crate) next: usize,
    /// The best of them and its score.
    pub(crate) best: Option<(f64, GraspPlan)>,
    /// The refused one that came nearest: how near, and which it is.
    pub(crate) nearest: Option<([f64; 2], usize)>,
}

impl GraspSearch {
    /// Looks at some more candidates, the most promising first. When no other can be better, the
    /// best way to take the thing, or what stands against the way that came nearest.
    pub(crate) fn advance(
        &mut self,
        body: &mut Body,
        settings: &AutopilotSettings,
        take: &GraspQuery<'_>,
        count: usize,
    ) -> Option<Result<GraspPlan, Refusal>> {
        let candidates = candidates(body, settings, take);
        for _ in 0..count {
            let score = self.best.map_or(f64::NEG_INFINITY, |(score, _)| score);
            let Some(next) = candidates.get(self.next).filter(|next| next.most > score) else {
                return Some(self.end(body, settings, take, &candidates));
            };
            match candidate(body, settings, take, next) {
                Ok((other, plan)) if other > score => self.best = Some((other, plan)),
                Ok(_) => {}
                Err(refusal) => {
                    let nearness = refusal.nearness();
                    if self.nearest.is_none_or(|(other, _)| nearness > other) {
                        self.nearest = Some((nearness, self.next));
                    }
                }
            }
            self.next += 1;
        }
        None
    }

    fn end(
        &self,
        body: &mut Body,
        settings: &AutopilotSettings,
        take: &GraspQuery<'_>,
        candidates: &[Candidate],
    ) -> Result<GraspPlan, Refusal> {
        if let Some((_, plan)) = self.best {
            return Ok(plan);
        }
        // Only which one it was is kept: once more for its figures.
        let nearest = self.nearest.and_then(|(_, index)| candidates.get(index));
        let again = nearest.map(|nearest| candidate(body, settings, take, nearest));
        again.map_or(Err(Refusal::NotBeside), |again| again.map(|(_, plan)| plan))
    }
}

/// All candidates, those first that can be best.
fn candidates(body: &Body, settings: &AutopilotSettings, take: &GraspQuery<'_>) -> Vec<Candidate> {
    let depths = depths(body, settings, take.thing);
    let mut candidates = Vec::new();
    for relative_yaw_rad in yaws(body, settings, take.thing) {
        let yaw_cost = YAW_COST_M * relative_yaw_rad.abs() + again_cost(take, relative_yaw_rad);
        candidates.extend(depths.iter().map(|depth| Candidate {
            relative_yaw_rad,
            tip_below_m: *depth,
            most: ROOMY_M - yaw_cost - DEPTH_COST * (depth - body.tip_m).abs(),
        }));
    }
    candidates.sort_by(|a, b| b.most.total_cmp(&a.most));
    candidates
}

fn again_cost(take: &GraspQuery<'_>, relative_yaw_rad: f64) -> f64 {
    let is_near = |old: &f64| (old - relative_yaw_rad).abs() < SAME_YAW_RAD;
    if take.failed.iter().any(is_near) { AGAIN_COST_M } else { 0.0 }
}

/// Yaws of the jaws against the arm's direction, the arm's own way first.
fn yaws(body: &Body, settings: &AutopilotSettings, thing: &Thing) -> Vec<f64> {
    let narrow = thing.narrow_yaws();
    match (settings.grasp_yaw, narrow) {
        (GraspYaw::Free, None) | (GraspYaw::Faces, None) => all_yaws(),
        (_, Some(narrow)) => {
            let both = narrow.into_iter().flat_map(|yaw| [yaw, yaw + PI]);
            let mut yaws: Vec<f64> =
                both.map(|yaw| body.relative_yaw(&thing.middle_m, yaw)).collect();
            yaws.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            yaws
        }
    }
}

/// All yaws that are tried for round things.
pub(crate) fn all_yaws() -> Vec<f64> {
    let step = PI / f64::from(YAWS);
    let both = (1..YAWS).flat_map(|k| [f64::from(k) * step, -f64::from(k) * step]);
    std::iter::once(0.0).chain(both).collect()
}

/// How far below the thing's middle the tips may be: the depth that the description prefers, then
/// nearer to it and farther from it, no lower than the floor lets them, and as far as the jaws are
/// beside it at all.
fn depths(body: &Body, settings: &AutopilotSettings, thing: &Thing) -> Vec<f64> {
    let floor_m = body.floor_z_m + settings.floor_clearance_m + FLOOR_MARGIN_M;
    let lowest = thing.middle_m.z - floor_m;
    let half = (thing.top_m - thing.lowest_m) / 2.0;
    let wanted = body.tip_m.min(lowest);
    let highest = -half + LEAST_DEPTH_M;
    let mut depths = vec![wanted];
    for k in 1..MOST_DEPTHS {
        let by = k as f64 * DEPTH_STEP_M;
        depths.extend(
            [wanted + by, wanted - by].into_iter().filter(|d| *d <= lowest && *d > highest),
        );
        if depths.len() >= MOST_DEPTHS {
            break;
        }
    }
    depths
}

/// Where the hand goes to close its jaws around a thing: a little off on the side of the jaw that
/// does not move.
pub(crate) fn beside(body: &Body, plan: &GraspPlan, middle_m: &Vector3<f64>) -> HandTarget {
    let relative_yaw_rad = plan.relative_yaw_rad;
    // The yaw is against the arm's direction, which the small step aside hardly changes.
    let (sin, cos) = body.yaw(&HandTarget { at_m: *middle_m, relative_yaw_rad }).sin_cos();
    HandTarget { at_m: middle_m - Vector3::new(cos, sin, 0.0) * plan.aside_m, relative_yaw_rad }
}

/// A candidate and its score.
fn candidate(
    body: &mut Body,
    settings: &AutopilotSettings,
    take: &GraspQuery<'_>,
    candidate: &Candidate,
) -> Result<(f64, GraspPlan), Refusal> {
    let Candidate { relative_yaw_rad, tip_below_m, most } = *candidate;
    let thing = take.thing;
    let half =
        thing.width_m(body.yaw(&HandTarget { at_m: thing.middle_m, relative_yaw_rad })) / 2.0;
    let deep = body.grasp_m + body.tool_axis * (body.tip_m - tip_below_m);
    let mut out = if body.from_face { half } else { 0.0 };
    let mut plan =
        GraspPlan { relative_yaw_rad, tip_below_m, half_width_m: half, ..GraspPlan::default() };
    let mut joints = body.home.clone();
    // Twice: the first place says how far the faces really are from the thing.
    for _ in 0..2 {
        plan.point_m = deep + body.jaw_axis * out;
        body.hold(&plan.point_m);
        let place = HandTarget { at_m: thing.middle_m, relative_yaw_rad };
        joints = reach(body, settings, &place, &joints)?;
        let mut stand = Stand::new(body, &joints, thing);
        let [a, b] = stand.gaps(1.0, false);
        // A jaw that swings may be wide open above the thing; a face must be beside it.
        if !a.is_finite() || (!stand.body.from_face && !b.is_finite()) {
            return Err(Refusal::NotBeside);
        }
        out -= if stand.body.from_face { a } else { (a - b) / 2.0 };
    }
    let from_face = body.from_face;
    let mut stand = Stand::new(body, &joints, thing);
    stand.sweep(thing);
    let clearance_m =
        if from_face { settings.grasp_clearance_m } else { settings.open_clearance_m };
    let [a_swept, b_swept] = stand.gaps(1.0, true);
    let [a, _] = stand.gaps(1.0, false);
    // The tip of a sloping jaw may stand nearer to the thing than the face that will touch it.
    let slope_m = (a - a_swept).max(0.0);
    plan.aside_m =
        if from_face { clearance_m.max(slope_m + settings.least_clearance_m) } else { 0.0 };
    let width_m =
        thing.width_m(stand.body.yaw(&HandTarget { at_m: thing.middle_m, relative_yaw_rad }));
    let least_m = 2.0 * settings.least_clearance_m;
    if a_swept + b_swept < least_m {
        let opening_m = width_m + a_swept + b_swept;
        return Err(Refusal::TooWide { width_m, opening_m, clearance_m: least_m });
    }
    let [a_closed, b_closed] = stand.gaps(0.0, false);
    if a_closed + b_closed > 0.0 {
        let least_m = width_m + a_closed + b_closed;
        return Err(Refusal::TooThin { width_m, least_m });
    }
    plan.contact = stand.opening(0.0, false, 0.0).unwrap_or(1.0);
    let room_m = clearance_m + settings.open_clearance_m;
    plan.open = stand.opening(room_m + slope_m, true, plan.contact).unwrap_or(1.0);
    plan.release = stand
        .opening(settings.release_clearance_m, true, plan.contact)
        .unwrap_or(1.0)
        .max(plan.contact + settings.least_release)
        .min(1.0);
    let grip = grip(&mut stand, thing, &plan);
    floor(&mut stand, settings, &plan)?;
    let jaw = stand.plane.jaw;
    let by_m = if from_face { plan.aside_m - a } else { 0.0 };
    let aside = thing.bodies.iter().map(|body| {
        let identity = nalgebra::Matrix3::identity();
        body.moved(&identity, &(jaw * by_m)).swept(&sweep())
    });
    let aside: Vec<Body3> = aside.collect();
    stand.jaws(plan.open);
    let hand: Vec<Body3> =
        stand.body.hand_shape.bodies(stand.body.ik.kinematics()).into_iter().map(|b| b.1).collect();
    let touch = crate::hull::least_gap_m(&hand, &aside);
    if touch < HAND_GAP_M {
        return Err(Refusal::InTheHand { by_m: HAND_GAP_M - touch });
    }
    let grip = grip.ok_or(Refusal::NotBeside)?;
    let inside_m = tip_below_m - grip.top_c;
    if inside_m < settings.least_overlap_m {
        return Err(Refusal::Shallow { by_m: inside_m, least_m: settings.least_overlap_m });
    }
    let (slant_deg, wedge_deg) = (grip.slant_rad.to_degrees(), grip.wedge_rad.to_degrees());
    let (most_deg, most_wedge_deg) = (settings.most_slant_deg, settings.most_wedge_deg);
    if slant_deg > most_deg || wedge_deg > most_wedge_deg {
        return Err(Refusal::Slanting { slant_deg, most_deg, wedge_deg, most_wedge_deg });
    }
    let joints = stand.joints.clone();
    lifted(body, settings, take, &plan, &joints)?;
    let (room, by) = take.around.room(&hand);
    if room < 0.0 {
        return Err(Refusal::Blocked { by, missing_m: -room });
    }
    let score = most
        - (ROOMY_M - room.min(ROOMY_M))
        - SLANT_COST_M * (slant_deg / most_deg).max(wedge_deg / most_wedge_deg)
        - DEPTH_COST * grip.contact_c.abs();
    Ok((score, plan))
}

fn reach(
    body: &mut Body,
    settings: &AutopilotSettings,
    place: &HandTarget,
    near: &[f64],
) -> Result<Vec<f64>, Refusal> {
    body.reach_or_fit(place, near).map_err(|fit| Refusal::Unreachable {
        error_m: fit.error_m,
        tilt_rad: fit.tilt_rad,
        most_tilt_deg: settings.max_tilt_deg,
        height_m: place.at_m.z - body.floor_z_m,
    })
}

/// The hand must stay above the floor while the jaws close.
fn floor(
    stand: &mut Stand<'_>,
    settings: &AutopilotSettings,
    plan: &GraspPlan,
) -> Result<(), Refusal> {
    let least = stand.body.floor_z_m + settings.floor_clearance_m;
    let mut lowest = f64::INFINITY;
    let least = least + FLOOR_MARGIN_M;
    for opening in [plan.open, f64::midpoint(plan.open, plan.contact), plan.contact] {
        stand.body.set_jaws(opening, &mut stand.joints);
        stand.body.hand(&stand.joints);
        lowest = lowest.min(stand.body.ik.kinematics().lowest_m());
    }
    if lowest < least - 1e-4 { Err(Refusal::Floor { by_m: least - lowest }) } else { Ok(()) }
}

/// Over the thing and lifted the arm must reach too.
fn lifted(
    body: &mut Body,
    settings: &AutopilotSettings,
    take: &GraspQuery<'_>,
    plan: &GraspPlan,
    near: &[f64],
) -> Result<(), Refusal> {
    let over_m = over_z_m(body, settings, take.thing, plan);
    for z in [over_m, take.lift_z_m] {
        let middle = Vector3::new(take.thing.middle_m.x, take.thing.middle_m.y, z);
        let high = beside(body, plan, &middle);
        reach(body, settings, &high, near)?;
    }
    Ok(())
}

/// Height of a thing's middle in the hand at which the open jaws are over the thing.
pub(crate) fn over_z_m(
    body: &Body,
    settings: &AutopilotSettings,
    thing: &Thing,
    plan: &GraspPlan,
) -> f64 {
    let clear = thing.top_m + plan.tip_below_m + settings.over_clearance_m;
    body.height(settings.approach_height).max(clear)
}
