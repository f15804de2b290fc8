//! Rig: carries commands out and answers with what it really commanded.

use serde::{Deserialize, Serialize};

pub use crate::camera::{CameraKind, CameraSpec, Intrinsics};
pub use crate::object_spec::{ConvexBody, ObjectSpec};

use crate::command::{Command, Commanded};
use crate::observation::{Observation, Want};
use crate::rates::Rates;
use crate::snapshot::Snapshot;

/// Why a pilot, rig or tape gave up.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a rig is; does not change while it runs, and is stored with every episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigSpec {
    /// Robot model (of the first arm): `so101`, `panda`, …
    pub robot: String,
    /// Joints, in the order of every joint vector: all arms one after the other.
    pub joints: Vec<JointSpec>,
    /// Clocks.
    pub rates: Rates,
    /// Cameras, in the order of [`Observation::images`].
    pub cameras: Vec<CameraSpec>,
    /// Things it sees move, in the order of [`Observation::objects`].
    #[serde(default)]
    pub objects: Vec<ObjectSpec>,
    /// The arms, where there is more than one; see [`RigSpec::arms`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub several_arms: Vec<ArmSpec>,
    /// Names of the arms in their scene, in the order of the arms; empty where the scene has no
    /// other robot, and on tapes of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robots_in_scene: Vec<String>,
    /// Whether [`Command::vel`] is heard.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_velocities: bool,
    /// Whether the rates need not divide each other, because clocks are the rig's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_clock: bool,
}

/// One arm among several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmSpec {
    /// `robot0`, `robot1`, …: what its joints' names begin with.
    pub name: String,
    /// Robot model: `so101`, `panda`, …
    pub robot: String,
    /// Its joints among all.
    pub joints: std::ops::Range<usize>,
}

impl RigSpec {
    /// A robot's joints at these rates; no cameras, no things, clocks that divide each other.
    #[must_use]
    pub fn new(robot: &str, joints: Vec<JointSpec>, rates: Rates) -> Self {
        Self {
            robot: robot.to_owned(),
            joints,
            rates,
            cameras: Vec::new(),
            objects: Vec::new(),
            several_arms: Vec::new(),
            robots_in_scene: Vec::new(),
            takes_velocities: false,
            own_clock: false,
        }
    }

    /// The arms; a rig with one arm calls it `robot0`.
    #[must_use]
    pub fn arms(&self) -> Vec<ArmSpec> {
        if !self.several_arms.is_empty() {
            return self.several_arms.clone();
        }
        let joints = 0..self.joints.len();
        vec![ArmSpec { name: "robot0".into(), robot: self.robot.clone(), joints }]
    }

    /// The same rig with these joints only: one arm's, under the names that it has alone.
    #[must_use]
    pub fn of_joints(&self, joints: &std::ops::Range<usize>) -> Self {
        let arms = self.arms();
        let Some(arm) = arms.iter().find(|arm| arm.joints == *joints).filter(|_| arms.len() > 1)
        else {
            return self.clone();
        };
        let prefix = format!("{}_", arm.name);
        let plain = |joint: &JointSpec| JointSpec {
            name: joint.name.strip_prefix(&prefix).unwrap_or(&joint.name).to_owned(),
            ..joint.clone()
        };
        Self {
            robot: arm.robot.clone(),
            joints: self.joints.get(joints.clone()).unwrap_or_default().iter().map(plain).collect(),
            several_arms: Vec::new(),
            robots_in_scene: Vec::new(),
            ..self.clone()
        }
    }

    /// Cameras that give colours: those that are recorded.
    pub fn rgb_cameras(&self) -> impl Iterator<Item = &CameraSpec> + Clone {
        self.cameras.iter().filter(|camera| camera.kind.has_rgb())
    }

    /// Whether its rates can be held: those of simulated rigs divide each other.
    ///
    /// # Errors
    /// Names the rates that do not fit, with some that would.
    pub fn check_rates(&self) -> Result<(), crate::rates::RateError> {
        if self.own_clock { self.rates.check_own_clock() } else { self.rates.check() }
    }
}

/// One joint of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointSpec {
    /// Name: `shoulder_pan`; of one arm among several `robot1_shoulder_pan`.
    pub name: String,
    /// Whether positions are metres (a slide), not radians.
    pub is_slide: bool,
    /// Lowest and highest position that may be commanded, where there are limits.
    pub range: Option<[f64; 2]>,
    /// For a gripper's joint: its positions when closed and when open.
    pub gripper: Option<[f64; 2]>,
}

/// Why a rig is to come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The episode ended by itself.
    Ended,
    /// Somebody stopped it.
    Stopped,
    /// The pilot failed.
    PilotFailed,
    /// The rig itself failed.
    RigFailed,
    /// The tape failed: nothing moves that is not kept.
    TapeFailed,
    /// The program is unwinding from a panic, or the loop was dropped in the middle of an episode.
    Abandoned,
}

