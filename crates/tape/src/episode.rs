//! A tape read back: an episode with everything that was kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use citrange_core::{Event, Outcome, Snapshot};
use serde::{Deserialize, Serialize};

use crate::error::TapeError;
use crate::header::TapeHeader;
use crate::log::{Damage, read_file, read_records};
use crate::record::{
    Layout, TapedFrame, TapedTick, frame_of, indexed_of, kind, numbers, tick_of, times_of, wrist_of,
};

/// An episode.
#[derive(Clone, Debug)]
pub struct Episode {
    /// Where it was read from.
    pub path: PathBuf,
    /// What was known when it began.
    pub header: TapeHeader,
    /// The compiled model, MuJoCo's binary file; empty for a real robot.
    pub model: Vec<u8>,
    /// Frames in order.
    pub frames: Vec<TapedFrame>,
    /// Ticks in order.
    pub ticks: Vec<TapedTick>,
    /// Events with the tick they belong to.
    pub events: Vec<(u64, Event)>,
    /// How it ended; `None` if the recorder never said.
    pub end: Option<End>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    layouts: Vec<Layout>,
    last: Option<(u64, Vec<f64>, usize)>,
}

/// The last record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// How it ended.
    pub outcome: Outcome,
    /// Frames of which a camera's picture was dropped (the one before was taken again).
    pub dropped: BTreeMap<String, Vec<u64>>,
}

impl Episode {
    /// Frames in this range at which the recording stood still, and for how many ms: they and the
    /// ones before them are further apart in time than their numbers say.
    #[must_use]
    pub fn stalls(&self, frames: &std::ops::Range<usize>) -> Vec<(usize, f64)> {
        let rates = self.header.rig.rates;
        let stall = |(tick, event): &(u64, Event)| match event {
            // The frame that begins with this tick, or else the next one.
            Event::Stall(stall) => {
                let frame = rates.frame_of(*tick) + u64::from(!rates.is_frame(*tick));
                Some((frame as usize, stall.late_ms))
            }
            _ => None,
        };
        let stalls = self.events.iter().filter_map(stall);
        stalls.filter(|(frame, _)| frames.contains(frame)).collect()
    }

    /// Reads a tape; what lies behind the first damage is left out. A recorder that was cut off
    /// leaves a torn end; saved tapes are whole.
    ///
    /// # Errors
    /// When the file cannot be read, or its beginning (header, model) is damaged.
    pub fn read(path: &Path) -> Result<Self, TapeError> {
        Self::from_bytes(&read_file(path)?, path)
    }

    /// Reads a tape from memory; `path` is for messages.
    ///
    /// # Errors
    /// As [`Episode::read`].
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, TapeError> {
        let fail = |reason: String| TapeError::Log { path: path.to_owned(), reason };
        let (records, damage) = read_records(bytes, path)?;
        let mut records = records.into_iter();
        let header = records
            .next()
            .filter(|r| r.kind == kind::HEADER)
            .ok_or_else(|| fail("its header is damaged or missing".into()))?;
        let header: TapeHeader = serde_json::from_slice(header.payload)
            .map_err(|e| fail(format!("its header cannot be read: {e}")))?;
        let mut episode = Self {
            path: path.to_owned(),
            header,
            model: Vec::new(),
            frames: Vec::new(),
            ticks: Vec::new(),
            events: Vec::new(),
            end: None,
            damage,
            layouts: Vec::new(),
            last: None,
        };
        // A record that is missing may be the one that later ones are to be understood by.
        let end = episode.damage.first().map_or(bytes.len(), |damage| damage.from);
        for record in records.take_while(|record| record.begins < end) {
            let taken = match record.kind {
                kind::MODEL => inflate(record.payload).map(|model| episode.model = model),
                kind::LAYOUT => serde_json::from_slice(record.payload)
                    .ok()
                    .map(|layout| episode.layouts.push(layout)),
                kind::FRAME => frame_of(record.payload, episode.layouts.len().wrapping_sub(1))
                    .map(|frame| episode.frames.push(frame)),
                kind::WRIST => wrist_of(record.payload).and_then(|(index, pos_m)| {
                    let frame = episode.frames.last_mut().filter(|f| f.index == index)?;
                    frame.wrist_pos_m = Some(pos_m);
                    Some(())
                }),
                kind::EFFORT => indexed_of(record.payload).and_then(|(index, efforts)| {
                    let frame = episode.frames.last_mut().filter(|f| f.index == index)?;
                    frame.joint_effort = efforts;
                    Some(())
                }),
                kind::TIMES => times_of(record.payload).and_then(|(index, times)| {
                    let frame = episode.frames.last_mut().filter(|f| f.index == index)?;
                    frame.times = Some(times);
                    Some(())
                }),
                kind::TICK => tick_of(record.payload).map(|tick| episode.ticks.push(tick)),
                kind::VELOCITY => indexed_of(record.payload).and_then(|(index, velocities)| {
                    let tick = episode.ticks.last_mut().filter(|t| t.index == index)?;
                    tick.requested_vel = velocities;
                    Some(())
                }),
                kind::EVENT => serde_json::from_slice(record.payload)
                    .ok()
                    .map(|event| episode.events.push(event)),
                kind::LAST => record.payload.split_first_chunk::<8>().map(|(step, state)| {
                    let layout = episode.layouts.len().wrapping_sub(1);
                    episode.last = Some((u64::from_le_bytes(*step), numbers(state), layout));
                }),
                kind::END => {
                    serde_json::from_slice(record.payload).ok().map(|end| episode.end = Some(end))
                }
                // A newer tool may add kinds that older ones need not understand.
                _ => Some(()),
            };
            if taken.is_none() {
                return Err(fail(format!("a record of kind {} makes no sense", record.kind)));
            }
        }
        episode.check_order().map_err(fail)?;
        Ok(episode)
    }

