//! Replay by one target per frame: what LeRobot datasets and poorer files allow.

use std::collections::BTreeMap;

use anyhow::bail;
use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Rig as _, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, Episode, FrameReplay, Reading, TapeError};

use super::compiled;
use super::replay::{Args, rig_for};
use super::replay_play::play;
use super::replay_report::Replayed;
use crate::objects::ObjectMeter;
use crate::output;
use crate::session::go_to;

/// What a LeRobot dataset knows: a target and the joints seen per frame, radians and metres.
pub(super) struct Rows {
    pub(super) targets: Vec<Vec<f64>>,
    pub(super) seen: Vec<Vec<f64>>,
}

/// Plays rows of a dataset: in the tape's scene if there is a tape, else in the scene named.
pub(super) fn by_rows(
    args: &Args,
    dataset: &Dataset,
    episode: usize,
    tape: Option<(Episode, std::ops::Range<usize>)>,
) -> anyhow::Result<Replayed> {
    let unit = args.unit.map(Into::into);
    if let Some((tape, shown)) = tape {
        let mut rig = rig_for(args, &tape)?;
        let rows = dataset.joint_rows(episode, rig.spec(), unit)?;
        let rows = Rows { targets: rows.targets, seen: rows.seen };
        go_to(&mut rig, &tape, shown.start + args.from.min(shown.len().saturating_sub(1)))?;
        return near(args, rig, rows, "exact start".into(), tape.snapshot(shown.end));
    }
    let Some(name) = args.scene.as_deref() else {
        bail!(TapeError::Missing(format!(
            "episode {episode} of {} has no tape: name a scene to play it in, for example \
             --scene orange_plate",
            dataset.root().display()
        )));
    };
    let mut rig = SimRig::new(compiled(name)?, args.sees_nothing().then_some(&[]))?;
    let rows = dataset.joint_rows(episode, rig.spec(), unit)?;
    let reading = rows.reading.to_string();
    if matches!(rows.reading, Reading::Guessed { .. }) {
        output::talk(&format!("joint values are read in {reading}"));
    }
    rows.check_limits(rig.spec())?;
    let (fps, played) = (dataset.lerobot.info().fps, rig.spec().rates.frame_hz);
    if fps != played {
        output::talk(&format!(
            "the dataset has {fps} frames a second, the scene plays {played}: {:.2} times as fast",
            f64::from(played) / f64::from(fps.max(1))
        ));
    }
    let rows = Rows { targets: rows.targets, seen: rows.seen };
    // Without a kept state the arm at least begins where it was seen.
    let Some(joints) = rows.seen.get(args.from) else {
        bail!(TapeError::Missing(format!(
            "there is no frame {}; the episode has {}, numbered from 0",
            args.from,
            rows.seen.len()
        )));
    };
    let start = citrange_core::StartData {
        named: [(rig.robot().to_owned(), joints.clone())].into(),
        ..citrange_core::StartData::default()
    };
    let report = rig.world_mut().restore_best(0, &start)?;
    output::talk(&format!("episode {episode}: {report}"));
    let mut replayed = near(args, rig, rows, report.level.to_string(), None)?;
    if let Replayed::Near { unit, .. } = &mut replayed {
        *unit = Some(reading);
    }
    Ok(replayed)
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
    let rates = rig.spec().rates;
    let mut pilot = FrameReplay::new(rows.targets[from..].to_vec(), rates);
    let mut meter = Meter {
        seen: rows.seen.get(from..).unwrap_or_default().to_vec(),
        largest: 0.0,
        sum: 0.0,
        count: 0,
    };
    let of = (rows.targets.len() - from) as u64;
    let report = play(args, &mut rig, &mut pilot, &mut meter, of)?;
    Ok(Replayed::Near {
        frames: report.frames,
        of,
        level,
        unit: None,
        // A file without recorded joints leaves nothing to compare.
        largest_rad: if meter.count == 0 { f64::NAN } else { meter.largest },
        mean_rad: meter.sum / (meter.count.max(1) as f64),
        objects_m: last.map_or_else(BTreeMap::new, |last| end_errors(&rig, &last)),
        objects: None,
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
    let rates = rig.spec().rates;
    let of = rows.targets.len() as u64;
    let mut pilot = FrameReplay::new(rows.targets, rates);
    let meter = Meter { seen: rows.seen, largest: 0.0, sum: 0.0, count: 0 };
    let mut both = Both { meter, objects };
    let report = play(args, &mut rig, &mut pilot, &mut both, of)?;
    let Both { meter, objects } = both;
    Ok(Replayed::Near {
        frames: report.frames,
        of,
        level,
        unit: None,
        largest_rad: if meter.count == 0 { f64::NAN } else { meter.largest },
        mean_rad: meter.sum / (meter.count.max(1) as f64),
        objects_m: BTreeMap::new(),
        objects: Some(objects.into_report()),
    })
}

/// Joints and objects.
struct Both {
    meter: Meter,
    objects: ObjectMeter,
}

impl Tape for Both {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
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
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
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
