//! What this crate asks of videos.

use std::path::{Path, PathBuf};

use citrange_video::mp4::Movie;
use citrange_video::{Decoder, VideoError};

use crate::error::{LerobotError, Result};
use crate::image_stats::ImageStats;
use crate::info::Feature;

pub(crate) fn video_error(path: &Path) -> impl Fn(VideoError) -> LerobotError + use<> {
    let path = path.to_path_buf();
    move |e| LerobotError::Video { path: path.clone(), reason: e.to_string() }
}

/// Opens a video; a missing one says so.
pub(crate) fn open(path: &Path) -> Result<Movie> {
    Movie::open(path).map_err(video_error(path))
}

/// The video must have the feature's size, the dataset's rate and the episode's frames; gives
/// its codec.
pub(crate) fn require(path: &Path, feature: &Feature, fps: u32, frames: usize) -> Result<String> {
    let movie = open(path)?;
    let bad = |reason: String| LerobotError::Video { path: path.into(), reason };
    let found = [movie.format.height as usize, movie.format.width as usize];
    if feature.shape.get(..2) != Some(&found[..]) {
        let [h, w] = found;
        return Err(bad(format!("it is {w}x{h}; the dataset has shape {:?}", feature.shape)));
    }
    if movie.frame_count() as usize != frames {
        let count = movie.frame_count();
        return Err(bad(format!("it has {count} frames; the episode has {frames}")));
    }
    movie.is_constant_rate(fps).map_err(video_error(path))?;
    Ok(movie.codec.clone())
}

/// What planning needs to know of a video.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) path: PathBuf,
    pub(crate) frames: usize,
    pub(crate) bytes: u64,
    /// Whether decoding can begin at a frame, by frame.
    keys: Vec<bool>,
    /// Whether frames can be decoded and encoded again here.
    pub(crate) can_encode: bool,
}

impl Outline {
    pub(crate) fn of(movie: &Movie) -> Self {
        let keys = (0..movie.frame_count())
            .map(|f| {
                let sample = movie.sample_of_frame(f).and_then(|i| movie.samples.get(i));
                sample.is_some_and(|s| s.key)
            })
            .collect();
        Self {
            path: movie.path().into(),
            frames: movie.frame_count() as usize,
            bytes: movie.samples.iter().map(|s| u64::from(s.size)).sum(),
            keys,
            can_encode: is_decoded_here(movie),
        }
    }

    /// The frames around one at which a cut needs no encoding.
    pub(crate) fn keys_near(&self, frame: usize) -> (usize, usize) {
        let is_key = |f: &usize| self.keys.get(*f).copied().unwrap_or(true);
        let before = (0..frame).rev().find(is_key).unwrap_or(0);
        (before, (frame..=self.frames).find(is_key).unwrap_or(self.frames))
    }

    /// Frames from `from` up to the next key frame: they must be encoded again in a cut.
    pub(crate) fn to_encode(&self, from: usize, to: usize) -> usize {
        (from..to).take_while(|f| !self.keys.get(*f).copied().unwrap_or(true)).count()
    }
}

/// Whether pictures of a film can be decoded here: H.264 without B-frames.
pub(crate) fn is_decoded_here(movie: &Movie) -> bool {
    movie.avc_config().is_some() && movie.is_in_order()
}

/// What a film is, as people call it.
pub(crate) fn kind(movie: &Movie) -> String {
    let name = match movie.codec.as_str() {
        "av1" => "AV1".to_owned(),
        "h264" => "H.264".to_owned(),
        "hevc" => "H.265".to_owned(),
        other => other.to_uppercase(),
    };
    if movie.is_in_order() { name } else { format!("{name} with B-frames") }
}

/// Decodes frames one after the other. `each` gets the frame number and the picture, and says
/// whether to go on. False when this codec is not decoded here.
pub(crate) fn decode_frames(
    movie: &Movie,
    frames: std::ops::Range<usize>,
    mut each: impl FnMut(usize, &[u8], u32, u32) -> bool,
) -> std::result::Result<bool, VideoError> {
    let Some(config) = movie.avc_config().filter(|_| is_decoded_here(movie)) else {
        return Ok(false);
    };
    let mut decoder = Decoder::new(config)?;
    let (mut sample, mut rgb) = (Vec::new(), Vec::new());
    let end = frames.end.min(movie.samples.len());
    let is_key = |f: &usize| movie.samples.get(*f).is_some_and(|s| s.key);
    let start = (0..=frames.start).rev().find(is_key).unwrap_or(0);
    for frame in start..end {
        movie.read_sample(frame, &mut sample)?;
        let (width, height) = decoder.decode(&sample, &mut rgb)?;
        if frame >= frames.start && !each(frame, &rgb, width, height) {
            break;
        }
    }
    Ok(true)
}

/// Statistics of some frames; nothing when they cannot be decoded here.
pub(crate) fn image_stats(path: &Path, frames: std::ops::Range<usize>) -> Option<ImageStats> {
    let movie = Movie::open(path).ok()?;
    let mut stats = ImageStats::new();
    let decoded = decode_frames(&movie, frames, |_, rgb, width, height| {
        stats.add_rgb(rgb, width as usize, height as usize);
        true
    });
    (decoded.ok()? && stats.frames() > 0).then_some(stats)
}
