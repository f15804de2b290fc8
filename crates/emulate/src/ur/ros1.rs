//! The UR on ROS 1: a thread that simulates it in real time and says everything that its driver
//! would.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use citrange_core::{BoxError, Pace, Pacer};
use citrange_ros::action::{ActionServer, Asked};
use citrange_ros::message::{
    Bool, Float64, FollowJointTrajectoryFeedback, FollowJointTrajectoryGoal, GoalId, Header, Int8,
    JointState, JointTrajectoryPoint, Message, Status, TfMessage, Time, TriggerAnswer,
};
use citrange_ros::{Format, Master, Node, NodeSettings, Publisher, RosError};
use serde_json::{Value, json};

use super::UrOptions;
use super::cameras::Cameras;
use super::faults::{Faults, Follows, NotNumbers, Order};
use crate::driven_arm::{DrivenArm, Extremes};
use crate::trajectory_controller::{Ended, GoalPoint, Tolerances, TrajectoryController};

/// How far from the end an arm stops that comes short, rad.
const SHORT_RAD: f64 = 0.15;
/// Where a master of our own is, if nobody says where.
const PORT: u16 = 11311;

/// What its thread tells.
#[derive(Clone, Debug, Default)]
struct Told {
    names: Vec<String>,
    pos: Vec<f64>,
    vel: Vec<f64>,
    desired: Vec<f64>,
    extremes: Vec<Extremes>,
    goals: Goals,
    /// Why it simulates no more.
    failed: Option<String>,
}

/// How many goals ended in which way.
#[derive(Clone, Copy, Debug, Default)]
struct Goals {
    accepted: u64,
    rejected: u64,
    preempted: u64,
    succeeded: u64,
    aborted: u64,
    is_running: bool,
}

#[derive(Debug, Default)]
struct Shared {
    faults: Mutex<Faults>,
    told: Mutex<Told>,
    is_over: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A UR that is not there; ends when it is dropped.
#[derive(Debug)]
pub struct EmulatedUr {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    master: Option<Master>,
    uri: String,
}

impl EmulatedUr {
    /// On the master that is there, or on one of our own.
    ///
    /// # Errors
    /// When there is no such scene or camera, or nothing can be served.
    pub fn spawn(options: UrOptions) -> Result<Self, BoxError> {
        let mut who = match &options.master_uri {
            Some(uri) => NodeSettings::new("ur_hardware_interface", uri, None)?,
            None => NodeSettings::from_environment("ur_hardware_interface")?,
        };
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let master = match Node::start(who.clone()) {
            Ok(_left_again) => None,
            Err(RosError::NoMaster { .. }) if who.ip.is_loopback() => {
                let port = if options.master_uri.is_some() { who.master.port } else { PORT };
                Some(Master::start(here, port)?)
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(master) = &master {
            who.master = master.uri().parse()?;
        }
        let uri = who.master.to_string();
        let arm = DrivenArm::new(&options.scene, &options.cameras)?;
        let shared = Arc::new(Shared::default());
        let driver = Driver::new(arm, options, who, Arc::clone(&shared))?;
        let thread = std::thread::Builder::new().name("ur".into()).spawn(move || driver.run())?;
        Ok(Self { shared, thread: Some(thread), master, uri })
    }

    /// Where its master is.
    #[must_use]
    pub fn master_uri(&self) -> &str {
        &self.uri
    }

    /// Whether the master is ours.
    #[must_use]
    pub fn has_own_master(&self) -> bool {
        self.master.is_some()
    }

    /// Does what an order says, and answers how the arm is. Orders: [`super::UR_ORDERS`].
    ///
    /// # Errors
    /// When it is no order.
    pub fn order(&self, line: &str) -> Result<Value, String> {
        locked(&self.shared.faults).order(line)?;
        let mut told = locked(&self.shared.told);
        let goals = told.goals;
        let answer = json!({
            "joints": told.names,
            "positions": told.pos,
            "velocities": told.vel,
            "desired": told.desired,
            "fastest_rad_s": told.extremes.iter().map(|e| e.speed).collect::<Vec<_>>(),
            "hardest_rad_s2": told.extremes.iter().map(|e| e.acceleration).collect::<Vec<_>>(),
            "goals": {
                "accepted": goals.accepted, "rejected": goals.rejected,
                "preempted": goals.preempted, "succeeded": goals.succeeded,
                "aborted": goals.aborted, "running": goals.is_running,
            },
            "failed": told.failed,
        });
        // Since it was asked last.
        told.extremes.fill(Extremes::default());
        Ok(answer)
    }
}

impl Drop for EmulatedUr {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _it_left = thread.join();
        }
    }
}

/// Everything that is connected while the driver runs.
struct Ros {
    server: ActionServer,
    states: Publisher,
    tf: Publisher,
    scale: Publisher,
    running: Publisher,
    safety: Publisher,
    mode: Publisher,
    cameras: Cameras,
    _node: Node,
}

struct Driver {
    arm: DrivenArm,
    controller: TrajectoryController,
    options: UrOptions,
    who: NodeSettings,
    shared: Arc<Shared>,
    ros: Option<Ros>,
    running: Option<GoalId>,
    goals: Goals,
    names: Vec<String>,
    last: Faults,
    rng: Rng,
    tick: u64,
    frozen: Option<Vec<f64>>,
}

impl Driver {
    fn new(
        arm: DrivenArm,
        options: UrOptions,
        who: NodeSettings,
        shared: Arc<Shared>,
    ) -> Result<Self, BoxError> {
        let controller = TrajectoryController::new(arm.pos(), Tolerances::default());
        let names = arm.chain().joints.iter().map(|joint| joint.name.clone()).collect();
        let mut own = Self {
            arm,
            controller,
            options,
            who,
            shared,
            ros: None,
            running: None,
            goals: Goals::default(),
            names,
            last: Faults::default(),
            rng: Rng::new(1),
            tick: 0,
            frozen: None,
        };
        own.ros = Some(own.connect()?);
        own.tell();
        Ok(own)
    }

