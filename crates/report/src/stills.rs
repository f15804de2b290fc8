//! Single pictures of a dataset: those that a report shows, and no others.

use citrange_core::event::TaskState;
use citrange_tape::Dataset;

use crate::survey::EpisodeFacts;
use citrange_render::Image;

/// Failures in the table of a page; the rest is in `report.json`.
pub(crate) const MOST_FAILURES: usize = 200;
/// Failures of which a picture is shown: a page must stay small enough to be sent.
const MOST_FAILURE_PICTURES: usize = 40;
const STILL_HEIGHT_PX: usize = 120;
const PAPER: [u8; 3] = [255; 3];

/// A thing that was lost in an episode that failed, with a picture of the moment.
#[derive(Clone, Debug)]
pub(crate) struct LostThing<'a> {
    pub(crate) episode: usize,
    pub(crate) failure: &'a crate::story::Failure,
    pub(crate) still: Option<Image>,
}

/// The last failure of every thing lost, in the order of the episodes. Episodes that people call
/// a success are left out.
pub(crate) fn lost_things(episodes: &[EpisodeFacts]) -> Vec<LostThing<'_>> {
    let mut lost = Vec::new();
    for facts in episodes.iter().filter(|facts| facts.success != Some(true)) {
        for (index, failure) in facts.failures.iter().enumerate() {
            let later = facts.failures.iter().skip(index + 1);
            if !failure.recovered && !later.into_iter().any(|f| f.target == failure.target) {
                lost.push(LostThing { episode: facts.episode, failure, still: None });
            }
        }
    }
    lost
}

/// Adds pictures of all cameras, side by side, to the first failures.
pub(crate) fn add_stills(
    lost: &mut [LostThing<'_>],
    dataset: &Dataset,
    cameras: &[String],
    problems: &mut Vec<String>,
) {
    for thing in lost.iter_mut().take(MOST_FAILURE_PICTURES) {
        let mut pictures = Vec::new();
        for camera in cameras {
            match stills(dataset, thing.episode, camera, &[thing.failure.frame]) {
                Ok(found) => pictures.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        let small = |p: &Image| p.fitted(2 * STILL_HEIGHT_PX, STILL_HEIGHT_PX);
        let small: Vec<_> = pictures.iter().map(small).collect();
        thing.still = (!small.is_empty()).then(|| Image::beside(&small, 4, PAPER));
    }
}

/// What is seen of an episode's film before it is played: all cameras, as in the film, while
/// something is carried, else in the middle.
pub(crate) fn poster(
    dataset: &Dataset,
    facts: &EpisodeFacts,
    cameras: &[String],
    problems: &mut Vec<String>,
) -> Option<Image> {
    let carried = facts.stages.iter().find(|stage| stage.state == TaskState::Transport.name());
    let frame = carried.map_or(facts.frames / 2, |stage| stage.frame);
    let mut pictures = Vec::new();
    for camera in cameras {
        match stills(dataset, facts.episode, camera, &[frame]) {
            Ok(found) => pictures.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    (!pictures.is_empty()).then(|| Image::sheet(&pictures, pictures.len()))
}

/// Pictures of an episode at some frames, best in order.
pub(crate) fn stills(
    dataset: &Dataset,
    episode: usize,
    camera: &str,
    frames: &[usize],
) -> Result<Vec<Image>, String> {
    let fail = |e: &dyn std::fmt::Display| format!("episode {episode}, camera {camera}: {e}");
    let film = dataset.pictures(episode, camera).map_err(|e| fail(&e))?;
    let (width, height) = (film.width(), film.height());
    let still = |frame: &usize| {
        let last = film.frames().saturating_sub(1);
        let rgb = film.frame((*frame).min(last)).map_err(|e| fail(&e))?;
        Ok(Image { width, height, rgb })
    };
    frames.iter().map(still).collect()
}
