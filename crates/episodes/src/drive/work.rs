//! What there is to do for the autopilot in a rig's scene, for a driver to send it.

use citrange_core::BoxError;
use citrange_core::scene::Goal;
use citrange_robot::Chain;
use citrange_task::{Autopilot, AutopilotProgress, AutopilotSettings, PoseNoise, State};
use citrange_teleop::{AutopilotRequest, AutopilotWork, Progress, WorkDescription};

use crate::cell::EpisodeRig;
use crate::error::Result;
use crate::pilots;

/// The work of a scene, and who does it.
pub(crate) struct Work {
    /// For all targets, not begun.
    autopilot: Autopilot,
    description: WorkDescription,
    noise: Option<PoseNoise>,
}

impl Work {
    /// The work of a rig's scene; none without a job or on an arm that does not say how it
    /// grasps.
    pub(crate) fn of(rig: &dyn EpisodeRig, chain: &Chain) -> Result<Option<Self>> {
        let Some(job) =
            rig.scene().job.as_ref().filter(|job| job.brings() && chain.grasp.is_some())
        else {
            return Ok(None);
        };
        let settings = AutopilotSettings::load(job.profile.as_deref().unwrap_or("default"))?;
        let (autopilot, spec) = (pilots::autopilot(rig, job, &settings)?, rig.spec());
        let index = |name: &String| spec.objects.iter().position(|object| object.name == *name);
        let goal = match &job.goal {
            Goal::Plate { object, .. } | Goal::Tray { object, .. } | Goal::TopOf { object } => {
                object.clone()
            }
            Goal::VirtualPlate { .. } | Goal::VirtualTray { .. } | Goal::Reach { .. } => {
                "goal".to_owned()
            }
        };
        let states = State::ALL.iter().filter(|state| **state != State::Idle);
        let description = WorkDescription {
            targets: job.targets.clone(),
            objects: job.targets.iter().filter_map(index).collect(),
            goal,
            control_hz: spec.rates.control_hz,
            states: states.map(|state| state.name()).collect(),
        };
        Ok(Some(Self { autopilot, description, noise: None }))
    }

    /// How the autopilot sees things in the episode that begins.
    pub(crate) fn set_noise(&mut self, noise: Option<PoseNoise>) {
        self.noise = noise;
    }
}

impl AutopilotWork for Work {
    type Autopilot = Autopilot;

    fn description(&self) -> &WorkDescription {
        &self.description
    }

    fn begin(
        &self,
        request: AutopilotRequest,
    ) -> std::result::Result<(Autopilot, String), BoxError> {
        let autopilot = self.autopilot.clone().with_noise(self.noise);
        Ok(match request {
            AutopilotRequest::All => (autopilot, "all".to_owned()),
            AutopilotRequest::Target(number) => {
                let targets = &self.description.targets;
                let name = number.checked_sub(1).and_then(|at| targets.get(at));
                (autopilot.only(number)?, name.cloned().unwrap_or_default())
            }
        })
    }

    fn progress(&self, autopilot: &Autopilot) -> Progress {
        let AutopilotProgress { state, target, attempt, held, .. } = autopilot.status();
        Progress { state, target, attempt, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oranges_are_work_and_an_empty_table_is_none() {
        let rig = crate::simulated("orange_plate", Some(&[])).unwrap();
        let chain = rig.arm().unwrap().chain;
        let work = Work::of(rig.as_ref(), &chain).unwrap().unwrap();
        let description = work.description();
        assert_eq!((description.states.len(), description.goal.as_str()), (12, "plate"));
        let seen = description.objects.iter().map(|at| rig.spec().objects[*at].name.clone());
        assert_eq!(seen.collect::<Vec<_>>(), description.targets);
        assert_eq!(work.begin(AutopilotRequest::Target(2)).unwrap().1, description.targets[1]);
        assert!(work.begin(AutopilotRequest::Target(9)).is_err());
        let rig = crate::simulated("block_box", Some(&[])).unwrap();
        let has_job = rig.scene().job.is_some();
        assert_eq!(Work::of(rig.as_ref(), &rig.arm().unwrap().chain).unwrap().is_some(), has_job);
    }
}
