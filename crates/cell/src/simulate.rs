//! Frames of a simulated scene, as a depth camera would take them, with what stands beside them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use citrange_core::TensorState;
use citrange_sim::{
    CameraQuery, CompiledScene, DepthSensor, DepthShot, SimError, StateQuery, Threads, World,
};
use serde_json::{Value, json};

use crate::error::CellError;

/// Frames of one episode are so many a second.
const FRAME_HZ: f64 = 30.0;
/// When the first frame is taken, by the clock of the stamps.
const FIRST_STAMP_NS: u64 = 1_000_000_000;

/// Which frames are taken.
#[derive(Clone, Debug)]
pub struct DepthFrameSettings {
    /// Camera of the scene.
    pub camera: String,
    /// How many, a thirtieth of a second apart.
    pub frames: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Episode of the run: where the scene's objects are.
    pub episode: u64,
    /// Another episode for each frame, so that things are elsewhere.
    pub each_episode: bool,
    /// What the sensor does to the truth.
    pub sensor: DepthSensor,
    /// Simulated before the first picture, so that things come to rest.
    pub settle_s: f64,
}

/// Writes frames into a folder: `frame_000.npz`, with `frame_000.json` beside it, and so on. An
/// iterator over the files.
pub struct DepthFrames {
    world: World,
    scene: Arc<CompiledScene>,
    settings: DepthFrameSettings,
    folder: PathBuf,
    next: u64,
    /// Physics steps of the episode so far.
    steps: u32,
}

impl DepthFrames {
    /// Makes the folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(
        scene: Arc<CompiledScene>,
        settings: DepthFrameSettings,
        folder: &Path,
    ) -> Result<Self, CellError> {
        let world = World::new(Arc::clone(&scene), 1, Threads::Auto)?;
        std::fs::create_dir_all(folder).map_err(CellError::file("cannot create", folder))?;
        Ok(Self { world, scene, settings, folder: folder.to_owned(), next: 0, steps: 0 })
    }

    /// Simulates until a frame is to be taken.
    fn go_to(&mut self, frame: u64) -> Result<(), SimError> {
        let settings = &self.settings;
        let mut time_s = settings.settle_s;
        if settings.each_episode || frame == 0 {
            let number = if settings.each_episode { frame } else { 0 };
            self.world.reset_env(0, settings.seed, settings.episode + number)?;
            self.steps = 0;
        } else {
            time_s += frame as f64 / FRAME_HZ;
        }
        let physics_hz = f64::from(self.scene.scene.rates.physics_hz);
        let until = (time_s * physics_hz).round() as u32;
        self.world.step(until - self.steps)?;
        self.steps = until;
        Ok(())
    }

    fn take(&mut self, frame: u64) -> Result<PathBuf, CellError> {
        self.go_to(frame)?;
        let settings = &self.settings;
        let cameras = [(settings.camera.clone(), CameraQuery::ALL)].into();
        let state = self.world.get_state(None, &StateQuery { cameras, ..StateQuery::default() })?;
        let nothing = || SimError::Drawing("the camera gave nothing".to_owned());
        let seen = state.cameras.get(&settings.camera).ok_or_else(nothing)?;
        let shot = DepthShot::of(seen)?;
        let stamp_ns = FIRST_STAMP_NS + (frame as f64 * 1e9 / FRAME_HZ) as u64;
        let seed = settings.seed ^ (frame << 32);
        let taken = shot.take(&settings.sensor, seed, self.scene.labels_of(seen), stamp_ns)?;
        let path = self.folder.join(format!("frame_{frame:03}.npz"));
        taken.write_npz(&path)?;
        let side = shot.sidecar(robot_of(&self.scene, &state), stamp_ns);
        std::fs::write(path.with_extension("json"), format!("{side:#}\n"))
            .map_err(CellError::file("cannot write beside", &path))?;
        Ok(path)
    }
}

impl std::fmt::Debug for DepthFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DepthFrames").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Iterator for DepthFrames {
    type Item = Result<PathBuf, CellError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.settings.frames {
            return None;
        }
        let frame = self.next;
        self.next += 1;
        Some(self.take(frame))
    }
}

/// The first robot that says where its joints are: how a cell's file writes it, and its joints.
fn robot_of(scene: &CompiledScene, state: &TensorState) -> Option<(Value, Vec<f64>)> {
    state.robots.iter().find_map(|(name, robot)| {
        let joints = robot.joint_pos.as_ref()?.row(0).to_vec();
        let placed = scene.scene.robots.get(name)?;
        let written = json!({
            "model": placed.model, "pos_m": placed.pos_m, "yaw_deg": placed.yaw_deg,
        });
        Some((written, joints))
    })
}
