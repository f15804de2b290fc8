//! A dataset: LeRobot's files for everybody, and beside them the tapes for exact replay.
//!
//! ```text
//! meta/ data/ videos/          LeRobotDataset v3.0
//! citrange/index.json          which tape belongs to which episode, outcomes, labels, notes
//! citrange/episodes/*.tape     the exact episodes
//! citrange/episodes/*.depth    what their cameras measured of depths
//! citrange/recording/<uid>/    the episode being recorded
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use citrange_core::RigSpec;
use citrange_lerobot::{Column, Feature, Info, NewEpisode, NewImages, NewVideo};

use crate::coded::Coded;
use crate::depth::beside_name;
use crate::error::TapeError;
use crate::features::StateFeatures;
use crate::index::{Entry, INDEX, Index, SIDE, tape_name};
use crate::recorder::RecordSettings;
use crate::recording::{Recording, Row};
use crate::repair::{Repaired, repair_locked};
use crate::stream::Stream;
use crate::units::{JointUnit, Unit};

/// Feature names as LeRobot's tools expect them.
pub(crate) const STATE: &str = "observation.state";
pub(crate) const ACTION: &str = "action";
/// Our key in info.json.
pub(crate) const UNITS_KEY: &str = "citrange";
pub(crate) const PICTURES: &str = "observation.images.";

/// A dataset on disk.
#[derive(Debug)]
pub struct Dataset {
    /// The LeRobot side.
    pub lerobot: citrange_lerobot::Dataset,
    /// Our side.
    pub index: Index,
    /// Held while this process may write.
    pub(crate) _lock: Option<File>,
}

impl Dataset {
    /// Opens a dataset to read it. Files of somebody else are welcome: they have no tapes.
    ///
    /// # Errors
    /// When it is none, or damaged.
    pub fn open(root: &Path) -> Result<Self, TapeError> {
        let lerobot = citrange_lerobot::Dataset::open(root)?;
        let index = match Index::read(root)? {
            Some(index) => index,
            // A dataset without tapes may still say its units.
            None => Index::new(units_said(lerobot.info())),
        };
        Ok(Self { lerobot, index, _lock: None })
    }

    /// Opens or begins a dataset to record into it. What an earlier recorder left unfinished is
    /// saved first.
    ///
    /// # Errors
    /// When another process records into it, it disagrees with the rig (each difference is
    /// listed), or it is damaged.
    pub fn record(
        root: &Path,
        rig: &RigSpec,
        unit: Unit,
        images: &BTreeSet<String>,
    ) -> Result<(Self, Vec<Repaired>), TapeError> {
        Self::record_with(root, rig, unit, images, StateFeatures::default())
    }

    /// Like [`Dataset::record`], with more than joint positions in the rows.
    ///
    /// # Errors
    /// As [`Dataset::record`].
    pub fn record_with(
        root: &Path,
        rig: &RigSpec,
        unit: Unit,
        images: &BTreeSet<String>,
        features: StateFeatures,
    ) -> Result<(Self, Vec<Repaired>), TapeError> {
        let unknown = images.iter().find(|i| !rig.rgb_cameras().any(|c| c.name == **i));
        if let Some(name) = unknown {
            let known = rig.rgb_cameras().map(|c| c.name.as_str());
            let hint = citrange_core::names::suggestion(name, known);
            return Err(TapeError::Missing(format!("unknown camera \"{name}\", {hint}")));
        }
        let units = unit.of(rig).map_err(TapeError::Refused)?;
        let lock = lock(root)?;
        let repaired = repair_locked(root)?;
        let info = info(rig, (unit, features), &units, images);
        let lerobot = citrange_lerobot::Dataset::open_or_create(root, info)?;
        let index = Index::read(root)?.unwrap_or_else(|| Index::new(units.clone()));
        if !lerobot.episodes().is_empty() && index.units != units {
            let show = |units: &[JointUnit]| {
                let all: Vec<_> =
                    units.iter().map(|u| format!("{} in {}", u.name, u.unit)).collect();
                if all.is_empty() { "not said".to_owned() } else { all.join(", ") }
            };
            return Err(TapeError::Refused(format!(
                "{} has other units: {}; this recording would have {}",
                root.display(),
                show(&index.units),
                show(&units)
            )));
        }
        Ok((Self { lerobot, index, _lock: Some(lock) }, repaired))
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.lerobot.root()
    }

    /// What its rows hold beside joint positions.
    #[must_use]
    pub fn features(&self) -> StateFeatures {
        StateFeatures::of(self.lerobot.info())
    }

    /// Number of episodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lerobot.episodes().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where to record the episode with this name.
    #[must_use]
    pub fn recording_folder(&self, uid: &str) -> PathBuf {
        recordings(self.root()).join(uid)
    }

    /// Where all recordings are that are under way, each in a folder with its name.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        recordings(self.root())
    }

    /// What our side knows about an episode, if it was recorded by us and is still itself.
    #[must_use]
    pub fn entry(&self, episode: usize) -> Option<&Entry> {
        let length = self.lerobot.episodes().get(episode)?.length;
        let entry = self.index.episodes.get(episode)?.as_ref()?;
        (entry.frames.len() == length).then_some(entry)
    }

    /// Refuses an episode that is not there.
    ///
    /// # Errors
    /// Names the range.
    pub fn check_episode(&self, episode: usize) -> Result<(), TapeError> {
        if episode < self.len() {
            return Ok(());
        }
        let (root, len) = (self.root().display(), self.len());
        Err(TapeError::Missing(format!(
            "{root} has no episode {episode}; it has {len}, numbered from 0"
        )))
    }

    /// Makes a finished recording part of the dataset; gives its number. The recording's folder
    /// is gone afterwards. When it fails nothing has changed, and the recording is still there.
    ///
    /// # Errors
    /// When the disk is full, the recording is empty, or it does not fit the dataset.
    pub fn save(&mut self, recording: Recording) -> Result<usize, TapeError> {
        let frames = recording.rows.len();
        let _span = tracing::info_span!("save_episode", frames).entered();
        let folder = recording.folder.clone();
        let (number, index) = save(&mut self.lerobot, &self.index, recording)?;
        self.index = index;
        // The dataset has links of its own to everything that is kept. A folder that stays is
        // known by its name and removed by the next repair.
        let _stays = std::fs::remove_dir_all(&folder);
        Ok(number)
    }
}

