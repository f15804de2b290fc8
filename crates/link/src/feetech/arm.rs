//! An arm of serial servos: connecting, holding, one exchange per cycle, and letting go.

use std::time::{Duration, Instant};

use citrange_robot::{Chain, ChainJoint};
use serde::{Deserialize, Serialize};

use super::bus::{Answer, Bus, BusSettings};
use super::calibration::{Calibration, MotorCalibration};
use super::faults::Faults;
use super::register::{self, Register};
use crate::device::{ArmDevice, JointReading};
use crate::error::LinkError;
use crate::port::Port;

/// Everything that is measured, in one piece of memory.
const MEASURED: Register = register::PRESENT_POSITION;
const MEASURED_BYTES: u8 = 15;
/// Counts per radian, as LeRobot has it.
const COUNTS_PER_RAD: f64 = (register::COUNTS - 1) as f64 / std::f64::consts::TAU;
/// Answers of a bus that is asked without haste.
const PATIENT: BusSettings = BusSettings { answer_time: Duration::from_millis(50), retries: 3 };

/// Gains and limits that are written into the servos when the arm is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServoSettings {
    /// Proportional gain; the factory's 32 shakes an SO-101.
    pub p_gain: i32,
    /// Integral gain.
    pub i_gain: i32,
    /// Derivative gain.
    pub d_gain: i32,
    /// Most torque of a gripper, in thousandths: it holds things for long.
    pub gripper_torque: i32,
    /// Current at which a gripper gives way, in 6.5 mA.
    pub gripper_current: i32,
    /// Percent of torque that a gripper keeps when overloaded.
    pub gripper_overload: i32,
}

impl Default for ServoSettings {
    fn default() -> Self {
        Self {
            p_gain: 16,
            i_gain: 0,
            d_gain: 32,
            gripper_torque: 500,
            gripper_current: 250,
            gripper_overload: 25,
        }
    }
}

impl ServoSettings {
    /// Most torque of a joint while it holds, in thousandths.
    fn torque(&self, joint: &ServoJoint) -> i32 {
        if joint.gripper.is_some() { self.gripper_torque } else { 1000 }
    }
}

/// One joint and its servo.
#[derive(Clone, Debug, PartialEq)]
pub struct ServoJoint {
    name: String,
    motor: MotorCalibration,
    gripper: Option<[f64; 2]>,
    max_effort: f64,
}

impl ServoJoint {
    /// A joint of a robot, moved by this motor.
    #[must_use]
    pub fn new(joint: &ChainJoint, motor: MotorCalibration) -> Self {
        let max_effort = joint.max_effort.unwrap_or(0.0);
        Self { name: joint.name.clone(), motor, gripper: joint.gripper, max_effort }
    }

    /// Radians at a count: 0 in the middle of the range; a gripper's from closed to open, limited
    /// to its range.
    #[must_use]
    pub fn position(&self, count: i32) -> f64 {
        match self.gripper {
            Some([closed, open]) => {
                closed + self.motor.gripper_percent(count) / 100.0 * (open - closed)
            }
            None => self.motor.degrees(count).to_radians(),
        }
    }

    /// The nearest count, within the range.
    #[must_use]
    pub fn count(&self, position: f64) -> i32 {
        let count = match self.gripper {
            Some([closed, open]) => {
                let percent = (position - closed) / (open - closed) * 100.0;
                self.motor.count_at_gripper_percent(percent)
            }
            None => self.motor.count_at_degrees(position.to_degrees()),
        };
        count.clamp(self.motor.range_min, self.motor.range_max)
    }

    /// Radians at a count and its fractions, beyond the range, too: where a real shaft may be.
    #[must_use]
    pub fn exact_position(&self, count: f64) -> f64 {
        self.zero() + (count - self.zero_count()) * self.rate()
    }

    /// The count and its fraction where it is at a position, beyond the range, too.
    #[must_use]
    pub fn exact_count(&self, position: f64) -> f64 {
        self.zero_count() + (position - self.zero()) / self.rate()
    }

