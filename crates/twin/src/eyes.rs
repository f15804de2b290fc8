//! What the cameras see, brought into one map; how old each is, whether it is blind or has moved.

use std::sync::Arc;

use citrange_calibrate::{Drift, DriftSettings, DriftVerdict, DriftWatch};
use citrange_cloud::{CameraPose, DepthImage, View};
use citrange_core::rig::CameraSpec;
use citrange_core::shape::PosedLinkShape;
use citrange_core::{CameraImage, Observation, Pose};
use citrange_plan::PlannedArm;
use citrange_space::{MapSnapshot, Mapper, PosedRobot};

use crate::cause::Cause;
use crate::error::TwinError;
use crate::mirror::Mirror;
use crate::settings::{GuardSettings, TwinSettings};

/// Of every camera one frame in so many is held against the robot's links.
const DRIFT_EVERY: u64 = 6;
/// Pixels of a picture of which one is looked at when it is asked whether the camera is blind.
const BLIND_STEP: usize = 7;
/// Pictures that are the same to the last bit, before a camera counts as frozen.
const SAME: u32 = 3;
/// Frames that must have come before a camera counts as there.
const FIRST_FRAMES: u64 = 3;

/// Cameras and the map that they make.
pub struct Eyes {
    mapper: Mapper,
    eyes: Vec<Eye>,
    arm: PlannedArm,
    /// Shapes of the cell that do not move: what is seen of them is no obstacle of the map.
    fixtures: Vec<PosedLinkShape>,
    shapes: Vec<PosedLinkShape>,
    guard: GuardSettings,
    frames: u64,
}

/// When a camera has moved: a little more than what noise makes of links that are hardly seen.
fn drift() -> DriftSettings {
    DriftSettings {
        max_shift_m: 0.02,
        max_rotation_deg: 3.0,
        frames: 6,
        ..DriftSettings::default()
    }
}

/// One camera.
struct Eye {
    /// Its number among the rig's cameras.
    number: usize,
    spec: CameraSpec,
    /// Where it stands, where settings say so.
    place: Option<Pose>,
    /// When the newest good frame came in, and when it was taken.
    came_ns: Option<u64>,
    stamp_ns: Option<u64>,
    frames: u64,
    digest: u64,
    same: u32,
    blind: Option<String>,
    watch: DriftWatch,
    drift: Option<Drift>,
    alarm: bool,
}

impl Eyes {
    /// Of the rig's cameras that measure depths.
    ///
    /// # Errors
    /// When none does, or settings make no sense.
    pub fn new(
        settings: &TwinSettings,
        cameras: &[CameraSpec],
        arm: &PlannedArm,
        fixtures: Vec<PosedLinkShape>,
    ) -> Result<Self, TwinError> {
        let eye = |(number, spec): (usize, &CameraSpec)| {
            let place = settings
                .cameras
                .get(&spec.name)
                .map(|place| CameraPose { xyz_m: place.xyz_m, rpy_deg: place.rpy_deg }.pose());
            Eye {
                number,
                spec: spec.clone(),
                place,
                came_ns: None,
                stamp_ns: None,
                frames: 0,
                digest: 0,
                same: 0,
                blind: None,
                watch: DriftWatch::new(drift()),
                drift: None,
                alarm: false,
            }
        };
        let measures = cameras.iter().enumerate().filter(|(_, spec)| spec.kind.has_depth());
        let eyes: Vec<Eye> = measures.map(eye).collect();
        if eyes.is_empty() {
            let reason = "none of the rig's measures depths: the twin would be blind";
            return Err(TwinError::bad("cameras", reason));
        }
        if let Some(unknown) =
            settings.cameras.keys().find(|name| eyes.iter().all(|eye| eye.spec.name != **name))
        {
            let known = eyes.iter().map(|eye| eye.spec.name.as_str());
            let hint = citrange_core::names::suggestion(unknown, known);
            return Err(TwinError::bad(format!("cameras.{unknown}"), hint));
        }
        Ok(Self {
            mapper: Mapper::new(settings.pipeline()?, &settings.map())?,
            eyes,
            arm: arm.clone(),
            fixtures,
            shapes: Vec::new(),
            guard: settings.guard.clone(),
            frames: 0,
        })
    }

