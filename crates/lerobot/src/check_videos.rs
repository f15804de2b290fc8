//! Checks of one video file and the episodes in it.

use std::collections::BTreeMap;

use citrange_video::mp4::Movie;

use crate::av1;
use crate::check::CheckOptions;
use crate::check_rows::{Motion, TOLERANCE_S};
use crate::dataset::Dataset;
use crate::findings::{At, Findings};
use crate::image_stats::ImageStats;
use crate::movie;
use crate::paths::FileId;

/// A frame that says "as before" for every block: length, slice header and trailing bits, bytes.
const SKIPPED_HEAD_BYTES: u32 = 11;
/// Decoded pictures that differ by no more than this in any channel are the same picture, coded
/// twice.
const SAME_LEVELS: u8 = 24;
/// Joints that move by less than this part of their range do not count as moving.
const MOVES_PART: f64 = 0.02;
/// Camera means may differ by this from what was recorded: coding is lossy, pixels are sampled.
const MEAN_TOLERANCE: f64 = 0.03;

/// A file and its episodes, in order.
pub(crate) struct VideoFile {
    key: String,
    id: FileId,
    episodes: Vec<usize>,
}

/// All video files that episodes refer to.
pub(crate) fn group(dataset: &Dataset) -> Vec<VideoFile> {
    let mut files: BTreeMap<(String, FileId), Vec<usize>> = BTreeMap::new();
    for meta in &dataset.episodes {
        for (key, span) in &meta.videos {
            files.entry((key.clone(), span.file)).or_default().push(meta.index);
        }
    }
    files.into_iter().map(|((key, id), episodes)| VideoFile { key, id, episodes }).collect()
}

pub(crate) fn check(
    dataset: &Dataset,
    video: &VideoFile,
    options: &CheckOptions,
    motion: &BTreeMap<usize, Motion>,
    found: &mut Findings,
) {
    let (key, fps) = (&video.key, dataset.info.fps);
    let Ok(name) = dataset.info.video_file(key, video.id) else { return };
    let at =
        || At { episode: video.episodes.first().copied(), frame: None, file: Some(name.clone()) };
    let path = dataset.root.join(&name);
    if !path.is_file() {
        found.error("video-missing", at(), "the video is missing".into());
        return;
    }
    let movie = match Movie::open(&path) {
        Ok(movie) => movie,
        Err(e) => {
            found.error("unreadable", at(), e.to_string());
            return;
        }
    };
    if let Err(e) = movie.is_constant_rate(fps) {
        found.error("video-rate", at(), e.to_string());
    }
    if let Err(e) = movie.is_well_placed() {
        found.error("unreadable", at(), e.to_string());
        return;
    }
    if let Err(reason) = av1::check(&movie) {
        found.error("undecodable", at(), reason);
    }
    if !movie::is_decoded_here(&movie) {
        found.not_decoded(&movie);
    }
    check_format(dataset, key, &movie, at(), found);
    let frames = movie.frame_count() as usize;
    let wanted: usize =
        video.episodes.iter().filter_map(|e| dataset.episodes.get(*e)).map(|e| e.length).sum();
    let message = format!("it has {frames} frames, its episodes have {wanted}");
    match frames.cmp(&wanted) {
        std::cmp::Ordering::Less => found.error("video-short", at(), message),
        std::cmp::Ordering::Greater => found.warning("video-long", at(), message),
        std::cmp::Ordering::Equal => {}
    }
    let mut next = 0.0;
    for index in &video.episodes {
        let Some(meta) = dataset.episodes.get(*index) else { continue };
        let Some(span) = meta.videos.get(key) else { continue };
        let here = At { episode: Some(*index), ..at() };
        let length = meta.length as f64 / f64::from(fps);
        let fits = (span.from_s - next).abs() < TOLERANCE_S
            && (span.to_s - span.from_s - length).abs() < TOLERANCE_S;
        if !fits {
            let (a, b, end) = (span.from_s, span.to_s, next + length);
            let message =
                format!("it spans {a:.4} to {b:.4} s, it should be {next:.4} to {end:.4} s");
            found.error("video-span", here.clone(), message);
        }
        next = span.to_s;
        let first = (span.from_s * f64::from(fps)).round().max(0.0) as usize;
        let moves = motion.get(index).cloned().unwrap_or_default();
        let episode = Episode { first, length: meta.length, moves, at: here };
        if options.deep {
            check_pictures(dataset, key, &movie, &episode, options, found);
        } else {
            check_skipped(&movie, &episode, fps, options, found);
        }
    }
}

/// An episode inside a film.
struct Episode {
    first: usize,
    length: usize,
    moves: Motion,
    at: At,
}

