//! Opening a film.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Format;
use super::boxes::{BoxError, Kind, Parsed, children, damaged, letters};
use super::entry::Entry;
use super::fragments::Fragments;
use super::tables;
use super::track::Track;
use crate::VideoError;

/// One sample of a film, in decoding order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovieSample {
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
    /// Whether decoding can begin here.
    pub key: bool,
    /// When it is shown, in units of [`Movie::timescale`], edit list included.
    pub pts: i64,
    /// When it is decoded, in the track's own time.
    pub dts: i64,
    /// Time until the next one is decoded.
    pub duration: u32,
}

/// An open film: its index in memory, its samples in the file.
#[derive(Debug)]
pub struct Movie {
    /// What its samples are.
    pub format: Format,
    /// The codec as ffmpeg calls it: `h264`, `hevc`, `av1`, `vp9`, `mpeg4`, `mjpeg`, …
    pub codec: String,
    /// Samples in decoding order.
    pub samples: Vec<MovieSample>,
    /// Time units per second.
    pub timescale: u32,
    /// Sample of each frame, where B-frames mix them.
    shown: Option<Vec<u32>>,
    avc_config: Option<Vec<u8>>,
    /// Bytes of the file that are for samples.
    media: Vec<Range<u64>>,
    path: PathBuf,
    file: File,
}

impl Movie {
    /// Reads the index of the first video track, from a progressive or a fragmented file.
    ///
    /// # Errors
    /// When the file cannot be read, is no mp4 with a video track, or contradicts itself.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, VideoError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(VideoError::io("open", path))?;
        let file_bytes = file.metadata().map_err(VideoError::io("read", path))?.len();
        let outer = Outer::read(&file, file_bytes, path)?;
        let index = Index::parse(&outer, file_bytes).map_err(|fault| at(fault, path))?;
        let Index { format, codec, samples, timescale, avc_config } = index;
        let mut shown: Vec<u32> = (0..samples.len() as u32).collect();
        shown.sort_by_key(|&i| samples[i as usize].pts);
        let mixed = shown.iter().enumerate().any(|(frame, &sample)| frame as u32 != sample);
        let shown = mixed.then_some(shown);
        let (media, path) = (outer.media, path.into());
        Ok(Self { format, codec, samples, timescale, shown, avc_config, media, path, file })
    }

    /// Where it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Pictures in the film.
    #[must_use]
    pub fn frame_count(&self) -> u32 {
        self.samples.len() as u32
    }

    /// The sample that holds a frame, counted as they are shown. With B-frames they differ.
    #[must_use]
    pub fn sample_of_frame(&self, frame: u32) -> Option<usize> {
        match &self.shown {
            Some(shown) => shown.get(frame as usize).map(|&sample| sample as usize),
            None => Some(frame as usize).filter(|&sample| sample < self.samples.len()),
        }
    }

    /// Whether frames are shown in the order in which they are decoded: no B-frames.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.shown.is_none()
    }

    /// Reads a sample, in decoding order, into `buffer`.
    ///
    /// # Errors
    /// When there is no such sample or the file cannot be read.
    pub fn read_sample(&self, index: usize, buffer: &mut Vec<u8>) -> Result<(), VideoError> {
        let count = self.samples.len();
        let sample = self.samples.get(index).ok_or_else(|| VideoError::NoSample {
            index,
            count,
            path: self.path.clone(),
        })?;
        buffer.resize(sample.size as usize, 0);
        self.file.read_exact_at(buffer, sample.offset).map_err(VideoError::io("read", &self.path))
    }

    /// Whether every sample lies where samples belong, and no two in the same bytes: what can be
    /// told of a film without decoding it.
    ///
    /// # Errors
    /// Names the first sample that does not.
    pub fn is_well_placed(&self) -> Result<(), VideoError> {
        let span = |sample: &MovieSample| {
            sample.offset..sample.offset.saturating_add(u64::from(sample.size))
        };
        let fail = |what: String| Err(VideoError::Damaged { what, path: self.path.clone() });
        let inside =
            |s: &Range<u64>| self.media.iter().any(|m| m.start <= s.start && s.end <= m.end);
        if let Some(index) = self.samples.iter().position(|sample| !inside(&span(sample))) {
            return fail(format!("sample {index} is not inside a box of media data"));
        }
        let mut all: Vec<(Range<u64>, usize)> =
            self.samples.iter().enumerate().map(|(index, sample)| (span(sample), index)).collect();
        all.sort_by_key(|(span, _)| span.start);
        match all.windows(2).find(|pair| pair[0].0.end > pair[1].0.start) {
            Some(pair) => {
                fail(format!("samples {} and {} lie in the same bytes", pair[0].1, pair[1].1))
            }
            None => Ok(()),
        }
    }

    /// Whether frame `k` is shown at `k / fps` seconds, for all of them. Up to 0.1 ms are let
    /// pass, as dataset readers do: coarse time scales cannot say it better.
    ///
    /// # Errors
    /// When not: the first frame that is off, and where it is.
    pub fn is_constant_rate(&self, fps: u32) -> Result<(), VideoError> {
        let (scale, rate) = (i128::from(self.timescale), i128::from(fps));
        for frame in 0..self.frame_count() {
            let Some(sample) = self.sample_of_frame(frame).and_then(|i| self.samples.get(i)) else {
                continue;
            };
            let off = i128::from(sample.pts) * rate - i128::from(frame) * scale;
            if rate == 0 || off.abs() * 10_000 > rate * scale {
                return Err(VideoError::NotConstantRate {
                    frame,
                    found_s: sample.pts as f64 / f64::from(self.timescale),
                    fps,
                    path: self.path.clone(),
                });
            }
        }
        Ok(())
    }

    /// The `avcC` payload, of H.264.
    #[must_use]
    pub fn avc_config(&self) -> Option<&[u8]> {
        self.avc_config.as_deref()
    }
}

