//! The port to whatever moves the arm along trajectories: a controller of a real robot, or the
//! simulated one.

use citrange_plan::Trajectory;

/// What happened at the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum DriverEvent {
    /// It took a motion.
    Accepted {
        /// Which.
        id: u64,
    },
    /// It did not take a motion.
    Refused {
        /// Which.
        id: u64,
        /// As of `FollowJointTrajectory`: -1 invalid goal, -2 wrong joints, …
        code: i32,
        /// Its words.
        text: String,
    },
    /// It gave a motion up.
    Aborted {
        /// Which.
        id: u64,
        /// -4 path tolerance, -5 goal tolerance, …
        code: i32,
        /// Its words.
        text: String,
    },
    /// The robot itself does not go on: emergency stop, protective stop, program stopped.
    Robot {
        /// What it says.
        what: String,
        /// What a person has to do.
        cure: String,
    },
    /// The robot can move again.
    RobotBack,
}

/// A driver of trajectories.
pub trait Driver: Send {
    /// Sends a motion that begins now, from rest.
    fn send(&mut self, id: u64, motion: &Trajectory);

    /// Puts another motion in the place of the one that is carried out. Both are the same until
    /// later than what the driver is at now; its clock goes on.
    fn replace(&mut self, id: u64, motion: &Trajectory);

    /// Ends the motion, standing still as soon as the driver can.
    fn cancel(&mut self);

    /// What happened since the last look.
    fn events(&mut self) -> Vec<DriverEvent>;

    /// How far it is in the motion's own time; `None` when it carries none out.
    fn time_s(&self) -> Option<f64>;

    /// The motion that it carries out, by its number, whoever sent it.
    fn running(&self) -> Option<u64>;

    /// Fraction of the speed that it was asked for at which it carries motions out.
    fn scale(&self) -> f64;

    /// Whether the robot's program runs and its power is on.
    fn is_ready(&self) -> bool;
}
