//! Everything that decides what the autopilot does next. It is part of every snapshot, as one
//! list of numbers of fixed length, so that work can go on from any frame.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use crate::grasp_plan::GraspPlan;
use crate::judge::memory::{array, count, put, take, vector};
use crate::judge::{GraspDetector, GraspSample, GraspVerdict, PlacementDetector, PlateWatch};
use crate::moves::{HandTarget, Ramp, StraightMove, Swing};
use crate::reason::{Reason, State};
use crate::route::Route;
use crate::search::{SpotSearch, TakeSearch};
use crate::sight::Sight;

/// What an autopilot was at when a snapshot was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkAtFrame {
    /// State of the machine.
    pub state: State,
    /// Where the hand was sent, in the world.
    pub hand_goal_m: [f64; 3],
}

impl WorkAtFrame {
    /// Reads the fields of a snapshot of an arm of so many joints; `None` when no autopilot was at
    /// work.
    #[must_use]
    pub fn of(fields: &BTreeMap<String, Vec<f64>>, joints: usize) -> Option<Self> {
        let mut numbers = fields.get(FIELD)?.iter().copied();
        let Start { state, hand, .. } = Start::load(&mut numbers, joints)?;
        Some(Self { state, hand_goal_m: hand.at_m.into() })
    }
}

/// What the memory begins with.
struct Start {
    state: State,
    ticks: u64,
    target_ticks: u64,
    part: u32,
    current: Option<usize>,
    joints: Vec<f64>,
    hand: HandTarget,
}

impl Start {
    fn load(numbers: &mut impl Iterator<Item = f64>, joints: usize) -> Option<Self> {
        Some(Self {
            state: State::of_number(numbers.next()?)?,
            ticks: u64::from(count(numbers, u32::MAX)?),
            target_ticks: u64::from(count(numbers, u32::MAX)?),
            part: count(numbers, u32::MAX)?,
            current: take::<1>(numbers)?.map(|[n]| n as usize),
            joints: list(numbers, joints)?,
            hand: take_place(numbers)?,
        })
    }
}

/// Name of the memory in snapshots.
pub(crate) const FIELD: &str = "pilot/autopilot";
/// And of a way around, where there is one.
pub(crate) const ROUTE_FIELD: &str = "pilot/autopilot_route";
/// Yaws of the jaws that failed on the thing in hand; older ones are forgotten.
pub(crate) const FAILED_YAWS: usize = 4;

/// What became of one thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fetch {
    pub(crate) attempts: u32,
    pub(crate) is_placed: bool,
    /// How many things were placed when it was refused; it is looked at again when others are.
    pub(crate) refused_at: Option<u32>,
    pub(crate) reason: Option<Reason>,
    /// Where it was when it was first looked for.
    pub(crate) start_m: Option<[f64; 3]>,
    /// Whether it still lies where it was put.
    pub(crate) watch: PlacementDetector,
}

/// The last word on whether the thing is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GraspBelief {
    #[default]
    Unknown,
    Yes,
    No,
}

