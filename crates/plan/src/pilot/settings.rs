//! Numbers of the pilot of a plan.

/// When a motion may begin, has to be given up, and is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotSettings {
    /// How far from the start of the plan a joint may be when the motion begins.
    pub start_tolerance_rad: f64,
    /// How far from the plan a joint may be while it moves …
    pub tracking_limit_rad: f64,
    /// … for longer than this.
    pub tracking_grace_s: f64,
    /// How far from its goal a joint may be at the end.
    pub goal_tolerance_rad: f64,
    /// Joints that are slower than this are still.
    pub still_rad_s: f64,
    /// Longest time to settle at the end, or to come to rest after a stop.
    pub settle_s: f64,
    /// Targets that are fed forward beyond a joint's range by more than this make the whole
    /// motion slower: the rig would cut them off, and the arm would lag.
    pub overrun_rad: f64,
    /// Fraction of its torque that a servo may need: a motion that needs more is made slower.
    pub torque_fraction: f64,
}

impl Default for PilotSettings {
    fn default() -> Self {
        Self {
            start_tolerance_rad: 1_f64.to_radians(),
            tracking_limit_rad: 5_f64.to_radians(),
            tracking_grace_s: 0.1,
            goal_tolerance_rad: 0.5_f64.to_radians(),
            still_rad_s: 0.02,
            settle_s: 2.0,
            overrun_rad: 0.25_f64.to_radians(),
            torque_fraction: 0.9,
        }
    }
}
