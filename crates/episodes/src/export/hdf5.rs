//! Episodes of a dataset as HDF5 demonstrations, one file each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use citrange_hdf5::{demo_file_name, write_demo};
use citrange_tape::{Dataset, DemoExtras, Staging, export_demo};

use super::source::{ExportEpisode, Models, counted, frames};
use super::{ExportOptions, Exporter};
use crate::context::RunContext;
use crate::error::Result;

pub(super) struct Hdf5;

impl Exporter for Hdf5 {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn about(&self) -> &'static str {
        "a file per episode, its tape inside"
    }

    fn write(
        &self,
        dataset: &Dataset,
        episodes: &[usize],
        options: &ExportOptions,
        ctx: RunContext<'_>,
    ) -> Result<Vec<PathBuf>> {
        let out = &options.out;
        let mut ready = Vec::new();
        for number in episodes {
            let Some((tape, _)) = dataset.tape(*number)? else {
                ExportEpisode::new(dataset, *number)?;
                continue;
            };
            ready.push((*number, file_name(*number, &tape.header.began_utc)));
        }
        // All files appear in one step.
        let staging = Staging::begin(out)?;
        let cameras = dataset.camera_names();
        let bar =
            ctx.progress("exporting", frames(dataset, episodes) * cameras.len().max(1) as u64);
        let mut models = Models::default();
        for (number, name) in &ready {
            let one = ExportEpisode::new(dataset, *number)?;
            let mut pictures = BTreeMap::new();
            for camera in &cameras {
                let images = dataset.pictures(*number, camera)?;
                pictures.insert(camera.clone(), counted(&images, &bar)?);
            }
            if cameras.is_empty() {
                one.shown.clone().for_each(|_| bar.add_one());
            }
            let extras = DemoExtras {
                number: *number,
                outcome: dataset.entry(*number).map(|entry| entry.outcome.clone()),
                model_xml: models.xml(&one.tape.header, ctx),
                robot: one.robot,
                objects: one.objects,
                bodies: one.bodies,
                cameras: pictures,
            };
            let demo = export_demo(&one.tape, one.shown, extras)?;
            write_demo(staging.path().join(name), &demo)?;
        }
        staging.publish()?;
        bar.finish();
        Ok(ready.into_iter().map(|(_, name)| out.join(name)).collect())
    }
}

/// The usual name of a demo file, with the time at which the episode began.
fn file_name(number: usize, began_utc: &str) -> String {
    demo_file_name(
        u32::try_from(number).unwrap_or(u32::MAX),
        citrange_core::time::unix_s_of(began_utc).unwrap_or(0),
    )
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
