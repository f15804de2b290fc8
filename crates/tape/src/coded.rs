//! A camera's coded pictures, where they lie in its log, and what becomes of them.

use std::fs::File;
use std::path::{Path, PathBuf};

use citrange_core::png;
use citrange_core::rig::CameraSpec;
use citrange_lerobot::ImageStats;
use citrange_video::mp4::{self, SampleInfo};
use citrange_video::{Decoder, VideoError};

use crate::error::TapeError;
use crate::log::{LogWriter, PREFIX, read_at, read_file, read_records};
use crate::record::kind;

/// How pictures are coded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Coded {
    /// H.264 samples; `config` is what a decoder needs.
    Video { config: Vec<u8> },
    /// PNG files.
    Png,
    /// PNG files that lie beside the tape, and what their readers need.
    Beside(serde_json::Value),
}

impl Coded {
    /// By the record with which a log begins.
    pub(crate) fn of(kind: u8, head: &[u8]) -> Option<Self> {
        match (kind, head) {
            (kind::CAMERA, []) => Some(Self::Png),
            (kind::CAMERA, config) => Some(Self::Video { config: config.to_vec() }),
            (kind::BESIDE, json) => serde_json::from_slice(json).ok().map(Self::Beside),
            _ => None,
        }
    }
}

/// One coded picture in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodedPicture {
    pub(crate) at: u64,
    pub(crate) size: u32,
    pub(crate) key: bool,
}

/// All pictures of one camera.
#[derive(Debug)]
pub(crate) struct CodedPictures {
    pub(crate) log: PathBuf,
    pub(crate) how: Coded,
    pub(crate) pictures: Vec<CodedPicture>,
    /// Known after a recording that ended well; else found by decoding.
    pub(crate) stats: Option<ImageStats>,
    /// Bytes that cannot be read and are no torn end.
    pub(crate) damage: Option<(usize, usize)>,
}

impl CodedPictures {
    /// Finds the whole pictures in a log whose writer was cut off.
    pub(crate) fn read(log: &Path) -> Result<Self, TapeError> {
        let nothing = |damage| Self {
            log: log.to_owned(),
            how: Coded::Png,
            pictures: Vec::new(),
            stats: None,
            damage,
        };
        let bytes = match read_file(log) {
            Ok(bytes) => bytes,
            // Cut off before the camera was begun.
            Err(TapeError::File { reason, .. })
                if reason.kind() == std::io::ErrorKind::NotFound =>
            {
                return Ok(nothing(None));
            }
            Err(error) => return Err(error),
        };
        if bytes.len() < PREFIX {
            return Ok(nothing(None));
        }
        let (records, damage) = read_records(&bytes, log)?;
        let fail = |reason: &str| TapeError::Log { path: log.to_owned(), reason: reason.into() };
        let (mut how, mut pictures) = (None, Vec::new());
        // Pictures depend on those before them: nothing after damage can be used.
        let end = damage.first().map_or(bytes.len(), |d| d.from);
        for record in records {
            if record.begins >= end {
                break;
            }
            let at = record.payload_begins();
            match (record.kind, record.payload) {
                (kind @ (kind::CAMERA | kind::BESIDE), head) => {
                    let read = Coded::of(kind, head);
                    how = Some(read.ok_or_else(|| fail("its head cannot be read"))?);
                }
                (kind::PICTURE, [key, data @ ..]) => {
                    let size = data.len() as u32;
                    pictures.push(CodedPicture { at: at as u64 + 1, size, key: *key == 1 });
                }
                _ => return Err(fail("a record in it is of no kind that a camera writes")),
            }
        }
        let damage = damage.iter().find(|d| !d.is_tail).map(|d| (d.from, d.to));
        match how {
            Some(how) => Ok(Self { log: log.to_owned(), how, pictures, stats: None, damage }),
            // Cut off before the first picture.
            None => Ok(nothing(damage)),
        }
    }

