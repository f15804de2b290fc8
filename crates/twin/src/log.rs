//! The log of a run as CSV files, with the columns of the first system of this kind: its
//! evaluation scripts read them. Written once, at the end.

use std::fmt::Write as _;
use std::path::Path;

use citrange_core::tape::TickRecord;
use citrange_core::{BoxError, Event, Tape};
use citrange_plan::PlannedArm;
use serde_json::json;

use crate::error::TwinError;
use crate::machine::{TRANSITION, Transition};
use crate::report::TwinReport;
use crate::state::State;

/// Columns of `episode_simulated_<N>.csv`.
const SIMULATED: [&str; 26] = [
    "env_id",
    "episodes",
    "is_success",
    "collision",
    "timeout",
    "out_of_bounds",
    "step",
    "success_rate",
    "out_of_bounds_rate",
    "timeout_rate",
    "collision_rate",
    "cumulated_rewards",
    "sim_time",
    "cpu_time_steps",
    "cpu_time_full",
    "inference_time",
    "action_cpu_time_ur5_1",
    "position_ee_link_ur5_1",
    "velocity_ee_link_ur5_1",
    "rotation_ee_link_ur5_1",
    "position_rotation_sensor_cpu_time_ur5_1",
    "joints_angles_ur5_1",
    "joints_velocities_ur5_1",
    "joints_sensor_cpu_time_ur5_1",
    "reward_ur5_1",
    "distance_ur5_1",
];
/// And of `episode_real_<N>.csv` behind them.
const REAL: [&str; 5] =
    ["real_step", "real_joint_velocities", "real_effort", "real_joint_positions", "current_time"];

/// A moment of a run in which the arm was on its way.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// Time by the rig's clock.
    at_ns: u64,
    /// Number of the goal.
    goal: usize,
    /// Where the plan had the joints, and where they were measured.
    planned: Vec<f64>,
    pos: Vec<f64>,
    vel: Vec<f64>,
    effort: Vec<f64>,
    /// Where the tool was planned, and its way since the last row.
    tool_m: [f64; 3],
}

/// Keeps moments of a run, one whenever the tool has moved far enough, and tells of events.
pub(crate) struct RunLog<'a> {
    told: Option<&'a dyn Fn(&Event)>,
    arm: PlannedArm,
    least_m: f64,
    goals: usize,
    is_moving: bool,
    rows: Vec<Row>,
}

/// What was kept of a run.
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<Row>);

impl<'a> RunLog<'a> {
    /// A row whenever the tool has moved by `least_m`.
    pub(crate) fn new(arm: &PlannedArm, least_m: f64, told: Option<&'a dyn Fn(&Event)>) -> Self {
        let (goals, is_moving, rows) = (0, false, Vec::new());
        Self { told, arm: arm.clone(), least_m, goals, is_moving, rows }
    }

    pub(crate) fn done(self) -> Log {
        Log(self.rows)
    }
}

impl Tape for &mut RunLog<'_> {
    fn event(&mut self, _tick: u64, event: &Event) -> Result<(), BoxError> {
        if event.name() == TRANSITION
            && let Ok(transition) = serde_json::from_value::<Transition>(event.detail())
        {
            self.goals += usize::from(transition.to == State::Checking);
            self.is_moving = transition.to.moves();
        }
        if let Some(told) = self.told {
            told(event);
        }
        Ok(())
    }

    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        let joints = self.arm.joints();
        if !self.is_moving || tick.seen.joint_pos.len() < joints {
            return Ok(());
        }
        let mut all = self.arm.held().to_vec();
        let planned = &tick.requested.pos;
        all.iter_mut().zip(planned).take(joints).for_each(|(joint, at)| *joint = *at);
        let tool_m = self.arm.body().tool_at(&all)?;
        let goal = self.goals.saturating_sub(1);
        let last = self.rows.last().filter(|row| row.goal == goal);
        let is_far = last.is_none_or(|row| {
            (0..3).map(|a| (row.tool_m[a] - tool_m[a]).powi(2)).sum::<f64>().sqrt() >= self.least_m
        });
        if is_far {
            self.rows.push(Row {
                at_ns: tick.seen.at_ns,
                goal,
                planned: planned.iter().take(joints).copied().collect(),
                pos: tick.seen.joint_pos.clone(),
                vel: tick.seen.joint_vel.clone(),
                effort: tick.seen.joint_effort.clone(),
                tool_m,
            });
        }
        Ok(())
    }
}

/// Writes `episode_simulated_<N>.csv` and `episode_real_<N>.csv` for every goal that was moved to.
/// Vectors are JSON lists; what the twin does not have (rewards, times of its sensors) is empty.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_csv(folder: &Path, report: &TwinReport) -> Result<(), TwinError> {
    std::fs::create_dir_all(folder).map_err(TwinError::file("create", folder))?;
    let (mut done, mut reached) = (0.0, 0.0);
    for goal in &report.goals {
        let span = goal.span_ns[0]..=goal.span_ns[1];
        let rows: Vec<&Row> = report.log.0.iter().filter(|row| span.contains(&row.at_ns)).collect();
        if rows.is_empty() {
            continue;
        }
        done += 1.0;
        reached += f64::from(u8::from(goal.reached));
        let mut simulated = format!(",{}\n", SIMULATED.join(","));
        let mut real = format!(",{},{}\n", SIMULATED.join(","), REAL.join(","));
        for (step, row) in rows.iter().enumerate() {
            let is_last = step + 1 == rows.len();
            let since_s = (row.at_ns - goal.span_ns[0]) as f64 * 1e-9;
            let python = |yes: bool| if yes { "True" } else { "False" };
            let cells = [
                "0".to_owned(),
                format!("{done}"),
                python(is_last && goal.reached).to_owned(),
                python(false).to_owned(),
                python(is_last && goal.reason == "time_over").to_owned(),
                python(false).to_owned(),
                format!("{}", step + 1),
                format!("{}", reached / done),
                "0".to_owned(),
                "0".to_owned(),
                "0".to_owned(),
                String::new(),
                format!("{since_s}"),
                String::new(),
                String::new(),
                format!("{}", goal.plan_s),
                String::new(),
                list(&row.tool_m),
                String::new(),
                String::new(),
                String::new(),
                list(&row.planned),
                list(&row.vel),
                String::new(),
                String::new(),
                String::new(),
            ];
            let line = format!("{step},{}", cells.join(","));
            // Writing to a text cannot fail.
            let _never = writeln!(simulated, "{line}");
            let (vel, effort, pos) = (list(&row.vel), list(&row.effort), list(&row.pos));
            let _never = writeln!(real, "{line},{step},{vel},{effort},{pos},{since_s}");
        }
        for (name, text) in [("simulated", simulated), ("real", real)] {
            let path = folder.join(format!("episode_{name}_{}.csv", goal.number));
            std::fs::write(&path, text).map_err(TwinError::file("write", &path))?;
        }
    }
    Ok(())
}

/// A list of numbers in a cell.
fn list(numbers: &[f64]) -> String {
    format!("\"{}\"", json!(numbers))
}
