//! The simulated cell as a Rig: its arm behind a trajectory controller, cameras with the noise and
//! the latency of real ones, what happens beside the arm, what goes wrong, and the truth.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use citrange_core::rig::CameraSpec;
use citrange_core::{
    BoxError, CameraImage, Command, Commanded, DepthPicture, Halt, Observation, Rig, RigSpec,
    Snapshot, Want,
};
use citrange_sim::{DepthSensor, SimRig, TouchTally};

use crate::controller::SimDriver;
use crate::faults::{FaultKind, Faults};
use crate::happenings::{Happenings, Moment, state_of};

/// Distances beyond this are not told apart.
const FAR_M: f64 = 0.3;
/// Nearer than this the distance is measured at every tick, else at every frame.
const CLOSE_M: f64 = 0.08;
/// Rays of a covered camera end here.
const COVER_M: f32 = 0.2;

/// What really happened, by the simulator.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Time by the rig's clock and distance of the arm to everything but what it stands on.
    pub distances_m: Vec<(u64, f64)>,
    /// What it touched.
    pub touches: TouchTally,
    /// Speed of the fastest joint at every tick.
    pub speeds_rad_s: Vec<(u64, f64)>,
    /// When a thing was put somewhere first.
    pub placed_ns: Option<u64>,
}

/// The truth of a run, while it goes on and after it.
pub type SharedTruth = Arc<Mutex<Truth>>;

/// The simulated cell.
pub struct TwinRig {
    sim: SimRig,
    spec: RigSpec,
    driver: SimDriver,
    sensor: DepthSensor,
    seed: u64,
    latency_ns: u64,
    /// Pictures on their way: when they arrive, number of the camera, the picture.
    on_way: VecDeque<(u64, usize, CameraImage)>,
    /// The newest that arrived, by camera.
    arrived: Vec<CameraImage>,
    drawn: Vec<CameraImage>,
    frames: u64,
    /// Joints as they were measured, for those that come late.
    past: VecDeque<(u64, Vec<f64>, Vec<f64>)>,
    frozen: Option<(Vec<f64>, Vec<f64>)>,
    faults: Faults,
    happenings: Box<dyn Happenings>,
    truth: SharedTruth,
    last_m: f64,
    measures_distance: bool,
}

/// What a simulated cell is made of.
pub struct TwinRigParts {
    /// The simulator's rig; its touches are watched.
    pub sim: SimRig,
    /// The controller of its arm.
    pub driver: SimDriver,
    /// What its depth cameras do to the truth.
    pub sensor: DepthSensor,
    /// Decides the noise.
    pub seed: u64,
    /// From the taking of a picture to its arrival.
    pub latency_s: f64,
    /// What goes wrong.
    pub faults: Faults,
    /// What happens beside the arm.
    pub happenings: Box<dyn Happenings>,
    /// Whether the true distance is measured, which costs time.
    pub measures_distance: bool,
}

impl TwinRig {
    /// Puts it together.
    #[must_use]
    pub fn new(parts: TwinRigParts) -> Self {
        let spec = parts.sim.spec().clone();
        Self {
            spec,
            sim: parts.sim,
            driver: parts.driver,
            sensor: parts.sensor,
            seed: parts.seed,
            latency_ns: (parts.latency_s * 1e9) as u64,
            on_way: VecDeque::new(),
            arrived: Vec::new(),
            drawn: Vec::new(),
            frames: 0,
            past: VecDeque::new(),
            frozen: None,
            faults: parts.faults,
            happenings: parts.happenings,
            truth: SharedTruth::default(),
            last_m: FAR_M,
            measures_distance: parts.measures_distance,
        }
    }

    /// What really happens.
    #[must_use]
    pub fn truth(&self) -> SharedTruth {
        Arc::clone(&self.truth)
    }

    /// The simulator's rig.
    pub fn sim_mut(&mut self) -> &mut SimRig {
        &mut self.sim
    }

    /// What happens beside the arm from now on.
    pub fn set_happenings(&mut self, happenings: Box<dyn Happenings>) {
        self.happenings = happenings;
    }

    fn moving_s(&self, now_ns: u64) -> Option<f64> {
        let first = self.driver.controller().first_ns()?;
        Some(now_ns.saturating_sub(first) as f64 * 1e-9)
    }