    fn connect(&self) -> Result<Ros, RosError> {
        let node = Node::start(self.who.clone())?;
        let modes = ["ur_dashboard_msgs/RobotMode", "73b72d58742c4889c47118411b03a3b4"];
        let safeties = ["ur_dashboard_msgs/SafetyMode", "5da08725a63d4237bad689481131a84b"];
        let ur = |name: &str| format!("/ur_hardware_interface/{name}");
        let byte = || "int8 mode\n".to_owned();
        let trigger = [TriggerAnswer::TYPE, TriggerAnswer::MD5];
        let pressed = |change: fn(&mut Faults), message: &'static str| {
            let shared = Arc::clone(&self.shared);
            move |_: &[u8]| {
                change(&mut locked(&shared.faults));
                let answer = TriggerAnswer { success: true, message: message.to_owned() };
                Ok(answer.to_bytes(Format::Ros1))
            }
        };
        let play = pressed(|faults| faults.program_runs = true, "Starting program");
        let stop = pressed(|faults| faults.program_runs = false, "Stopped");
        let unlock = pressed(|faults| faults.safety_mode = 1, "Protective stop releasing");
        node.provide_service(&ur("dashboard/play"), trigger, Box::new(play))?;
        node.provide_service(&ur("dashboard/stop"), trigger, Box::new(stop))?;
        node.provide_service(&ur("dashboard/unlock_protective_stop"), trigger, Box::new(unlock))?;
        let ros = Ros {
            server: ActionServer::new(&node, &self.options.action)?,
            states: node.advertise::<JointState>("/joint_states", 10, false)?,
            tf: node.advertise::<TfMessage>("/tf", 10, false)?,
            scale: node.advertise::<Float64>("/speed_scaling_factor", 1, false)?,
            running: node.advertise::<Bool>(&ur("robot_program_running"), 1, true)?,
            safety: node.advertise_bytes(&ur("safety_mode"), safeties, byte(), 1, true)?,
            mode: node.advertise_bytes(&ur("robot_mode"), modes, byte(), 1, true)?,
            cameras: Cameras::new(&node, self.arm.rig(), self.options.clouds)?,
            _node: node,
        };
        let faults = locked(&self.shared.faults).clone();
        ros.running.publish(&Bool(faults.program_runs));
        ros.safety.publish(&Int8(faults.safety_mode));
        ros.mode.publish(&Int8(7));
        Ok(ros)
    }

    fn run(mut self) {
        let tick_s = 1.0 / f64::from(self.arm.hz());
        let mut pacer = Pacer::new(Pace::REAL_TIME, self.arm.hz());
        while !self.shared.is_over.load(Ordering::Relaxed) {
            pacer.wait();
            let faults = {
                let mut faults = locked(&self.shared.faults);
                let now = faults.clone();
                faults.hang_s = 0.0;
                now
            };
            if faults.hang_s > 0.0 {
                self.hang(faults.hang_s);
                pacer.restart();
            }
            self.come_or_leave(&faults);
            self.hear(&faults);
            if let Err(error) = self.move_on(&faults, tick_s) {
                locked(&self.shared.told).failed = Some(error.to_string());
                return;
            }
            self.say(&faults);
            self.tell();
            self.last = faults;
            self.tick += 1;
        }
    }

