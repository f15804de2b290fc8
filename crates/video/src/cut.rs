//! Beginning a part between two key frames: the frames up to the next one are encoded again.

use crate::mp4::Movie;
use crate::nal::AvcConfig;
use crate::{Decoder, Encoder, EncoderSettings, VideoError};

/// The first frame from `from` on that is a key frame; the number of frames where there is none.
pub(crate) fn next_key(movie: &Movie, from: u32) -> u32 {
    (from..movie.frame_count()).find(|&frame| is_key(movie, frame)).unwrap_or(movie.frame_count())
}

fn is_key(movie: &Movie, frame: u32) -> bool {
    movie
        .sample_of_frame(frame)
        .and_then(|index| movie.samples.get(index))
        .is_some_and(|sample| sample.key)
}

/// Says that a range cannot be cut out, and where cuts are possible.
pub(crate) fn refuse(movie: &Movie, from: u32, to: u32, why: String) -> VideoError {
    let clean = clean_cuts(movie);
    let near = |at: u32| {
        let after = clean.partition_point(|&cut| cut < at);
        let before = clean[..after].last().filter(|_| clean.get(after) != Some(&at));
        let near: Vec<String> =
            before.into_iter().chain(clean.get(after)).map(u32::to_string).collect();
        near.join(" or ")
    };
    let hint = if movie.is_in_order() {
        format!("key frames nearby: {}", near(from))
    } else {
        format!("key frames nearby: begin at {}, end before {}", near(from), near(to))
    };
    VideoError::Cut { from, to, why, hint, path: movie.path().into() }
}

/// Frames before which a film can be cut: key frames with nothing older shown after them, and the
/// end.
fn clean_cuts(movie: &Movie) -> Vec<u32> {
    let mut cuts = Vec::new();
    // Samples that the frames so far have needed.
    let mut needed = 0;
    for frame in 0..movie.frame_count() {
        if needed <= frame as usize && is_key(movie, frame) {
            cuts.push(frame);
        }
        needed = needed.max(movie.sample_of_frame(frame).map_or(0, |sample| sample + 1));
    }
    cuts.push(movie.frame_count());
    cuts
}

/// Encodes frames `from..end` again, the first as a key frame. `to` is for messages.
///
/// `before` is the sample that will stand before them, where it is a key frame: two key frames in
/// a row must carry different numbers.
pub(crate) fn encode_again(
    movie: &Movie,
    from: u32,
    to: u32,
    end: u32,
    before: Option<&[u8]>,
) -> Result<Vec<(Vec<u8>, bool)>, VideoError> {
    let refuse = |why: &str| refuse(movie, from, to, why.into());
    let Some(avc_config) = movie.avc_config() else {
        return Err(refuse(&format!(
            "it does not begin at a key frame, and {} is not encoded here",
            movie.codec
        )));
    };
    let config = AvcConfig::parse(avc_config)?;
    let mut buffer = Vec::new();
    let Some(start) = (0..from).rev().find(|&frame| is_key(movie, frame)) else {
        return Err(refuse("there is no key frame before it"));
    };
    movie.read_sample(start as usize, &mut buffer)?;
    let foreign =
        || refuse("it does not begin at a key frame, and the film is not from this encoder");
    let header = config.key_slice(&buffer).ok_or_else(foreign)?;
    let settings = EncoderSettings {
        fps: movie.format.fps,
        qp: header.qp.clamp(12, 51),
        gop: (end - from).max(1),
    };
    let mut encoder = Encoder::new(movie.format.width, movie.format.height, settings)?;
    let mut decoder = Decoder::new(avc_config)?;

    // Numbers that the first frame must not have.
    let mut taken = vec![before.and_then(|sample| config.key_slice(sample))];
    if end == from + 1 && end < movie.frame_count() {
        let mut next = Vec::new();
        movie.read_sample(end as usize, &mut next)?;
        taken.push(config.key_slice(&next));
    }
    let taken: Vec<u32> = taken.into_iter().flatten().map(|slice| slice.idr_pic_id).collect();

    let mut out = Vec::new();
    for frame in start..end {
        movie.read_sample(frame as usize, &mut buffer)?;
        let picture = decoder.decode_planes(&buffer)?;
        if frame < from {
            continue;
        }
        let sample = encoder.encode_planes(&picture)?;
        let mut sample = (sample.data.to_vec(), sample.key);
        if frame == from {
            if encoder.avc_config().map(AvcConfig::parse).transpose()?.as_ref() != Some(&config) {
                return Err(foreign());
            }
            // Each key frame of an encoder has the number after the last one's.
            for _ in &taken {
                let number = config.key_slice(&sample.0).map(|slice| slice.idr_pic_id);
                if number.is_some_and(|number| taken.contains(&number)) {
                    encoder.restart();
                    let again = encoder.repeat()?;
                    sample = (again.data.to_vec(), again.key);
                }
            }
        }
        out.push(sample);
    }
    Ok(out)
}
