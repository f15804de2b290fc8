//! An arm behind a link as a Rig, for the one loop, with the cameras that see it.

use std::time::{Duration, Instant};

use citrange_core::rig::{JointSpec, RigSpec};
use citrange_core::{
    BoxError, CameraImage, Command, Commanded, Halt, Mode, ObjectSpec, Observation, Rates, Rig,
    Want,
};
use citrange_robot::{Chain, ChainJoint, ChainSite, Kinematics};

use crate::camera::CameraDriver;
use crate::driver::{ArmDriver, ArmState};
use crate::emulated::EmulatedThings;
use crate::error::LinkError;

/// How long an arm may take until it holds.
const HOLDS_WITHIN: Duration = Duration::from_secs(10);
/// How long a camera may take until it gives its first picture.
const SEES_WITHIN: Duration = Duration::from_secs(5);

/// An arm behind a link.
pub struct LinkRig {
    driver: ArmDriver,
    spec: RigSpec,
    kinematics: Kinematics,
    wrist: ChainSite,
    began: Instant,
    ticks: u64,
    /// Each with the number of the picture that was handed out last.
    cameras: Vec<(CameraDriver, u64)>,
    things: Option<EmulatedThings>,
}

impl std::fmt::Debug for LinkRig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkRig").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl LinkRig {
    /// An arm with this chain, asked `control_hz` times and seen `frame_hz` times a second.
    ///
    /// # Errors
    /// When the rates or the chain cannot be.
    pub fn new(
        driver: ArmDriver,
        chain: &Chain,
        control_hz: u32,
        frame_hz: u32,
    ) -> Result<Self, LinkError> {
        let joint = |joint: &ChainJoint| JointSpec {
            name: joint.name.clone(),
            is_slide: joint.is_slide,
            range: joint.range,
            gripper: joint.gripper,
        };
        let physics_hz = driver.cycle_hz().max(control_hz);
        let rates = Rates { physics_hz, control_hz, frame_hz };
        let joints = chain.joints.iter().map(joint).collect();
        let mut spec = RigSpec::new(&chain.robot, joints, rates);
        spec.own_clock = true;
        spec.check_rates().map_err(|error| LinkError::bad("rates", error.to_string()))?;
        let (kinematics, wrist) = (Kinematics::new(chain), chain.wrist.clone());
        let (began, cameras) = (Instant::now(), Vec::new());
        Ok(Self { driver, spec, kinematics, wrist, began, ticks: 0, cameras, things: None })
    }

    /// Seen by these cameras.
    #[must_use]
    pub fn with_cameras(mut self, cameras: Vec<CameraDriver>) -> Self {
        self.spec.cameras = cameras.iter().map(CameraDriver::spec).collect();
        self.cameras = cameras.into_iter().map(|camera| (camera, 0)).collect();
        self
    }

    /// Among things of which a stand-in says where they are.
    #[must_use]
    pub fn with_things(mut self, things: EmulatedThings, specs: Vec<ObjectSpec>) -> Self {
        self.spec.objects = specs;
        self.things = Some(things);
        self
    }

    /// Lays its things out as an episode of a run begins, where a stand-in has them.
    ///
    /// # Errors
    /// When it could not be done.
    pub fn lay_out(&mut self, seed: u64, episode: u64) -> Result<(), LinkError> {
        self.things.as_mut().map_or(Ok(()), |things| things.lay_out(seed, episode))
    }

    /// What is wrong with what it sees.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        let cameras = self.cameras.iter().filter_map(|(camera, _)| {
            let state = camera.state();
            let why = state.lost.or(state.warning)?;
            Some(format!("camera {}: {why}", camera.name()))
        });
        cameras.chain(self.things.as_ref().and_then(EmulatedThings::trouble)).collect()
    }

    /// What the cameras show: a picture each, or that there is none of now.
    fn look(&mut self, images: &mut Vec<CameraImage>) {
        images.clear();
        let (began, ticks) = (self.began, self.ticks);
        let ns = |at: Instant| {
            u64::try_from(at.saturating_duration_since(began).as_nanos()).unwrap_or(u64::MAX)
        };
        images.extend(self.cameras.iter_mut().map(|(camera, last)| {
            let state = camera.state();
            // The first of an episode has none before it that could take its place.
            let counts = state.lost.is_none() || ticks == 0;
            match state.newest {
                Some((picture, at, number)) if counts => {
                    let fresh = *last != number;
                    *last = number;
                    CameraImage { fresh, ..CameraImage::rgb(picture, ns(at)) }
                }
                newest => {
                    let at_ns = newest.map_or(0, |(_, at, _)| ns(at));
                    CameraImage { fresh: false, ..CameraImage::left_out(at_ns) }
                }
            }
        }));
    }

    /// The arm's thread, for health and stops.
    #[must_use]
    pub fn driver(&self) -> &ArmDriver {
        &self.driver
    }

    fn ns(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.began).as_nanos();
        u64::try_from(since).unwrap_or(u64::MAX)
    }

    /// Waits until the arm holds.
    fn engaged(&self) -> Result<ArmState, LinkError> {
        let asked = self.driver.state().counts.engaged;
        self.driver.engage();
        let end = Instant::now() + HOLDS_WITHIN;
        loop {
            let state = self.driver.next_state(Duration::from_millis(100));
            let is_tried = state.counts.engaged > asked;
            match &state.mode {
                Mode::Stopped { why } if is_tried || Instant::now() > end => {
                    return Err(LinkError::NotReady { why: why.clone() });
                }
                Mode::Stopped { .. } => {}
                _ if is_tried => return Ok(state),
                _ if Instant::now() > end => {
                    let why = format!("it does not hold within {} s", HOLDS_WITHIN.as_secs());
                    return Err(LinkError::NotReady { why });
                }
                _ => {}
            }
        }
    }
}

