//! What goes wrong, and the state that must follow.

use citrange_core::rng::Rng;
use serde::Serialize;

use super::{TrialRun, sides};
use crate::cell::{CellOptions, CellScene, SimCell};
use crate::controller::DriverFault;
use crate::error::TwinError;
use crate::faults::{FaultKind, Faults, RigFault};
use crate::run::{RunOptions, run_cell};
use crate::settings::TwinSettings;
use crate::state::State;

/// A fault and what must follow.
#[derive(Clone, Debug)]
pub struct FaultTrial {
    /// Its name.
    pub name: &'static str,
    /// What goes wrong with pictures or joints.
    pub rig: Option<FaultKind>,
    /// For how long.
    pub for_s: f64,
    /// What goes wrong at the driver.
    pub driver: Option<fn(f64) -> DriverFault>,
    /// States of which one is entered because of it.
    pub states: &'static [State],
    /// Codes of the causes of which one is said.
    pub causes: &'static [&'static str],
    /// Whether it goes on by itself and reaches its goals.
    pub goes_on: bool,
}

/// What came of a trial's runs.
#[derive(Clone, Debug, Serialize)]
pub struct FaultReport {
    /// Its name.
    pub name: &'static str,
    /// Runs, and those in which everything was as it must be.
    pub runs: usize,
    /// See `runs`.
    pub right: usize,
    /// How often the arm touched anything.
    pub touches: usize,
    /// The longest time from the fault to an arm that stands.
    pub stopped_s: f64,
    /// What was wrong, run by run.
    pub wrong: Vec<String>,
    /// The runs.
    #[serde(skip)]
    pub list: Vec<TrialRun>,
}

/// All of them.
#[must_use]
pub fn fault_trials() -> Vec<FaultTrial> {
    use State::{Fault, Holding, Ready, Slowing, Stopping};
    let rig = |name, kind, for_s, states, causes, goes_on| FaultTrial {
        name,
        rig: Some(kind),
        for_s,
        driver: None,
        states,
        causes,
        goes_on,
    };
    let driver = |name, fault, states, causes, goes_on| FaultTrial {
        name,
        rig: None,
        for_s: 0.0,
        driver: Some(fault),
        states,
        causes,
        goes_on,
    };
    const HELD: &[State] = &[Holding];
    let map: &[&str] = &["map_old", "camera_blind"];
    let joints: &[&str] = &["joints_old", "joints_wrong"];
    vec![
        rig("camera sends the same picture", FaultKind::CameraRepeats, 1.0, HELD, map, true),
        rig("camera freezes", FaultKind::CameraFreezes, 1.0, HELD, map, true),
        rig("camera is silent", FaultKind::CameraSilent, 1.0, HELD, map, true),
        rig("camera goes black", FaultKind::CameraBlack, 1.0, HELD, map, true),
        rig("camera is covered", FaultKind::CameraCovered, 1.0, HELD, map, true),
        rig(
            "camera moves by 3 cm",
            FaultKind::CameraMoves { by_m: 0.03 },
            1e9,
            HELD,
            &["camera_moved"],
            false,
        ),
        rig(
            "pictures come 0.15 s late",
            FaultKind::CameraLate { by_s: 0.15 },
            1.0,
            &[Slowing],
            map,
            true,
        ),
        rig("joints are silent", FaultKind::JointsSilent, 1e9, HELD, joints, false),
        rig("a joint is no number", FaultKind::JointNan, 1e9, HELD, joints, false),
        rig("a joint is missing", FaultKind::JointMissing, 1e9, HELD, joints, false),
        rig(
            "a joint jumps",
            FaultKind::JointJumps { by_rad: 0.6 },
            1e9,
            HELD,
            &["joints_wrong", "not_following"],
            false,
        ),
        rig(
            "joints freeze",
            FaultKind::JointsFreeze,
            1e9,
            HELD,
            &["not_following", "joints_old"],
            false,
        ),
        rig(
            "joints come 0.3 s late",
            FaultKind::JointsLate { by_s: 0.3 },
            1e9,
            HELD,
            &["not_following", "joints_old", "joints_wrong", "clock_jump"],
            false,
        ),
        rig(
            "the clock jumps by 10 s",
            FaultKind::ClockJumps { by_s: 10.0 },
            1e9,
            HELD,
            &["clock_jump", "joints_old"],
            false,
        ),
        driver("driver refuses", |_| DriverFault::Refuse { code: -1 }, &[Ready], &["driver"], true),
        driver(
            "driver gives up",
            |at_s| DriverFault::Abort { at_s, code: -4 },
            HELD,
            &["driver"],
            false,
        ),
        driver("driver is mute", |_| DriverFault::Mute, HELD, &["time_over"], false),
        driver(
            "driver runs at 30 %",
            |at_s| DriverFault::Scale { at_s, scale: 0.3, for_s: 1e9 },
            &[],
            &[],
            true,
        ),
        driver(
            "speed slider at 0 for 2 s",
            |at_s| DriverFault::Scale { at_s, scale: 0.0, for_s: 2.0 },
            &[],
            &[],
            true,
        ),
        driver(
            "the arm does not follow",
            |at_s| DriverFault::Stuck { at_s },
            &[Stopping],
            &["not_following"],
            false,
        ),
        driver(
            "emergency stop",
            |at_s| DriverFault::RobotStop {
                at_s,
                what: "the emergency stop is pressed".to_owned(),
                cure: "unlock it, power on and release the brakes at the pendant, then clear"
                    .to_owned(),
            },
            &[Fault],
            &["robot"],
            false,
        ),
        driver(
            "protective stop",
            |at_s| DriverFault::RobotStop {
                at_s,
                what: "protective stop".to_owned(),
                cure: "look why, wait 5 s, unlock it at the pendant, then clear".to_owned(),
            },
            &[Fault],
            &["robot"],
            false,
        ),
    ]
}