    /// Takes pictures away with a real camera's noise; they arrive later.
    fn send_pictures(&mut self, now_ns: u64) -> Result<(), BoxError> {
        let moving_s = self.moving_s(now_ns);
        let faults: Vec<FaultKind> = self.faults.now(moving_s).collect();
        self.frames += 1;
        for (number, image) in std::mem::take(&mut self.drawn).into_iter().enumerate() {
            let mut image = image;
            let mut latency_ns = self.latency_ns;
            if let Some(depth) = &image.depth {
                let spec = &self.spec.cameras[number];
                let seed = self.seed ^ (self.frames << 20) ^ number as u64;
                image.depth = Some(noisy(&self.sensor, spec, depth, seed)?);
            }
            let last = self.on_way.iter().rev().find(|(_, camera, _)| *camera == number);
            let last = last.map(|(_, _, image)| image).or(self.arrived.get(number));
            let mut is_lost = false;
            for fault in &faults {
                match *fault {
                    FaultKind::CameraRepeats => {
                        if let Some(last) = last {
                            image = last.clone();
                        }
                    }
                    FaultKind::CameraFreezes => {
                        if let Some(last) = last {
                            image = CameraImage { at_ns: image.at_ns, ..last.clone() };
                        }
                    }
                    FaultKind::CameraSilent => is_lost = true,
                    FaultKind::CameraBlack => blank(&mut image, f32::NAN),
                    FaultKind::CameraCovered => blank(&mut image, COVER_M),
                    FaultKind::CameraMoves { by_m } => {
                        // The camera that is believed to stand where it does not.
                        if let Some(pose) = &mut image.world_from_camera {
                            pose.pos_m[0] += by_m;
                        }
                    }
                    FaultKind::CameraLate { by_s } => latency_ns += (by_s * 1e9) as u64,
                    _ => {}
                }
            }
            if !is_lost {
                self.on_way.push_back((now_ns + latency_ns, number, image));
            }
        }
        Ok(())
    }

    /// What has arrived by now.
    fn receive(&mut self, now_ns: u64, seen: &mut Observation) {
        self.arrived.iter_mut().for_each(|image| image.fresh = false);
        while let Some(at) = self.on_way.iter().position(|(due_ns, ..)| *due_ns <= now_ns) {
            let Some((_, number, image)) = self.on_way.remove(at) else { break };
            if let Some(place) = self.arrived.get_mut(number) {
                *place = CameraImage { fresh: true, ..image };
            }
        }
        seen.images.clone_from(&self.arrived);
    }

    /// Joints as they come in, with what goes wrong.
    fn spoil_joints(&mut self, seen: &mut Observation) {
        let now_ns = seen.at_ns;
        self.past.push_back((now_ns, seen.joint_pos.clone(), seen.joint_vel.clone()));
        if self.past.len() > 256 {
            self.past.pop_front();
        }
        let moving_s = self.moving_s(now_ns);
        let faults: Vec<FaultKind> = self.faults.now(moving_s).collect();
        if !faults.contains(&FaultKind::JointsFreeze) {
            self.frozen = None;
        }
        for fault in faults {
            match fault {
                FaultKind::JointsSilent => {
                    // The newest that came in stays the newest.
                    if let Some((at_ns, pos, vel)) = self.frozen_or_last(now_ns) {
                        (seen.joints_at_ns, seen.joint_pos, seen.joint_vel) = (at_ns, pos, vel);
                    }
                }
                FaultKind::JointsFreeze => {
                    let now = (seen.joint_pos.clone(), seen.joint_vel.clone());
                    let (pos, vel) = self.frozen.get_or_insert(now).clone();
                    (seen.joint_pos, seen.joint_vel) = (pos, vel);
                }
                FaultKind::JointNan => {
                    seen.joint_pos.iter_mut().skip(2).take(1).for_each(|p| *p = f64::NAN);
                }
                FaultKind::JointMissing => {
                    seen.joint_pos.pop();
                    seen.joint_vel.pop();
                }
                FaultKind::JointJumps { by_rad } => {
                    seen.joint_pos.iter_mut().skip(1).take(1).for_each(|p| *p += by_rad);
                }
                FaultKind::JointsLate { by_s } => {
                    let then_ns = now_ns.saturating_sub((by_s * 1e9) as u64);
                    let past = self.past.iter().rev().find(|(at_ns, ..)| *at_ns <= then_ns);
                    if let Some((at_ns, pos, vel)) = past {
                        seen.joints_at_ns = *at_ns;
                        seen.joint_pos.clone_from(pos);
                        seen.joint_vel.clone_from(vel);
                    }
                }
                FaultKind::ClockJumps { by_s } => {
                    let jumped = seen.joints_at_ns as f64 + by_s * 1e9;
                    seen.joints_at_ns = jumped.max(0.0) as u64;
                }
                _ => {}
            }
        }
    }

