//! What a recorder that was cut off left in its folder: all whole frames of which every camera has
//! the picture, and a tape that is whole again.

use std::path::Path;

use citrange_core::Outcome;

use crate::camera::camera_log;
use crate::coded::{Coded, CodedPictures};
use crate::episode::{End, Episode};
use crate::error::TapeError;
use crate::header::TapeHeader;
use crate::log::{LogWriter, PREFIX, Record, read_file, read_records};
use crate::record::{index_of, kind};
use crate::recorder::{RecordSettings, TAPE_LOG};
use crate::recording::{Recording, Row};
use crate::stream::Stream;

/// File name of the tape that is whole again.
const WHOLE_LOG: &str = "whole.log";
/// How the file name of a stream that is whole again ends.
const WHOLE: &str = "whole";

/// What there is.
pub(crate) enum Found {
    /// It was cut off before its first frame was whole.
    Nothing,
    /// Whole frames.
    Frames {
        /// They, ready to be saved.
        recording: Box<Recording>,
        /// What is damaged beyond a torn end, where something is.
        damage: Option<String>,
    },
}

/// Whether the recording in a folder says that it can be made again.
pub(crate) fn is_repeatable(folder: &Path) -> Result<bool, TapeError> {
    let log = folder.join(TAPE_LOG);
    let bytes = match read_file(&log) {
        Ok(bytes) => bytes,
        Err(TapeError::File { reason, .. }) if reason.kind() == std::io::ErrorKind::NotFound => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    // What is no tape, or a torn one, is looked at by `recover`.
    let Ok((records, _)) = read_records(&bytes, &log) else { return Ok(false) };
    let header = records.first().filter(|record| record.kind == kind::HEADER);
    let header = header.and_then(|r| serde_json::from_slice::<TapeHeader>(r.payload).ok());
    Ok(header.is_some_and(|header| header.repeatable))
}

/// Looks into a recording's folder.
///
/// # Errors
/// [`TapeError::Log`] when there are frames that damage makes unusable.
pub(crate) fn recover(folder: &Path) -> Result<Found, TapeError> {
    let log = folder.join(TAPE_LOG);
    let bytes = match read_file(&log) {
        Ok(bytes) => bytes,
        Err(TapeError::File { reason, .. }) if reason.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Found::Nothing);
        }
        Err(error) => return Err(error),
    };
    if bytes.len() < PREFIX {
        return Ok(Found::Nothing);
    }
    let (records, damage) = read_records(&bytes, &log)?;
    if !records.iter().any(|r| r.kind == kind::FRAME) && damage.iter().all(|d| d.is_tail) {
        return Ok(Found::Nothing);
    }
    let episode = Episode::from_bytes(&bytes, &log)?;
    let mut problems = Vec::new();
    if let Some(damage) = damage.iter().find(|d| !d.is_tail) {
        problems.push(format!("{TAPE_LOG} from byte {} to {}", damage.from, damage.to));
    }
    let mut cameras = Vec::new();
    for stream in Stream::all(&episode.header, &RecordSettings::default())? {
        let pictures = CodedPictures::read(&camera_log(folder, &stream.name))?;
        if let Some((from, to)) = pictures.damage {
            problems.push(format!("{}.camera from byte {from} to {to}", stream.name));
        }
        cameras.push(pictures);
    }
    let pictures = cameras.iter().map(|c| c.pictures.len()).min();
    let frames = pictures.unwrap_or(episode.len()).min(episode.len());
    let damage = (!problems.is_empty()).then(|| {
        let all = problems.join(", ");
        format!("damaged: {all}; the {frames} frames before it are saved")
    });
    if frames == 0 {
        return match damage {
            None => Ok(Found::Nothing),
            Some(reason) => Err(TapeError::Log { path: log, reason }),
        };
    }
    for camera in &mut cameras {
        camera.truncate(frames);
        // What lies beside the tape is kept as it is written: without a torn end.
        if matches!(camera.how, Coded::Beside(_)) {
            let whole = camera.log.with_extension(WHOLE);
            remove(&whole)?;
            camera.write_log(&whole)?;
            *camera = CodedPictures::read(&whole)?;
        }
    }
    let whole = episode.end.is_some() && frames == episode.len();
    let outcome = if whole { episode.outcome() } else { Outcome::unjudged("interrupted") };
    let mut dropped = episode.end.as_ref().map(|end| end.dropped.clone()).unwrap_or_default();
    dropped.values_mut().for_each(|d| d.retain(|frame| *frame < frames as u64));
    dropped.retain(|_, d| !d.is_empty());
    let tape = match whole && episode.damage.is_empty() {
        true => log,
        false => {
            let end = End { outcome: outcome.clone(), dropped: dropped.clone() };
            let ticks = episode.header.rig.rates.first_tick(frames as u64);
            let first_damage = episode.damage.first().map_or(bytes.len(), |d| d.from);
            let before = records.into_iter().filter(|r| r.begins < first_damage);
            write_whole(&folder.join(WHOLE_LOG), before, frames as u64, ticks, &end)?
        }
    };
    let rows = (0..frames).map(|frame| Row {
        joint_pos: episode.frames[frame].joint_pos.clone(),
        joint_vel: episode.frames[frame].joint_vel.clone(),
        wrist_pos_m: episode.frames[frame].wrist_pos_m,
        action: episode.action(frame).unwrap_or_default().to_vec(),
    });
    let (rows, header, folder) = (rows.collect(), episode.header, folder.to_owned());
    let recording = Recording { folder, tape, header, rows, cameras, outcome, first: 0, dropped };
    Ok(Found::Frames { recording: Box::new(recording), damage })
}

/// The records of the first frames as a tape of their own, with an end.
fn write_whole<'a>(
    path: &Path,
    records: impl Iterator<Item = Record<'a>>,
    frames: u64,
    ticks: u64,
    end: &End,
) -> Result<std::path::PathBuf, TapeError> {
    // An earlier repair may have been cut off here.
    remove(path)?;
    let mut log = LogWriter::create(path)?;
    for record in records {
        let kept = match record.kind {
            kind::FRAME | kind::WRIST => index_of(record.payload).is_some_and(|i| i < frames),
            kind::TICK => index_of(record.payload).is_some_and(|i| i < ticks),
            kind::EVENT => event_tick(record.payload).is_some_and(|i| i < ticks),
            kind::LAST | kind::END => false,
            _ => true,
        };
        if kept {
            log.append(record.kind, &[record.payload])?;
        }
    }
    let json = serde_json::to_vec(end)
        .map_err(|e| TapeError::Recording(format!("the end cannot be written: {e}")))?;
    log.append(kind::END, &[&json])?;
    log.sync()?;
    Ok(path.to_owned())
}

fn remove(path: &Path) -> Result<(), TapeError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(TapeError::file("remove", path, e))
        }
        _ => Ok(()),
    }
}

fn event_tick(payload: &[u8]) -> Option<u64> {
    serde_json::from_slice::<(u64, serde_json::Value)>(payload).ok().map(|(tick, _)| tick)
}
