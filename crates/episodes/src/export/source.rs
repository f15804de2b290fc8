//! What every export must know about an episode, and pictures that say how far it is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use citrange_core::restore::BodyPose;
use citrange_hdf5::Images;
use citrange_tape::{Dataset, Episode, TapeHeader};

use crate::cell::EpisodeRig;
use crate::context::{Progress, RunContext};
use crate::error::{Result, bad_input};
use crate::simulated::{model_xml, rig_of};

/// Models as MJCF, by the hash of the compiled model; compiled once each.
#[derive(Default)]
pub(crate) struct Models(BTreeMap<String, Option<String>>);

impl Models {
    /// The text of a tape's model, if the scene still compiles to it.
    pub(crate) fn xml(&mut self, header: &TapeHeader, ctx: RunContext<'_>) -> Option<String> {
        let known = self.0.entry(header.model_hash.clone()).or_insert_with(|| {
            let scene = header.scene.as_ref()?;
            let xml = model_xml(header);
            if xml.is_none() {
                let name = &scene.name;
                ctx.say(&format!(
                    "the model of scene {name} is not the one recorded: its MJCF is left out"
                ));
            }
            xml
        });
        known.clone()
    }
}

/// An episode with what an export must know about it.
pub(crate) struct ExportEpisode {
    pub(crate) number: usize,
    pub(crate) tape: Arc<Episode>,
    pub(crate) shown: Range<usize>,
    /// The simulated rig at the first frame shown; `None` for a real robot.
    pub(crate) rig: Option<Box<dyn EpisodeRig>>,
    pub(crate) robot: String,
    pub(crate) objects: BTreeMap<String, usize>,
    pub(crate) bodies: Vec<BodyPose>,
}

impl ExportEpisode {
    pub(crate) fn new(dataset: &Dataset, number: usize) -> Result<Self> {
        let Some((tape, shown)) = dataset.tape(number)? else {
            bad_input!(
                "episode {number} of {} has no tape: only its rows and videos are known, which \
                 --to lerobot writes",
                dataset.root().display()
            );
        };
        let tape = Arc::new(tape);
        let mut this = Self {
            number,
            shown,
            rig: None,
            robot: "robot0".to_owned(),
            objects: BTreeMap::new(),
            bodies: Vec::new(),
            tape,
        };
        if this.tape.header.scene.is_some() {
            let cameras: Vec<String> =
                this.tape.header.rig.cameras.iter().map(|c| c.name.clone()).collect();
            let mut rig = rig_of(&this.tape, Some(&cameras))?;
            rig.go_to(&this.tape, this.shown.start)?;
            this.bodies = rig.body_poses()?;
            this.objects = rig.free_objects();
            this.robot = rig.robot().to_owned();
            this.rig = Some(rig);
        }
        Ok(this)
    }
}

/// Frames of some episodes.
pub(crate) fn frames(dataset: &Dataset, episodes: &[usize]) -> u64 {
    let all = dataset.lerobot.episodes();
    episodes.iter().filter_map(|n| all.get(*n)).map(|e| e.length as u64).sum()
}

/// Pictures that move a progress bar when they are asked for.
pub(crate) fn counted(images: &Images, bar: &Arc<dyn Progress>) -> Result<Images> {
    let (images, bar) = (images.clone(), Arc::clone(bar));
    let (frames, height, width) = (images.frames(), images.height(), images.width());
    Ok(Images::from_fn(frames, height, width, move |index, out| {
        bar.add_one();
        images.read_frame(index, out).map_err(|e| e.to_string())
    })?)
}
