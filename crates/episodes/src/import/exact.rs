//! Episodes whose tape is in the file: exactly as they were.

use std::sync::Arc;

use citrange_tape::{Dataset, Episode, Recorder, TapeHeader};
use serde_json::{Value, json};

use super::Job;
use super::played::{Repeating, how, play};
use crate::error::{EpisodesError, Result, bad_input};
use crate::recording::tell_repaired;
use crate::replay::repeat_exactly;
use crate::simulated::rig_of;

/// The tape becomes part of the dataset byte for byte; rows and pictures are made by repeating it.
pub(super) fn exact(
    job: &Job<'_>,
    tape: Arc<Episode>,
    shown: std::ops::Range<usize>,
    bytes: &[u8],
) -> Result<Value> {
    let header = tape.header.clone();
    let cameras: Vec<String> = header.rig.cameras.iter().map(|c| c.name.clone()).collect();
    let mut rig = rig_of(&tape, Some(&cameras))?;
    if *rig.spec() != header.rig {
        bad_input!(
            "the tape's rig is not the one that its model makes: it was not written by Citrange"
        );
    }
    let (mut dataset, repaired) =
        Dataset::record_with(job.root, &header.rig, header.unit, &header.images, header.features)?;
    tell_repaired(&repaired, job.ctx)?;
    refuse_double(&dataset, &header.uid, &shown, bytes)?;
    let folder = dataset.recording_folder(&header.uid);
    // Cut off, it is thrown away: the file is still there.
    let header = TapeHeader { repeatable: true, ..header };
    let recorder = Recorder::begin(&folder, header, &tape.model, &how())?;
    let bar = job.ctx.progress("importing", shown.len() as u64);
    let mut kept = Repeating { recorder, objects: None, bar };
    let (report, verified) =
        repeat_exactly(rig.as_mut(), &tape, shown.clone(), |rig, pilot, verifier| {
            play(pilot, rig, &mut (&mut kept, verifier), job.ctx)
        })?;
    kept.bar.finish();
    let frames = report.frames;
    if frames < shown.len() as u64 {
        kept.recorder.discard()?;
        return Err(EpisodesError::Interrupted);
    }
    if !verified.is_bitwise() {
        job.ctx.say(&format!("the tape is kept as it is, but repeating it here {verified}"));
    }
    let mut recording = kept.recorder.finish()?;
    recording.keep_tape(bytes, shown.start)?;
    let number = dataset.save(recording)?;
    Ok(json!({
        "event": "imported", "kind": "exact", "number": number, "frames": frames,
        "uid": tape.header.uid, "bitwise": verified.is_bitwise(),
    }))
}

/// A tape may be shared by several parts of an episode, but must be one and the same.
fn refuse_double(
    dataset: &Dataset,
    uid: &str,
    shown: &std::ops::Range<usize>,
    bytes: &[u8],
) -> Result<()> {
    for number in 0..dataset.len() {
        let Some(entry) = dataset.entry(number).filter(|e| e.uid == uid) else { continue };
        if entry.frames == *shown {
            let root = dataset.root().display();
            bad_input!("{root} has it already: episode {number}");
        }
        if let Some((there, _)) = dataset.tape(number)? {
            let same = std::fs::read(&there.path).is_ok_and(|known| known == bytes);
            if !same {
                bad_input!(
                    "episode {number} of {} has the same name {uid} and another tape",
                    dataset.root().display()
                );
            }
        }
    }
    Ok(())
}
