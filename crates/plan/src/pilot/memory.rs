//! What the pilot of a plan remembers from tick to tick.

use std::collections::BTreeMap;

use crate::error::PlanError;

/// Name of the memory in snapshots.
const FIELD: &str = "pilot/plan";

/// Where in its motion a pilot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing was decided yet.
    #[default]
    Waiting,
    /// It follows the motion, or settles at its end.
    Moving,
    /// The arm did not follow, and is held where it was.
    Stopped,
}

/// Everything that decides what a pilot does next, beside what it sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Memory {
    pub(super) phase: Phase,
    /// Ticks that were decided.
    pub(super) ticks: u64,
    /// Ticks without a break that the arm was too far off.
    pub(super) ticks_off: u64,
    /// When it was stopped.
    pub(super) stopped_s: f64,
    /// Where it is held then.
    pub(super) held: Vec<f64>,
}

/// Whether a snapshot has the memory of a plan.
pub(super) fn is_in(fields: &BTreeMap<String, Vec<f64>>) -> bool {
    fields.contains_key(FIELD)
}

impl Memory {
    pub(super) fn save(&self, duration_s: f64, fields: &mut BTreeMap<String, Vec<f64>>) {
        let phase = match self.phase {
            Phase::Waiting => 0.0,
            Phase::Moving => 1.0,
            Phase::Stopped => 2.0,
        };
        let (ticks, ticks_off) = (self.ticks as f64, self.ticks_off as f64);
        let mut numbers = vec![duration_s, phase, ticks, ticks_off, self.stopped_s];
        numbers.extend(&self.held);
        fields.insert(FIELD.to_owned(), numbers);
    }

    /// The memory of a plan of that duration for a rig with `joints` joints.
    pub(super) fn load(
        fields: &BTreeMap<String, Vec<f64>>,
        joints: usize,
        duration_s: f64,
    ) -> Result<Self, PlanError> {
        let fail = |reason: String| PlanError::bad(format!("memory {FIELD}"), reason);
        let numbers = fields.get(FIELD).ok_or_else(|| fail("the snapshot has none".into()))?;
        let [duration, phase, ticks, ticks_off, stopped_s, held @ ..] = numbers.as_slice() else {
            return Err(fail(format!("{} numbers, at least 5 are needed", numbers.len())));
        };
        if *duration != duration_s {
            return Err(fail(format!("of a plan of {duration} s, this one takes {duration_s} s")));
        }
        let phase = match phase {
            0.0 => Phase::Waiting,
            1.0 => Phase::Moving,
            2.0 => Phase::Stopped,
            other => return Err(fail(format!("phase {other}, 0 to 2 are right"))),
        };
        let expected = if phase == Phase::Stopped { joints } else { 0 };
        let is_count = |n: &f64| *n >= 0.0 && *n < 1e15 && n.fract() == 0.0;
        if held.len() != expected
            || !held.iter().chain([stopped_s]).all(|n| n.is_finite())
            || !is_count(ticks)
            || !is_count(ticks_off)
        {
            return Err(fail(format!("the numbers do not fit a rig of {joints} joints")));
        }
        Ok(Self {
            phase,
            ticks: *ticks as u64,
            ticks_off: *ticks_off as u64,
            stopped_s: *stopped_s,
            held: held.to_vec(),
        })
    }
}