/// Makes a recording part of the dataset; its folder stays.
pub(crate) fn save(
    lerobot: &mut citrange_lerobot::Dataset,
    index: &Index,
    recording: Recording,
) -> Result<(usize, Index), TapeError> {
    let Recording { folder, tape, header, rows, cameras, outcome, first, .. } = recording;
    let units = &index.units;
    let state = rows.iter().flat_map(|row| header.features.row(units, row.seen()));
    let shown = |row: &Row| -> Vec<f32> {
        units.iter().zip(&row.action).map(|(unit, v)| unit.show(*v) as f32).collect()
    };
    let action = rows.iter().flat_map(shown);
    let mut episode = NewEpisode {
        task: header.task.clone(),
        length: rows.len(),
        columns: vec![
            (STATE.into(), Column::F32(state.collect())),
            (ACTION.into(), Column::F32(action.collect())),
        ],
        ..NewEpisode::default()
    };
    let mut beside = Vec::new();
    for (stream, coded) in Stream::all(&header, &RecordSettings::default())?.iter().zip(&cameras) {
        let (key, spec) = (format!("{PICTURES}{}", stream.name), stream.spec(&header));
        match &coded.how {
            Coded::Video { config } => {
                let path = folder.join(format!("{}.mp4", stream.name));
                coded.write_mp4(&path, spec, header.rig.rates.frame_hz, config)?;
                episode.videos.push(NewVideo { key, path, stats: coded.stats(spec)? });
            }
            Coded::Png => {
                let stats = coded.stats(spec)?;
                episode.images.push(NewImages { key, png: coded.pngs()?, stats });
            }
            Coded::Beside(_) => {
                beside.push((coded.log.clone(), beside_name(&header.uid, &stream.name, first)));
            }
        }
    }
    let mut next = index.clone();
    next.episodes.resize(lerobot.episodes().len(), None);
    next.episodes.push(Some(Entry::new(&header, first..first + rows.len(), outcome)));
    let new_index = folder.join("index.json");
    write_synced(&new_index, &next.to_json()?)?;
    episode.side = vec![(tape, tape_name(&header.uid))];
    episode.side.extend(beside);
    episode.side.push((new_index, INDEX.to_owned()));
    let number = lerobot.append(episode)?;
    Ok((number, next))
}

pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), TapeError> {
    use std::io::Write as _;
    let fail = |e| TapeError::file("write", path, e);
    let mut file = File::create(path).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.sync_all().map_err(fail)
}

pub(crate) fn recordings(root: &Path) -> PathBuf {
    root.join(SIDE).join("recording")
}

pub(crate) fn lock(root: &Path) -> Result<File, TapeError> {
    let folder = root.join(SIDE);
    std::fs::create_dir_all(&folder).map_err(|e| TapeError::file("create", &folder, e))?;
    let path = folder.join("recording.lock");
    let file = File::create(&path).map_err(|e| TapeError::file("create", &path, e))?;
    match file.try_lock() {
        // An edit may have put another dataset here since the file was opened.
        Ok(()) if is_at(&file, &path) => Ok(file),
        Ok(()) | Err(std::fs::TryLockError::WouldBlock) => Err(TapeError::Busy(root.to_owned())),
        Err(std::fs::TryLockError::Error(e)) => Err(TapeError::file("lock", &path, e)),
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |m: &std::fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(a), Ok(b)) if id(&a) == id(&b))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The dataset's description for a rig.
pub(crate) fn info(
    rig: &RigSpec,
    (unit, state): (Unit, StateFeatures),
    units: &[JointUnit],
    images: &BTreeSet<String>,
) -> Info {
    let names: Vec<&str> = units.iter().map(|u| u.name.as_str()).collect();
    let mut features = vec![
        (STATE.to_owned(), Feature::vector(&state.names(units))),
        (ACTION.to_owned(), Feature::vector(&names)),
    ];
    let fps = rig.rates.frame_hz;
    for camera in rig.rgb_cameras() {
        let (height, width) = (camera.height_px as usize, camera.width_px as usize);
        let feature = match images.contains(&camera.name) {
            true => Feature::image(height, width),
            false => Feature::video(height, width, fps, "h264"),
        };
        features.push((format!("{PICTURES}{}", camera.name), feature));
    }
    let mut info = Info::new(Some(&rig.robot), fps, features);
    // lerobot ignores keys it does not know; people and our tools read the units here.
    info.extra.insert(UNITS_KEY.to_owned(), units_json(unit, units));
    info
}

pub(crate) fn units_said(info: &Info) -> Vec<JointUnit> {
    let said = info.extra.get(UNITS_KEY).and_then(|said| said.get("joints")).cloned();
    said.and_then(|joints| serde_json::from_value(joints).ok()).unwrap_or_default()
}

/// What info.json says about units.
pub(crate) fn units_json(unit: Unit, units: &[JointUnit]) -> serde_json::Value {
    serde_json::json!({ "unit": unit, "joints": units })
}
