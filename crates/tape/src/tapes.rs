//! The tapes of a dataset: which episode has one, and whether it is the episode's. An episode is
//! exact when its rows are those of its tape, bit for bit; everything that says so asks here.

use std::ops::Range;

use citrange_lerobot::{Column, EpisodeData, Finding, Severity};

use crate::dataset::{ACTION, Dataset, STATE};
use crate::episode::Episode;
use crate::error::TapeError;
use crate::features::StateFeatures;
use crate::index::{Entry, tape_files, tape_name};
use crate::units::JointUnit;

/// The column of times.
const TIME: &str = "timestamp";
/// A camera that lost more than this part of its pictures did not see the episode.
const MOST_LOST: f64 = 0.05;

impl Dataset {
    /// The tape of an episode and the part of it that the episode shows; `None` when it has none.
    ///
    /// # Errors
    /// When there is no such episode, or its tape is missing, damaged, another episode's, or not
    /// what the rows say.
    pub fn tape(&self, episode: usize) -> Result<Option<(Episode, Range<usize>)>, TapeError> {
        self.check_episode(episode)?;
        let Some(entry) = self.index.episodes.get(episode).and_then(Option::as_ref) else {
            return Ok(None);
        };
        let tape = self.tape_of(entry)?;
        let fail = |reason: String| Err(TapeError::Log { path: tape.path.clone(), reason });
        let length = self.lerobot.episodes()[episode].length;
        if entry.frames.len() != length || entry.frames.end > tape.len() {
            return fail(format!(
                "it is not the tape of episode {episode}, which has {length} frames: the index \
                 names frames {} to {} of the tape's {}; {}",
                entry.frames.start,
                entry.frames.end,
                tape.len(),
                self.tie_again()
            ));
        }
        let rows = self.lerobot.read_columns(episode, &[STATE, ACTION, TIME])?;
        match self.first_difference(&rows, &tape, &entry.frames) {
            None => Ok(Some((tape, entry.frames.clone()))),
            Some(difference) => fail(format!(
                "it and the rows of episode {episode} disagree: {difference}; `--frame-targets` \
                 replays the rows; {}",
                self.tie_again()
            )),
        }
    }

    fn tie_again(&self) -> String {
        let root = self.root().display();
        format!("`citrange data repair {root}` looks for the tapes that the rows belong to")
    }

    /// Reads the tape that an entry names, whole.
    fn tape_of(&self, entry: &Entry) -> Result<Episode, TapeError> {
        let path = self.root().join(tape_name(&entry.uid));
        let fail = |reason: String| TapeError::Log { path: path.clone(), reason };
        if !path.exists() {
            return Err(fail(
                "it is missing; the episode's rows and videos are not touched \
                 (`--frame-targets` replays those)"
                    .into(),
            ));
        }
        let tape = Episode::read(&path)?;
        if tape.header.uid != entry.uid {
            let root = self.root().display();
            return Err(fail(format!(
                "it is the tape of another episode, {}; `citrange data repair {root}` puts tapes \
                 under their names",
                tape.header.uid
            )));
        }
        // Tapes are saved whole: whatever cannot be read was damaged since.
        if let Some(damage) = tape.damage.first() {
            let shown = entry.frames.len();
            let whole = tape.frames.len().saturating_sub(entry.frames.start).min(shown);
            return Err(fail(format!(
                "it is damaged from byte {} to {}: the first {whole} of the {shown} frames that \
                 the episode shows are whole; its rows and videos are not touched \
                 (`--frame-targets` replays those)",
                damage.from, damage.to
            )));
        }
        Ok(tape)
    }

    /// Where the rows of an episode are not those of a tape.
    fn first_difference(
        &self,
        rows: &EpisodeData,
        tape: &Episode,
        shown: &Range<usize>,
    ) -> Option<String> {
        let Some(columns) = RowBits::new(self, rows) else {
            return Some(format!("{STATE} or {ACTION} does not hold the joints of the index"));
        };
        let fps = f64::from(self.lerobot.info().fps);
        let times = rows.column(TIME).and_then(Column::floats);
        let (features, units) = (self.features(), &self.index.units);
        let mut first = None;
        let mut differing = 0;
        for (row, frame) in shown.clone().enumerate() {
            let time = times.and_then(|times| times.get(row));
            let due = (row as f64 / fps) as f32;
            let off = columns
                .difference(row, &tape_row(features, units, tape, frame))
                .or_else(|| unlike(TIME, time.copied(), due));
            if let Some(off) = off {
                first.get_or_insert(format!("row {row}: {off}"));
                differing += 1;
            }
        }
        first.map(|first| format!("{first}; {differing} of {} rows differ", shown.len()))
    }

