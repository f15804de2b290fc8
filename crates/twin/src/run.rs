//! A run: a twin in a simulated cell, goal after goal, through the one loop.

use std::sync::atomic::AtomicBool;

use citrange_core::run::{Loop, Ticked};
use citrange_core::{Event, Pace, RunSettings};

use crate::cell::{CellOptions, SimCell};
use crate::error::TwinError;
use crate::goals::{Goal, GoalFile};
use crate::log::RunLog;
use crate::orders::Orders;
use crate::report::TwinReport;
use crate::settings::TwinSettings;
use crate::twin::TwinMode;

/// How a run is made.
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// Ends it when it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Who keeps time.
    pub pace: Pace,
    /// What people ask for.
    pub orders: Orders,
    /// How the twin is used.
    pub mode: TwinMode,
    /// Longest time by the rig's clock.
    pub most_s: Option<f64>,
    /// Is told of every event, as it happens.
    pub told: Option<&'a dyn Fn(&Event)>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        let mode = TwinMode { ends: true, unattended: true, shadow: false };
        Self {
            stop: None,
            pace: Pace::Free,
            orders: Orders::default(),
            mode,
            most_s: None,
            told: None,
        }
    }
}

/// Runs the goals of a file in a simulated cell.
///
/// # Errors
/// When scene, settings or goals make no sense. A goal that is not reached is an answer.
pub fn run_goals(
    settings: &TwinSettings,
    cell: CellOptions,
    goals: &GoalFile,
    options: &RunOptions<'_>,
) -> Result<TwinReport, TwinError> {
    let mut cell = SimCell::new(settings, cell)?;
    let goals = goals.read(&cell.arm, &cell.scene.description)?;
    run_cell(&mut cell, goals, options)
}

/// Runs goals in a cell.
///
/// # Errors
/// When the twin cannot be made, or the simulator fails.
pub fn run_cell(
    cell: &mut SimCell,
    goals: Vec<Goal>,
    options: &RunOptions<'_>,
) -> Result<TwinReport, TwinError> {
    let mut twin = cell.twin(&options.orders, options.mode)?;
    twin.give(goals);
    let truth = cell.rig.truth();
    let settings = RunSettings {
        pace: options.pace,
        stop: options.stop,
        pictures: true,
        ..RunSettings::default()
    };
    let hz = f64::from(citrange_core::Rig::spec(&cell.rig).rates.control_hz);
    let most_ticks = options.most_s.map_or(u64::MAX, |s| (s * hz) as u64);
    let mut log = RunLog::new(&cell.arm, cell.waypoint_m(), options.told);
    let mut episode = Loop::begin(&mut twin, &mut cell.rig, &mut log, &settings)?;
    let mut outcome = "time_up".to_owned();
    while episode.report().ticks < most_ticks {
        if let Ticked::Ended(ended) = episode.tick()? {
            outcome = ended.reason;
            break;
        }
    }
    let time_s = episode.report().ticks as f64 / hz;
    drop(episode);
    let report = TwinReport::of(&twin, &truth, &outcome, time_s);
    Ok(TwinReport { log: log.done(), ..report })
}
