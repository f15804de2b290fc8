//! A whole SO-101 on an emulated bus, and orders to it in words: faults, hands, power.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use citrange_core::{BoxError, Rig as _};
use citrange_link::feetech::register::{COUNTS, STS3215};
use citrange_link::feetech::{Calibration, Faults, MotorCalibration, ServoJoint};
use citrange_robot::Chain;
use citrange_sim::{CompiledScene, SimRig, load_scene};
use serde_json::{Value, json};

use crate::pseudo_terminal::{EmulatedBus, spawn_servo_bus};
use crate::servo::Servo;
use crate::servo_bus::ServoBus;
use crate::simulated_arm::SimulatedArm;
use crate::stage::{CameraFault, Stage};
use crate::stage_server::StageServer;

/// Counts of a magnet above those that a calibrated joint reads: no arm is put together so well
/// that there are none.
const OFFSETS: [i32; 6] = [60, -110, 25, -40, 0, 130];

/// What arm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembly {
    /// Ids given, calibrated: ready to be driven.
    Calibrated,
    /// Ids given, never calibrated.
    Uncalibrated,
}

/// An SO-101 that is not there.
#[derive(Debug)]
pub struct EmulatedSo101 {
    // The server first: it ends before the arm that fills its stage.
    _server: Option<StageServer>,
    stage: Option<Arc<Stage>>,
    bus: EmulatedBus,
    calibration: Calibration,
}

/// The calibration that our model of an arm has: each joint's range in counts around the middle.
///
/// # Errors
/// When a joint has no range.
pub fn model_calibration(chain: &Chain) -> Result<Calibration, BoxError> {
    let motors = chain.joints.iter().zip(1_u8..).map(|(joint, id)| {
        let [low, high] = joint.range.ok_or_else(|| format!("{} has no range", joint.name))?;
        let half = (high - low) / 2.0 * f64::from(COUNTS - 1) / std::f64::consts::TAU;
        // LeRobot has the whole turn for the joint that turns the wrist.
        let half = if joint.name == "wrist_roll" { f64::from(COUNTS) } else { half };
        let middle = f64::from(COUNTS - 1) / 2.0;
        let motor = MotorCalibration {
            id,
            drive_mode: 0,
            homing_offset: OFFSETS[usize::from(id - 1) % OFFSETS.len()],
            range_min: (middle - half).round().max(0.0) as i32,
            range_max: (middle + half).round().min(f64::from(COUNTS - 1)) as i32,
        };
        Ok((joint.name.clone(), motor))
    });
    Ok(Calibration::new(motors.collect::<Result<_, BoxError>>()?)?)
}

impl EmulatedSo101 {
    /// The arm of a scene, with its physics.
    ///
    /// # Errors
    /// When there is no such scene, its robot has not six joints, or there is no pseudo-terminal.
    pub fn spawn(scene: &str, assembly: Assembly) -> Result<Self, BoxError> {
        Self::spawn_seen(scene, assembly, None)
    }

    /// The same, its scene seen on a socket: pictures of its cameras, and where its things are.
    ///
    /// # Errors
    /// As [`Self::spawn`], or when the socket cannot be made.
    pub fn spawn_seen(
        scene: &str,
        assembly: Assembly,
        socket: Option<&Path>,
    ) -> Result<Self, BoxError> {
        let scene = Arc::new(CompiledScene::new(&load_scene(scene)?)?);
        let cameras: Option<&[String]> = if socket.is_some() { None } else { Some(&[]) };
        let mut rig = SimRig::new(scene.clone(), cameras)?;
        rig.leave_pictures_out(true);
        let stage = socket.map(|_| Arc::new(Stage::new(rig.spec().cameras.clone())));
        let chain = scene.chain(rig.robot())?;
        if chain.joints.len() != OFFSETS.len() {
            let text = format!("{} has {} joints, not 6", chain.robot, chain.joints.len());
            return Err(text.into());
        }
        let calibration = model_calibration(&chain)?;
        let joints = chain.joints.iter().zip(calibration.motors());
        let servos = joints
            .map(|(joint, (_, motor))| (ServoJoint::new(joint, *motor), motor.homing_offset))
            .collect();
        let mut arm = SimulatedArm::new(rig, servos)?;
        if let Some(stage) = &stage {
            arm.show_on(stage.clone());
        }
        let starts = arm.counts().into_iter().zip(calibration.motors());
        let servos = starts.map(|(at, (_, motor))| {
            let mut servo = Servo::new(motor.id, at);
            if assembly == Assembly::Calibrated {
                servo.calibrate(motor);
            }
            servo
        });
        let bus = spawn_servo_bus(ServoBus::new(servos.collect()), arm)?;
        let server = match (socket, &stage) {
            (Some(path), Some(stage)) => Some(
                StageServer::start(path, stage)
                    .map_err(|error| format!("{}: {error}", path.display()))?,
            ),
            _ => None,
        };
        Ok(Self { _server: server, stage, bus, calibration })
    }

