//! The simulated robot's trajectory controller: takes motions, follows them, ends at rest by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use citrange_plan::{Feedforward, JointLimit, Moment, Trajectory};

use crate::driver::{Driver, DriverEvent};

/// What goes wrong at the driver, once each.
#[derive(Clone, Debug, PartialEq)]
pub enum DriverFault {
    /// The next motion is refused.
    Refuse {
        /// As of `FollowJointTrajectory`.
        code: i32,
    },
    /// A motion is given up this long after it began.
    Abort {
        /// Since its beginning.
        at_s: f64,
        /// As of `FollowJointTrajectory`.
        code: i32,
    },
    /// From then on motions are carried out at a fraction of their speed.
    Scale {
        /// Since the beginning of a motion.
        at_s: f64,
        /// The fraction; 0 is a slider at its end.
        scale: f64,
        /// For so long.
        for_s: f64,
    },
    /// The robot is stopped by itself: power is cut or held back.
    RobotStop {
        /// Since the beginning of a motion.
        at_s: f64,
        /// What it says.
        what: String,
        /// What a person has to do.
        cure: String,
    },
    /// The arm stands still while the driver goes on: it does not follow.
    Stuck {
        /// Since the beginning of a motion.
        at_s: f64,
    },
    /// Acceptance never comes.
    Mute,
}

/// Which a driver's motion is, and where it is in it.
#[derive(Clone, Debug)]
struct Active {
    id: u64,
    motion: Trajectory,
    time_s: f64,
}

/// What waits to have an effect.
#[derive(Clone, Debug)]
struct Pending {
    due_ns: u64,
    id: u64,
    motion: Trajectory,
    replaces: bool,
}

/// The controller itself: one side is the twin's [`SimDriver`], the other the simulated arm.
pub struct Controller {
    active: Option<Active>,
    pending: Vec<Pending>,
    events: Vec<DriverEvent>,
    faults: Vec<DriverFault>,
    feedforward: Option<Feedforward>,
    limits: Vec<JointLimit>,
    latency_ns: u64,
    tick_s: f64,
    now_ns: u64,
    /// Where the arm is held when nothing is carried out.
    held: Vec<f64>,
    scale: f64,
    scale_back_ns: Option<u64>,
    is_ready: bool,
    is_stuck: bool,
    /// When the first motion began to move the arm.
    first_ns: Option<u64>,
}

impl Controller {
    /// Holds the arm where it is.
    #[must_use]
    pub fn new(
        held: Vec<f64>,
        limits: Vec<JointLimit>,
        feedforward: Option<Feedforward>,
        control_hz: u32,
        latency_s: f64,
    ) -> Self {
        Self {
            active: None,
            pending: Vec::new(),
            events: Vec::new(),
            faults: Vec::new(),
            feedforward,
            limits,
            latency_ns: (latency_s * 1e9) as u64,
            tick_s: 1.0 / f64::from(control_hz.max(1)),
            now_ns: 0,
            held,
            scale: 1.0,
            scale_back_ns: None,
            is_ready: true,
            is_stuck: false,
            first_ns: None,
        }
    }

    /// Something that will go wrong.
    pub fn spoil(&mut self, fault: DriverFault) {
        self.faults.push(fault);
    }

    /// A person has dealt with what stopped the robot.
    pub fn release(&mut self) {
        if !self.is_ready {
            self.is_ready = true;
            self.events.push(DriverEvent::RobotBack);
        }
        self.is_stuck = false;
    }

    /// When the first motion began.
    #[must_use]
    pub fn first_ns(&self) -> Option<u64> {
        self.first_ns
    }