    /// As if it had been stopped: nothing is heard, nothing said.
    fn hang(&self, seconds: f64) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < end && !self.shared.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn come_or_leave(&mut self, faults: &Faults) {
        if faults.is_away && self.ros.take().is_some() {
            self.controller.stop();
            (self.running, self.goals.is_running) = (None, false);
        }
        if !faults.is_away && self.ros.is_none() {
            // A master that is not there yet is tried again with the next tick.
            self.ros = self.connect().ok();
        }
    }

    fn hear(&mut self, faults: &Faults) {
        let may_move = faults.program_runs && matches!(faults.safety_mode, 1 | 2);
        if !may_move && self.last.program_runs && self.running.is_some() {
            self.controller.stop();
            self.end(Status::Aborted, 0, "the program was stopped");
        }
        let Some(ros) = &mut self.ros else { return };
        ros.server.is_mute = faults.is_mute;
        for asked in ros.server.asked() {
            let refused = match asked {
                Asked::Goal { id, .. } if !may_move => {
                    Some((id, -1, "controller is not running".to_owned()))
                }
                Asked::Goal { id, goal } => {
                    match take(&mut self.controller, &self.names, &goal, faults.stamp_s) {
                        Ok(()) => {
                            if let Some(old) = self.running.replace(id.clone()) {
                                ros.server.finish(&old, Status::Preempted, 0, "taken over");
                                self.goals.preempted += 1;
                            }
                            ros.server.accept(&id);
                            self.goals.accepted += 1;
                            None
                        }
                        Err((code, text)) => Some((id, code, text)),
                    }
                }
                Asked::Cancel { id } => {
                    if self.running.as_ref() == Some(&id) {
                        self.controller.stop();
                        self.running = None;
                        ros.server.finish(&id, Status::Preempted, 0, "cancelled");
                        self.goals.preempted += 1;
                    }
                    None
                }
            };
            if let Some((id, code, text)) = refused {
                ros.server.finish(&id, Status::Rejected, code, &text);
                self.goals.rejected += 1;
            }
        }
        ros.server.look();
    }

    fn end(&mut self, status: Status, code: i32, text: &str) {
        let counts = &mut self.goals;
        match status {
            Status::Succeeded => counts.succeeded += 1,
            _ => counts.aborted += 1,
        }
        if let (Some(ros), Some(id)) = (&mut self.ros, self.running.take()) {
            ros.server.finish(&id, status, code, text);
        }
    }

    fn move_on(&mut self, faults: &Faults, tick_s: f64) -> Result<(), BoxError> {
        let ended = self.controller.step(tick_s * faults.scale, self.arm.pos());
        match ended {
            Some(Ended::Succeeded) => self.end(Status::Succeeded, 0, ""),
            Some(Ended::OffPath) => self.end(Status::Aborted, -4, "path tolerance violated"),
            Some(Ended::NotThere) => self.end(Status::Aborted, -5, "goal tolerance violated"),
            None => {}
        }
        let mut desired = self.controller.desired().clone();
        // The slider slows down what is asked for.
        desired.vel.iter_mut().for_each(|vel| *vel *= faults.scale);
        match faults.follows {
            Follows::Yes => self.frozen = None,
            Follows::Stalled => {
                let stands = self.frozen.get_or_insert_with(|| desired.pos.clone());
                desired = crate::trajectory_controller::Desired::at_rest(stands);
            }
            Follows::Short => desired.pos[0] -= SHORT_RAD,
        }
        self.arm.tick(&desired)
    }

