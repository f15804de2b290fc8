//! Episodes of a dataset as HDF5 demonstrations, one file each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use citrange_core::restore::BodyPose;
use citrange_hdf5::{Images, demo_file_name, write_demo};
use citrange_sim::{CompiledScene, SceneSource, SimRig};
use citrange_tape::{Dataset, DemoExtras, Episode, Header, Staging, TapeError, export_demo};
use indicatif::ProgressBar;

use crate::output;
use crate::session::{go_to, rig_of};

/// Models as MJCF, by the hash of the compiled model; compiled once each.
#[derive(Default)]
pub(crate) struct Models(BTreeMap<String, Option<String>>);

impl Models {
    /// The text of a tape's model, if the scene still compiles to it.
    pub(crate) fn xml(&mut self, header: &Header) -> Option<String> {
        let known = self.0.entry(header.model_hash.clone()).or_insert_with(|| {
            let scene = header.scene.clone()?;
            let name = scene.name.clone();
            let source = SceneSource { scene, folder: PathBuf::from(".") };
            let same = CompiledScene::new(&source).ok();
            let same = same.filter(|s| s.model_hash == header.model_hash && !s.xml.is_empty());
            if same.is_none() {
                output::talk(&format!(
                    "the model of scene {name} is not the one recorded: its MJCF is left out"
                ));
            }
            same.map(|scene| scene.xml)
        });
        known.clone()
    }
}

/// An episode with what an export must know about it.
pub(crate) struct Ready {
    pub(crate) number: usize,
    pub(crate) tape: Arc<Episode>,
    pub(crate) shown: Range<usize>,
    /// The simulated rig at the first frame shown; `None` for a real robot.
    pub(crate) rig: Option<SimRig>,
    pub(crate) robot: String,
    pub(crate) objects: BTreeMap<String, usize>,
    pub(crate) bodies: Vec<BodyPose>,
}

impl Ready {
    pub(crate) fn new(dataset: &Dataset, number: usize) -> anyhow::Result<Self> {
        let Some((tape, shown)) = dataset.tape(number)? else {
            bail!(TapeError::Missing(format!(
                "episode {number} of {} has no tape: only its rows and videos are known, which \
                 --to lerobot writes",
                dataset.root().display()
            )));
        };
        let tape = Arc::new(tape);
        let mut ready = Self {
            number,
            shown,
            rig: None,
            robot: "robot0".to_owned(),
            objects: BTreeMap::new(),
            bodies: Vec::new(),
            tape,
        };
        if ready.tape.header.scene.is_some() {
            let cameras: Vec<String> =
                ready.tape.header.rig.cameras.iter().map(|c| c.name.clone()).collect();
            let mut rig = rig_of(&ready.tape, Some(&cameras))?;
            go_to(&mut rig, &ready.tape, ready.shown.start)?;
            ready.bodies = rig.world().body_poses(0)?;
            ready.objects = rig.world().scene().free_objects();
            ready.robot = rig.robot().to_owned();
            ready.rig = Some(rig);
        }
        Ok(ready)
    }
}

/// Writes a file per episode into a folder.
pub(crate) fn write(
    dataset: &Dataset,
    episodes: &[usize],
    out: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut ready = Vec::new();
    for number in episodes {
        let Some((tape, _)) = dataset.tape(*number)? else {
            Ready::new(dataset, *number)?;
            continue;
        };
        ready.push((*number, file_name(*number, &tape.header.began_utc)));
    }
    // All files appear in one step.
    let staging = Staging::begin(out).map_err(TapeError::from)?;
    let cameras = dataset.camera_names();
    let bar =
        output::progress("exporting", frames(dataset, episodes) * cameras.len().max(1) as u64);
    let mut models = Models::default();
    for (number, name) in &ready {
        let one = Ready::new(dataset, *number)?;
        let mut pictures = BTreeMap::new();
        for camera in &cameras {
            let images = dataset.pictures(*number, camera)?;
            pictures.insert(camera.clone(), counted(&images, &bar)?);
        }
        if cameras.is_empty() {
            bar.inc(one.shown.len() as u64);
        }
        let extras = DemoExtras {
            number: *number,
            outcome: dataset.entry(*number).map(|entry| entry.outcome.clone()),
            model_xml: models.xml(&one.tape.header),
            robot: one.robot,
            objects: one.objects,
            bodies: one.bodies,
            cameras: pictures,
        };
        let demo = export_demo(&one.tape, one.shown, extras)?;
        write_demo(staging.path().join(name), &demo).map_err(TapeError::from)?;
    }
    staging.publish().map_err(TapeError::from)?;
    bar.finish_and_clear();
    Ok(ready.into_iter().map(|(_, name)| out.join(name)).collect())
}

/// Frames of some episodes.
pub(crate) fn frames(dataset: &Dataset, episodes: &[usize]) -> u64 {
    let all = dataset.lerobot.episodes();
    episodes.iter().filter_map(|n| all.get(*n)).map(|e| e.length as u64).sum()
}

/// Pictures that move a progress bar when they are asked for.
pub(crate) fn counted(images: &Images, bar: &ProgressBar) -> anyhow::Result<Images> {
    let (images, bar) = (images.clone(), bar.clone());
    let (frames, height, width) = (images.frames(), images.height(), images.width());
    Ok(Images::from_fn(frames, height, width, move |index, out| {
        bar.inc(1);
        images.read_frame(index, out).map_err(|e| e.to_string())
    })
    .map_err(TapeError::from)?)
}

/// The usual name of a demo file, with the time at which the episode began.
fn file_name(number: usize, began_utc: &str) -> String {
    demo_file_name(u32::try_from(number).unwrap_or(u32::MAX), unix_secs(began_utc).unwrap_or(0))
}

/// Seconds since 1970 of `2026-03-14T15:09:26Z`.
pub(crate) fn unix_secs(utc: &str) -> Option<u64> {
    let number = |range: Range<usize>| utc.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leaps + (153 * month + 2) / 5 + day - 1;
    let of_day = number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    Some((days - 719_468) * 86_400 + of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_carry_the_time_of_the_recording() {
        for (began, name) in [
            ("2026-03-14T15:09:26Z", "demo_episode_0007_20260314_150926.h5"),
            ("2000-02-29T00:00:00Z", "demo_episode_0007_20000229_000000.h5"),
            ("1970-01-01T00:00:00Z", "demo_episode_0007_19700101_000000.h5"),
            ("2099-12-31T23:59:59Z", "demo_episode_0007_20991231_235959.h5"),
            ("nonsense", "demo_episode_0007_19700101_000000.h5"),
        ] {
            assert_eq!(file_name(7, began), name);
        }
    }
}
