//! What goes wrong with what a simulated rig sends: pictures and joints.

/// A fault of a camera or of the joints, for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct RigFault {
    /// What.
    pub kind: FaultKind,
    /// Since the first motion began.
    pub from_s: f64,
    /// For so long.
    pub for_s: f64,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// The camera sends the same picture, with its old stamp.
    CameraRepeats,
    /// The same picture with new stamps.
    CameraFreezes,
    /// Nothing comes from the camera.
    CameraSilent,
    /// Nothing is seen in its pictures.
    CameraBlack,
    /// Something is in front of it.
    CameraCovered,
    /// It stands elsewhere than before, in the world's x.
    CameraMoves {
        /// By so much.
        by_m: f64,
    },
    /// Its pictures come later.
    CameraLate {
        /// By so much.
        by_s: f64,
    },
    /// No joints come.
    JointsSilent,
    /// They stay what they were, with new times.
    JointsFreeze,
    /// One of them is no number.
    JointNan,
    /// One of them is missing.
    JointMissing,
    /// One of them jumps.
    JointJumps {
        /// By so much.
        by_rad: f64,
    },
    /// They come later.
    JointsLate {
        /// By so much.
        by_s: f64,
    },
    /// The clock of the joints jumps.
    ClockJumps {
        /// By so much.
        by_s: f64,
    },
}

/// The faults of a run.
#[derive(Clone, Debug, Default)]
pub struct Faults(pub Vec<RigFault>);

impl Faults {
    /// Those that are in force, `moving_s` after the first motion began.
    pub fn now(&self, moving_s: Option<f64>) -> impl Iterator<Item = FaultKind> + '_ {
        let is_on = move |fault: &&RigFault| {
            moving_s.is_some_and(|t| t >= fault.from_s && t < fault.from_s + fault.for_s)
        };
        self.0.iter().filter(is_on).map(|fault| fault.kind)
    }
}
