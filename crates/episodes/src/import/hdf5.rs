//! HDF5 files: single episodes, perhaps with their tape inside, files of many, and ALOHA's.

use std::path::Path;
use std::sync::Arc;

use citrange_hdf5::FileLayout;
use citrange_tape::DemoEpisode;

use super::{ImportOptions, Importer, Job, SourceEpisode, Taken, exact, played, so101};
use crate::error::Result;

/// A layout of HDF5 files.
pub(super) struct Hdf5 {
    name: &'static str,
    about: &'static str,
    layout: FileLayout,
    /// Whether it is for recordings of an SO-101 with their own pictures only.
    is_so101: bool,
}

/// A file per episode.
pub(super) const DEMO: Hdf5 = Hdf5 {
    name: "hdf5",
    about: "a file per episode, exact where its tape is inside",
    layout: FileLayout::Demo,
    is_so101: false,
};

/// Rows and pictures as they are, nothing simulated.
pub(super) const SO101: Hdf5 = Hdf5 {
    name: "so101-hdf5",
    about: "recordings of an SO-101: obs/joint_pos, obs/actions and pictures",
    layout: FileLayout::Robomimic,
    is_so101: true,
};

/// Many episodes in one file.
pub(super) const ROBOMIMIC: Hdf5 = Hdf5 {
    name: "robomimic",
    about: "many episodes in robomimic's or robosuite's layout",
    layout: FileLayout::Robomimic,
    is_so101: false,
};

/// One episode of several arms.
pub(super) const ALOHA: Hdf5 = Hdf5 {
    name: "aloha",
    about: "one episode of several arms: observations/qpos and action",
    layout: FileLayout::Aloha,
    is_so101: false,
};

impl Importer for Hdf5 {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn knows(&self, file: &Path) -> bool {
        let is_layout =
            file.is_file() && citrange_hdf5::sniff(file).is_ok_and(|l| l == self.layout);
        is_layout && (!self.is_so101 || DemoEpisode::is_so101_file(file))
    }

    fn read(&self, options: &ImportOptions) -> Result<Vec<Box<dyn SourceEpisode>>> {
        // In a scene they are played like others.
        let as_recorded = self.is_so101 && options.scene.is_none() && !options.play.own_scene;
        let demos = DemoEpisode::read(&options.file)?.into_iter();
        let one = |demo| Box::new(DemoSource { demo, as_recorded }) as Box<dyn SourceEpisode>;
        Ok(demos.map(one).collect())
    }
}

/// An episode of such a file, and how it is taken in.
struct DemoSource {
    demo: DemoEpisode,
    as_recorded: bool,
}

impl SourceEpisode for DemoSource {
    fn name(&self) -> &str {
        &self.demo.name
    }

    fn take(self: Box<Self>, job: &Job<'_>) -> Result<Taken> {
        let Self { mut demo, as_recorded } = *self;
        if let Some(problem) = &demo.tape_problem {
            job.ctx.say(&format!("{}: the tape inside cannot be used: {problem}", demo.name));
        }
        match demo.tape.take() {
            Some((tape, shown)) => {
                Ok((exact::exact(job, Arc::new(tape), shown, &demo.tape_bytes)?, None))
            }
            None if as_recorded => Ok((so101::as_recorded(job, demo)?, None)),
            None => played::near(job, &demo),
        }
    }
}

/// Whether a file is meant to be HDF5: by its first bytes, or by its name.
#[must_use]
pub fn is_hdf5(path: &Path) -> bool {
    use citrange_hdf5::Hdf5Error;
    let named = path.extension().is_some_and(|end| {
        ["h5", "hdf5", "hdf", "he5"].iter().any(|known| end.eq_ignore_ascii_case(known))
    });
    named
        || match citrange_hdf5::sniff(path) {
            Ok(FileLayout::Other(what)) => what != citrange_hdf5::NOT_HDF5,
            Ok(_) => true,
            Err(error) => !matches!(error, Hdf5Error::Io { .. } | Hdf5Error::NotHdf5 { .. }),
        }
}
