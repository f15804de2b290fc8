//! Replay by one target per frame: what LeRobot datasets and poorer files allow.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use citrange_core::tape::FrameRecord;
use citrange_core::{Fault, Rig as _, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, Episode, FrameReplay};

use super::compiled;
use super::replay::{Args, Replayed, rig_for};
use super::replay_play::play;
use crate::objects::ObjectMeter;
use crate::say;
use crate::session::go_to;

const STATE: &str = "observation.state";

/// What a LeRobot dataset knows: a target and the joints seen per frame, radians and metres.
pub(super) struct Rows {
    pub(super) targets: Vec<Vec<f64>>,
    pub(super) seen: Vec<Vec<f64>>,
}

impl Rows {
    fn read(dataset: &Dataset, episode: usize) -> anyhow::Result<Self> {
        let rows = dataset.lerobot.read_episode(episode)?;
        let units = &dataset.index.units;
        let read = |name: &str| {
            let column = rows.column(name).and_then(|c| c.floats()).with_context(|| {
                format!("{} has no feature {name} of floats", dataset.root().display())
            })?;
            let width = column.len() / rows.length.max(1);
            // After the joints' positions a row may hold velocities and the wrist's place.
            let joints = match name {
                STATE => dataset.features().names(units).len(),
                _ => units.len(),
            };
            if !units.is_empty() && joints != width {
                bail!("{name} has {width} numbers per frame, the dataset's units {}", units.len());
            }
            let taken = if units.is_empty() { width } else { units.len() };
            let value = |(i, shown): (usize, &f32)| match units.get(i) {
                Some(unit) => unit.read(f64::from(*shown)),
                // Nobody said: LeRobot's arms are in degrees, grippers in percent; without a
                // description of the joints only radians can be taken literally.
                None => f64::from(*shown),
            };
            let rows = column.chunks(width.max(1));
            Ok(rows.map(|row| row.iter().take(taken).enumerate().map(value).collect()).collect())
        };
        Ok(Self { targets: read("action")?, seen: read(STATE)? })
    }
}

/// Plays rows of a dataset: in the tape's scene if there is a tape, else in the scene named.
pub(super) fn by_rows(
    args: &Args,
    dataset: &Dataset,
    episode: usize,
    tape: Option<(Episode, std::ops::Range<usize>)>,
) -> anyhow::Result<Replayed> {
    let rows = Rows::read(dataset, episode)?;
    if let Some((tape, shown)) = tape {
        let mut rig = rig_for(args, &tape)?;
        go_to(&mut rig, &tape, shown.start + args.from.min(shown.len().saturating_sub(1)))?;
        return near(args, rig, rows, "exact start".into(), tape.snapshot(shown.end));
    }
    let name = args.scene.as_deref().with_context(|| {
        format!(
            "episode {episode} of {} has no tape: name a scene to play it in, for example \
             --scene orange_plate",
            dataset.root().display()
        )
    })?;
    let mut rig = SimRig::new(compiled(name)?, args.sees_nothing().then_some(&[]))?;
    if dataset.index.units.is_empty() {
        say::talk("the dataset does not say its units: taken as radians");
    }
    // Without a kept state the arm at least begins where it was seen.
    let joints = rows.seen.get(args.from).context("there is no such frame")?;
    let start = citrange_core::StartData {
        named: [(rig.robot().to_owned(), joints.clone())].into(),
        ..citrange_core::StartData::default()
    };
    let report = rig.world_mut().restore_best(0, &start)?;
    say::talk(&format!("episode {episode}: {report}"));
    near(args, rig, rows, report.level.to_string(), None)
}

/// Holds a target per frame and measures how far the joints are from those recorded.
pub(super) fn near(
    args: &Args,
    mut rig: SimRig,
    rows: Rows,
    level: String,
    last: Option<Snapshot>,
) -> anyhow::Result<Replayed> {
    let from = args.from.min(rows.targets.len());
    let per_frame = rig.spec().rates.ticks_per_frame();
    let mut pilot = FrameReplay::new(rows.targets[from..].to_vec(), per_frame);
    let mut meter = Meter { seen: rows.seen[from..].to_vec(), largest: 0.0, sum: 0.0, count: 0 };
    let targets = rig.begin();
    let report = play(args, &mut rig, &mut pilot, &mut meter, &targets)?;
    Ok(Replayed::Near {
        frames: report.frames,
        level,
        // A file without recorded joints leaves nothing to compare.
        largest_rad: if meter.count == 0 { f64::NAN } else { meter.largest },
        mean_rad: meter.sum / (meter.count.max(1) as f64),
        objects_m: last.map_or_else(BTreeMap::new, |last| end_errors(&rig, &last)),
    })
}

/// The same for an episode of a file of others, its objects compared frame by frame.
pub(super) fn near_demo(
    args: &Args,
    mut rig: SimRig,
    rows: Rows,
    level: String,
    objects: ObjectMeter,
) -> anyhow::Result<Replayed> {
    let per_frame = rig.spec().rates.ticks_per_frame();
    let mut pilot = FrameReplay::new(rows.targets, per_frame);
    let meter = Meter { seen: rows.seen, largest: 0.0, sum: 0.0, count: 0 };
    let mut both = Both { meter, objects };
    let targets = rig.begin();
    let report = play(args, &mut rig, &mut pilot, &mut both, &targets)?;
    let Both { meter, objects } = both;
    let near = Replayed::Near {
        frames: report.frames,
        level,
        largest_rad: if meter.count == 0 { f64::NAN } else { meter.largest },
        mean_rad: meter.sum / (meter.count.max(1) as f64),
        objects_m: BTreeMap::new(),
    };
    Ok(Replayed::Demo { near: Box::new(near), objects: objects.into_report() })
}

/// Joints and objects.
struct Both {
    meter: Meter,
    objects: ObjectMeter,
}

impl Tape for Both {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.objects.frame(frame);
        self.meter.frame(frame)
    }
}

/// How far every free object is from where a state has it.
fn end_errors(rig: &SimRig, was: &Snapshot) -> BTreeMap<String, f64> {
    let world = rig.world();
    let (Some(was), Ok(data)) = (was.fields.get("mujoco/qpos"), world.data(0)) else {
        return BTreeMap::new();
    };
    let is = data.qpos();
    let distance = |at: usize| {
        let square = |i: usize| Some((is.get(i)? - was.get(i)?).powi(2));
        Some((square(at)? + square(at + 1)? + square(at + 2)?).sqrt())
    };
    let objects = world.scene().free_objects().into_iter();
    objects.filter_map(|(name, at)| Some((name, distance(at)?))).collect()
}

/// Compares joints with recorded ones.
struct Meter {
    seen: Vec<Vec<f64>>,
    largest: f64,
    sum: f64,
    count: u64,
}

impl Tape for Meter {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        let Some(was) = self.seen.get(frame.index as usize) else { return Ok(()) };
        for (is, was) in frame.seen.joint_pos.iter().zip(was) {
            let error = (is - was).abs();
            self.largest = self.largest.max(error);
            self.sum += error;
            self.count += 1;
        }
        Ok(())
    }
}