    /// The last joints before the silence that began when the fault did.
    fn frozen_or_last(&self, now_ns: u64) -> Option<(u64, Vec<f64>, Vec<f64>)> {
        let moving_s = self.moving_s(now_ns)?;
        let silent = self.faults.0.iter().find(|fault| {
            fault.kind == FaultKind::JointsSilent
                && (fault.from_s..fault.from_s + fault.for_s).contains(&moving_s)
        })?;
        let since_ns = now_ns.saturating_sub(((moving_s - silent.from_s) * 1e9) as u64);
        self.past.iter().rev().find(|(at_ns, ..)| *at_ns <= since_ns).cloned()
    }

    fn note_truth(&mut self, now_ns: u64, is_frame: bool) -> Result<(), BoxError> {
        if self.measures_distance && (is_frame || self.last_m < CLOSE_M) {
            self.last_m = self.sim.least_distance_m(FAR_M)?.unwrap_or(FAR_M);
        }
        let speed = self
            .past
            .back()
            .map_or(0.0, |(_, _, vel)| vel.iter().map(|v| v.abs()).fold(0.0, f64::max));
        let mut truth = self.truth.lock().unwrap_or_else(PoisonError::into_inner);
        if self.measures_distance {
            truth.distances_m.push((now_ns, self.last_m));
        }
        truth.speeds_rad_s.push((now_ns, speed));
        if let Some(watch) = self.sim.touches()
            && watch.tally().steps != truth.touches.steps
        {
            truth.touches.clone_from(watch.tally());
        }
        Ok(())
    }
}

impl Rig for TwinRig {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.sim.begin(command)
    }

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        std::mem::swap(&mut seen.images, &mut self.drawn);
        self.sim.observe(want, seen)?;
        std::mem::swap(&mut seen.images, &mut self.drawn);
        let now_ns = seen.at_ns;
        if want == Want::Images {
            if self.arrived.is_empty() {
                // Nothing has arrived yet: pictures that show nothing stand for it.
                let nothing = |image: &CameraImage| CameraImage {
                    rgb: None,
                    depth: None,
                    at_ns: 0,
                    fresh: false,
                    world_from_camera: image.world_from_camera,
                };
                self.arrived = self.drawn.iter().map(nothing).collect();
            }
            self.send_pictures(now_ns)?;
        }
        self.receive(now_ns, seen);
        self.spoil_joints(seen);
        self.note_truth(now_ns, want == Want::Images)
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        let (now_ns, joints) = match self.past.back() {
            Some((now_ns, joints, _)) => (*now_ns, joints.clone()),
            None => (0, self.sim.joint_positions()),
        };
        let moment = Moment {
            now_s: now_ns as f64 * 1e-9,
            moving_s: self.moving_s(now_ns),
            joints: &joints,
        };
        let placed = self.happenings.next(&moment);
        if !placed.is_empty() {
            self.sim.world_mut().set_dict_states(&[state_of(&placed)], None)?;
            let mut truth = self.truth.lock().unwrap_or_else(PoisonError::into_inner);
            truth.placed_ns.get_or_insert(now_ns);
        }
        let mut command = command.clone();
        self.driver.controller().targets(now_ns, &joints, &mut command.pos);
        self.sim.act(&command, commanded)
    }

    fn advance(&mut self, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.sim.advance(commanded)
    }

    fn halt(&mut self, how: Halt) {
        self.sim.halt(how);
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        Ok(None)
    }
}

/// What a real camera makes of an ideal picture.
fn noisy(
    sensor: &DepthSensor,
    spec: &CameraSpec,
    depth: &DepthPicture,
    seed: u64,
) -> Result<DepthPicture, BoxError> {
    let ideal = depth.pixels()?;
    let intrinsics = spec.intrinsics.ok_or("a depth camera without intrinsics")?;
    let mut seen = vec![f32::NAN; ideal.len()];
    sensor.apply(ideal, spec.width_px as usize, &intrinsics.into(), seed, &mut seen)?;
    Ok(DepthPicture::ready(seen))
}

/// A picture that shows the same everywhere.
fn blank(image: &mut CameraImage, depth_m: f32) {
    if let Some(depth) = &image.depth {
        let pixels = depth.pixels().map_or(0, <[f32]>::len);
        image.depth = Some(DepthPicture::ready(vec![depth_m; pixels]));
    }
    image.rgb = None;
}

impl std::fmt::Debug for TwinRig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TwinRig").field("frames", &self.frames).finish_non_exhaustive()
    }
}