    /// Whether the arm is being moved.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.active.is_some()
    }

    /// Where the arm will be so much later; `None` where it is at the motion's end by then.
    #[must_use]
    pub fn ahead(&self, ahead_s: f64) -> Option<Vec<f64>> {
        let active = self.active.as_ref()?;
        let time_s = active.time_s + ahead_s;
        (time_s < active.motion.duration_s()).then(|| active.motion.sample(time_s).positions)
    }

    /// The targets of a tick. `joints`: where they are.
    pub fn targets(&mut self, now_ns: u64, joints: &[f64], targets: &mut [f64]) {
        self.now_ns = now_ns;
        self.take_due();
        self.go_wrong(joints);
        if self.scale_back_ns.is_some_and(|back| now_ns >= back) {
            (self.scale, self.scale_back_ns) = (1.0, None);
        }
        let tick_s = self.tick_s;
        let mut moment = rest_at(&self.held);
        if let Some(active) = self.active.as_mut().filter(|_| self.is_ready) {
            let step_s = tick_s * self.scale;
            // A target is held for a tick: the middle of the tick is the best of it.
            moment = active.motion.sample(active.time_s + 0.5 * step_s);
            moment.velocities.iter_mut().for_each(|v| *v *= self.scale);
            moment.accelerations.iter_mut().for_each(|a| *a *= self.scale * self.scale);
            if self.is_stuck {
                moment = rest_at(&self.held);
            } else {
                self.held.clone_from(&moment.positions);
            }
            active.time_s += step_s;
            self.first_ns.get_or_insert(now_ns);
            if active.time_s >= active.motion.duration_s() {
                self.held = active.motion.goal().to_vec();
                self.active = None;
            }
        }
        let loads: Vec<f64> = match &mut self.feedforward {
            Some(feedforward) => feedforward.loads(&moment, joints).map(|l| l.ahead_rad).collect(),
            None => vec![0.0; moment.positions.len()],
        };
        for ((target, position), ahead) in targets.iter_mut().zip(&moment.positions).zip(loads) {
            *target = position + ahead;
        }
    }

    fn take_due(&mut self) {
        let now_ns = self.now_ns;
        while let Some(at) = self.pending.iter().position(|pending| pending.due_ns <= now_ns) {
            let Pending { id, motion, replaces, .. } = self.pending.remove(at);
            if !self.is_ready {
                let text = "the robot is stopped".to_owned();
                self.events.push(DriverEvent::Refused { id, code: -1, text });
                continue;
            }
            if replaces {
                // Both are the same up to later than now: the clock goes on.
                if let Some(active) = self.active.as_mut().filter(|active| active.id == id) {
                    active.motion = motion;
                }
                continue;
            }
            if let Some(fault) = self.faults.iter().position(|f| matches!(f, DriverFault::Mute)) {
                self.faults.remove(fault);
                continue;
            }
            let refuses = |fault: &DriverFault| matches!(fault, DriverFault::Refuse { .. });
            if let Some(at) = self.faults.iter().position(refuses)
                && let DriverFault::Refuse { code } = self.faults.remove(at)
            {
                let text = "invalid goal".to_owned();
                self.events.push(DriverEvent::Refused { id, code, text });
                continue;
            }
            self.active = Some(Active { id, motion, time_s: 0.0 });
            self.events.push(DriverEvent::Accepted { id });
        }
    }

    /// Whatever is to go wrong by now goes wrong.
    fn go_wrong(&mut self, joints: &[f64]) {
        let Some(active) = &self.active else { return };
        let (id, time_s) = (active.id, active.time_s);
        let due = |fault: &DriverFault| match fault {
            DriverFault::Refuse { .. } | DriverFault::Mute => false,
            DriverFault::Abort { at_s, .. }
            | DriverFault::Scale { at_s, .. }
            | DriverFault::RobotStop { at_s, .. }
            | DriverFault::Stuck { at_s } => time_s >= *at_s,
        };
        let Some(at) = self.faults.iter().position(due) else { return };
        match self.faults.remove(at) {
            DriverFault::Abort { code, .. } => {
                self.brake();
                let text = "path tolerance violated".to_owned();
                self.events.push(DriverEvent::Aborted { id, code, text });
            }
            DriverFault::Scale { scale, for_s, .. } => {
                self.scale = scale;
                self.scale_back_ns = Some(self.now_ns + (for_s * 1e9) as u64);
            }
            DriverFault::RobotStop { what, cure, .. } => {
                (self.active, self.is_ready) = (None, false);
                self.held = joints[..self.held.len().min(joints.len())].to_vec();
                self.events.push(DriverEvent::Robot { what, cure });
            }
            DriverFault::Stuck { .. } => {
                self.is_stuck = true;
                self.held = joints[..self.held.len().min(joints.len())].to_vec();
            }
            DriverFault::Refuse { .. } | DriverFault::Mute => {}
        }
    }

    /// Comes to rest along the path, as a driver does that cancels.
    fn brake(&mut self) {
        let Some(active) = &mut self.active else { return };
        if let Ok(stopped) = active.motion.stopped(active.time_s, &self.limits) {
            active.motion = stopped;
            // Nobody knows it by its number any more.
            active.id = 0;
        } else {
            self.active = None;
        }
    }
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("active", &self.active).finish_non_exhaustive()
    }
}

fn rest_at(positions: &[f64]) -> Moment {
    let still = || vec![0.0; positions.len()];
    Moment {
        time_s: 0.0,
        positions: positions.to_vec(),
        velocities: still(),
        accelerations: still(),
        jerks: still(),
    }
}

/// The twin's side of a [`Controller`].
#[derive(Clone, Debug)]
pub struct SimDriver(Arc<Mutex<Controller>>);

impl SimDriver {
    /// A handle; clones are of the same controller.
    #[must_use]
    pub fn new(controller: Controller) -> Self {
        Self(Arc::new(Mutex::new(controller)))
    }

    /// The controller.
    pub fn controller(&self) -> MutexGuard<'_, Controller> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, id: u64, motion: &Trajectory, replaces: bool) {
        let mut controller = self.controller();
        let due_ns = controller.now_ns + controller.latency_ns;
        controller.pending.push(Pending { due_ns, id, motion: motion.clone(), replaces });
    }
}

impl Driver for SimDriver {
    fn send(&mut self, id: u64, motion: &Trajectory) {
        self.put(id, motion, false);
    }

    fn replace(&mut self, id: u64, motion: &Trajectory) {
        self.put(id, motion, true);
    }

    fn cancel(&mut self) {
        let mut controller = self.controller();
        controller.pending.clear();
        controller.brake();
    }

    fn events(&mut self) -> Vec<DriverEvent> {
        std::mem::take(&mut self.controller().events)
    }

    fn time_s(&self) -> Option<f64> {
        self.controller().active.as_ref().map(|active| active.time_s)
    }

    fn running(&self) -> Option<u64> {
        self.controller().active.as_ref().map(|active| active.id)
    }

    fn scale(&self) -> f64 {
        self.controller().scale
    }

    fn is_ready(&self) -> bool {
        self.controller().is_ready
    }
}
