//! What limited the motion in a tick.

use citrange_robot::Chain;

/// What limited the motion in a tick, and how the arm stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControllerStatus {
    /// Something given was not a number, or of the wrong length: the arm brakes.
    pub refused: bool,
    /// The floor is near.
    pub floor: bool,
    /// A border of the workspace is near.
    pub workspace: bool,
    /// The whole motion was slowed so that no joint is too fast.
    pub speed: bool,
    /// One bit per joint that does not follow: its targets wait for it until it is driven back.
    pub blocked: u32,
    /// The arm is near a pose in which it cannot move in every direction.
    pub singular: bool,
    /// One bit per joint: held back at the end of its range.
    pub joints_at_limit: u32,
    /// Smallest singular value of the Jacobian in use, in metres per radian.
    pub sigma_min: f64,
    /// Angle between the tool and where it should point.
    pub tilt_rad: f64,
}

impl ControllerStatus {
    /// Whether anything limited the motion.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        let flags = [self.refused, self.floor, self.workspace, self.speed, self.singular];
        flags.contains(&true) || self.blocked != 0 || self.joints_at_limit != 0
    }

    /// What limited the motion, in words for people.
    #[must_use]
    pub fn words(&self, chain: &Chain) -> Vec<String> {
        let flags = [
            (self.refused, "bad input"),
            (self.floor, "floor"),
            (self.workspace, "workspace"),
            (self.speed, "speed"),
            (self.singular, "stretched"),
        ];
        let flags = flags.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
        let named = |bits: u32| {
            let names = chain.joint_names().enumerate();
            names.filter(move |(j, _)| bits >> j & 1 == 1).map(|(_, name)| name)
        };
        let blocked = named(self.blocked).map(|name| format!("blocked at {name}: move back"));
        let ends = named(self.joints_at_limit).map(|name| format!("end of {name}"));
        blocked.chain(flags).chain(ends).collect()
    }
}
