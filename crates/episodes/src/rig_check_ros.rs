//! What is good and bad about an arm behind ROS, without moving it.

use std::time::Duration;

use citrange_link::DriverSettings;
use citrange_link::ros1::{Ros1Watch, open_ros1};
use citrange_robot::Robot;

use crate::doctor::{Finding, Grade};
use crate::error::{EpisodesError, Result};
use crate::linked::LinkChoice;

/// How long an arm is looked at.
const LOOKED_AT: Duration = Duration::from_secs(2);
/// Joint states per second below which an arm is driven badly, and those that drivers publish.
const SLOW_HZ: f64 = 50.0;
const USUAL_HZ: f64 = 100.0;

fn finding(check: &str, grade: Grade, detail: String) -> Finding {
    Finding { check: check.to_owned(), grade, detail }
}

/// Looks at an arm of that model for two seconds.
pub(crate) fn check_ros1(robot: &str, choice: &LinkChoice) -> Result<Vec<Finding>> {
    let robot = Robot::load(robot).map_err(|e| EpisodesError::Failed(e.to_string()))?;
    let settings = choice.rig_file()?.ros1;
    let driver = DriverSettings { cycle_hz: 125, ..DriverSettings::default() };
    let (driver, watch) = open_ros1(robot.chain(), &settings, driver)?;
    let before = watch.joint_counts();
    std::thread::sleep(LOOKED_AT);
    let after = watch.joint_counts();
    let hz = (after.messages - before.messages) as f64 / LOOKED_AT.as_secs_f64();
    let mut findings = vec![master(&watch)];
    let (grade, cure) = match hz {
        hz if hz < SLOW_HZ => (Grade::Fail, ": too slow to drive; is the network good?"),
        hz if hz < USUAL_HZ => (Grade::Warn, ": slower than drivers publish"),
        _ => (Grade::Ok, ""),
    };
    let age_ms = watch.joint_states().age.map_or(f64::NAN, |age| age.as_secs_f64() * 1e3);
    let text = format!("{hz:.0} a second, the last {age_ms:.0} ms ago{cure}");
    findings.push(finding("joint states", grade, text));
    findings.push(values(&watch));
    let places = driver.state().reading.pos;
    for (joint, at) in robot.joints().iter().zip(places) {
        let range = joint.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let is_in = (range[0]..=range[1]).contains(&at);
        let (grade, cure) = match is_in {
            true => (Grade::Ok, String::new()),
            false => (
                Grade::Fail,
                format!(
                    ", beyond the model's {:.0} to {:.0}: another robot, or another zero?",
                    range[0].to_degrees(),
                    range[1].to_degrees()
                ),
            ),
        };
        let text = format!("at {:.1} degrees{cure}", at.to_degrees());
        findings.push(finding(&format!("joint {}", joint.name), grade, text));
    }
    let missing = watch.missing();
    findings.push(match missing.is_empty() {
        true => finding("controller", Grade::Ok, settings.action.clone()),
        false => {
            let text = format!(
                "{}: {} not connected: load and start it, or name another in --rig-file",
                settings.action,
                missing.join(", ")
            );
            finding("controller", Grade::Fail, text)
        }
    });
    let state = watch.robot();
    findings.push(match (state.why_not(), state.program_running) {
        (Some(why), _) => finding("robot", Grade::Fail, why),
        (None, None) => {
            finding("robot", Grade::Warn, "it does not say whether its program runs".to_owned())
        }
        (None, Some(_)) => {
            let scale = state.scale();
            let (grade, cure) = match scale < 0.98 {
                true => (Grade::Warn, ": fast motions will count as blocked"),
                false => (Grade::Ok, ""),
            };
            finding("robot", grade, format!("ready, speed at {:.0} %{cure}", scale * 100.0))
        }
    });
    Ok(findings)
}

fn master(watch: &Ros1Watch) -> Finding {
    let node = watch.node();
    match (node.master_lost, node.master_pid) {
        (None, pid) => {
            let text = format!("answers, process {}", pid.unwrap_or_default());
            finding("master", Grade::Ok, text)
        }
        (Some(why), _) => finding("master", Grade::Fail, why),
    }
}

fn values(watch: &Ros1Watch) -> Finding {
    let (counts, health) = (watch.joint_counts(), watch.joint_states());
    let text = format!(
        "{} unreadable, {} positions that are no number, {} too short, {} leaps of the clock",
        health.unreadable, counts.not_numbers, counts.too_short, counts.clock_jumps
    );
    let bad = health.unreadable + counts.not_numbers + counts.too_short;
    let grade = match (bad, counts.clock_jumps) {
        (0, 0) => Grade::Ok,
        (0, _) => Grade::Warn,
        _ => Grade::Fail,
    };
    finding("values", grade, text)
}
