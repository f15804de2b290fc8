//! What a UR says of itself: its program, modes, how fast it lets trajectories run.

use std::sync::{Arc, Mutex, PoisonError};

use citrange_ros::message::{Bool, Float64, Int8};
use citrange_ros::{Node, RosError, SMALL_MESSAGE, Subscription};

use super::RobotTopics;

/// How a robot is; nothing where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RobotState {
    /// Whether the program on its pendant runs.
    pub program_running: Option<bool>,
    /// Its mode.
    pub robot_mode: Option<i8>,
    /// Its safety mode.
    pub safety_mode: Option<i8>,
    /// Fraction of a trajectory's speed.
    pub speed_scale: Option<f64>,
}

/// The mode in which a UR moves.
const RUNNING: i8 = 7;
/// Safety modes in which it moves: normal, reduced.
const SAFE: [i8; 2] = [1, 2];

impl RobotState {
    /// Why it does not move, and what helps.
    #[must_use]
    pub fn why_not(&self) -> Option<String> {
        if let Some(mode) = self.safety_mode.filter(|mode| !SAFE.contains(mode)) {
            let (what, cure) = match mode {
                3 => (
                    "a protective stop",
                    "look why, wait 5 s, unlock it on the pendant, start the program",
                ),
                4 => ("recovery mode", "move it back into its limits by the pendant"),
                5 | 12 => ("a safeguard stop", "close the safeguard, start the program"),
                6 | 7 | 13 => {
                    ("an emergency stop", "release it, switch the robot on, start the program")
                }
                8 | 9 => ("a safety fault", "restart the robot"),
                _ => ("a safety mode that stops it", "look at the pendant"),
            };
            return Some(format!("the robot is in {what} ({mode}): {cure}"));
        }
        if let Some(mode) = self.robot_mode.filter(|mode| *mode != RUNNING) {
            let what = match mode {
                -1 | 0 => "not connected to its controller",
                1 => "waiting for its safety settings to be confirmed",
                2 => "booting",
                3 => "switched off",
                4 | 5 => "switched on with its brakes closed",
                6 => "in free drive",
                8 => "updating its firmware",
                _ => "in an unknown mode",
            };
            return Some(format!("the robot is {what} ({mode}): make it ready on the pendant"));
        }
        (self.program_running == Some(false)).then(|| {
            "the program on the pendant does not run: press play (External Control)".to_owned()
        })
    }

    /// Fraction of a trajectory's speed; whole where nobody says.
    #[must_use]
    pub fn scale(&self) -> f64 {
        // Drivers publish 0..1 or percent.
        let scale = self.speed_scale.filter(|scale| scale.is_finite()).unwrap_or(1.0);
        (if scale > 1.5 { scale / 100.0 } else { scale }).clamp(0.0, 1.0)
    }
}

/// The topics, and what they said last.
#[derive(Debug)]
pub(super) struct Heard {
    state: Arc<Mutex<RobotState>>,
    _topics: Vec<Subscription>,
}

impl Heard {
    pub(super) fn new(node: &Node, topics: &RobotTopics) -> Result<Self, RosError> {
        let state: Arc<Mutex<RobotState>> = Arc::default();
        let change = |set: fn(&mut RobotState, f64)| {
            let state = Arc::clone(&state);
            move |value: f64| set(&mut state.lock().unwrap_or_else(PoisonError::into_inner), value)
        };
        let running = change(|state, is| state.program_running = Some(is != 0.0));
        let mode = change(|state, mode| state.robot_mode = Some(mode as i8));
        let safety = change(|state, mode| state.safety_mode = Some(mode as i8));
        let scale = change(|state, scale| state.speed_scale = Some(scale));
        let mut all = Vec::new();
        if !topics.program_running.is_empty() {
            let heard = move |is: Bool, _| running(f64::from(u8::from(is.0)));
            all.push(node.subscribe(&topics.program_running, SMALL_MESSAGE, heard)?);
        }
        if !topics.robot_mode.is_empty() {
            let heard = move |is: Int8, _| mode(f64::from(is.0));
            all.push(node.subscribe(&topics.robot_mode, SMALL_MESSAGE, heard)?);
        }
        if !topics.safety_mode.is_empty() {
            let heard = move |is: Int8, _| safety(f64::from(is.0));
            all.push(node.subscribe(&topics.safety_mode, SMALL_MESSAGE, heard)?);
        }
        if !topics.speed_scaling.is_empty() {
            let heard = move |is: Float64, _| scale(is.0);
            all.push(node.subscribe(&topics.speed_scaling, SMALL_MESSAGE, heard)?);
        }
        Ok(Self { state, _topics: all })
    }

    pub(super) fn state(&self) -> RobotState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_a_robot_is_named_with_its_cure() {
        let state = RobotState { safety_mode: Some(3), robot_mode: Some(7), ..Default::default() };
        assert!(state.why_not().unwrap().contains("protective stop"));
        let state = RobotState { safety_mode: Some(1), robot_mode: Some(5), ..Default::default() };
        assert!(state.why_not().unwrap().contains("brakes closed"));
        let state = RobotState { program_running: Some(false), ..Default::default() };
        assert!(state.why_not().unwrap().contains("press play"));
        assert_eq!(RobotState::default().why_not(), None, "one that says nothing may move");
    }

    #[test]
    fn percent_and_fractions_are_told_apart() {
        let scale = |scale| RobotState { speed_scale: Some(scale), ..Default::default() }.scale();
        assert_eq!([scale(0.3), scale(30.0), scale(1.0), scale(100.0)], [0.3, 0.3, 1.0, 1.0]);
        assert_eq!(RobotState::default().scale(), 1.0);
    }
}