impl FaultTrial {
    /// Runs it.
    ///
    /// # Errors
    /// When settings make no sense or the simulator fails.
    pub fn run(
        &self,
        settings: &TwinSettings,
        runs: u64,
        seed: u64,
    ) -> Result<FaultReport, TwinError> {
        let built = CellScene::new("ur5_cell", settings, None)?;
        let mut report = FaultReport {
            name: self.name,
            runs: 0,
            right: 0,
            touches: 0,
            stopped_s: 0.0,
            wrong: Vec::new(),
            list: Vec::new(),
        };
        for number in 0..runs {
            let mut rng = Rng::for_episode(seed, number, "twin fault");
            let goals = sides(&mut rng).to_vec();
            let from_s = rng.uniform(0.2, 0.8);
            let rig = self.rig.map(|kind| RigFault { kind, from_s, for_s: self.for_s });
            let options = CellOptions {
                seed,
                episode: number,
                faults: Faults(rig.into_iter().collect()),
                driver_faults: self.driver.map(|fault| fault(from_s)).into_iter().collect(),
                ..CellOptions::default()
            };
            let mut cell = SimCell::of(&built, settings, options)?;
            let options = RunOptions { most_s: Some(60.0), ..RunOptions::default() };
            let ran = run_cell(&mut cell, goals, &options)?;
            let run = TrialRun::of(number, &ran, None);
            let entered = ran
                .transitions
                .iter()
                .any(|t| self.states.contains(&t.to) && self.causes.contains(&t.why.code()));
            let mut wrong = Vec::new();
            if !(entered || self.states.is_empty()) {
                let way: Vec<String> = ran
                    .transitions
                    .iter()
                    .map(|t| format!("{} ({})", t.to.name(), t.why.code()))
                    .collect();
                wrong.push(format!("went {}", way.join(" -> ")));
            }
            // A goal may be refused; the other is reached then.
            if self.goes_on && ran.reached() == 0 {
                wrong.push("did not go on".to_owned());
            }
            if run.touches > 0 {
                wrong.push(format!("touched {}", run.touched.join(", ")));
            }
            report.stopped_s = report.stopped_s.max(longest_stop_s(&ran));
            report.runs += 1;
            report.touches += run.touches;
            if wrong.is_empty() {
                report.right += 1;
            } else {
                report.wrong.push(format!("run {number}: {}", wrong.join("; ")));
            }
            report.list.push(run);
        }
        Ok(report)
    }
}

/// The longest time from the order to stop until the arm stood.
fn longest_stop_s(report: &crate::report::TwinReport) -> f64 {
    let pairs = report.transitions.windows(2);
    let stops = pairs.filter(|pair| pair[0].to == State::Stopping);
    stops.map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64 * 1e-9).fold(0.0, f64::max)
}