    /// Takes in the pictures that are new. Whether there is another map.
    pub fn take(&mut self, seen: &Observation, mirror: &Mirror) -> bool {
        let mut is_new = false;
        for number in 0..self.eyes.len() {
            let image = seen.images.get(self.eyes[number].number);
            let Some(image) = image.filter(|image| image.fresh) else { continue };
            match self.see(number, image, mirror) {
                Ok(seen_it) => {
                    let eye = &mut self.eyes[number];
                    if seen_it {
                        (eye.came_ns, eye.stamp_ns) = (Some(seen.at_ns), Some(image.at_ns));
                        (eye.blind, eye.frames) = (None, eye.frames + 1);
                        self.frames += 1;
                        is_new = true;
                    }
                }
                Err(how) => {
                    tracing::debug!(camera = self.eyes[number].spec.name, how, "blind");
                    self.eyes[number].blind = Some(how);
                }
            }
        }
        is_new
    }

    /// Whether a picture was new and went into the map; else how the camera is blind.
    fn see(&mut self, number: usize, image: &CameraImage, mirror: &Mirror) -> Result<bool, String> {
        let eye = &mut self.eyes[number];
        let (Some(depth), Some(intrinsics)) = (&image.depth, eye.spec.intrinsics) else {
            return Ok(false);
        };
        if depth.is_left_out() || eye.stamp_ns == Some(image.at_ns) {
            return Ok(false);
        }
        if eye.stamp_ns.is_some_and(|before| image.at_ns < before) {
            return Err("sending pictures of the past".to_owned());
        }
        let depth_m = depth.pixels().map_err(|e| e.to_string())?;
        eye.look_blind(depth_m, &self.guard)?;
        let Some(pose) = eye.place.or(image.world_from_camera) else {
            return Err("nowhere: nobody says where it stands".to_owned());
        };
        let Some(mut joints) = joints_at(mirror, image.at_ns) else {
            // Where the arm was then is not known: it cannot be taken out.
            return Ok(false);
        };
        joints.extend(self.arm.held().iter().skip(joints.len()));
        self.arm.body().shapes_at(&joints, &mut self.shapes).map_err(|e| e.to_string())?;
        let links = self.shapes.len();
        self.shapes.extend_from_slice(&self.fixtures);
        let size = [eye.spec.width_px, eye.spec.height_px].map(|pixels| pixels as usize);
        let colours = image.rgb.as_ref().filter(|rgb| !rgb.is_left_out());
        let colours = colours.and_then(|rgb| rgb.pixels().ok());
        let picture = DepthImage {
            rgb: colours.map(|rgb| rgb.as_chunks().0),
            ..DepthImage::metres(size, depth_m, intrinsics.into(), image.at_ns)
        };
        if eye.frames.is_multiple_of(DRIFT_EVERY) {
            let view = View::new(pose, Some(intrinsics.into()));
            let points = picture.points().map_err(|e| e.to_string())?;
            let drift = eye.watch.look(&points, &view, &self.shapes[..links]);
            eye.alarm |= drift.verdict == DriftVerdict::Alarm;
            eye.drift = Some(drift);
        }
        let robot = PosedRobot { shapes: &self.shapes, ..PosedRobot::default() };
        let seen = self.mapper.see_depth(eye.number as u16, &picture, &pose, &robot);
        seen.map(|_| true).map_err(|e| e.to_string())
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> Arc<MapSnapshot> {
        self.mapper.snapshot()
    }

    /// How long ago the camera that is silent longest sent a good frame, and its name.
    #[must_use]
    pub fn age_s(&self, now_ns: u64) -> (f64, &str) {
        let age = |eye: &Eye| match eye.came_ns {
            Some(came_ns) => now_ns.saturating_sub(came_ns) as f64 * 1e-9,
            None => f64::INFINITY,
        };
        let ages = self.eyes.iter().map(|eye| (age(eye), eye.spec.name.as_str()));
        ages.fold((0.0, ""), |oldest, this| if this.0 > oldest.0 { this } else { oldest })
    }

    /// How late the newest frame came in.
    #[must_use]
    pub fn delay_s(&self) -> f64 {
        let delay = |eye: &Eye| Some(eye.came_ns?.saturating_sub(eye.stamp_ns?) as f64 * 1e-9);
        self.eyes.iter().filter_map(delay).fold(0.0, f64::max)
    }

    /// A camera that sends pictures that show nothing.
    #[must_use]
    pub fn blind(&self) -> Option<Cause> {
        self.eyes.iter().find_map(|eye| {
            let how = eye.blind.clone()?;
            Some(Cause::CameraBlind { camera: eye.spec.name.clone(), how })
        })
    }

    /// A camera that does not stand where it did.
    #[must_use]
    pub fn moved(&self) -> Option<Cause> {
        self.eyes.iter().find(|eye| eye.alarm).map(|eye| {
            let offset = eye.drift.as_ref().and_then(|drift| drift.offset.as_ref());
            let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let shift_m = offset.map(|offset| length(&offset.shift_m));
            Cause::CameraMoved { camera: eye.spec.name.clone(), shift_m }
        })
    }

    /// A camera that may not stand where it did.
    #[must_use]
    pub fn suspect(&self) -> bool {
        let verdicts = self.eyes.iter().filter_map(|eye| eye.drift.as_ref());
        verdicts.into_iter().any(|drift| matches!(drift.verdict, DriftVerdict::Suspect(_)))
    }

    /// A person says that cameras stand where they should: what was learned of their drift is
    /// forgotten.
    pub fn believe(&mut self) {
        for eye in &mut self.eyes {
            (eye.alarm, eye.drift) = (false, None);
            eye.watch = DriftWatch::new(drift());
        }
    }

    /// The camera that has not sent enough frames yet.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        let missing = self.eyes.iter().find(|eye| eye.frames < FIRST_FRAMES);
        missing.map(|eye| eye.spec.name.as_str())
    }

