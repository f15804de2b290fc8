//! What happens in a simulated cell beside the arm: things that come, walk, fly, are pushed.

use citrange_core::{DictObjectState, DictState, Pose};

/// A thing that is put somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Which, by its name in the scene.
    pub name: String,
    /// Where.
    pub pose: Pose,
    /// How it moves then.
    pub velocity_m_s: [f64; 3],
}

/// What is known when something is to happen.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time since the episode began.
    pub now_s: f64,
    /// Time since the first motion began.
    pub moving_s: Option<f64>,
    /// Where the arm's joints are.
    pub joints: &'a [f64],
}

/// Makes things happen.
pub trait Happenings: Send {
    /// What is put where before the next tick.
    fn next(&mut self, moment: &Moment<'_>) -> Vec<Placed>;
}

/// Nothing happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Happenings for Quiet {
    fn next(&mut self, _moment: &Moment<'_>) -> Vec<Placed> {
        Vec::new()
    }
}

/// What a simulator is told of it.
#[must_use]
pub(crate) fn state_of(placed: &[Placed]) -> DictState {
    let objects = placed.iter().map(|thing| {
        let state = DictObjectState {
            pos: Some(thing.pose.pos_m),
            rot: Some(thing.pose.quat_wxyz),
            vel: Some(thing.velocity_m_s),
            ang_vel: Some([0.0; 3]),
            ..DictObjectState::default()
        };
        (thing.name.clone(), state)
    });
    DictState { objects: objects.collect(), ..DictState::default() }
}
