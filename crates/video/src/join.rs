//! Parts of films, one after the other, in a new film, without encoding them again.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::VideoError;
use crate::cut;
use crate::mp4::{self, Format, Movie, SampleInfo};

/// Frames `from..to` of a film, counted as they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoviePart<'a> {
    /// The film.
    pub path: &'a Path,
    /// First frame.
    pub from: u32,
    /// One after the last frame.
    pub to: u32,
}

/// What [`join`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinReport {
    /// Frames taken over byte for byte.
    pub copied: u32,
    /// Frames decoded and encoded again, because a part began between two key frames.
    pub reencoded: u32,
}

/// Whether two films can be parts of one: same codec, size, encoder configuration and rate.
///
/// # Errors
/// When not: what differs, and how.
pub fn can_join(a: &Movie, b: &Movie) -> Result<(), VideoError> {
    differ(&a.format, a.path(), b)
}

fn differ(a: &Format, path: &Path, b: &Movie) -> Result<(), VideoError> {
    let what = if a.fps == b.format.fps {
        mp4::differences(&a.sample_entry, &b.format.sample_entry)
    } else {
        Some(format!("{} and {} frames per second", a.fps, b.format.fps))
    };
    match what {
        None => Ok(()),
        Some(what) => Err(VideoError::Differ { what, a: path.into(), b: b.path().into() }),
    }
}

/// Puts parts one after the other into the film `out`, which appears whole or not at all.
///
/// Samples are copied as they are. Where a part of a film from our encoder begins between two key
/// frames, the frames up to the next key frame are decoded and encoded again, as finely as before.
///
/// # Errors
/// When a film cannot be read, is not at a constant rate or differs from the first one; when a
/// range is not in its film, or would have to be encoded again and is not from our encoder; when
/// `out` cannot be written.
pub fn join(parts: &[MoviePart<'_>], out: &Path) -> Result<JoinReport, VideoError> {
    let mut plan: Option<Plan> = None;
    let mut open: Option<Movie> = None;
    for part in parts {
        let movie = match open.take() {
            Some(movie) if movie.path() == part.path => movie,
            _ => Movie::open(part.path)?,
        };
        plan.get_or_insert_with(|| Plan::new(&movie)).add(&movie, part.from, part.to)?;
        open = Some(movie);
    }
    let plan = plan.ok_or_else(|| VideoError::NoParts(out.into()))?;
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let temporary = out.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let done = plan
        .write(&temporary)
        .and_then(|()| std::fs::rename(&temporary, out).map_err(VideoError::io("rename to", out)));
    if done.is_err() {
        // What went wrong before is the message that counts.
        let _ = std::fs::remove_file(&temporary);
    }
    done.map(|()| plan.report)
}

/// Where the bytes of a sample come from.
enum Source {
    /// A byte of one of the files.
    File { file: usize, offset: u64 },
    /// Encoded again.
    Fresh(Vec<u8>),
}

/// The samples of the new film.
struct Plan {
    format: Format,
    files: Vec<PathBuf>,
    samples: Vec<SampleInfo>,
    /// The frame that each sample shows.
    order: Vec<u32>,
    sources: Vec<Source>,
    report: JoinReport,
}

impl Plan {
    fn new(first: &Movie) -> Self {
        Self {
            format: first.format.clone(),
            files: vec![first.path().into()],
            samples: Vec::new(),
            order: Vec::new(),
            sources: Vec::new(),
            report: JoinReport::default(),
        }
    }

    fn add(&mut self, movie: &Movie, from: u32, to: u32) -> Result<(), VideoError> {
        differ(&self.format, &self.files[0], movie)?;
        movie.is_constant_rate(self.format.fps)?;
        let count = movie.frame_count();
        if from >= to || to > count {
            return Err(VideoError::NoRange { from, to, count, path: movie.path().into() });
        }
        if self.files.last().is_none_or(|last| last != movie.path()) {
            self.files.push(movie.path().into());
        }
        if !movie.is_in_order() {
            return self.copy_mixed(movie, from, to);
        }
        let copied = cut::next_key(movie, from).min(to);
        if copied > from {
            let before = self.last_key_sample()?;
            for (data, key) in cut::encode_again(movie, from, to, copied, before.as_deref())? {
                self.push(SampleInfo { size: data.len() as u32, key }, Source::Fresh(data));
                self.report.reencoded += 1;
            }
        }
        for sample in copied..to {
            self.copy(movie, sample as usize);
        }
        Ok(())
    }

    /// Copies a range of a film with B-frames, where that is possible.
    fn copy_mixed(&mut self, movie: &Movie, from: u32, to: u32) -> Result<(), VideoError> {
        let shown: Vec<usize> = (from..to).filter_map(|f| movie.sample_of_frame(f)).collect();
        let first = shown.iter().copied().min().unwrap_or(0);
        let end = first + shown.len();
        let key = |sample: usize| movie.samples.get(sample).is_none_or(|sample| sample.key);
        if shown.iter().any(|sample| *sample >= end) || !key(first) || !key(end) {
            let why = "B-frames would lose the frames that they are made from".into();
            return Err(cut::refuse(movie, from, to, why));
        }
        let base = self.samples.len();
        for sample in first..end {
            self.copy(movie, sample);
        }
        for (frame, sample) in shown.iter().enumerate() {
            self.order[base + sample - first] = (base + frame) as u32;
        }
        Ok(())
    }

    fn copy(&mut self, movie: &Movie, sample: usize) {
        let sample = &movie.samples[sample];
        let source = Source::File { file: self.files.len() - 1, offset: sample.offset };
        self.push(SampleInfo { size: sample.size, key: sample.key }, source);
        self.report.copied += 1;
    }

    fn push(&mut self, info: SampleInfo, source: Source) {
        self.order.push(self.samples.len() as u32);
        self.samples.push(info);
        self.sources.push(source);
    }

    /// The bytes of the last sample so far, where it is a key frame.
    fn last_key_sample(&self) -> Result<Option<Vec<u8>>, VideoError> {
        let Some(index) = self.samples.len().checked_sub(1).filter(|&i| self.samples[i].key) else {
            return Ok(None);
        };
        let mut data = Vec::new();
        let mut reader = Reader::new(&self.files);
        reader.read(&self.sources[index], self.samples[index].size, &mut data)?;
        Ok(Some(data))
    }

    fn write(&self, path: &Path) -> Result<(), VideoError> {
        let mut reader = Reader::new(&self.files);
        mp4::write_in_order(path, &self.format, &self.samples, Some(&self.order), |i, buffer| {
            reader.read(&self.sources[i], self.samples[i].size, buffer)
        })
    }
}

/// Reads samples from several files, one of them open at a time.
struct Reader<'a> {
    files: &'a [PathBuf],
    open: Option<(usize, File)>,
}

impl<'a> Reader<'a> {
    fn new(files: &'a [PathBuf]) -> Self {
        Self { files, open: None }
    }

    fn read(&mut self, source: &Source, size: u32, to: &mut Vec<u8>) -> Result<(), VideoError> {
        let (index, offset) = match source {
            Source::Fresh(data) => {
                to.extend_from_slice(data);
                return Ok(());
            }
            Source::File { file, offset } => (*file, *offset),
        };
        let path = &self.files[index];
        let file = match self.open.take() {
            Some((open, file)) if open == index => file,
            _ => File::open(path).map_err(VideoError::io("open", path))?,
        };
        to.resize(size as usize, 0);
        file.read_exact_at(to, offset).map_err(VideoError::io("read", path))?;
        self.open = Some((index, file));
        Ok(())
    }
}
