//! What can be chosen of environments.

use std::collections::BTreeMap;

use citrange_sim::{CameraQuery, Threads};

/// How long an action holds: what one step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// A frame of the scene, such as 1/30 s.
    #[default]
    Frame,
    /// A control tick of the scene, such as 1/180 s.
    Tick,
}

/// What an action is, a number per joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Actions {
    /// The joint's target: rad, or metres of a slide.
    #[default]
    Targets,
    /// A change of the target, from -1 to 1: parts of what the joint may do in a step.
    Deltas,
}

/// What a step is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reward {
    /// 1 while the job is done, else 0.
    #[default]
    Sparse,
    /// The same, and the change of a potential that grows on the way there (`reward.rs`).
    Dense,
}

/// What happens when an episode is over. The names are those of Gymnasium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autoreset {
    /// The next one begins in the same step; what was seen last is kept beside.
    #[default]
    SameStep,
    /// The next one begins with the next step, whose action does not count.
    NextStep,
    /// Nothing: whoever steps begins it.
    Disabled,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct EnvSettings {
    /// Robots that act, by their names in the scene; all when `None`.
    pub robots: Option<Vec<String>>,
    /// What a step is.
    pub hold: Hold,
    /// What an action is.
    pub actions: Actions,
    /// What a step is worth.
    pub reward: Reward,
    /// What happens at the end of an episode.
    pub autoreset: Autoreset,
    /// Steps after which an episode is cut off; `None`: never.
    pub max_steps: Option<u32>,
    /// Whether an episode is over when its job is done.
    pub ends_when_done: bool,
    /// Cameras whose pictures are drawn at every step, and what of each.
    pub cameras: BTreeMap<String, CameraQuery>,
    /// Width and height of all pictures; as the scene says when `None`.
    pub picture_px: Option<[u32; 2]>,
    /// Threads.
    pub threads: Threads,
}

impl Default for EnvSettings {
    fn default() -> Self {
        Self {
            robots: None,
            hold: Hold::default(),
            actions: Actions::default(),
            reward: Reward::default(),
            autoreset: Autoreset::default(),
            max_steps: None,
            ends_when_done: true,
            cameras: BTreeMap::new(),
            picture_px: None,
            threads: Threads::Auto,
        }
    }
}
