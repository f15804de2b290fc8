//! What is good and bad about a real arm, without moving it: `citrange rig check`.

use std::path::Path;
use std::time::{Duration, Instant};

use citrange_link::feetech::{Calibration, MotorCalibration};
use citrange_link::{ArmDriver, ArmState, RigAddress, So101Settings, find_calibration};
use citrange_link::{calibration_folders, open_so101};
use citrange_robot::{ChainJoint, Kinematics, Robot};

use crate::doctor::{Finding, Grade};
use crate::error::{EpisodesError, Result, bad_input};
use crate::linked::LinkChoice;
use crate::rig_check_ros::check_ros1;

/// How long an arm is looked at.
const LOOKED_AT: Duration = Duration::from_secs(2);
/// Degrees Celsius above which a motor should rest, and above which it soon switches itself off.
const WARM_C: [f64; 2] = [50.0, 65.0];
/// Volts below which a servo is weak, of the kind for 7.4 V; those for 12 V are told apart by what
/// most have.
const WEAK_V: [f64; 2] = [6.0, 10.5];
/// Between the two kinds.
const KIND_V: f64 = 9.0;
/// A hand lower than this is under the table.
const UNDER_M: f64 = -0.03;
/// How far a calibrated range may be from the model's.
const RANGE_OFF_DEG: f64 = 15.0;

/// Looks at an arm for two seconds; nothing moves, no torque is switched on.
///
/// # Errors
/// When it cannot be connected to.
pub fn check_rig(choice: &LinkChoice) -> Result<Vec<Finding>> {
    if let RigAddress::Ros1(robot) = &choice.address {
        return check_ros1(robot, choice);
    }
    let RigAddress::So101(port) = &choice.address else {
        bad_input!(
            "{} has nothing to check; citrange doctor looks at this machine",
            choice.address
        );
    };
    let robot = Robot::load("so101").map_err(|e| EpisodesError::Failed(e.to_string()))?;
    let file = match &choice.calibration {
        Some(file) => file.clone(),
        None => find_calibration(&calibration_folders())?,
    };
    let calibration = Calibration::load(&file)?;
    let mut settings = So101Settings { calibration: Some(file.clone()), ..Default::default() };
    settings.driver.cycle_hz = 180;
    // What is only late is no plug that is loose.
    settings.bus.retries = 3;
    // It was not held before, and is not let go.
    settings.driver.hold_at_end = true;
    let driver = open_so101(port, robot.chain(), &settings)?;
    let mut findings = vec![connected(port, &file)];
    let watched = Watched::watch(&driver, LOOKED_AT);
    let cycle = watched.cycle(settings.driver.cycle_hz);
    let answers = watched.answers(cycle.grade == Grade::Ok);
    findings.extend([cycle, answers]);
    for (j, joint) in robot.joints().iter().enumerate() {
        findings.push(motor(j, joint, &watched.last));
        if let Some(motor) = calibration.motor(&joint.name) {
            findings.push(range(joint, motor));
        }
    }
    findings.push(pose(&robot, &watched.last.reading.pos));
    Ok(findings)
}

fn finding(check: String, grade: Grade, detail: String) -> Finding {
    Finding { check, grade, detail }
}

fn connected(port: &Path, file: &Path) -> Finding {
    let detail = format!("6 STS3215 on {}, calibrated as {} says", port.display(), file.display());
    finding("servos".to_owned(), Grade::Ok, detail)
}

/// What was seen of an arm for a while.
struct Watched {
    last: ArmState,
    cycles: u64,
    late: u64,
    seconds: f64,
    /// Times between two readings, sorted.
    gaps_s: Vec<f64>,
}

impl Watched {
    fn watch(driver: &ArmDriver, how_long: Duration) -> Self {
        let first = driver.next_state(how_long);
        let (began, mut last) = (Instant::now(), first.clone());
        let mut gaps_s = Vec::new();
        while began.elapsed() < how_long {
            let state = driver.next_state(how_long);
            gaps_s.push(state.reading.at.duration_since(last.reading.at).as_secs_f64());
            last = state;
        }
        gaps_s.sort_by(f64::total_cmp);
        Self {
            cycles: last.counts.cycles - first.counts.cycles,
            late: last.counts.late - first.counts.late,
            seconds: began.elapsed().as_secs_f64(),
            last,
            gaps_s,
        }
    }

    fn cycle(&self, wanted_hz: u32) -> Finding {
        let hz = self.cycles as f64 / self.seconds;
        let at = |fraction: f64| {
            let index = (self.gaps_s.len() as f64 * fraction) as usize;
            self.gaps_s.get(index.min(self.gaps_s.len().saturating_sub(1))).copied().unwrap_or(0.0)
        };
        let (middle_ms, worst_ms) = (at(0.5) * 1e3, at(0.99) * 1e3);
        let text = format!(
            "{hz:.0} of {wanted_hz} cycles a second, {middle_ms:.1} ms apart, 99 % within \
             {worst_ms:.1} ms, {} late",
            self.late
        );
        let slow = hz < 0.9 * f64::from(wanted_hz) || worst_ms > 4e3 / f64::from(wanted_hz);
        let (grade, cure) = match slow {
            false => (Grade::Ok, ""),
            true if hz < 50.0 => (Grade::Fail, ": another USB port, without a hub?"),
            true => (Grade::Warn, ": a busy machine, or an adapter that holds bytes back"),
        };
        finding("cycle".to_owned(), grade, format!("{text}{cure}"))
    }

