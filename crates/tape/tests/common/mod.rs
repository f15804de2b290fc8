//! A small rig with a state, two cameras and exact rates, and how to record it.
#![allow(dead_code, unreachable_pub)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use citrange_core::rig::{CameraSpec, JointSpec, state_digest};
use citrange_core::run;
use citrange_core::script::{Move, Script};
use citrange_core::tape::{Tape as _, TickRecord};
use citrange_core::{
    BoxError, CameraImage, Command, Commanded, Halt, Observation, Picture, Rates, Rig, RigSpec,
    RunSettings, Snapshot, Want,
};
use citrange_tape::{Dataset, RecordSettings, Recorder, TapeHeader, Unit, WhenFull, new_uid};

pub struct Toy {
    pub spec: RigSpec,
    pub numbers: Vec<f64>,
    pub ticks: u64,
}

pub fn toy() -> Toy {
    let camera = |name: &str| CameraSpec::rgb(name, 64, 48);
    let joint = |name: &str| JointSpec {
        name: name.into(),
        is_slide: false,
        range: Some([-2.0, 2.0]),
        gripper: None,
    };
    let rates = Rates { physics_hz: 240, control_hz: 120, frame_hz: 30 };
    let mut spec = RigSpec::new("toy", vec![joint("a"), joint("b")], rates);
    spec.cameras = vec![camera("front"), camera("wrist")];
    Toy { spec, numbers: vec![0.1, 0.2, 0.3], ticks: 0 }
}

impl Rig for Toy {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.ticks = 0;
        *command = Command::at(&[0.0; 2]);
        Ok(())
    }
    fn halt(&mut self, _: Halt) {}
    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks;
        seen.step = self.ticks * 2;
        seen.joint_pos = self.numbers[..2].to_vec();
        seen.joint_vel = vec![0.0; 2];
        if want == Want::Images {
            let shade = (self.ticks % 200) as u8;
            let image = |s| CameraImage::rgb(Picture::ready(vec![s; 64 * 48 * 3]), 0);
            seen.images = [shade, 255 - shade].map(image).to_vec();
        }
        Ok(())
    }
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        commanded.limited = command.pos.iter().map(|t| t.clamp(-2.0, 2.0)).collect();
        commanded.executed = commanded.limited.clone();
        commanded.digests.clear();
        for _ in 0..2 {
            for (number, target) in self.numbers.iter_mut().zip(&commanded.executed) {
                *number += 0.3 * (target - *number);
            }
            // Plain arithmetic only: the same bits on every machine.
            self.numbers[2] = (self.numbers[2] * 3.7 + self.numbers[0]).fract();
            commanded.digests.push(state_digest(&self.numbers));
        }
        self.ticks += 1;
        Ok(())
    }
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        Ok(Some(Snapshot {
            tool_version: "0".into(),
            engine: "toy".into(),
            scene: "toy".into(),
            model_hash: "0".into(),
            step: self.ticks * 2,
            fields: BTreeMap::from([("toy/numbers".into(), self.numbers.clone())]),
        }))
    }
}

pub fn header(rig: &RigSpec, task: &str) -> TapeHeader {
    TapeHeader {
        uid: new_uid(),
        tool_version: "0".into(),
        engine: "toy".into(),
        model_hash: "0".into(),
        began_utc: "2026-01-01T00:00:00Z".into(),
        repeatable: false,
        features: Default::default(),
        depth: Default::default(),
        task: task.into(),
        pilot: "script".into(),
        seed: 1,
        episode: 0,
        rig: rig.clone(),
        scene: None,
        robots: BTreeMap::new(),
        unit: Unit::Degrees,
        images: BTreeSet::new(),
        config: serde_json::Value::Null,
        bodies: vec![],
        parent: None,
    }
}

pub fn script(frames: u64) -> Script {
    let go = |to: f64, ticks| Move { joints: vec![to, -to], ticks, phase: "go" };
    Script::new(vec![go(2.5, frames * 2), go(-1.0, frames * 2)])
}

pub fn settings() -> RecordSettings {
    RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() }
}

pub fn open(root: &Path) -> Dataset {
    let none = BTreeSet::new();
    Dataset::record(root, &toy().spec, Unit::Degrees, &none).unwrap().0
}

/// Carries one tick out and records it.
pub fn tick(recorder: &mut Recorder, rig: &mut Toy, index: u64) {
    let (mut commanded, seen) = (Commanded::default(), Observation::default());
    let requested = Command::at(&[0.5, 0.1]);
    rig.tick(&requested, &mut commanded).unwrap();
    let (requested, commanded) = (&requested, &commanded);
    let late = std::time::Duration::ZERO;
    let tick = TickRecord { index, at_ns: 0, late, seen: &seen, requested, commanded };
    recorder.tick(&tick).unwrap();
}

/// Runs a recorder up to its end, and leaves it unsaved.
pub fn recorded(dataset: &Dataset, frames: u64) -> Recorder {
    let mut rig = toy();
    let header = header(&rig.spec, "wave");
    let folder = dataset.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&folder, header, &[7; 1000], &settings()).unwrap();
    let how = RunSettings { pictures: true, ..RunSettings::default() };
    run(&mut script(frames), &mut rig, &mut recorder, &how).unwrap();
    recorder
}

pub fn record(dataset: &mut Dataset, frames: u64) -> usize {
    let recording = recorded(dataset, frames).finish().unwrap();
    dataset.save(recording).unwrap()
}
