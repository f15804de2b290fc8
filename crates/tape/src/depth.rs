//! Depths of an episode, read back: one picture per frame, each with its time.
//!
//! They lie beside the tape, `citrange/episodes/<uid>.<camera>.depth`
//! (of an imported part `<uid>.<camera>.depth.<first frame>`): a log whose first record
//! (kind 22) is JSON (camera, size, metres of a unit), followed by a picture per frame of the tape
//! (kind 21: a byte, then a PNG of 16-bit numbers). LeRobot's tools do not look there.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use citrange_core::png;
use citrange_lerobot::{Finding, Severity};

use crate::coded::{Coded, CodedPicture, CodedPictures};
use crate::dataset::Dataset;
use crate::episode::Episode;
use crate::error::TapeError;
use crate::index::SIDE;
use crate::log::read_at;
use crate::stream::{DepthFormat, DepthHead, depth_stream};

/// The depths that one camera measured in an episode.
#[derive(Debug)]
pub struct DepthFrames {
    path: PathBuf,
    head: DepthHead,
    /// Of the frames shown.
    pictures: Vec<CodedPicture>,
    at_ns: Vec<u64>,
    /// Frames whose own picture was lost: they show the one before.
    lost: Vec<usize>,
}

impl DepthFrames {
    /// How many frames there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pictures.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pictures.is_empty()
    }

    /// Columns and rows.
    #[must_use]
    pub fn size_px(&self) -> [u32; 2] {
        [self.head.width_px, self.head.height_px]
    }

    /// How the numbers are to be read.
    #[must_use]
    pub fn format(&self) -> DepthFormat {
        DepthFormat { metres_per_unit: self.head.metres_per_unit }
    }

    /// When a frame was taken, by the rig's clock, since the recording began.
    #[must_use]
    pub fn at_ns(&self, frame: usize) -> Option<u64> {
        self.at_ns.get(frame).copied()
    }

    /// Frames whose own picture was lost: they show the one before.
    #[must_use]
    pub fn lost(&self) -> &[usize] {
        &self.lost
    }

    /// A frame as it was kept, row by row; 0 where nothing was measured.
    ///
    /// # Errors
    /// When there is no such frame, or it cannot be read.
    pub fn units(&self, frame: usize) -> Result<Vec<u16>, TapeError> {
        let wrong = |reason: String| TapeError::Log { path: self.path.clone(), reason };
        let picture = self.pictures.get(frame).ok_or_else(|| {
            wrong(format!("it has no frame {frame}; it has {}, numbered from 0", self.len()))
        })?;
        let fail = |e| TapeError::file("read", &self.path, e);
        let mut bytes = vec![0; picture.size as usize];
        let mut file = File::open(&self.path).map_err(fail)?;
        read_at(&mut file, picture.at, &mut bytes).map_err(fail)?;
        let decoded = png::decode_u16(&bytes).map_err(|e| wrong(format!("frame {frame}: {e}")))?;
        let size = [self.head.width_px as usize, self.head.height_px as usize];
        if [decoded.width, decoded.height] != size {
            return Err(wrong(format!(
                "frame {frame} has {}x{} pixels, the camera {}x{}",
                decoded.width, decoded.height, size[0], size[1]
            )));
        }
        Ok(decoded.values)
    }

    /// A frame in metres, row by row; not a number where nothing was measured.
    ///
    /// # Errors
    /// As [`DepthFrames::units`].
    pub fn metres(&self, frame: usize) -> Result<Vec<f32>, TapeError> {
        let format = self.format();
        Ok(self.units(frame)?.into_iter().map(|units| format.metres(units)).collect())
    }
}

impl Dataset {
    /// The depths of a camera in an episode.
    ///
    /// # Errors
    /// When the episode has no tape, the camera measured none, or they are damaged.
    pub fn depth(&self, episode: usize, camera: &str) -> Result<DepthFrames, TapeError> {
        let Some((tape, shown)) = self.tape(episode)? else {
            let root = self.root().display();
            return Err(TapeError::Missing(format!("episode {episode} of {root} has no tape")));
        };
        self.depth_of(&tape, shown, camera)
    }