    fn say(&mut self, faults: &Faults) {
        let Some(ros) = &mut self.ros else { return };
        let now = Time::now().ns() as f64 * 1e-9 + faults.stamp_s;
        let stamp = Time::from_ns((now.max(0.0) * 1e9) as u64);
        let header = |frame: &str| Header { seq: 0, stamp, frame_id: frame.to_owned() };
        let mut order: Vec<usize> =
            (0..self.names.len()).filter(|j| !faults.drops.contains(&self.names[*j])).collect();
        match faults.order {
            Order::Alphabetical => order.sort_by(|a, b| self.names[*a].cmp(&self.names[*b])),
            Order::Model => {}
            Order::Random => {
                for i in (1..order.len()).rev() {
                    order.swap(i, self.rng.below(i + 1));
                }
            }
        }
        let of = |values: &[f64]| -> Vec<f64> { order.iter().map(|j| values[*j]).collect() };
        let mut state = JointState {
            header: Header { seq: self.tick as u32, ..header("") },
            name: order.iter().map(|j| self.names[*j].clone()).collect(),
            position: of(self.arm.pos()),
            velocity: of(self.arm.vel()),
            effort: vec![0.0; order.len()],
        };
        match faults.not_numbers {
            NotNumbers::None => {}
            NotNumbers::Position => {
                let middle = state.position.len() / 2;
                state.position.iter_mut().skip(middle).take(1).for_each(|pos| *pos = f64::NAN);
            }
            NotNumbers::Velocities => state.velocity.fill(f64::NAN),
        }
        ros.states.publish(&state);
        if ros.tf.is_heard() {
            let tool = super::tf::base_from_tool(self.arm.chain(), self.arm.pos());
            ros.tf.publish(&TfMessage { transforms: vec![tool.stamped(header("base"))] });
        }
        if self.tick.is_multiple_of(25) {
            ros.scale.publish(&Float64(faults.scale));
        }
        if faults.program_runs != self.last.program_runs {
            ros.running.publish(&Bool(faults.program_runs));
        }
        if faults.safety_mode != self.last.safety_mode {
            ros.safety.publish(&Int8(faults.safety_mode));
        }
        if let Some(id) = &self.running {
            let desired = self.controller.desired();
            let point = |pos: Vec<f64>, vel: Vec<f64>| JointTrajectoryPoint {
                positions: pos,
                velocities: vel,
                ..JointTrajectoryPoint::default()
            };
            let actual = (self.arm.pos().to_vec(), self.arm.vel().to_vec());
            let off = desired.pos.iter().zip(&actual.0).map(|(to, is)| to - is).collect();
            let feedback = FollowJointTrajectoryFeedback {
                header: header(""),
                joint_names: self.names.clone(),
                desired: point(desired.pos.clone(), desired.vel.clone()),
                actual: point(actual.0, actual.1),
                error: point(off, Vec::new()),
            };
            ros.server.tell(id, feedback);
        }
        let every = u64::from(self.arm.hz() / self.arm.frame_hz().max(1)).max(1);
        if self.tick.is_multiple_of(every) && !faults.camera_stands && ros.cameras.are_wanted() {
            // A picture that cannot be drawn is one less.
            if let Ok(images) = self.arm.pictures() {
                ros.cameras.publish(images, stamp);
            }
        }
    }

    fn tell(&mut self) {
        let extremes = self.arm.extremes();
        let mut told = locked(&self.shared.told);
        told.names.clone_from(&self.names);
        told.pos = self.arm.pos().to_vec();
        told.vel = self.arm.vel().to_vec();
        told.desired.clone_from(&self.controller.desired().pos);
        told.extremes.resize(extremes.len(), Extremes::default());
        for (most, now) in told.extremes.iter_mut().zip(extremes) {
            most.speed = most.speed.max(now.speed);
            most.acceleration = most.acceleration.max(now.acceleration);
        }
        told.goals = Goals { is_running: self.running.is_some(), ..self.goals };
    }
}

/// Brings a goal's points into the order of the controller's joints, and has them taken over.
fn take(
    controller: &mut TrajectoryController,
    names: &[String],
    goal: &FollowJointTrajectoryGoal,
    clock_s: f64,
) -> Result<(), (i32, String)> {
    let trajectory = &goal.trajectory;
    let place = |name: &String| trajectory.joint_names.iter().position(|other| other == name);
    let order: Option<Vec<usize>> = names.iter().map(place).collect();
    let order = order
        .filter(|_| trajectory.joint_names.len() == names.len())
        .ok_or_else(|| (-2, format!("joints must be {}", names.join(", "))))?;
    let count = names.len();
    let sorted = |values: &[f64]| -> Result<Vec<f64>, (i32, String)> {
        match values.len() {
            0 => Ok(Vec::new()),
            n if n == count => Ok(order.iter().map(|i| values[*i]).collect()),
            n => Err((-1, format!("{n} numbers for {count} joints"))),
        }
    };
    let mut points = Vec::new();
    for point in &trajectory.points {
        points.push(GoalPoint {
            after_s: point.time_from_start.s(),
            pos: sorted(&point.positions)?,
            vel: sorted(&point.velocities)?,
            acc: sorted(&point.accelerations)?,
        });
    }
    let stamp = trajectory.header.stamp;
    let begins_in_s = match stamp == Time::default() {
        true => 0.0,
        false => stamp.ns() as f64 * 1e-9 - (Time::now().ns() as f64 * 1e-9 + clock_s),
    };
    controller.take(&points, begins_in_s)
}
