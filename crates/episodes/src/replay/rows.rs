//! Replay by one target per frame: what LeRobot datasets and poorer files allow.

use std::collections::BTreeMap;

use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Rig as _, RigSpec, Snapshot, Tape};
use citrange_tape::{Dataset, Episode, FrameReplay, Reading};

use super::Source;
use super::play::Player;
use super::report::Replayed;
use crate::cell::EpisodeRig;
use crate::drive::DEFAULT_SCENE;
use crate::error::{Result, bad_input};
use crate::linked::cell::{bring, check_goes_on, park};
use crate::linked::{LinkChoice, SmoothReplay, linked};
use crate::objects::ObjectMeter;
use crate::simulated::{compiled, match_arms, start_at};

/// What a LeRobot dataset knows: a target and the joints seen per frame, radians and metres.
pub(super) struct Rows {
    pub(super) targets: Vec<Vec<f64>>,
    pub(super) seen: Vec<Vec<f64>>,
}

/// Plays rows of a dataset: in the tape's scene if there is a tape, else in the scene named.
pub(super) fn by_rows(
    player: &Player<'_>,
    dataset: &Dataset,
    episode: usize,
    tape: Option<(Episode, std::ops::Range<usize>)>,
) -> Result<Replayed> {
    let (options, ctx) = (player.options, player.ctx);
    let unit = options.unit;
    if let Some((tape, shown)) = tape {
        let mut rig = player.rig_for(&tape)?;
        let rows = dataset.joint_rows(episode, rig.spec(), unit)?;
        let rows = Rows { targets: rows.targets, seen: rows.seen };
        rig.go_to(&tape, shown.start + options.from.min(shown.len().saturating_sub(1)))?;
        let last = tape.snapshot(shown.end);
        return near(player, rig, rows, "exact start".into(), last, None);
    }
    let Some(name) = options.scene.as_deref() else {
        bad_input!(
            "episode {episode} of {} has no tape: name a scene to play it in, for example \
             --scene orange_plate",
            dataset.root().display()
        );
    };
    let (mut rig, rows) = match_arms(name, &player.choice(), &mut |rig| {
        Ok(dataset.joint_rows(episode, rig.spec(), unit)?)
    })?;
    let reading = rows.reading.to_string();
    if matches!(rows.reading, Reading::Guessed { .. }) {
        ctx.say(&format!("joint values are read in {reading}"));
    }
    rows.check_limits(rig.spec())?;
    let (fps, played) = (dataset.lerobot.info().fps, rig.spec().rates.frame_hz);
    if fps != played {
        ctx.say(&format!(
            "the dataset has {fps} frames a second, the scene plays {played}: {:.2} times as fast",
            f64::from(played) / f64::from(fps.max(1))
        ));
    }
    let rows = Rows { targets: rows.targets, seen: rows.seen };
    // Without a kept state the arm at least begins where it was seen.
    let Some(joints) = rows.seen.get(options.from) else {
        bad_input!(
            "there is no frame {}; the episode has {}, numbered from 0",
            options.from,
            rows.seen.len()
        );
    };
    let report = rig.restore_start(&start_at(rig.as_ref(), joints))?;
    ctx.say(&format!("episode {episode}: {report}"));
    let mut replayed = near(player, rig, rows, report.level.to_string(), None, None)?;
    if let Replayed::Near { unit, .. } = &mut replayed {
        *unit = Some(reading);
    }
    Ok(replayed)
}