    /// Its bus: what to open, and its servos.
    #[must_use]
    pub fn bus(&self) -> &EmulatedBus {
        &self.bus
    }

    /// The calibration that is right for it.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Does what an order says, and answers what every servo is then. Orders: [`ORDERS`].
    ///
    /// # Errors
    /// When it is no order.
    pub fn order(&self, line: &str) -> Result<Value, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut bus = self.bus.bus();
        let number = |word: &str| {
            word.parse::<i64>().map_err(|_| format!("\"{word}\" is no number in \"{line}\""))
        };
        let count = |word: &str| number(word).map(|n| u32::try_from(n).unwrap_or(0));
        let id = |word: &str| {
            u8::try_from(number(word)?).map_err(|_| format!("\"{word}\" is no servo's id"))
        };
        let missing = |id: u8| format!("there is no servo {id}");
        let stage = || self.stage.as_ref().ok_or("its scene is not seen: start it with --socket");
        match words.as_slice() {
            [] | ["look"] => {}
            ["lose", n] => bus.faults.lose = count(n)?,
            ["corrupt", n] => bus.faults.corrupt = count(n)?,
            ["double", n] => bus.faults.double = count(n)?,
            ["cut", n] => bus.faults.cut = count(n)?,
            ["late", n, ms] => {
                bus.faults.late_by = Duration::from_millis(count(ms)?.into());
                bus.faults.late = count(n)?;
            }
            ["limp", n] => {
                let id = id(n)?;
                bus.servo(id).ok_or_else(|| missing(id))?.set_limp(true);
            }
            ["firm", n] => {
                let id = id(n)?;
                bus.servo(id).ok_or_else(|| missing(id))?.set_limp(false);
            }
            ["noise", n] => bus.faults.noise = count(n)?,
            ["gone", n] => {
                let id = id(n)?;
                bus.faults.gone.push(id);
            }
            ["back", n] => {
                let id = id(n)?;
                bus.faults.gone.retain(|gone| *gone != id);
            }
            ["fault", n, bits] => {
                let (id, bits) = (id(n)?, number(bits)? as u8);
                bus.servo(id).ok_or_else(|| missing(id))?.force_faults(Faults(bits));
            }
            ["supply", n, degrees, tenths] => {
                let (id, degrees, tenths) = (id(n)?, number(degrees)?, number(tenths)?);
                let servo = bus.servo(id).ok_or_else(|| missing(id))?;
                servo.set_supply(degrees as i32, tenths as i32);
            }
            ["turn", n, counts] => {
                let (id, counts) = (id(n)?, number(counts)? as f64);
                bus.servo(id).ok_or_else(|| missing(id))?.hold_by_hand(Some(counts));
            }
            ["free", n] => {
                let id = id(n)?;
                bus.servo(id).ok_or_else(|| missing(id))?.hold_by_hand(None);
            }
            ["camera", name, how] => {
                let known = "well, freeze, hang, black, slow or gone";
                let fault = CameraFault::named(how)
                    .ok_or_else(|| format!("\"{how}\" happens to no camera: {known}"))?;
                stage()?.set_fault(name, fault)?;
            }
            ["reset", seed, episode] => {
                let number = |word| Ok::<_, String>(u64::try_from(number(word)?).unwrap_or(0));
                stage()?.order(number(seed)?, number(episode)?);
            }
            ["power"] => bus.servos.iter_mut().for_each(Servo::power_cycle),
            _ => return Err(format!("\"{line}\" is no order; there are: {ORDERS}")),
        }
        let servos = bus.servos.iter().map(|servo| {
            json!({
                "id": servo.id(),
                "model": STS3215,
                "position": servo.present(),
                "counts": servo.shaft().counts,
                "goal": servo.get(citrange_link::feetech::register::GOAL_POSITION),
                "torque": servo.has_torque(),
                "load": servo.shaft().load,
                "faults": servo.faults().0,
            })
        });
        let servos: Vec<Value> = servos.collect();
        let mut told = json!({ "heard": bus.heard(), "servos": servos });
        if let Some(stage) = &self.stage {
            told["things"] = json!(stage.things().things);
        }
        Ok(told)
    }
}

/// What can be ordered.
pub const ORDERS: &str = "look; lose N, corrupt N, double N, cut N (answers), late N MS, noise N (bytes); \
                          gone ID, back ID; limp ID, firm ID (its gear); fault ID BITS; supply ID DEGREES TENTHS_OF_VOLT; \
                          turn ID COUNTS, free ID (by hand, \
                          without torque); power (off and on); camera NAME \
                          well|freeze|hang|black|slow|gone; reset SEED EPISODE (its things)";