impl Rig for LinkRig {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        for (camera, _) in &self.cameras {
            camera.first(SEES_WITHIN)?;
        }
        // What holds already goes on holding where it is: taking it over anew would let it sink.
        let state = match self.driver.state() {
            state if matches!(state.mode, Mode::Stopped { .. }) => self.engaged()?,
            state => state,
        };
        (self.began, self.ticks) = (Instant::now(), 0);
        *command = Command::at(&state.targets);
        Ok(())
    }

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        if want == Want::Images {
            self.look(&mut seen.images);
        }
        if let Some(things) = &self.things {
            things.see(self.spec.objects.iter().map(|spec| spec.name.as_str()), &mut seen.objects);
        }
        let state = self.driver.state();
        seen.tick = self.ticks;
        seen.step = state.counts.cycles;
        seen.at_ns = self.ns(Instant::now());
        seen.joints_at_ns = self.ns(state.reading.at);
        seen.joint_pos.clone_from(&state.reading.pos);
        seen.joint_vel.clone_from(&state.reading.vel);
        seen.joint_effort.clone_from(&state.reading.effort);
        self.kinematics.update(&seen.joint_pos);
        seen.wrist_pos_m = Some(self.kinematics.site(&self.wrist).pos_m.into());
        seen.mode = state.mode;
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        if let Some(j) = command.pos.iter().position(|pos| !pos.is_finite()) {
            let joint = self.spec.joints.get(j).map_or("a joint", |joint| joint.name.as_str());
            return Err(LinkError::bad(joint, "its target is not a number").into());
        }
        self.driver.send(&command.pos);
        // What was really sent in the last cycle: the gate is ahead of nobody.
        let state = self.driver.state();
        commanded.limited.clone_from(&state.targets);
        commanded.executed.clone_from(&state.targets);
        commanded.digests.clear();
        self.ticks += 1;
        Ok(())
    }

    fn halt(&mut self, how: Halt) {
        match how {
            Halt::Ended | Halt::Abandoned => self.driver.rest(),
            Halt::Stopped => self.driver.stop("somebody stopped it"),
            Halt::PilotFailed => self.driver.stop("the pilot failed"),
            Halt::RigFailed => self.driver.stop("the rig failed"),
            Halt::TapeFailed => self.driver.stop("the recording failed"),
        }
    }
}