/// Plays rows on a real arm, at real time: it is brought to where they begin first, and targets
/// between two frames lie between theirs.
pub(super) fn on_link(
    player: &Player<'_>,
    source: &Source,
    episode: usize,
    link: &LinkChoice,
) -> Result<Replayed> {
    let options = player.options;
    if options.verify {
        bad_input!("a real arm repeats nothing bit for bit: leave --verify out");
    }
    if options.film.is_some() {
        bad_input!("{} has no cameras yet: leave --render out", link.address);
    }
    let scene = options.scene.as_deref().or(link.default_scene()).unwrap_or(DEFAULT_SCENE);
    let mut rig = linked(compiled(scene)?, link)?;
    let names = |spec: &RigSpec| -> Vec<String> {
        spec.joints.iter().map(|joint| joint.name.clone()).collect()
    };
    let (rows, hz) = match source {
        Source::Dataset(dataset) => {
            // Columns of unknown names count by their order: what is known to be another robot's is
            // not sent to an arm with as many joints.
            let has = match dataset.tape(episode)? {
                Some((tape, _)) => names(&tape.header.rig),
                None => {
                    let action = dataset.lerobot.info().features.get("action");
                    let columns = action.map(|action| action.component_names()).unwrap_or_default();
                    let bare = |name: &str| name.trim_end_matches(".pos").to_owned();
                    columns.iter().map(|name| bare(name)).collect()
                }
            };
            let needs = names(rig.spec());
            let is_in = |need: &String| {
                let of_one_arm = format!("_{need}");
                has.iter().any(|has| has == need || has.ends_with(&of_one_arm))
            };
            if !has.is_empty() && !needs.iter().all(is_in) {
                let (has, needs) = (has.join(", "), needs.join(", "));
                bad_input!("the set moves {has}, the arm has {needs}");
            }
            let rows = dataset.joint_rows(episode, rig.spec(), options.unit)?;
            if matches!(rows.reading, Reading::Guessed { .. }) {
                player.ctx.say(&format!("joint values are read in {}", rows.reading));
            }
            rows.check_limits(rig.spec())?;
            (Rows { targets: rows.targets, seen: rows.seen }, dataset.lerobot.info().fps)
        }
        Source::Tape(tape) => {
            let (has, needs) = (names(&tape.header.rig), names(rig.spec()));
            if has != needs {
                bad_input!("the tape moves {}, the arm has {}", has.join(", "), needs.join(", "));
            }
            let targets = (0..tape.len()).filter_map(|f| tape.action(f)).map(<[f64]>::to_vec);
            let seen = tape.frames.iter().map(|f| f.joint_pos.clone()).collect();
            (Rows { targets: targets.collect(), seen }, tape.header.rig.rates.frame_hz)
        }
        Source::Demos(_) => bad_input!(
            "HDF5 files are not played on a real arm yet: citrange data import makes a dataset"
        ),
    };
    let from = options.from;
    let Some(first) = rows.targets.get(from) else {
        bad_input!("there is no frame {from}; the episode has {}", rows.targets.len());
    };
    player.ctx.say("bringing the arm to where the episode begins");
    bring(&mut rig, first, player.ctx)?;
    let of = (rows.targets.len() - from) as u64;
    let mut pilot = SmoothReplay::new(rows.targets[from..].to_vec(), hz, rig.spec().rates);
    let mut meter = Meter::of(rows.seen.get(from..).unwrap_or_default().to_vec());
    let report = player.play(&mut rig, &mut pilot, &mut meter, of)?;
    if !player.ctx.stopped() {
        check_goes_on(&rig)?;
        park(&mut rig, player.ctx)?;
    }
    Ok(meter.near(report.frames, of, "the arm brought to its start".into()))
}

/// Holds a target per frame and measures how far the joints, and of a file of others its objects,
/// are from those recorded.
pub(super) fn near(
    player: &Player<'_>,
    mut rig: Box<dyn EpisodeRig>,
    rows: Rows,
    level: String,
    last: Option<Snapshot>,
    objects: Option<ObjectMeter>,
) -> Result<Replayed> {
    let from = player.options.from.min(rows.targets.len());
    let rates = rig.spec().rates;
    let mut pilot = FrameReplay::new(rows.targets[from..].to_vec(), rates);
    let meter = Meter::of(rows.seen.get(from..).unwrap_or_default().to_vec());
    let mut both = Both { meter, objects };
    let of = (rows.targets.len() - from) as u64;
    let report = player.play(rig.as_mut(), &mut pilot, &mut both, of)?;
    let Both { meter, objects } = both;
    let mut replayed = meter.near(report.frames, of, level);
    if let Replayed::Near { objects_m, objects: told, .. } = &mut replayed {
        *objects_m = last.map_or_else(BTreeMap::new, |last| rig.object_errors_m(&last));
        *told = objects.map(ObjectMeter::into_report);
    }
    Ok(replayed)
}

/// Joints and objects.
struct Both {
    meter: Meter,
    objects: Option<ObjectMeter>,
}

impl Tape for Both {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        if let Some(objects) = &mut self.objects {
            objects.frame(frame);
        }
        self.meter.frame(frame)
    }
}

/// Compares joints with recorded ones.
struct Meter {
    seen: Vec<Vec<f64>>,
    largest: f64,
    sum: f64,
    count: u64,
}

impl Meter {
    fn of(seen: Vec<Vec<f64>>) -> Self {
        Self { seen, largest: 0.0, sum: 0.0, count: 0 }
    }

    fn near(&self, frames: u64, of: u64, level: String) -> Replayed {
        Replayed::Near {
            frames,
            of,
            level,
            unit: None,
            // A file without recorded joints leaves nothing to compare.
            largest_rad: if self.count == 0 { f64::NAN } else { self.largest },
            mean_rad: self.sum / (self.count.max(1) as f64),
            objects_m: BTreeMap::new(),
            objects: None,
        }
    }
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
