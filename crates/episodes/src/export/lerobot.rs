//! A packed LeRobot dataset without tapes, for whoever wants rows and videos only.

use std::path::PathBuf;

use citrange_tape::Dataset;

use super::{ExportOptions, Exporter};
use crate::context::RunContext;
use crate::error::Result;

pub(super) struct Lerobot;

impl Exporter for Lerobot {
    fn name(&self) -> &'static str {
        "lerobot"
    }

    fn about(&self) -> &'static str {
        "a packed dataset without tapes"
    }

    fn write(
        &self,
        dataset: &Dataset,
        episodes: &[usize],
        options: &ExportOptions,
        ctx: RunContext<'_>,
    ) -> Result<Vec<PathBuf>> {
        let bar = ctx.progress("writing", 0);
        let mut show = |done: usize, all: usize| {
            bar.set_parts(all as u64);
            bar.set(done as u64);
        };
        let written = dataset.export_lerobot(episodes, &options.out, options.unit, &mut show);
        bar.finish();
        written?;
        ctx.say("without tapes: rows and videos only; for exact replay use --to hdf5");
        Ok(vec![options.out.clone()])
    }
}