impl From<GraspVerdict> for GraspBelief {
    fn from(held: GraspVerdict) -> Self {
        match held {
            GraspVerdict::Yes => Self::Yes,
            GraspVerdict::No(_) => Self::No,
            GraspVerdict::Unknown(_) => Self::Unknown,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    pub(crate) state: State,
    /// Ticks spent in the state.
    pub(crate) ticks: u64,
    /// Ticks spent on the thing, all attempts together.
    pub(crate) target_ticks: u64,
    /// Part of a state that has parts, or frames counted in it.
    pub(crate) part: u32,
    /// Which of the things.
    pub(crate) current: Option<usize>,
    /// Joint targets in force.
    pub(crate) joints: Vec<f64>,
    /// Where the hand was sent, without the correction.
    pub(crate) hand: HandTarget,
    /// What the hand is sent aside by, because the arm hangs a little.
    pub(crate) correction_m: Vector3<f64>,
    pub(crate) jaws: f64,
    pub(crate) jaws_from: f64,
    pub(crate) line: Option<StraightMove>,
    pub(crate) swing: Option<Swing>,
    /// How the thing is taken.
    pub(crate) plan: GraspPlan,
    /// Height at which the thing's middle is carried.
    pub(crate) carry_z_m: f64,
    /// Where the thing's middle is, averaged over frames.
    pub(crate) middle_m: Vector3<f64>,
    /// Height at which the open jaws travel to it.
    pub(crate) travel_z_m: f64,
    /// Height to which it is lifted.
    pub(crate) lift_z_m: f64,
    pub(crate) failed_yaws: [Option<f64>; FAILED_YAWS],
    /// Where the thing is in the hand.
    pub(crate) carried_m: Vector3<f64>,
    /// Where the hand lets it go.
    pub(crate) release: HandTarget,
    pub(crate) grip: GraspBelief,
    pub(crate) was_held: bool,
    pub(crate) grasp: Option<GraspDetector>,
    pub(crate) plate: Option<PlateWatch>,
    pub(crate) failing: Option<Reason>,
    pub(crate) fetches: Vec<Fetch>,
    /// What is being looked for: a way to take the thing, a place for it.
    pub(crate) taking: Option<TakeSearch>,
    pub(crate) placing: Option<SpotSearch>,
    /// Where things are, when each look has an error.
    pub(crate) sight: Sight,
    /// A way around what stands in the way; a field of its own in snapshots.
    pub(crate) route: Route,
}

impl Memory {
    pub(crate) fn new(joints: &[f64], hand: HandTarget, jaws: f64, targets: usize) -> Self {
        Self {
            state: State::Idle,
            ticks: 0,
            target_ticks: 0,
            part: 0,
            current: None,
            joints: joints.to_vec(),
            hand,
            correction_m: Vector3::zeros(),
            jaws,
            jaws_from: jaws,
            line: None,
            swing: None,
            plan: GraspPlan::default(),
            carry_z_m: hand.at_m.z,
            middle_m: hand.at_m,
            travel_z_m: hand.at_m.z,
            lift_z_m: hand.at_m.z,
            failed_yaws: [None; FAILED_YAWS],
            carried_m: Vector3::zeros(),
            release: hand,
            grip: GraspBelief::Unknown,
            was_held: false,
            grasp: None,
            plate: None,
            failing: None,
            fetches: vec![Fetch::default(); targets],
            taking: None,
            placing: None,
            sight: Sight::default(),
            route: Route::None,
        }
    }

    /// The thing in hand.
    pub(crate) fn fetch(&mut self) -> Option<&mut Fetch> {
        self.fetches.get_mut(self.current?)
    }

    /// Writes everything, for a rig that sees so many objects.
    pub(crate) fn save(&self, objects: usize, out: &mut Vec<f64>) {
        out.push(self.state.number());
        out.extend([self.ticks as f64, self.target_ticks as f64, f64::from(self.part)]);
        put(out, self.current.map(|n| [n as f64]));
        out.extend(&self.joints);
        put_place(out, &self.hand);
        out.extend(&self.correction_m);
        out.extend([self.jaws, self.jaws_from]);
        put(out, self.line.map(|line| line_numbers(&line)));
        out.push(f64::from(u8::from(self.swing.is_some())));
        let still = Swing::new(&self.joints, &self.joints, &vec![1.0; self.joints.len()]);
        let swing = self.swing.as_ref().unwrap_or(&still);
        out.extend(swing.from.iter().chain(&swing.to));
        out.extend([swing.ramp.length, swing.ramp.done, swing.ramp.speed]);
        out.extend(self.plan.numbers());
        out.extend([self.carry_z_m, self.travel_z_m, self.lift_z_m]);
        out.extend(&self.middle_m);
        for yaw in self.failed_yaws {
            put(out, yaw.map(|t| [t]));
        }
        out.extend(&self.carried_m);
        put_place(out, &self.release);
        let grip = match self.grip {
            GraspBelief::Unknown => 0.0,
            GraspBelief::Yes => 1.0,
            GraspBelief::No => 2.0,
        };
        out.extend([grip, f64::from(u8::from(self.was_held))]);
        out.push(f64::from(u8::from(self.grasp.is_some())));
        self.grasp.as_ref().unwrap_or(&no_grasp()).save(out);
        out.push(f64::from(u8::from(self.plate.is_some())));
        self.plate.as_ref().unwrap_or(&PlateWatch::of_virtual_plate()).save(out);
        put(out, self.failing.map(|reason| [reason.number()]));
        for fetch in &self.fetches {
            out.extend([f64::from(fetch.attempts), f64::from(u8::from(fetch.is_placed))]);
            put(out, fetch.refused_at.map(|n| [f64::from(n)]));
            put(out, fetch.reason.map(|reason| [reason.number()]));
            put(out, fetch.start_m);
            fetch.watch.save(out);
        }
        TakeSearch::save(self.taking.as_ref(), objects, out);
        SpotSearch::save(self.placing.as_ref(), objects, out);
        self.sight.save(objects, out);
    }

    /// Takes back what [`Self::save`] wrote, for an arm of so many joints and so many things, of
    /// which some are to be fetched.
    pub(crate) fn load(
        numbers: &mut impl Iterator<Item = f64>,
        joints: usize,
        targets: usize,
        objects: usize,
    ) -> Option<Self> {
        let start = Start::load(numbers, joints)?;
        let correction_m = vector(numbers)?;
        let [jaws, jaws_from] = array(numbers)?;
        let line = take::<12>(numbers)?.map(line_of);
        let has_swing = count(numbers, 1)? == 1;
        let (from, to) = (list(numbers, joints)?, list(numbers, joints)?);
        let [length, done, speed] = array(numbers)?;
        let swing = Swing { from, to, ramp: Ramp { length, done, speed } };
        let plan = GraspPlan::of_numbers(array(numbers)?);
        let [carry_z_m, travel_z_m, lift_z_m] = array(numbers)?;
        let middle_m = vector(numbers)?;
        let mut failed_yaws = [None; FAILED_YAWS];
        for yaw in &mut failed_yaws {
            *yaw = take::<1>(numbers)?.map(|[t]| t);
        }
        let carried_m = vector(numbers)?;
        let release = take_place(numbers)?;
        let grip = match count(numbers, 2)? {
            0 => GraspBelief::Unknown,
            1 => GraspBelief::Yes,
            _ => GraspBelief::No,
        };
        let was_held = count(numbers, 1)? == 1;
        let has_grasp = count(numbers, 1)? == 1;
        let grasp = GraspDetector::load(numbers)?;
        let has_plate = count(numbers, 1)? == 1;
        let plate = PlateWatch::load(numbers)?;
        let failing = reason(numbers)?;
        let mut fetches = Vec::new();
        for _ in 0..targets {
            fetches.push(Fetch {
                attempts: count(numbers, u32::MAX)?,
                is_placed: count(numbers, 1)? == 1,
                refused_at: take::<1>(numbers)?.map(|[n]| n as u32),
                reason: reason(numbers)?,
                start_m: take(numbers)?,
                watch: PlacementDetector::load(numbers)?,
            });
        }
        let taking = TakeSearch::load(numbers, objects)?;
        let placing = SpotSearch::load(numbers, objects)?;
        let sight = Sight::load(numbers, objects)?;
        Some(Self {
            sight,
            taking,
            placing,
            state: start.state,
            ticks: start.ticks,
            target_ticks: start.target_ticks,
            part: start.part,
            current: start.current.filter(|n| *n < targets),
            joints: start.joints,
            hand: start.hand,
            correction_m,
            jaws,
            jaws_from,
            line,
            swing: has_swing.then_some(swing),
            plan,
            carry_z_m,
            middle_m,
            travel_z_m,
            lift_z_m,
            failed_yaws,
            carried_m,
            release,
            grip,
            was_held,
            grasp: has_grasp.then_some(grasp),
            plate: has_plate.then_some(plate),
            failing,
            fetches,
            route: Route::None,
        })
    }
}

fn no_grasp() -> GraspDetector {
    GraspDetector::begin(&GraspSample { hand_m: Vector3::zeros(), object: None, jaw_gap: 0.0 })
}

#[expect(clippy::option_option, reason = "absent and unreadable are two things")]
fn reason(numbers: &mut impl Iterator<Item = f64>) -> Option<Option<Reason>> {
    match take::<1>(numbers)? {
        None => Some(None),
        Some([number]) => Reason::of_number(number).map(Some),
    }
}

fn list(numbers: &mut impl Iterator<Item = f64>, length: usize) -> Option<Vec<f64>> {
    let list: Vec<f64> = numbers.take(length).collect();
    (list.len() == length).then_some(list)
}

fn put_place(out: &mut Vec<f64>, place: &HandTarget) {
    out.extend(&place.at_m);
    out.push(place.relative_yaw_rad);
}

fn take_place(numbers: &mut impl Iterator<Item = f64>) -> Option<HandTarget> {
    Some(HandTarget { at_m: vector(numbers)?, relative_yaw_rad: numbers.next()? })
}

fn line_numbers(line: &StraightMove) -> [f64; 12] {
    let (a, b) = (&line.from, &line.to);
    [
        a.at_m.x,
        a.at_m.y,
        a.at_m.z,
        a.relative_yaw_rad,
        b.at_m.x,
        b.at_m.y,
        b.at_m.z,
        b.relative_yaw_rad,
        line.ramp.length,
        line.ramp.done,
        line.ramp.speed,
        line.speed_m_s,
    ]
}

fn line_of(n: [f64; 12]) -> StraightMove {
    let place = |at: usize| HandTarget {
        at_m: Vector3::new(n[at], n[at + 1], n[at + 2]),
        relative_yaw_rad: n[at + 3],
    };
    StraightMove {
        from: place(0),
        to: place(4),
        ramp: Ramp { length: n[8], done: n[9], speed: n[10] },
        speed_m_s: n[11],
    }
}
