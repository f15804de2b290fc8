//! Rig: carries an action out and answers with what it really commanded.

use serde::{Deserialize, Serialize};

use crate::picture::Picture;
use crate::pose::Pose;
use crate::rates::Rates;
use crate::snapshot::Snapshot;

/// Why a pilot, rig or tape gave up.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a rig is; does not change while it runs, and is stored with every episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigSpec {
    /// Robot model: `so101`, `panda`, …
    pub robot: String,
    /// Joint names, in the order of every joint vector.
    pub joints: Vec<JointSpec>,
    /// Clocks.
    pub rates: Rates,
    /// Cameras, in the order of the pictures.
    pub cameras: Vec<CameraSpec>,
    /// Things it sees move, in the order of [`Observation::objects`].
    #[serde(default)]
    pub objects: Vec<ObjectSpec>,
}

/// A thing that moves and that a rig can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectSpec {
    /// Name.
    pub name: String,
    /// Lowest and highest corner of the box around what of it can be touched, in its own frame.
    pub box_m: [[f64; 3]; 2],
}

/// One joint of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointSpec {
    /// Name without the robot's prefix: `shoulder_pan`.
    pub name: String,
    /// Whether positions are metres (a slide), not radians.
    pub is_slide: bool,
    /// Lowest and highest position that may be commanded, where there are limits.
    pub range: Option<[f64; 2]>,
    /// For a gripper's joint: its positions when closed and when open.
    pub gripper: Option<[f64; 2]>,
}

/// One camera of a rig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameraSpec {
    /// Name.
    pub name: String,
    /// Pixels across.
    pub width_px: u32,
    /// Pixels down.
    pub height_px: u32,
}

/// What a rig sees at a control tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Control ticks since the episode began.
    pub tick: u64,
    /// Physics steps since the episode began (a real robot counts its own cycles).
    pub step: u64,
    /// Joint positions.
    pub joint_pos: Vec<f64>,
    /// Joint velocities.
    pub joint_vel: Vec<f64>,
    /// Position of the wrist in the world; `None` where a rig does not know it.
    pub wrist_pos_m: Option<[f64; 3]>,
    /// Where things are; `None` for one that is not seen.
    pub objects: Vec<Option<ObjectSeen>>,
    /// One picture per camera; brought up to date at frames only, and perhaps drawn later.
    pub pictures: Vec<Picture>,
}

/// What a rig sees of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectSeen {
    /// Where it is.
    pub pose: Pose,
    /// Velocity of its origin in the world.
    pub lin_vel_m_s: [f64; 3],
    /// How hard each of the two jaws presses on it, brought up to date at frames only; `None`
    /// where a rig cannot feel.
    pub touch_n: Option<[f64; 2]>,
}

/// What became of an action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commanded {
    /// Joint targets after the rig's limits.
    pub limited: Vec<f64>,
    /// Numbers that reached the actuators, one per actuator.
    pub executed: Vec<f64>,
    /// Digest of the complete state after each physics step of the tick (empty where a rig has
    /// no complete state, as real robots).
    pub digests: Vec<u64>,
}

/// Something that carries actions out: a simulated arm, a real one, a twin of the two.
pub trait Rig {
    /// What it is.
    fn spec(&self) -> &RigSpec;

    /// Looks: joints always, pictures when asked for. Buffers are used again. Pictures may be
    /// handed out before they are drawn; they show what is to be seen now all the same.
    ///
    /// # Errors
    /// When the rig cannot be read.
    fn observe(&mut self, pictures: bool, seen: &mut Observation) -> Result<(), BoxError>;

    /// Carries one control tick out towards joint targets.
    ///
    /// # Errors
    /// When the targets are not finite or the rig fails.
    fn act(&mut self, targets: &[f64], commanded: &mut Commanded) -> Result<(), BoxError>;

    /// Everything that decides the rig's future, where it can be known.
    ///
    /// # Errors
    /// When it cannot be read.
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError>;
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
