//! What a rig sees at a control tick: joints, things, pictures, each with the time it was measured.

pub use crate::camera::CameraImage;
use crate::picture::Picture;
use crate::pose::Pose;

/// What the loop wants to see at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Joints and things.
    Joints,
    /// The cameras too: a frame begins.
    Images,
}

/// Whether a rig carries commands out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    #[default]
    Ready,
    /// It stands still by itself and will go on when its reason is gone: commands are heard, but
    /// not carried out.
    Holding {
        /// Why.
        why: String,
    },
    /// It was stopped, and somebody must release it: the episode ends.
    Stopped {
        /// Why.
        why: String,
    },
}

/// What a rig sees at a control tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Control ticks since the episode began.
    pub tick: u64,
    /// Physics steps since the episode began (a real robot counts its own cycles).
    pub step: u64,
    /// Time of this look by the rig's own clock, since the episode began.
    pub at_ns: u64,
    /// Whether commands are carried out.
    pub mode: Mode,
    /// Joint positions, of all arms one after the other.
    pub joint_pos: Vec<f64>,
    /// Joint velocities.
    pub joint_vel: Vec<f64>,
    /// Joint torques (forces of slides) as the rig measures or computes them; empty where it
    /// does not.
    pub joint_effort: Vec<f64>,
    /// When the joints were measured, by the rig's clock: their age is `at_ns` less this.
    pub joints_at_ns: u64,
    /// Position of the (first arm's) wrist in the world; `None` where a rig does not know it.
    pub wrist_pos_m: Option<[f64; 3]>,
    /// Where things are; `None` for one that is not seen.
    pub objects: Vec<Option<ObjectSeen>>,
    /// What each camera shows, in the order of the spec; brought up to date when
    /// [`Want::Images`], and perhaps drawn later.
    pub images: Vec<CameraImage>,
}

impl Observation {
    /// The colours of all cameras that have them, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> + Clone {
        self.images.iter().filter_map(|image| image.rgb.as_ref())
    }

    /// How old the joints are.
    #[must_use]
    pub fn joints_age_ns(&self) -> u64 {
        self.at_ns.saturating_sub(self.joints_at_ns)
    }
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