/// Something that carries commands out: a simulated arm, a real one, a twin of the two.
///
/// An episode is [`Rig::begin`], then tick by tick [`Rig::observe`], [`Rig::act`],
/// [`Rig::advance`], and on every way out [`Rig::halt`].
///
/// ```
/// use citrange_core::rig::{JointSpec, RigSpec};
/// use citrange_core::{BoxError, Command, Commanded, Halt, Observation, Rates, Rig, Want};
///
/// /// One joint that is at once where it is told to be.
/// struct Instant { spec: RigSpec, at: f64, ticks: u64 }
///
/// impl Rig for Instant {
///     fn spec(&self) -> &RigSpec { &self.spec }
///     fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
///         self.ticks = 0;
///         *command = Command::at(&[self.at]);
///         Ok(())
///     }
///     fn observe(&mut self, _want: Want, seen: &mut Observation) -> Result<(), BoxError> {
///         seen.tick = self.ticks;
///         seen.joint_pos = vec![self.at];
///         seen.joint_vel = vec![0.0];
///         Ok(())
///     }
///     fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
///         self.at = command.pos[0].clamp(-1.0, 1.0);
///         commanded.limited = vec![self.at];
///         commanded.executed = vec![self.at];
///         self.ticks += 1;
///         Ok(())
///     }
///     fn halt(&mut self, _how: Halt) {}
/// }
///
/// let joint = JointSpec { name: "a".into(), is_slide: false, range: None, gripper: None };
/// let rates = Rates { physics_hz: 100, control_hz: 100, frame_hz: 10 };
/// let mut rig = Instant { spec: RigSpec::new("one", vec![joint], rates), at: 0.0, ticks: 0 };
/// let mut pilot = citrange_core::script::Script::to(&[0.5], 20);
/// let report = citrange_core::run(&mut pilot, &mut rig, citrange_core::tape::NoTape,
///     &citrange_core::RunSettings::default())?;
/// assert_eq!((rig.at, report.frames), (0.5, 2));
/// # Ok::<(), citrange_core::run::RunError>(())
/// ```
pub trait Rig {
    /// What it is.
    fn spec(&self) -> &RigSpec;

    /// An episode begins: ticks and time count from here. Fills in the targets in force.
    ///
    /// # Errors
    /// When the rig is not there, or must not move now.
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError>;

    /// Looks: joints always, cameras when wanted. Buffers are used again. Pictures may be handed
    /// out before they are drawn; they show what is to be seen now all the same. A rig that sets
    /// the pace ([`crate::Pace::Rig`]) waits here for its next cycle.
    ///
    /// # Errors
    /// When the rig cannot be read.
    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError>;

    /// Sends a command; answers the targets after the rig's limits and what the actuators got.
    ///
    /// # Errors
    /// When the targets are not finite or the rig fails.
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError>;

    /// Lets one control tick pass, where time is the rig's to make: a simulator steps its physics
    /// and adds the digests of its states. For a real robot time passes by itself.
    ///
    /// # Errors
    /// When the rig fails.
    fn advance(&mut self, _commanded: &mut Commanded) -> Result<(), BoxError> {
        Ok(())
    }

    /// A whole tick: sends a command and lets the tick pass. For whoever needs no loop.
    ///
    /// # Errors
    /// As [`Rig::act`] and [`Rig::advance`].
    fn tick(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.act(command, commanded)?;
        self.advance(commanded)
    }

    /// Come to rest within the limits, and hold; nothing is commanded until the next
    /// [`Rig::begin`]. Called on every way out of an episode, also while the program unwinds from
    /// a panic: must not panic itself, and may be called again.
    fn halt(&mut self, how: Halt);

    /// Everything that decides the rig's future, where it can be known.
    ///
    /// # Errors
    /// When it cannot be read.
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        Ok(None)
    }
}

impl<R: Rig + ?Sized> Rig for &mut R {
    fn spec(&self) -> &RigSpec {
        (**self).spec()
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        (**self).begin(command)
    }
    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        (**self).observe(want, seen)
    }
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        (**self).act(command, commanded)
    }
    fn advance(&mut self, commanded: &mut Commanded) -> Result<(), BoxError> {
        (**self).advance(commanded)
    }
    fn halt(&mut self, how: Halt) {
        (**self).halt(how);
    }
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        (**self).snapshot()
    }
}

/// Digest of a state: equal for equal bits, and in practice only then.
#[must_use]
pub fn state_digest(numbers: &[f64]) -> u64 {
    // A multiply-and-rotate chain over whole words: as cheap as reading them.
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ numbers.len() as u64;
    for number in numbers {
        hash = (hash ^ number.to_bits()).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    }
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_and_every_place_counts() {
        let numbers = [0.0, 1.5, -2.25, 1e-300];
        let digest = state_digest(&numbers);
        for index in 0..numbers.len() {
            for bit in 0..64 {
                let mut other = numbers;
                other[index] = f64::from_bits(other[index].to_bits() ^ (1 << bit));
                assert_ne!(state_digest(&other), digest, "number {index}, bit {bit}");
            }
        }
        assert_ne!(state_digest(&[1.5, 0.0, -2.25, 1e-300]), digest);
        assert_ne!(state_digest(&numbers[..3]), digest);
        // Stored in every tape: must never change.
        assert_eq!(state_digest(&[]), 0x9e37_79b9_e17d_05ac);
    }
}
