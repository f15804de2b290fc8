//! Frames of a simulated scene, as depth cameras would take them, with what stands beside them; of
//! sequences the truth, too.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use citrange_core::TensorState;
use citrange_sim::{
    CameraQuery, CompiledScene, DepthSensor, DepthShot, SimError, StateQuery, Threads, World,
};
use serde_json::{Value, json};

use crate::error::CellError;
use crate::stir::{Stir, Stirring};

/// Frames of one episode are so many a second.
pub const SIMULATED_FRAME_HZ: f64 = 30.0;
/// Moving things are moved on so often.
const STIR_HZ: f64 = 100.0;
/// File of the truth beside the frames: one JSON object a line.
const TRUTH: &str = "truth.jsonl";
/// When the first frame is taken, by the clock of the stamps.
const FIRST_STAMP_NS: u64 = 1_000_000_000;

/// Which frames are taken.
#[derive(Clone, Debug)]
pub struct DepthFrameSettings {
    /// Cameras of the scene.
    pub cameras: Vec<String>,
    /// How many of each, a thirtieth of a second apart.
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
    /// What moves from then on.
    pub stirring: Stirring,
}

/// Writes frames into a folder: `frame_000.npz`, with `frame_000.json` beside it, and so on; with
/// several cameras `<camera>_000.npz`. Of one episode `truth.jsonl` says where joints and things
/// were and how fast, frame by frame. An iterator over the files.
pub struct DepthFrames {
    world: World,
    scene: Arc<CompiledScene>,
    settings: DepthFrameSettings,
    folder: PathBuf,
    next: u64,
    /// Files of the frame in hand that nobody has asked for yet.
    taken: VecDeque<PathBuf>,
    /// Physics steps of the episode so far.
    steps: u32,
    stir: Option<Stir>,
    truth: Option<std::fs::File>,
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
        let truth = (!settings.each_episode).then(|| {
            let path = folder.join(TRUTH);
            std::fs::File::create(&path).map_err(CellError::file("cannot write", &path))
        });
        let (folder, taken) = (folder.to_owned(), VecDeque::new());
        let truth = truth.transpose()?;
        Ok(Self { world, scene, settings, folder, next: 0, taken, steps: 0, stir: None, truth })
    }

    /// Simulates until a frame is to be taken.
    fn go_to(&mut self, frame: u64) -> Result<(), SimError> {
        let settings = &self.settings;
        let physics_hz = f64::from(self.scene.scene.rates.physics_hz);
        let steps_at = |time_s: f64| (time_s * physics_hz).round() as u32;
        let settled = steps_at(settings.settle_s);
        if settings.each_episode || frame == 0 {
            let episode = settings.episode + if settings.each_episode { frame } else { 0 };
            self.world.reset_env(0, settings.seed, episode)?;
            self.world.step(settled)?;
            self.steps = settled;
            let all = (settings.seed, episode);
            self.stir = Some(Stir::new(settings.stirring, &self.scene, &mut self.world, all)?);
            return Ok(());
        }
        let until = steps_at(settings.settle_s + frame as f64 / SIMULATED_FRAME_HZ);
        let chunk = steps_at(1.0 / STIR_HZ).max(1);
        while self.steps < until {
            let count = chunk.min(until - self.steps);
            if let Some(stir) = &mut self.stir {
                stir.act(&mut self.world, f64::from(self.steps - settled) / physics_hz)?;
            }
            self.world.step(count)?;
            self.steps += count;
        }
        Ok(())
    }

    fn take(&mut self, frame: u64) -> Result<(), CellError> {
        self.go_to(frame)?;
        let settings = &self.settings;
        let queries = settings.cameras.iter().map(|name| (name.clone(), CameraQuery::ALL));
        let query = StateQuery { cameras: queries.collect(), ..StateQuery::default() };
        let state = self.world.get_state(None, &query)?;
        let stamp_ns = FIRST_STAMP_NS + (frame as f64 * 1e9 / SIMULATED_FRAME_HZ) as u64;
        let seed = settings.seed ^ (frame << 32);
        for (number, camera) in settings.cameras.iter().enumerate() {
            let nothing = || SimError::Drawing("the camera gave nothing".to_owned());
            let seen = state.cameras.get(camera).ok_or_else(nothing)?;
            let shot = DepthShot::of(seen)?;
            // Every camera has noise of its own.
            let seed = seed ^ ((number as u64) << 24);
            let taken = shot.take(&settings.sensor, seed, self.scene.labels_of(seen), stamp_ns)?;
            let name = if settings.cameras.len() > 1 { camera } else { "frame" };
            let path = self.folder.join(format!("{name}_{frame:03}.npz"));
            taken.write_npz(&path)?;
            let mut side = shot.sidecar(robot_of(&self.scene, &state), stamp_ns);
            if settings.cameras.len() > 1 {
                side["camera"] = json!(camera);
            }
            std::fs::write(path.with_extension("json"), format!("{side:#}\n"))
                .map_err(CellError::file("cannot write beside", &path))?;
            self.taken.push_back(path);
        }
        if let Some(truth) = &mut self.truth {
            let line = truth_of(&state, frame, stamp_ns);
            writeln!(truth, "{line}")
                .map_err(CellError::file("cannot write", &self.folder.join(TRUTH)))?;
        }
        Ok(())
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
        if self.taken.is_empty() && self.next < self.settings.frames {
            let frame = self.next;
            self.next += 1;
            if let Err(error) = self.take(frame) {
                self.next = self.settings.frames;
                return Some(Err(error));
            }
        }
        self.taken.pop_front().map(Ok)
    }
}

/// Where everything was, and how fast, when a frame was taken.
fn truth_of(state: &TensorState, frame: u64, stamp_ns: u64) -> Value {
    let row =
        |array: &Option<ndarray::Array2<f64>>| array.as_ref().map(|array| array.row(0).to_vec());
    let robots = state.robots.iter().map(|(name, robot)| {
        let told = json!({
            "joint_names": robot.joint_names,
            "joints": row(&robot.joint_pos),
            "joint_velocities": row(&robot.joint_vel),
        });
        (name.clone(), told)
    });
    let things = state.objects.iter().filter_map(|(name, thing)| {
        let root = thing.root_state.as_ref()?.row(0).to_vec();
        let told = json!({
            "pos_m": root[..3],
            "quat_wxyz": root[3..7],
            "velocity_m_s": root[7..10],
            "angular_velocity_rad_s": root[10..13],
        });
        Some((name.clone(), told))
    });
    json!({
        "frame": frame,
        "stamp_ns": stamp_ns,
        "robots": robots.collect::<serde_json::Map<_, _>>(),
        "things": things.collect::<serde_json::Map<_, _>>(),
    })
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