    /// Frames taken in.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// What does not move, as it is taken out of pictures.
    #[must_use]
    pub fn fixtures(&self) -> &[PosedLinkShape] {
        &self.fixtures
    }

    /// The map begins anew, with other voxels.
    ///
    /// # Errors
    /// When settings make no sense; then everything stays as it was.
    pub fn begin_anew(&mut self, settings: &TwinSettings) -> Result<(), TwinError> {
        self.mapper = Mapper::new(settings.pipeline()?, &settings.map())?;
        self.eyes.iter_mut().for_each(|eye| (eye.frames, eye.came_ns) = (0, None));
        Ok(())
    }

    /// A camera stands somewhere else from now on.
    ///
    /// # Errors
    /// When there is no such camera.
    pub fn place(&mut self, camera: &str, pose: Pose) -> Result<(), TwinError> {
        let known: Vec<String> = self.eyes.iter().map(|eye| eye.spec.name.clone()).collect();
        match self.eyes.iter_mut().find(|eye| eye.spec.name == camera) {
            Some(eye) => {
                eye.place = Some(pose);
                Ok(())
            }
            None => {
                let hint =
                    citrange_core::names::suggestion(camera, known.iter().map(String::as_str));
                Err(TwinError::bad(format!("no camera {camera}"), hint))
            }
        }
    }
}

impl Eye {
    /// Whether a picture shows anything, and another thing than those before.
    fn look_blind(&mut self, depth_m: &[f32], guard: &GuardSettings) -> Result<(), String> {
        let (mut looked, mut covered, mut digest) = (0_u64, 0_u64, 0_u64);
        for depth in depth_m.iter().step_by(BLIND_STEP) {
            looked += 1;
            let is_seen = depth.is_finite() && f64::from(*depth) >= guard.covered_m;
            covered += u64::from(!is_seen);
            digest = (digest ^ u64::from(depth.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        self.same = if digest == self.digest { self.same + 1 } else { 0 };
        self.digest = digest;
        if covered as f64 > guard.covered_share * looked as f64 {
            let percent = 100 * covered / looked.max(1);
            return Err(format!("covered or black: {percent} % of its picture show nothing"));
        }
        if self.same >= SAME {
            return Err("frozen: it sends the same picture again and again".to_owned());
        }
        Ok(())
    }
}

/// Where the joints were when a picture was taken.
fn joints_at(mirror: &Mirror, stamp_ns: u64) -> Option<Vec<f64>> {
    let mut joints = vec![0.0; mirror.names().len()];
    mirror.history().at(stamp_ns, &mut joints).ok().map(|()| joints)
}
