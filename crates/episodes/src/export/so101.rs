//! Episodes in one file as SO-101 recordings keep them: `data/demo_<n>/obs/{joint_pos, actions}` in
//! radians and single precision, and a picture per frame and camera.

use std::collections::BTreeMap;
use std::path::PathBuf;

use citrange_hdf5::{Array, Attr, RobomimicDemo, RobomimicHeader, RobomimicWriter, Series};
use citrange_tape::Dataset;

use super::source::{counted, frames};
use super::{ExportOptions, Exporter, must_be_new};
use crate::context::RunContext;
use crate::error::{EpisodesError, Result, bad_input};

pub(super) struct So101Hdf5;

impl Exporter for So101Hdf5 {
    fn name(&self) -> &'static str {
        "so101-hdf5"
    }

    fn about(&self) -> &'static str {
        "one file of joints, actions and pictures"
    }

    fn write(
        &self,
        dataset: &Dataset,
        episodes: &[usize],
        options: &ExportOptions,
        ctx: RunContext<'_>,
    ) -> Result<Vec<PathBuf>> {
        let out = &options.out;
        must_be_new(out)?;
        if episodes.is_empty() {
            bad_input!("{} has no episodes", dataset.root().display());
        }
        let info = dataset.lerobot.info();
        let joints: Vec<String> =
            dataset.index.units.iter().map(|unit| joint(&unit.name)).collect();
        let robot = info.robot_type.clone().map(Attr::Text);
        let mut other = BTreeMap::from([
            ("frame_hz".to_owned(), Attr::Float(f64::from(info.fps))),
            ("joint_names".to_owned(), Attr::Texts(joints.clone())),
        ]);
        other.extend(robot.map(|robot| ("robot".to_owned(), robot)));
        let header = RobomimicHeader { other, ..RobomimicHeader::default() };
        let mut writer = RobomimicWriter::create(out, &header)?.single_precision();
        let cameras = dataset.camera_names();
        let bar =
            ctx.progress("exporting", frames(dataset, episodes) * cameras.len().max(1) as u64);
        for number in episodes {
            let mut demo = rows(dataset, *number)?;
            for camera in &cameras {
                let images = counted(&dataset.pictures(*number, camera)?, &bar)?;
                demo.obs.insert(camera.clone(), Series::Images(images));
            }
            demo.attrs.insert("joint_names".into(), Attr::Texts(joints.clone()));
            writer.add(&demo)?;
        }
        writer.finish()?;
        bar.finish();
        ctx.say(&format!("{} frames per second, as recorded; the file says so", info.fps));
        Ok(vec![out.clone()])
    }
}

/// `shoulder_pan.pos` is how LeRobot calls a joint's position.
fn joint(name: &str) -> String {
    name.strip_suffix(".pos").unwrap_or(name).to_owned()
}

/// Joints and actions of an episode in radians and metres, from its tape or else its rows.
fn rows(dataset: &Dataset, number: usize) -> Result<RobomimicDemo> {
    let fps = f64::from(dataset.lerobot.info().fps);
    let mut demo = RobomimicDemo::default();
    let mut start_secs = 0.0;
    let (seen, actions): (Vec<Vec<f64>>, Vec<Vec<f64>>) = match dataset.tape(number)? {
        Some((tape, shown)) => {
            start_secs = citrange_core::time::unix_s_of(&tape.header.began_utc).unwrap_or(0) as f64;
            demo.attrs.insert("task".into(), Attr::Text(tape.header.task.clone()));
            let action = |frame| tape.action(frame).map(<[f64]>::to_vec).unwrap_or_default();
            let seen = tape.frames[shown.clone()].iter().map(|f| f.joint_pos.clone());
            (seen.collect(), shown.map(action).collect())
        }
        None => (column(dataset, number, "observation.state")?, column(dataset, number, "action")?),
    };
    let count = seen.len();
    let table = |rows: Vec<Vec<f64>>| {
        let width = rows.first().map_or(0, Vec::len);
        Array::matrix(rows.len(), width, rows.concat()).map(Series::Numbers)
    };
    demo.obs.insert("joint_pos".into(), table(seen)?);
    demo.obs.insert("actions".into(), table(actions)?);
    let secs = count as f64 / fps;
    let numbers = [
        ("start_time", Attr::Float(start_secs)),
        ("end_time", Attr::Float(start_secs + secs)),
        ("duration", Attr::Float(secs)),
        ("frame_hz", Attr::Float(fps)),
        ("frame_count", Attr::Int(count as i64)),
        ("episode_id", Attr::Int(number as i64)),
    ];
    demo.attrs.extend(numbers.map(|(name, value)| (name.to_owned(), value)));
    if let Some(entry) = dataset.entry(number) {
        demo.attrs.insert("outcome".into(), Attr::Text(entry.outcome.reason.clone()));
        let success = entry.outcome.success.map(Attr::Bool);
        demo.attrs.extend(success.map(|success| ("success".to_owned(), success)));
    }
    Ok(demo)
}

/// A column of a dataset without a tape, in radians and metres.
fn column(dataset: &Dataset, number: usize, name: &str) -> Result<Vec<Vec<f64>>> {
    let (units, root) = (&dataset.index.units, dataset.root().display());
    let rows = dataset.lerobot.read_episode(number)?;
    let values = rows.column(name).and_then(|c| c.floats()).ok_or_else(|| {
        EpisodesError::BadInput(format!("{root} has no feature {name} of floats"))
    })?;
    if units.is_empty() || values.len() != units.len() * rows.length {
        bad_input!(
            "episode {number} of {root} has {} numbers per row in {name} and units of {}: only what \
             has a unit each can be written in radians",
            values.len() / rows.length.max(1),
            units.len()
        );
    }
    let read = |row: &[f32]| {
        units.iter().zip(row).map(|(unit, value)| unit.read(f64::from(*value))).collect()
    };
    Ok(values.chunks(units.len()).map(read).collect())
}