    /// The depths that belong to frames of a tape of this dataset.
    ///
    /// # Errors
    /// As [`Dataset::depth`].
    pub fn depth_of(
        &self,
        tape: &Episode,
        shown: Range<usize>,
        camera: &str,
    ) -> Result<DepthFrames, TapeError> {
        if !tape.header.depth.contains_key(camera) {
            let known = tape.header.depth.keys().map(String::as_str);
            let hint = citrange_core::names::suggestion(camera, known);
            return Err(TapeError::Missing(format!("no depths of camera \"{camera}\", {hint}")));
        }
        let uid = &tape.header.uid;
        let whole =
            depths_in(&self.root().join(beside_name(uid, &depth_stream(camera), 0)), &shown);
        // Of a part that was imported there may be the part's depths only.
        let of_parts = beside_files(self.root(), uid)?;
        let mut of_parts = of_parts.iter().map(|name| depths_in(&self.root().join(name), &shown));
        let is_it = |(_, head, _): &(_, DepthHead, _)| head.camera == camera;
        let (path, head, pictures) = match whole {
            Ok(found) => found,
            Err(error) => of_parts.find_map(|part| part.ok().filter(is_it)).ok_or(error)?,
        };
        let dropped = tape.end.as_ref().and_then(|end| end.dropped.get(&depth_stream(camera)));
        let lost = dropped.into_iter().flatten().map(|frame| *frame as usize);
        let lost = lost.filter(|frame| shown.contains(frame)).map(|f| f - shown.start).collect();
        let at_ns = shown.map(|frame| taken_ns(tape, frame, camera)).collect();
        Ok(DepthFrames { path, head, pictures, at_ns, lost })
    }

    /// What is wrong with the depths of an episode; `deep` decodes every picture.
    pub(crate) fn check_depth(
        &self,
        episode: usize,
        (tape, shown): (&Episode, Range<usize>),
        deep: bool,
    ) -> Vec<Finding> {
        let one = |camera: &String| {
            let frames = self.depth_of(tape, shown.clone(), camera)?;
            let decoded = if deep { frames.len() } else { frames.len().min(1) };
            (0..decoded).try_for_each(|frame| frames.units(frame).map(drop))
        };
        let find = |error: TapeError| Finding {
            severity: Severity::Error,
            code: "depth",
            episode: Some(episode),
            frame: None,
            file: None,
            message: error.to_string(),
        };
        tape.header.depth.keys().filter_map(|camera| one(camera).err().map(find)).collect()
    }
}

/// The pictures of a file that belong to frames of its tape.
fn depths_in(
    path: &Path,
    shown: &Range<usize>,
) -> Result<(PathBuf, DepthHead, Vec<CodedPicture>), TapeError> {
    let wrong = |reason: String| TapeError::Log { path: path.to_owned(), reason };
    let coded = CodedPictures::read(path)?;
    let head = match coded.how {
        Coded::Beside(head) => serde_json::from_value::<DepthHead>(head).ok(),
        _ => None,
    };
    let Some(head) = head else {
        let what = if path.exists() { "it holds no depths" } else { "it is missing" };
        return Err(wrong(what.into()));
    };
    let (first, there) = (head.first, coded.pictures.len());
    let own = shown.start.checked_sub(first).zip(shown.end.checked_sub(first));
    let pictures = own.and_then(|(from, to)| coded.pictures.get(from..to)).ok_or_else(|| {
        wrong(format!(
            "{there} of its pictures, from frame {first} on, are whole; the episode shows {} to {}",
            shown.start, shown.end
        ))
    })?;
    Ok((path.to_owned(), head, pictures.to_vec()))
}

/// When a camera took the picture of a frame.
fn taken_ns(tape: &Episode, frame: usize, camera: &str) -> u64 {
    let header = &tape.header;
    // Times are kept of recorded cameras, in the rig's order.
    let mut kept = header.kept_cameras();
    let at = kept.position(|spec| spec.name == camera);
    let times = tape.frames.get(frame).and_then(|frame| frame.times.as_ref());
    let said = times.zip(at).and_then(|(times, at)| times.cameras.get(at)).map(|(at_ns, _)| *at_ns);
    said.unwrap_or_else(|| {
        let rates = header.rig.rates;
        let ticks = u128::from(rates.first_tick(frame as u64));
        (ticks * 1_000_000_000 / u128::from(rates.control_hz.max(1))) as u64
    })
}

/// Path inside a dataset of a stream that lies beside a tape, from a frame of the tape on.
pub(crate) fn beside_name(uid: &str, stream: &str, first: usize) -> String {
    match first {
        0 => format!("{SIDE}/episodes/{uid}.{stream}"),
        first => format!("{SIDE}/episodes/{uid}.{stream}.{first}"),
    }
}

/// What lies beside a tape, by paths inside the dataset.
pub(crate) fn beside_files(root: &Path, uid: &str) -> Result<Vec<String>, TapeError> {
    let folder = root.join(SIDE).join("episodes");
    let fail = |e| TapeError::file("list", &folder, e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix(uid).and_then(|rest| rest.strip_prefix('.'));
        if rest.is_some_and(|rest| rest != "tape") {
            names.push(format!("{SIDE}/episodes/{name}"));
        }
    }
    names.sort();
    Ok(names)
}
