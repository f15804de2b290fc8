//! A leader arm: an arm in a person's hand, that says where the one that is driven should go.

use std::sync::Arc;

use citrange_core::pilot::{Notes, Start};
use citrange_core::{BoxError, Command, Observation, Outcome, Pilot, Verdict};
use citrange_robot::Chain;

use crate::driver::ArmDriver;
use crate::error::LinkError;

/// An arm that is read and never held.
#[derive(Debug)]
pub struct Leader {
    driver: ArmDriver,
    names: Vec<String>,
}

impl Leader {
    /// An arm with this chain.
    #[must_use]
    pub fn new(driver: ArmDriver, chain: &Chain) -> Self {
        Self { driver, names: chain.joints.iter().map(|joint| joint.name.clone()).collect() }
    }

    /// Names of its joints.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where its joints are. Those that were not heard this time keep their last place.
    ///
    /// # Errors
    /// When it is not heard any more, with what helps.
    pub fn joints(&self) -> Result<Vec<f64>, LinkError> {
        let state = self.driver.state();
        match state.lost {
            Some(why) => Err(LinkError::NotReady { why: format!("the leader: {why}") }),
            None => Ok(state.reading.pos),
        }
    }
}

/// Follows a leader arm joint by joint. A leader that is far away is eased towards by the follower's
/// own gate; a leader that is not heard ends the episode.
#[derive(Debug)]
pub struct LeaderPilot {
    leader: Arc<Leader>,
    /// For each joint of the rig the leader's.
    from: Vec<usize>,
    /// Ends after so many ticks; never by itself without.
    ticks: Option<u64>,
}

impl LeaderPilot {
    /// A pilot that follows it.
    #[must_use]
    pub fn new(leader: Arc<Leader>, ticks: Option<u64>) -> Self {
        Self { leader, from: Vec::new(), ticks }
    }

    /// Where the rig's joints should be.
    ///
    /// # Errors
    /// When the leader is not heard any more.
    pub fn targets(&self) -> Result<Vec<f64>, LinkError> {
        let joints = self.leader.joints()?;
        Ok(self.from.iter().map(|from| joints[*from]).collect())
    }
}

impl Pilot for LeaderPilot {
    fn name(&self) -> &str {
        "leader"
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        let names = self.leader.names();
        let of = |joint: &citrange_core::rig::JointSpec| {
            names.iter().position(|name| *name == joint.name).ok_or_else(|| {
                let reason = format!("the leader has no such joint; it has {}", names.join(", "));
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
        command.pos = self.targets()?;
        Ok(Verdict::Go)
    }
}