    /// A busy machine loses answers by itself.
    fn answers(&self, is_on_time: bool) -> Finding {
        let counts = self.last.bus.unwrap_or_default();
        let text = format!(
            "{} requests, {} asked again, {} answers lost, {} bytes damaged",
            counts.requests, counts.repeated, counts.lost, counts.damaged_bytes
        );
        let (grade, cure) = match (counts.lost, counts.repeated) {
            (0, 0) => (Grade::Ok, ""),
            (0, _) => (Grade::Warn, ": look at the plugs between the servos"),
            _ if is_on_time => {
                (Grade::Fail, ": a plug between the servos is loose, or two have the same id")
            }
            _ => (Grade::Warn, ": the cycle is late, too: check again when the machine is idle"),
        };
        finding("answers".to_owned(), grade, format!("{text}{cure}"))
    }
}

fn motor(j: usize, joint: &ChainJoint, state: &ArmState) -> Finding {
    let reading = &state.reading;
    let (volts, degrees) = (reading.voltage_v[j], reading.temperature_c[j]);
    let mut all = reading.voltage_v.clone();
    all.sort_by(f64::total_cmp);
    let weak = WEAK_V[usize::from(all[all.len() / 2] > KIND_V)];
    let text =
        format!("{volts:.1} V, {degrees:.0} °C, at {:.1} degrees", reading.pos[j].to_degrees());
    let faults = reading.faults[j];
    let (grade, cure) = match () {
        () if !faults.is_empty() => {
            let cure = faults.cure().map(|cure| format!("; {cure}")).unwrap_or_default();
            (Grade::Fail, format!(": {faults}{cure}"))
        }
        () if degrees > WARM_C[1] => (Grade::Fail, ": let it cool down".to_owned()),
        () if degrees > WARM_C[0] => (Grade::Warn, ": warm, it should rest soon".to_owned()),
        () if volts < weak => {
            (Grade::Warn, format!(": less than {weak} V: a stronger supply, a shorter cable"))
        }
        () => (Grade::Ok, String::new()),
    };
    finding(format!("servo {}", joint.name), grade, format!("{text}{cure}"))
}

/// Where the model has the hand: a joint whose middle or direction is another than the model's puts it
/// somewhere else than it is, often under the table.
fn pose(robot: &Robot, joints: &[f64]) -> Finding {
    let mut kinematics = Kinematics::new(robot.chain());
    kinematics.update(joints);
    let at = kinematics.site(&robot.chain().tool).pos_m;
    let cm = [at.x, at.y, at.z].map(|metres| (metres * 100.0).round());
    let side = if cm[1] < 0.0 { "right" } else { "left" };
    let text = format!(
        "the model has the hand {:.0} cm ahead, {:.0} cm {side}, {:.0} cm up",
        cm[0],
        cm[1].abs(),
        cm[2]
    );
    if at.z < UNDER_M {
        let cure = ": under the table. A joint's middle or direction is not the model's: calibrate \
                    again, every joint in the middle of its range";
        return finding("pose".to_owned(), Grade::Warn, format!("{text}{cure}"));
    }
    finding("pose".to_owned(), Grade::Ok, format!("{text}: is it there?"))
}

/// LeRobot's calibration says where a joint's ends are; our model has its own. Keys that move the
/// hand depend on both being the same.
fn range(joint: &ChainJoint, motor: &MotorCalibration) -> Finding {
    let name = format!("range {}", joint.name);
    let Some([low, high]) = joint.range else {
        return finding(name, Grade::Ok, "the model has none".to_owned());
    };
    let is = motor.degrees(motor.range_max) - motor.degrees(motor.range_min);
    let model = (high - low).to_degrees();
    let middle = (high + low).to_degrees() / 2.0;
    let text =
        format!("calibrated {is:.0} degrees wide, the model {model:.0}, its middle {middle:.0}");
    if motor.drive_mode != 0 && joint.gripper.is_none() {
        let cure = ": drive_mode 1 turns percents around, not degrees, in LeRobot as here: calibrate again";
        return finding(name, Grade::Warn, format!("{text}{cure}"));
    }
    let is_full_turn = motor.range_max - motor.range_min >= 4094;
    let off = (is - model).abs();
    if joint.gripper.is_some() || is_full_turn || off <= RANGE_OFF_DEG {
        return finding(name, Grade::Ok, text);
    }
    let cure = ": move the joint from end to end when calibrating, or keys that move the hand go \
                astray";
    finding(name, Grade::Warn, format!("{text}{cure}"))
}
