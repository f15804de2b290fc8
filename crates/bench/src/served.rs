//! A rig whose pictures come from files: what a recorder costs, without what drawing costs.

use std::error::Error;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::{
    BoxError, CameraImage, Command, Commanded, Halt, Notes, Observation, PicturePool, Pilot, Rig,
    RigSpec, Snapshot, Verdict, Want,
};
use citrange_sim::{CompiledScene, SimRig, load_scene};
use citrange_tape::{TapeHeader, Unit, new_uid, utc_now};

use crate::clock;
use crate::workload::SCENE;

/// The cameras that the frame files belong to.
pub(crate) const CAMERAS: [&str; 2] = ["front", "wrist"];

/// The arm of [`SCENE`] with its cameras.
pub(crate) fn sim_rig() -> Result<SimRig, Box<dyn Error>> {
    let scene = Arc::new(CompiledScene::new(&load_scene(SCENE)?)?);
    let mut rig = SimRig::new(scene, Some(&CAMERAS.map(str::to_owned)))?;
    rig.world_mut().reset_env(0, 0, 0)?;
    Ok(rig)
}

/// What a simulated arm would show and keep, without simulating it.
pub(crate) struct Served {
    spec: RigSpec,
    files: Vec<File>,
    /// A real state of the scene, so that what is kept has the size it has.
    snapshot: Snapshot,
    joints: Vec<f64>,
    ticks: u64,
    /// The picture being read, and those in use.
    read: Vec<u8>,
    pools: Vec<PicturePool>,
    /// CPU time of reading pictures: not the recorder's.
    pub(crate) reading_s: f64,
}

impl Served {
    /// The rig, and with what a recording of it begins: header, model, joint targets.
    #[expect(clippy::type_complexity, reason = "three things that are used once")]
    pub(crate) fn new(
        raws: &[PathBuf],
    ) -> Result<(Self, (TapeHeader, Vec<u8>, Vec<f64>)), Box<dyn Error>> {
        let rig = sim_rig()?;
        let joints = rig.targets();
        let scene = rig.world().scene();
        let snapshot = rig.world().snapshot(0)?;
        let header = TapeHeader {
            uid: new_uid(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: snapshot.engine.clone(),
            model_hash: scene.model_hash.clone(),
            began_utc: utc_now(),
            repeatable: false,
            features: Default::default(),
            depth: Default::default(),
            task: scene.scene.task.clone(),
            pilot: "sway".to_owned(),
            seed: 0,
            episode: 0,
            rig: rig.spec().clone(),
            scene: Some(scene.scene.clone()),
            robots: scene.robots.clone(),
            unit: Unit::Degrees,
            images: [].into(),
            config: serde_json::Value::Null,
            bodies: rig.world().body_poses(0)?,
            parent: None,
        };
        let model = scene.to_mjb()?;
        let open =
            |path: &PathBuf| File::open(path).map_err(|e| format!("{}: {e}", path.display()));
        let files = raws.iter().map(open).collect::<Result<_, _>>()?;
        let spec = rig.spec().clone();
        let served = Self {
            pools: vec![PicturePool::default(); spec.cameras.len()],
            spec,
            files,
            snapshot,
            joints: joints.clone(),
            ticks: 0,
            read: Vec::new(),
            reading_s: 0.0,
        };
        Ok((served, (header, model, joints)))
    }
}

impl Rig for Served {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        *command = Command::at(&self.joints);
        Ok(())
    }

    fn halt(&mut self, _how: Halt) {}

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks;
        seen.step = self.ticks * u64::from(self.spec.rates.steps_per_tick());
        seen.joint_pos.clone_from(&self.joints);
        seen.joint_vel.resize(self.joints.len(), 0.1);
        if want == Want::Images {
            let before = clock::thread_cpu_s();
            seen.images.clear();
            let specs = self.spec.cameras.iter().zip(&mut self.files);
            for ((camera, file), pool) in specs.zip(&mut self.pools) {
                let rgb = &mut self.read;
                rgb.resize(3 * camera.width_px as usize * camera.height_px as usize, 0);
                let at = self.ticks;
                file.read_exact(rgb).map_err(|e| format!("{} at {at}: {e}", camera.name))?;
                seen.images.push(CameraImage::rgb(pool.fill(rgb), 0));
            }
            self.reading_s += clock::thread_cpu_s() - before;
        }
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.joints.copy_from_slice(&command.pos);
        commanded.limited.clone_from(&self.joints);
        commanded.executed.clone_from(&self.joints);
        commanded.digests.clear();
        let first = self.ticks * u64::from(self.spec.rates.steps_per_tick());
        commanded
            .digests
            .extend((0..self.spec.rates.steps_per_tick()).map(|i| first + u64::from(i)));
        self.ticks += 1;
        Ok(())
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        let mut snapshot = self.snapshot.clone();
        snapshot.step = self.ticks * u64::from(self.spec.rates.steps_per_tick());
        Ok(Some(snapshot))
    }
}

/// Moves every joint a little, for ever.
pub(crate) struct Sway {
    pub(crate) middle: Vec<f64>,
}

impl Pilot for Sway {
    fn name(&self) -> &str {
        "sway"
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        for (joint, (target, middle)) in targets.iter_mut().zip(&self.middle).enumerate() {
            *target = middle + 0.1 * (0.01 * seen.tick as f64 + joint as f64).sin();
        }
        Ok(Verdict::Go)
    }
}
