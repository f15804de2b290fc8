//! A leader arm as a Pilot: the arm that is driven goes where a person holds the other one.

use citrange_core::pilot::{Notes, Start};
use citrange_core::{BoxError, Command, Observation, Outcome, Pilot, Verdict};

use crate::driver::ArmDriver;
use crate::error::LinkError;

/// Follows a leader arm joint by joint. A leader that is far away is eased towards by the follower's
/// own gate; a leader that is not heard moves nothing.
#[derive(Debug)]
pub struct LeaderPilot {
    driver: ArmDriver,
    names: Vec<String>,
    /// For each joint of the rig the leader's.
    from: Vec<usize>,
    /// Ends after so many ticks; never by itself without.
    ticks: Option<u64>,
}

impl LeaderPilot {
    /// A leader with these joints, that is read and never held.
    #[must_use]
    pub fn new(driver: ArmDriver, names: Vec<String>, ticks: Option<u64>) -> Self {
        Self { driver, names, from: Vec::new(), ticks }
    }
}

impl Pilot for LeaderPilot {
    fn name(&self) -> &str {
        "leader"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        let of = |joint: &citrange_core::rig::JointSpec| {
            self.names.iter().position(|name| *name == joint.name).ok_or_else(|| {
                let reason =
                    format!("the leader has no such joint; it has {}", self.names.join(", "));
                LinkError::bad(joint.name.clone(), reason)
            })
        };
        self.from = start.spec.joints.iter().map(of).collect::<Result<_, LinkError>>()?;
        Ok(())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if self.ticks.is_some_and(|ticks| seen.tick >= ticks) {
            return Ok(Verdict::Done(Outcome::unjudged("leader_end")));
        }
        let state = self.driver.state();
        if let Some(why) = state.lost {
            return Err(LinkError::NotReady { why: format!("the leader: {why}") }.into());
        }
        // Joints that were not heard this time keep their last place.
        for (target, from) in command.pos.iter_mut().zip(&self.from) {
            *target = state.reading.pos[*from];
        }
        Ok(Verdict::Go)
    }
}