    /// Keeps the first pictures only.
    pub(crate) fn truncate(&mut self, frames: usize) {
        if frames < self.pictures.len() {
            self.pictures.truncate(frames);
            self.stats = None;
        }
    }

    /// Writes the mp4.
    pub(crate) fn write_mp4(
        &self,
        path: &Path,
        spec: &CameraSpec,
        fps: u32,
        config: &[u8],
    ) -> Result<(), TapeError> {
        let format = mp4::avc_format(spec.width_px, spec.height_px, fps, config);
        let samples: Vec<SampleInfo> =
            self.pictures.iter().map(|p| SampleInfo { size: p.size, key: p.key }).collect();
        let mut log = self.open()?;
        mp4::write(path, &format, &samples, |index, buffer| {
            let picture = self.pictures[index];
            buffer.resize(picture.size as usize, 0);
            read_at(&mut log, picture.at, buffer).map_err(|source| VideoError::Io {
                doing: "read",
                path: self.log.clone(),
                source,
            })
        })?;
        Ok(())
    }

    /// The PNG bytes of every picture.
    pub(crate) fn pngs(&self) -> Result<Vec<Vec<u8>>, TapeError> {
        let mut log = self.open()?;
        let read = |picture: &CodedPicture| {
            let mut bytes = vec![0; picture.size as usize];
            read_at(&mut log, picture.at, &mut bytes)
                .map_err(|e| TapeError::file("read", &self.log, e))?;
            Ok(bytes)
        };
        self.pictures.iter().map(read).collect()
    }

    /// Statistics of the pictures, by decoding them where they are not known.
    pub(crate) fn stats(&self, spec: &CameraSpec) -> Result<ImageStats, TapeError> {
        if let Some(stats) = &self.stats {
            return Ok(stats.clone());
        }
        let mut stats = ImageStats::new();
        let (width, height) = (spec.width_px as usize, spec.height_px as usize);
        match &self.how {
            // They are no pictures that people look at.
            Coded::Beside(_) => {}
            Coded::Png => {
                for bytes in self.pngs()? {
                    let picture = png::decode(&bytes).map_err(|e| TapeError::Log {
                        path: self.log.clone(),
                        reason: format!("a picture: {e}"),
                    })?;
                    stats.add_rgb(&picture.rgb, width, height);
                }
            }
            Coded::Video { config } => {
                let mut decoder = Decoder::new(config)?;
                let (mut sample, mut rgb) = (Vec::new(), Vec::new());
                let mut log = self.open()?;
                for picture in &self.pictures {
                    sample.resize(picture.size as usize, 0);
                    read_at(&mut log, picture.at, &mut sample)
                        .map_err(|e| TapeError::file("read", &self.log, e))?;
                    decoder.decode(&sample, &mut rgb)?;
                    stats.add_rgb(&rgb, width, height);
                }
            }
        }
        Ok(stats)
    }

    /// Writes the pictures that are kept as a log of their own: one that is whole.
    pub(crate) fn write_log(&self, path: &Path) -> Result<(), TapeError> {
        let mut log = LogWriter::create(path)?;
        let head = match &self.how {
            Coded::Video { config } => (kind::CAMERA, config.clone()),
            Coded::Png => (kind::CAMERA, Vec::new()),
            Coded::Beside(head) => (kind::BESIDE, head.to_string().into_bytes()),
        };
        log.append(head.0, &[&head.1])?;
        let mut file = self.open()?;
        for picture in &self.pictures {
            let mut bytes = vec![0; picture.size as usize];
            read_at(&mut file, picture.at, &mut bytes)
                .map_err(|e| TapeError::file("read", &self.log, e))?;
            log.append(kind::PICTURE, &[&[u8::from(picture.key)], &bytes])?;
        }
        log.sync()
    }

    fn open(&self) -> Result<File, TapeError> {
        File::open(&self.log).map_err(|e| TapeError::file("open", &self.log, e))
    }
}