    /// Frames and ticks are numbered without gaps, as far as they can be used.
    fn check_order(&mut self) -> Result<(), String> {
        let rates = self.header.rig.rates;
        self.header.rig.check_rates().map_err(|e| e.to_string())?;
        // After damage in the middle only what lies before it is exact.
        let whole = |indices: &mut dyn Iterator<Item = u64>| {
            indices.enumerate().take_while(|(i, index)| *i as u64 == *index).count()
        };
        let frames = whole(&mut self.frames.iter().map(|f| f.index));
        let ticks = whole(&mut self.ticks.iter().map(|t| t.index));
        let cut = frames < self.frames.len() || ticks < self.ticks.len();
        if cut && self.damage.is_empty() {
            return Err("frames or ticks are missing between others".into());
        }
        self.frames.truncate(frames);
        self.ticks.truncate(ticks);
        if cut {
            self.end = None;
            self.last = None;
        }
        // An episode is a whole number of frames.
        let complete = rates.whole_frames(self.ticks.len() as u64).min(self.frames.len() as u64);
        let (ticks, is_cut) = (rates.first_tick(complete), complete < self.frames.len() as u64);
        if self.end.is_some() && self.frames.len() as u64 > complete + 1 {
            return Err(format!("{} frames but {} ticks", self.frames.len(), self.ticks.len()));
        }
        // A stop or a failure ends it in the middle of a frame.
        if self.end.is_none() || is_cut || self.ticks.len() as u64 > ticks {
            self.frames.truncate(complete as usize);
            self.events.retain(|(tick, _)| match self.end.is_some() {
                // What ended it is still told.
                true => *tick <= self.ticks.len() as u64,
                false => *tick < ticks,
            });
            self.ticks.truncate(ticks as usize);
            if is_cut {
                self.last = None;
            }
        }
        let wrong = |layout: usize, state: &[f64]| match self.layouts.get(layout) {
            Some(layout) => layout.iter().map(|(_, n)| *n).sum::<usize>() != state.len(),
            None => !state.is_empty(),
        };
        if let Some(bad) = self.frames.iter().find(|f| wrong(f.layout, &f.state)) {
            return Err(format!("the state of frame {} does not fit its layout", bad.index));
        }
        if self.last.as_ref().is_some_and(|(_, state, layout)| wrong(*layout, state)) {
            return Err("the last state does not fit its layout".into());
        }
        Ok(())
    }

    /// Length in frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is no whole frame.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The complete state at a frame; `frame == len()` is the state it ended in.
    #[must_use]
    pub fn snapshot(&self, frame: usize) -> Option<Snapshot> {
        if frame == self.frames.len() {
            let (step, state, layout) = self.last.as_ref()?;
            return self.snapshot_of(*step, state, *layout);
        }
        let frame = self.frames.get(frame)?;
        self.snapshot_of(frame.step, &frame.state, frame.layout)
    }

    /// Whether the complete state at a frame is known; `frame == len()` is the end.
    pub(crate) fn has_snapshot(&self, frame: usize) -> bool {
        let layout = match frame == self.frames.len() {
            true => self.last.as_ref().map(|(.., layout)| *layout),
            false => self.frames.get(frame).map(|frame| frame.layout),
        };
        layout.is_some_and(|layout| layout < self.layouts.len())
    }

    fn snapshot_of(&self, step: u64, state: &[f64], layout: usize) -> Option<Snapshot> {
        let mut rest = state;
        let mut fields = BTreeMap::new();
        for (name, length) in self.layouts.get(layout)? {
            let (numbers, tail) = rest.split_at_checked(*length)?;
            fields.insert(name.clone(), numbers.to_vec());
            rest = tail;
        }
        Some(Snapshot {
            tool_version: self.header.tool_version.clone(),
            engine: self.header.engine.clone(),
            scene: self.header.scene.as_ref().map(|s| s.name.clone()).unwrap_or_default(),
            model_hash: self.header.model_hash.clone(),
            step,
            fields,
        })
    }

    /// How it ended; an episode whose recorder was cut off says so.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let end = self.end.as_ref().map(|end| end.outcome.clone());
        end.unwrap_or_else(|| Outcome::unjudged("interrupted"))
    }

    /// The joint targets at the end of a frame: what the frame's action is, in radians.
    #[must_use]
    pub fn action(&self, frame: usize) -> Option<&[f64]> {
        let next = self.header.rig.rates.first_tick(frame as u64 + 1) as usize;
        self.ticks.get(next.checked_sub(1)?).map(|tick| tick.limited.as_slice())
    }
}

pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory does not fail.
    let _memory = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read as _;
    /// Models are a few hundred kilobytes; meshes may bring tens of megabytes.
    const LARGEST: u64 = 1 << 30;
    let mut out = Vec::new();
    flate2::read::ZlibDecoder::new(bytes).take(LARGEST).read_to_end(&mut out).ok()?;
    Some(out)
}