fn at(fault: BoxError, path: &Path) -> VideoError {
    let path = path.into();
    match fault {
        BoxError::Damaged(what) => VideoError::Damaged { what, path },
        BoxError::Unsupported(what) => VideoError::Unsupported { what, path },
    }
}

/// The boxes of a file that make its index.
struct Outer {
    moov: Vec<u8>,
    /// With the byte at which each begins.
    moofs: Vec<(u64, Vec<u8>)>,
    /// Where the bodies of mdat boxes are.
    media: Vec<Range<u64>>,
}

impl Outer {
    fn read(file: &File, file_bytes: u64, path: &Path) -> Result<Self, VideoError> {
        let mut moov = None;
        let mut moofs = Vec::new();
        let mut media = Vec::new();
        let mut start = 0;
        while start < file_bytes {
            let left = file_bytes - start;
            let mut header = [0; 16];
            let known = left.min(16) as usize;
            file.read_exact_at(&mut header[..known], start)
                .map_err(VideoError::io("read", path))?;
            let (kind, header_bytes, size) =
                outer_header(&header, left).map_err(|fault| at(fault, path))?;
            if kind == *b"moov" || kind == *b"moof" {
                // No more than the file has: the size was checked.
                let mut body = vec![0; (size - header_bytes) as usize];
                file.read_exact_at(&mut body, start + header_bytes)
                    .map_err(VideoError::io("read", path))?;
                match &kind {
                    b"moov" => moov = Some(body),
                    _ => moofs.push((start, body)),
                }
            }
            if kind == *b"mdat" {
                media.push(start + header_bytes..start + size);
            }
            start += size;
        }
        match moov {
            Some(moov) => Ok(Self { moov, moofs, media }),
            None => Err(VideoError::Damaged {
                what: "it has no moov box: no mp4, or cut off while it was written".into(),
                path: path.into(),
            }),
        }
    }
}

/// Letters, bytes of the header, bytes in all.
fn outer_header(header: &[u8; 16], left: u64) -> Parsed<(Kind, u64, u64)> {
    let [a, b, c, d, k0, k1, k2, k3, long @ ..] = *header;
    let kind = [k0, k1, k2, k3];
    let (header_bytes, size) = match u32::from_be_bytes([a, b, c, d]) {
        0 => (8, left),
        1 => (16, u64::from_be_bytes(long)),
        n => (8, u64::from(n)),
    };
    if left < header_bytes || size < header_bytes || size > left {
        return damaged(format!(
            "no mp4, or cut off: box {} says {size} bytes where {left} are left",
            letters(kind)
        ));
    }
    Ok((kind, header_bytes, size))
}

struct Index {
    format: Format,
    codec: String,
    samples: Vec<MovieSample>,
    timescale: u32,
    avc_config: Option<Vec<u8>>,
}

impl Index {
    fn parse(outer: &Outer, file_bytes: u64) -> Parsed<Self> {
        let moov = children(&outer.moov)?;
        let track = Track::find(&moov)?;
        let mut samples = tables::samples(&track.stbl, file_bytes)?;
        if let Some(mut fragments) = Fragments::new(&moov, track.id, file_bytes)? {
            fragments.after(&samples);
            for (start, moof) in &outer.moofs {
                fragments.read(moof, *start, &mut samples)?;
            }
        }
        if samples.is_empty() {
            return damaged("it has no frames");
        }
        if u32::try_from(samples.len()).is_err() {
            return damaged("it has more than 4294967295 frames");
        }
        for (index, sample) in samples.iter_mut().enumerate() {
            let end = sample.offset.checked_add(u64::from(sample.size));
            if end.is_none_or(|end| end > file_bytes) || sample.size == 0 {
                let MovieSample { offset, size, .. } = *sample;
                return damaged(format!(
                    "sample {index} ({size} bytes from byte {offset}) is not in the file of \
                     {file_bytes} bytes"
                ));
            }
            sample.pts = sample.pts.saturating_sub(track.start);
        }
        let entry = Entry::parse(track.entry)?;
        let [width, height] = entry.size;
        let fps = frame_rate(&samples, track.timescale);
        Ok(Self {
            format: Format { width, height, fps, sample_entry: track.entry.to_vec() },
            codec: entry.codec(),
            samples,
            timescale: track.timescale,
            avc_config: entry.child(b"avcC").map(<[u8]>::to_vec),
        })
    }
}

/// Frames per second, to the nearest whole number.
fn frame_rate(samples: &[MovieSample], timescale: u32) -> u32 {
    let shown = || samples.iter().map(|sample| sample.pts);
    let (first, last) = (shown().min().unwrap_or(0), shown().max().unwrap_or(0));
    let (frames, time) = match samples {
        [one] => (1, i128::from(one.duration)),
        _ => (samples.len() as i128 - 1, i128::from(last) - i128::from(first)),
    };
    let rate = (2 * frames * i128::from(timescale) + time) / (2 * time).max(1);
    u32::try_from(rate).unwrap_or(0)
}
