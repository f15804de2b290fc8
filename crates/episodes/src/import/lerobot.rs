//! LeRobot datasets of others: rows that move a rig of ours, arms and joints by their names.

use std::path::Path;
use std::sync::Arc;

use citrange_tape::{Dataset, Motion, Reading, file_sha256};

use super::{ImportOptions, Importer, Job, SourceEpisode, Taken, exact, played};
use crate::error::{Context as _, Result};
use crate::simulated::play_file::Prepared;
use crate::simulated::{match_arms, start_at};

/// A LeRobotDataset v3.0 folder.
pub(super) struct Lerobot;

const INFO: &str = "meta/info.json";

impl Importer for Lerobot {
    fn name(&self) -> &'static str {
        "lerobot"
    }

    fn about(&self) -> &'static str {
        "a LeRobot dataset, its rows played in a scene"
    }

    fn knows(&self, file: &Path) -> bool {
        file.join(INFO).is_file()
    }

    fn fingerprint(&self, file: &Path) -> Result<String> {
        Ok(file_sha256(&file.join(INFO))?)
    }

    fn read(&self, options: &ImportOptions) -> Result<Vec<Box<dyn SourceEpisode>>> {
        let dataset = Arc::new(Dataset::open(&options.file)?);
        let one = |number| Rows {
            dataset: Arc::clone(&dataset),
            number,
            name: format!("episode {number}"),
        };
        Ok((0..dataset.len()).map(|n| Box::new(one(n)) as Box<dyn SourceEpisode>).collect())
    }
}

struct Rows {
    dataset: Arc<Dataset>,
    number: usize,
    name: String,
}

impl SourceEpisode for Rows {
    fn name(&self) -> &str {
        &self.name
    }

    fn take(self: Box<Self>, job: &Job<'_>) -> Result<Taken> {
        let Self { dataset, number, name } = *self;
        let simulated = dataset.tape(number)?.filter(|(tape, _)| tape.header.scene.is_some());
        if let Some((tape, shown)) = simulated.filter(|_| job.args.scene.is_none()) {
            let bytes = std::fs::read(&tape.path).context("the tape cannot be read")?;
            return Ok((exact::exact(job, Arc::new(tape), shown, &bytes)?, None));
        }
        let Some(scene) = job.args.scene.as_deref() else {
            crate::error::bad_input!(
                "{name} of {} has no tape: name a scene to play it in with --scene",
                dataset.root().display()
            );
        };
        let (mut rig, rows) = match_arms(scene, &job.choice(), &mut |rig| {
            Ok(dataset.joint_rows(number, rig.spec(), None)?)
        })?;
        let reading = rows.reading.to_string();
        if matches!(rows.reading, Reading::Guessed { .. }) {
            job.ctx.say(&format!("{name}: joint values are read in {reading}"));
        }
        rows.check_limits(rig.spec())?;
        rig.reset(0, 0)?;
        let start = rows.seen.first().map(Vec::as_slice).unwrap_or_default();
        let report = rig.restore_start(&start_at(rig.as_ref(), start))?;
        let fps = f64::from(dataset.lerobot.info().fps);
        let frame_hz = f64::from(rig.spec().rates.frame_hz);
        let source = format!("rows of a LeRobot dataset, read in {reading}");
        let motion = Motion::of_rows(rows, fps, frame_hz, source);
        let task = dataset.lerobot.episodes()[number].tasks.first().cloned();
        let note = job.note(&name, None, citrange_tape::Play::Targets);
        job.ctx.say(&format!("{name}: {report}"));
        played::record(job, Prepared { rig, motion, report }, task.as_deref(), note)
    }
}