    /// What is wrong with the tape of an episode, with what it says, or with the depths beside it;
    /// `deep` decodes all of those.
    #[must_use]
    pub fn check_tape(&self, episode: usize, deep: bool) -> Vec<Finding> {
        let find = |severity, code, message| Finding {
            severity,
            code,
            episode: Some(episode),
            frame: None,
            file: None,
            message,
        };
        let (tape, shown) = match self.tape(episode) {
            Ok(Some(found)) => found,
            Ok(None) => return Vec::new(),
            Err(error) => return vec![find(Severity::Error, "tape", error.to_string())],
        };
        let depth = self.check_depth(episode, (&tape, shown.clone()), deep);
        let dropped = tape.end.map(|end| end.dropped).unwrap_or_default();
        let lost = dropped.into_iter().filter_map(|(camera, frames)| {
            let here = |frame: &&u64| shown.contains(&(**frame as usize));
            let lost = frames.iter().filter(here).count();
            let part = lost as f64 / shown.len().max(1) as f64;
            let message = format!(
                "camera {camera} lost {lost} of {} pictures ({:.0} %): the one before stands in \
                 for each",
                shown.len(),
                100.0 * part
            );
            (part > MOST_LOST).then(|| find(Severity::Warning, "lost-pictures", message))
        });
        lost.chain(depth).collect()
    }

    /// Tapes that no episode refers to.
    ///
    /// # Errors
    /// When the folder of tapes cannot be read.
    pub fn unused_tapes(&self) -> Result<Vec<Finding>, TapeError> {
        let used = |name: &String| {
            self.index.episodes.iter().flatten().any(|e| tape_name(&e.uid) == *name)
        };
        let unused = tape_files(self.root())?.into_iter().filter(|name| !used(name));
        let root = self.root().display();
        let find = |name| Finding {
            severity: Severity::Warning,
            code: "unused-tape",
            episode: None,
            frame: None,
            message: format!(
                "no episode refers to this tape; `citrange data repair {root}` looks for its rows"
            ),
            file: Some(name),
        };
        Ok(unused.map(find).collect())
    }
}

/// The joint values of rows as they are stored, bit for bit, in the order of the units.
pub(crate) struct RowBits<'a> {
    /// What each number of [`Self::row`] is.
    names: Vec<String>,
    parts: [(&'a [f32], Vec<usize>, usize); 2],
}

impl<'a> RowBits<'a> {
    /// `None` where the rows do not hold what the units name.
    pub(crate) fn new(dataset: &'a Dataset, rows: &'a EpisodeData) -> Option<Self> {
        let units = &dataset.index.units;
        let features = dataset.features();
        let part = |name: &'static str, held: &[String]| {
            let values = rows.column(name).and_then(Column::floats)?;
            let width = values.len().checked_div(rows.length)?;
            let feature = dataset.lerobot.info().features.get(name)?;
            let names = feature.component_names();
            // There may be more numbers in a row than ours.
            let by_name: Option<Vec<usize>> =
                held.iter().map(|held| names.iter().position(|n| n == held)).collect();
            let columns = match by_name {
                Some(columns) => columns,
                None if width == held.len() => (0..width).collect(),
                None => return None,
            };
            Some((values, columns, width))
        };
        let state = features.names(units);
        let action: Vec<String> = units.iter().map(|unit| unit.name.clone()).collect();
        let parts = [part(STATE, &state)?, part(ACTION, &action)?];
        let named = |(part, names): (&str, Vec<String>)| {
            names.into_iter().map(|name| format!("{name} of {part}")).collect::<Vec<_>>()
        };
        let names = [(STATE, state), (ACTION, action)].into_iter().flat_map(named).collect();
        Some(Self { names, parts })
    }

    /// State, then action.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = Option<f32>> {
        self.parts.iter().flat_map(move |(values, columns, width)| {
            columns.iter().map(move |at| values.get(row * width + at).copied())
        })
    }

    fn difference(&self, row: usize, tape: &[f32]) -> Option<String> {
        let mut all = self.names.iter().zip(self.row(row)).zip(tape);
        all.find_map(|((name, is), was)| unlike(name, is, *was))
    }
}

/// What a row would hold of a frame of a tape: state, then action.
pub(crate) fn tape_row(
    features: StateFeatures,
    units: &[JointUnit],
    tape: &Episode,
    frame: usize,
) -> Vec<f32> {
    let mut row = match tape.frames.get(frame) {
        Some(frame) => features.row(units, frame.seen()),
        None => vec![f32::NAN; features.names(units).len()],
    };
    let action = tape.action(frame).unwrap_or_default();
    let shown = |(joint, unit): (usize, &JointUnit)| {
        unit.show(action.get(joint).copied().unwrap_or(f64::NAN)) as f32
    };
    row.extend(units.iter().enumerate().map(shown));
    row
}

fn unlike(what: &str, is: Option<f32>, was: f32) -> Option<String> {
    let same = is.is_some_and(|is| is.to_bits() == was.to_bits());
    let is = is.map_or_else(|| "missing".to_owned(), |is| is.to_string());
    (!same).then(|| format!("{what} is {is}, the tape says {was}"))
}