impl Episode {
    /// Reports a run of equal pictures when it is long and the joints move during it.
    fn report_frozen(
        &self,
        run: std::ops::Range<usize>,
        fps: u32,
        options: &CheckOptions,
        found: &mut Findings,
    ) -> bool {
        let secs = (run.len().saturating_sub(1)) as f64 / f64::from(fps);
        if secs < options.frozen_s || self.moves.over(run.clone()) < MOVES_PART {
            return false;
        }
        let message = format!("the picture stands still for {secs:.2} s while the joints move");
        found.warning("frozen", self.at.frame(run.start), message);
        true
    }
}

fn check_format(dataset: &Dataset, key: &str, movie: &Movie, at: At, found: &mut Findings) {
    let Some(feature) = dataset.info.features.get(key) else { return };
    let (w, h) = (movie.format.width as usize, movie.format.height as usize);
    if feature.shape.get(..2) != Some(&[h, w][..]) {
        let message = format!("it is {w}x{h}, info.json says {:?}", feature.shape);
        found.error("video-size", at.clone(), message);
    }
    let said = feature.info.as_ref().and_then(|i| i.get("video.codec")).and_then(|c| c.as_str());
    if said.is_some_and(|codec| codec != movie.codec) {
        let message = format!("it is {}, info.json says {}", movie.codec, said.unwrap_or_default());
        found.warning("video-codec", at, message);
    }
}

/// Bytes of a frame without any change: the head, and the number of blocks as an Exp-Golomb code.
fn skipped_bytes(movie: &Movie) -> u32 {
    let blocks = movie.format.width.div_ceil(16).saturating_mul(movie.format.height.div_ceil(16));
    let bits = 2 * blocks.saturating_add(1).ilog2() + 1;
    SKIPPED_HEAD_BYTES + bits.div_ceil(8)
}

/// Without decoding: frames coded as "nothing changed". Key frames say nothing, nor do the frames
/// after them, which polish what the key frame left rough.
fn check_skipped(
    movie: &Movie,
    episode: &Episode,
    fps: u32,
    options: &CheckOptions,
    found: &mut Findings,
) {
    if movie.avc_config().is_none() || !movie.is_in_order() {
        return;
    }
    let limit = skipped_bytes(movie);
    let samples = movie.samples.iter().skip(episode.first).take(episode.length);
    let (mut start, mut end, mut skipped, mut after_key) = (0, 0, 0, true);
    let mut report = |run: std::ops::Range<usize>, skipped: usize| {
        3 * skipped >= run.len() && episode.report_frozen(run, fps, options, found)
    };
    for (frame, sample) in samples.enumerate() {
        end = frame + 1;
        let says_something = !sample.key && !after_key;
        after_key = sample.key;
        if says_something && sample.size <= limit {
            skipped += 1;
        } else if says_something {
            if report(start..frame, skipped) {
                return;
            }
            (start, skipped) = (frame, 0);
        }
    }
    report(start..end, skipped);
}

fn check_pictures(
    dataset: &Dataset,
    key: &str,
    movie: &Movie,
    episode: &Episode,
    options: &CheckOptions,
    found: &mut Findings,
) {
    let mut reference: Vec<u8> = Vec::new();
    let mut start = episode.first;
    let mut runs = Vec::new();
    let mut stats = ImageStats::new();
    let frames = episode.first..episode.first + episode.length;
    let decoded = movie::decode_frames(movie, frames.clone(), |frame, rgb, width, height| {
        stats.add_rgb(rgb, width as usize, height as usize);
        let same = reference.len() == rgb.len()
            && reference.iter().zip(rgb).all(|(a, b)| a.abs_diff(*b) <= SAME_LEVELS);
        if !same {
            runs.push(start..frame);
            start = frame;
            reference.clear();
            reference.extend_from_slice(rgb);
        }
        true
    });
    match decoded {
        Ok(true) => {}
        Ok(false) => return,
        Err(e) => {
            found.error("undecodable", episode.at.clone(), e.to_string());
            return;
        }
    }
    runs.push(start..frames.end);
    for run in runs {
        let run = run.start - episode.first..run.end - episode.first;
        if episode.report_frozen(run, dataset.info.fps, options, found) {
            break;
        }
    }
    let said =
        episode.at.episode.and_then(|e| dataset.episodes.get(e)).and_then(|m| m.stats.get(key));
    if let (Some(said), Some(measured)) = (said, stats.finish()) {
        let off =
            said.mean.iter().zip(&measured.mean).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let near = off <= MEAN_TOLERANCE;
        if !near {
            let message = format!("the mean of {key} is off by {off:.3} from its pictures");
            found.error("stats", episode.at.clone(), message);
        }
    }
}