    /// The position at [`Self::zero_count`].
    fn zero(&self) -> f64 {
        self.gripper.map_or(0.0, |[closed, _]| closed)
    }

    fn zero_count(&self) -> f64 {
        let MotorCalibration { drive_mode, range_min, range_max, .. } = self.motor;
        match self.gripper {
            Some(_) => f64::from(if drive_mode == 0 { range_min } else { range_max }),
            None => self.motor.middle(),
        }
    }

    /// Radians per count.
    fn rate(&self) -> f64 {
        match self.gripper {
            Some([closed, open]) => {
                let width = f64::from(self.motor.range_max - self.motor.range_min);
                let sign = if self.motor.drive_mode == 0 { 1.0 } else { -1.0 };
                sign * (open - closed) / width
            }
            None => 1.0 / COUNTS_PER_RAD,
        }
    }

    fn said(&self, reason: impl std::fmt::Display) -> LinkError {
        LinkError::bad(format!("{} (servo {})", self.name, self.motor.id), reason.to_string())
    }
}

/// An arm on a bus.
#[derive(Debug)]
pub struct ServoArm<P> {
    bus: Bus<P>,
    joints: Vec<ServoJoint>,
    quick: BusSettings,
    settings: ServoSettings,
    answers: Vec<Answer>,
    goals: Vec<(u8, i32)>,
}

impl<P: Port> ServoArm<P> {
    /// Looks whether the servos of a calibration are there and are what it says. Nothing is
    /// written; gains and limits are when the arm is first held.
    ///
    /// # Errors
    /// Names the first joint without a motor, the servo that does not answer, is no STS3215, or
    /// has another calibration than the file.
    pub fn connect(
        port: P,
        chain: &Chain,
        calibration: &Calibration,
        quick: BusSettings,
        settings: ServoSettings,
    ) -> Result<Self, LinkError> {
        let joints: Vec<ServoJoint> = chain
            .joints
            .iter()
            .map(|joint| {
                let motor = calibration.motor(&joint.name).ok_or_else(|| {
                    let known: Vec<&str> = calibration.motors().map(|(name, _)| name).collect();
                    let reason =
                        format!("no motor \"{}\"; it has {}", joint.name, known.join(", "));
                    LinkError::bad("calibration", reason)
                })?;
                Ok(ServoJoint::new(joint, *motor))
            })
            .collect::<Result<_, LinkError>>()?;
        let bus = Bus::new(port, PATIENT);
        let (answers, goals) = (Vec::new(), Vec::new());
        let mut arm = Self { bus, joints, quick, settings, answers, goals };
        for joint in arm.joints.clone() {
            arm.check(&joint)?;
        }
        Ok(arm)
    }

    /// The bus, for whoever sets servos up.
    pub fn bus(&mut self) -> &mut Bus<P> {
        self.bus.set_settings(PATIENT);
        &mut self.bus
    }

