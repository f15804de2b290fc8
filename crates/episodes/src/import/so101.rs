//! Recordings of an SO-101 with their own pictures: rows and pictures as they are, nothing simulated.

use std::collections::{BTreeMap, BTreeSet};

use citrange_core::rig::CameraSpec;
use citrange_core::{
    BoxError, CameraImage, Command, Commanded, Halt, Notes, Observation, Outcome, Picture, Pilot,
    Rates, Rig, RigSpec, Verdict, Want,
};
use citrange_hdf5::Images;
use citrange_tape::{
    Dataset, DemoEpisode, IMPORT, Imported, Motion, Play, Recorder, SO101_HZ, TapeHeader, new_uid,
    utc_now,
};
use serde_json::{Value, json};

use super::Job;
use super::played::{Repeating, how, play};
use crate::error::{EpisodesError, Result, bad_input};
use crate::recording::tell_repaired;
use crate::simulated::simulated;

/// Further beyond its limits than this a joint is not in radians, or another one (rad).
const BEYOND: f64 = 0.35;
const TASK: &str = "SO-101 demonstration";

/// Makes an episode of the rows and pictures of a file.
pub(crate) fn as_recorded(job: &Job<'_>, mut demo: DemoEpisode) -> Result<Value> {
    let ctx = job.ctx;
    let hz = *demo.rate_hz.get_or_insert_with(|| {
        ctx.say(&format!("{}: it does not say its rate: taken as {SO101_HZ} Hz", demo.name));
        SO101_HZ
    });
    let hz = hz.round() as u32;
    let mut spec = simulated("orange_plate", Some(&[]))?.spec().clone();
    spec.rates = Rates { physics_hz: hz, control_hz: hz, frame_hz: hz };
    spec.objects.clear();
    let chosen = &job.args.cameras;
    let mut pictures = Vec::new();
    for (name, images) in &demo.pictures {
        if chosen.as_ref().is_none_or(|chosen| chosen.contains(name)) {
            spec.cameras.push(camera(&demo, name, images)?);
            pictures.push(images.clone());
        }
    }
    for (path, why) in &demo.unread {
        ctx.say(&format!("{}: {path} is not read: {why}", demo.name));
    }
    let motion = demo.motion(&spec, &[])?;
    check_limits(&demo, &spec, &motion)?;
    let (args, images) = (job.args, BTreeSet::new());
    let (mut dataset, repaired) = Dataset::record(job.root, &spec, args.unit, &images)?;
    tell_repaired(&repaired, ctx)?;
    let note = Imported {
        targets: motion.source.clone(),
        ..job.note(&demo.name, demo.success, Play::AsRecorded)
    };
    let header = TapeHeader {
        uid: new_uid(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: String::new(),
        model_hash: String::new(),
        began_utc: utc_now(),
        repeatable: true,
        task: demo.task.clone().unwrap_or_else(|| TASK.to_owned()),
        pilot: IMPORT.to_owned(),
        seed: 0,
        episode: dataset.len() as u64,
        rig: spec.clone(),
        scene: None,
        robots: BTreeMap::new(),
        unit: args.unit,
        features: Default::default(),
        depth: Default::default(),
        images: BTreeSet::new(),
        config: serde_json::to_value(note)?,
        bodies: Vec::new(),
        parent: None,
    };
    let folder = dataset.recording_folder(&header.uid);
    let recorder = Recorder::begin(&folder, header, &[], &how())?;
    let wanted = motion.targets.len() as u64;
    let bar = ctx.progress("importing", wanted);
    let mut tape = Repeating { recorder, objects: None, bar };
    let outcome = Outcome { success: demo.success, reason: "imported".into() };
    let mut pilot = FilePilot { targets: motion.targets, outcome };
    let cameras = spec.cameras.len();
    let mut rig = FileRig { spec, seen: motion.seen, pictures, ticks: 0 };
    let frames = play(&mut pilot, &mut rig, &mut tape, ctx)?.frames;
    tape.bar.finish();
    if frames < wanted {
        tape.recorder.discard()?;
        return Err(EpisodesError::Interrupted);
    }
    let number = dataset.save(tape.recorder.finish()?)?;
    ctx.say(&format!(
        "  {frames} frames at {hz} Hz with {cameras} cameras, as recorded: it replays by its rows, \
         in a scene that is named"
    ));
    Ok(json!({
        "event": "imported", "kind": "as_recorded", "number": number, "frames": frames,
        "frame_hz": hz, "cameras": demo.pictures.keys().collect::<Vec<_>>(),
    }))
}

fn camera(demo: &DemoEpisode, name: &str, images: &Images) -> Result<CameraSpec> {
    let wrong = |what: String| EpisodesError::BadInput(format!("{}: {name}: {what}", demo.name));
    if images.channels() != 3 {
        return Err(wrong(format!("{} colours per pixel, 3 are right", images.channels())));
    }
    if images.frames() != demo.rows() {
        return Err(wrong(format!("{} pictures for {} rows", images.frames(), demo.rows())));
    }
    Ok(CameraSpec::rgb(name, images.width() as u32, images.height() as u32))
}

/// Refuses joints that are far outside of what the arm can do.
fn check_limits(demo: &DemoEpisode, spec: &RigSpec, motion: &Motion) -> Result<()> {
    let mut worst: Option<(f64, &str, f64)> = None;
    for row in motion.seen.iter().chain(&motion.targets) {
        for (joint, value) in spec.joints.iter().zip(row) {
            let Some([low, high]) = joint.range else { continue };
            let off = (low - value).max(value - high);
            if worst.is_none_or(|(most, ..)| off > most) || off.is_nan() {
                worst = Some((off, &joint.name, *value));
            }
        }
    }
    if let Some((off, joint, value)) = worst.filter(|(off, ..)| *off > BEYOND || off.is_nan()) {
        bad_input!(
            "{}: {joint} is at {value:.2}, {off:.2} beyond its limits: this layout has radians, \
             joints in the order {}",
            demo.name,
            spec.joints.iter().map(|j| j.name.as_str()).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

/// The file as an arm: it is where the file has it, whatever it is told.
struct FileRig {
    spec: RigSpec,
    seen: Vec<Vec<f64>>,
    pictures: Vec<Images>,
    ticks: usize,
}

impl Rig for FileRig {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.ticks = 0;
        *command = Command::at(self.seen.first().map(Vec::as_slice).unwrap_or_default());
        Ok(())
    }

    fn halt(&mut self, _how: Halt) {}

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks as u64;
        seen.step = seen.tick;
        // One tick more is observed than there are rows.
        let frame = self.ticks.min(self.seen.len().saturating_sub(1));
        let before = self.seen.get(frame.saturating_sub(1));
        let hz = f64::from(self.spec.rates.frame_hz);
        seen.joint_pos.clone_from(&self.seen[frame]);
        seen.joint_vel.clear();
        let moved = before.map(|before| self.seen[frame].iter().zip(before));
        seen.joint_vel.extend(moved.into_iter().flatten().map(|(is, was)| (is - was) * hz));
        seen.images.clear();
        if want == Want::Images {
            for images in &self.pictures {
                let picture = Picture::ready(images.frame(frame)?);
                seen.images.push(CameraImage::rgb(picture, 0));
            }
        }
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        for list in [&mut commanded.limited, &mut commanded.executed] {
            list.clear();
            list.extend_from_slice(&command.pos);
        }
        commanded.digests.clear();
        self.ticks += 1;
        Ok(())
    }
}

/// The file's targets, and how it ended.
struct FilePilot {
    targets: Vec<Vec<f64>>,
    outcome: Outcome,
}

impl Pilot for FilePilot {
    fn name(&self) -> &str {
        IMPORT
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let targets = command.pos.as_mut_slice();
        let Some(wanted) = self.targets.get(seen.tick as usize) else {
            return Ok(Verdict::Done(self.outcome.clone()));
        };
        if wanted.len() != targets.len() || wanted.iter().any(|v| !v.is_finite()) {
            return Err(format!("row {} is no target of the joints", seen.tick).into());
        }
        targets.copy_from_slice(wanted);
        Ok(Verdict::Go)
    }
}