    /// Whether any servo holds.
    ///
    /// # Errors
    /// When a servo does not answer.
    pub fn has_torque(&mut self) -> Result<bool, LinkError> {
        self.bus.set_settings(PATIENT);
        for joint in &self.joints {
            if self.bus.read(joint.motor.id, register::TORQUE_ENABLE)? != 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes a calibration into the servos that it names: offsets and ranges, for good.
    ///
    /// # Errors
    /// When a servo does not answer or does not take it.
    pub fn write_calibration(bus: &mut Bus<P>, calibration: &Calibration) -> Result<(), LinkError> {
        for (_, motor) in calibration.motors() {
            let values = kept_calibration(motor);
            unlocked(bus, motor.id, &values)?;
        }
        Ok(())
    }

    fn check(&mut self, joint: &ServoJoint) -> Result<(), LinkError> {
        let id = joint.motor.id;
        self.bus.ping(id)?;
        let model = self.bus.read(id, register::MODEL)?;
        if model != register::STS3215 {
            return Err(
                joint.said(format!("its model is {model}; an STS3215 says {}", register::STS3215))
            );
        }
        for (register, value) in kept_calibration(&joint.motor) {
            let has = self.bus.read(id, register)?;
            if has != value {
                let what = match register {
                    register::HOMING_OFFSET => "homing_offset",
                    register::MIN_POSITION => "range_min",
                    _ => "range_max",
                };
                return Err(joint.said(format!(
                    "{what} is {has} in the servo and {value} in the calibration file: another \
                     arm's file, or calibrated since? Load the right one, or set it up again"
                )));
            }
        }
        Ok(())
    }

    fn configure(&mut self, joint: &ServoJoint) -> Result<(), LinkError> {
        let settings = &self.settings;
        let mut values = vec![
            (register::RETURN_DELAY, 0),
            (register::MAX_ACCELERATION, 254),
            (register::ACCELERATION, 254),
            (register::OPERATING_MODE, 0),
            (register::P_GAIN, settings.p_gain),
            (register::I_GAIN, settings.i_gain),
            (register::D_GAIN, settings.d_gain),
        ];
        if joint.gripper.is_some() {
            values.extend([
                (register::MAX_TORQUE, settings.gripper_torque),
                (register::PROTECTION_CURRENT, settings.gripper_current),
                (register::OVERLOAD_TORQUE, settings.gripper_overload),
            ]);
        }
        unlocked(&mut self.bus, joint.motor.id, &values)
    }

    /// Keeps on when one fails, so that the others are reached all the same.
    fn all(
        &mut self,
        mut what: impl FnMut(&mut Bus<P>, &ServoJoint, i32) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        self.bus.set_settings(PATIENT);
        let mut first = Ok(());
        for joint in &self.joints {
            let done = what(&mut self.bus, joint, self.settings.torque(joint));
            first = first.and(done);
        }
        first
    }
}

impl<P: Port> ArmDevice for ServoArm<P> {
    fn read(&mut self, reading: &mut JointReading) -> Result<(), LinkError> {
        self.bus.set_settings(self.quick);
        let ids: Vec<u8> = self.joints.iter().map(|joint| joint.motor.id).collect();
        self.bus.sync_read(&ids, MEASURED.address, MEASURED_BYTES, &mut self.answers)?;
        reading.resize(self.joints.len());
        let number = |answer: &Answer, register: Register| {
            let at = usize::from(register.address - MEASURED.address);
            register.decode(answer.bytes.get(at..).unwrap_or_default())
        };
        let mut at: Option<Instant> = None;
        for (j, joint) in self.joints.iter().enumerate() {
            let answer = self.answers.iter().find(|answer| answer.id == joint.motor.id);
            reading.is_missing[j] = answer.is_none();
            let Some(answer) = answer else { continue };
            reading.pos[j] = joint.position(number(answer, register::PRESENT_POSITION));
            let counts_s = f64::from(number(answer, register::PRESENT_VELOCITY));
            reading.vel[j] = counts_s * joint.rate();
            let load = f64::from(number(answer, register::PRESENT_LOAD)) / 1000.0;
            reading.effort[j] = load * joint.max_effort * joint.rate().signum();
            reading.temperature_c[j] = number(answer, register::PRESENT_TEMPERATURE).into();
            reading.voltage_v[j] = f64::from(number(answer, register::PRESENT_VOLTAGE)) / 10.0;
            reading.faults[j] = answer.faults | Faults(number(answer, register::STATUS) as u8);
            // The oldest of the answers: what is not newer than that is known of all.
            at = Some(at.map_or(answer.at, |at| at.min(answer.at)));
        }
        if reading.is_missing.iter().all(|missing| !missing) {
            reading.at = at.unwrap_or(reading.at);
        }
        Ok(())
    }

    fn write(&mut self, targets: &[f64]) -> Result<(), LinkError> {
        self.bus.set_settings(self.quick);
        self.goals.clear();
        let goals = self.joints.iter().zip(targets);
        self.goals.extend(goals.map(|(joint, target)| (joint.motor.id, joint.count(*target))));
        self.bus.sync_write(register::GOAL_POSITION, &self.goals)
    }

    fn hold(&mut self) -> Result<(), LinkError> {
        self.bus.set_settings(PATIENT);
        for joint in self.joints.clone() {
            self.configure(&joint)?;
        }
        self.all(|bus, joint, torque| {
            let id = joint.motor.id;
            // The goal first: a servo that gets torque must not jump to an old one.
            let present = bus.read(id, register::PRESENT_POSITION)?;
            bus.write(id, register::GOAL_POSITION, present)?;
            bus.write(id, register::TORQUE_LIMIT, torque)?;
            bus.write(id, register::TORQUE_ENABLE, 1)?;
            match bus.read(id, register::TORQUE_ENABLE)? {
                1 => Ok(()),
                other => Err(joint.said(format!("its torque stays off ({other})"))),
            }
        })
    }

    fn release(&mut self, over: Duration) -> Result<(), LinkError> {
        const STEPS: u32 = 20;
        for step in (1..STEPS).rev().take_while(|_| !over.is_zero()) {
            let fraction = f64::from(step) / f64::from(STEPS);
            let limits: Vec<(u8, i32)> = self
                .joints
                .iter()
                .map(|joint| {
                    (joint.motor.id, (f64::from(self.settings.torque(joint)) * fraction) as i32)
                })
                .collect();
            if self.bus.sync_write(register::TORQUE_LIMIT, &limits).is_err() {
                break;
            }
            std::thread::sleep(over / STEPS);
        }
        self.all(|bus, joint, torque| {
            bus.write(joint.motor.id, register::TORQUE_ENABLE, 0)?;
            bus.write(joint.motor.id, register::TORQUE_LIMIT, torque).map(|_| ())
        })
    }

    fn bus_counts(&self) -> Option<super::BusCounts> {
        Some(self.bus.counts())
    }
}

fn kept_calibration(motor: &MotorCalibration) -> [(Register, i32); 3] {
    [
        (register::HOMING_OFFSET, motor.homing_offset),
        (register::MIN_POSITION, motor.range_min),
        (register::MAX_POSITION, motor.range_max),
    ]
}

/// Writes values for good, where they are not so already: torque off, lock open, each read back. A
/// servo that has them all keeps its torque, and the arm its pose.
fn unlocked<P: Port>(
    bus: &mut Bus<P>,
    id: u8,
    values: &[(Register, i32)],
) -> Result<(), LinkError> {
    let mut other = Vec::new();
    for (register, value) in values {
        if bus.read(id, *register)? != *value {
            other.push((*register, *value));
        }
    }
    if other.is_empty() {
        return Ok(());
    }
    bus.write(id, register::TORQUE_ENABLE, 0)?;
    bus.write(id, register::LOCK, 0)?;
    for (register, value) in other {
        bus.write(id, register, value)?;
        let has = bus.read(id, register)?;
        if has != value {
            let reason = format!("register {} keeps {has}, not {value}", register.address);
            return Err(LinkError::bad(format!("servo {id}"), reason));
        }
    }
    bus.write(id, register::LOCK, 1).map(|_| ())
}

#[cfg(test)]
mod tests {
    use citrange_robot::Robot;

    use super::*;

    #[test]
    fn exact_positions_are_those_of_the_counts() {
        let robot = Robot::load("so101").unwrap();
        for joint in &robot.chain().joints {
            for drive_mode in [0, 1] {
                let (homing_offset, range_min, range_max) = (5, 801, 3300);
                let motor =
                    MotorCalibration { id: 1, drive_mode, homing_offset, range_min, range_max };
                let servo = ServoJoint::new(joint, motor);
                for count in range_min..=range_max {
                    let at = servo.position(count);
                    assert!((servo.exact_position(f64::from(count)) - at).abs() < 1e-12);
                    assert!((servo.exact_count(at) - f64::from(count)).abs() < 1e-9);
                    assert_eq!(servo.count(at), count);
                }
            }
        }
    }
}
