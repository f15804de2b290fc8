//! The contact sheet: a row for each of some episodes, a column for each moment.

use citrange_core::event::TaskState;
use citrange_render::{Image, letters};
use citrange_tape::Dataset;

use crate::stills::stills;
use crate::survey::EpisodeFacts;

/// States whose first frame is shown; the last column is the end.
const STATES: [TaskState; 5] = [
    TaskState::Approach,
    TaskState::Grasp,
    TaskState::Lift,
    TaskState::Transport,
    TaskState::Release,
];
/// Moments of episodes without states: evenly spread.
const MOMENTS: [&str; 5] = ["START", "20 %", "40 %", "60 %", "80 %"];
const COLUMNS: usize = STATES.len() + 1;
const MOST_ROWS: usize = 8;
/// Failed episodes among the rows, if there are that many.
const FAILED_ROWS: usize = 3;
const CELL_PX: [usize; 2] = [220, 165];
const GAP_PX: usize = 8;
const MARGIN_PX: usize = 16;
/// Pixels for each dot of a letter.
const LETTER_SCALE: usize = 2;
const HEAD_PX: usize = letters::HEIGHT * LETTER_SCALE + 12;

const PAPER: [u8; 3] = [255; 3];
const INK: [u8; 3] = [60, 68, 78];
const EMPTY: [u8; 3] = [238, 241, 244];
const GOOD: [u8; 3] = [0, 114, 178];
const BAD: [u8; 3] = [196, 78, 0];

/// The sheet; `None` when no picture could be had.
pub(crate) fn contact_sheet(
    dataset: &Dataset,
    episodes: &[EpisodeFacts],
    camera: &str,
    problems: &mut Vec<String>,
) -> Option<Image> {
    let rows = sample(episodes);
    let has_states = rows.iter().any(|facts| has_states(facts));
    let mut drawn = Vec::new();
    for facts in rows {
        let frames = moments(facts, has_states);
        let known: Vec<usize> = frames.iter().flatten().copied().collect();
        match stills(dataset, facts.episode, camera, &known) {
            Ok(pictures) => drawn.push((facts, frames, pictures)),
            Err(problem) => problems.push(problem),
        }
    }
    if drawn.is_empty() {
        return None;
    }
    let [cell_w, cell_h] = CELL_PX;
    let row_px = HEAD_PX + cell_h + 2 * GAP_PX;
    let mut sheet = Image::plain(
        2 * MARGIN_PX + COLUMNS * cell_w + (COLUMNS - 1) * GAP_PX,
        2 * MARGIN_PX + HEAD_PX + drawn.len() * row_px,
        PAPER,
    );
    let left = |column: usize| MARGIN_PX + column * (cell_w + GAP_PX);
    let heads = if has_states { STATES.map(TaskState::name) } else { MOMENTS };
    for (column, head) in heads.into_iter().chain(["END"]).enumerate() {
        letters::write(&mut sheet, (left(column), MARGIN_PX), LETTER_SCALE, INK, head);
    }
    for (row, (facts, frames, pictures)) in drawn.iter().enumerate() {
        let top = MARGIN_PX + HEAD_PX + row * row_px;
        let color = match facts.success {
            Some(true) => GOOD,
            Some(false) => BAD,
            None => INK,
        };
        let words = format!("EPISODE {} {}", facts.episode, facts.reason);
        letters::write(&mut sheet, (MARGIN_PX, top + 6), LETTER_SCALE, color, &words);
        let mut pictures = pictures.iter();
        for (column, frame) in frames.iter().enumerate() {
            let mut cell = Image::plain(cell_w, cell_h, EMPTY);
            if let Some(picture) = frame.and_then(|_| pictures.next()) {
                let small = picture.fitted(cell_w, cell_h);
                let (x, y) = ((cell_w - small.width) / 2, (cell_h - small.height) / 2);
                cell.paste(&small, x, y);
            }
            sheet.paste(&cell, left(column), top + HEAD_PX);
        }
    }
    Some(sheet)
}

fn has_states(facts: &EpisodeFacts) -> bool {
    facts.stages.iter().any(|stage| STATES.iter().any(|state| state.name() == stage.state))
}

/// The frame of each column; `None` where the episode never was in that state.
fn moments(facts: &EpisodeFacts, by_state: bool) -> [Option<usize>; COLUMNS] {
    let last = facts.frames.saturating_sub(1);
    let mut frames = [Some(last); COLUMNS];
    for (column, state) in STATES.iter().enumerate() {
        let first = || facts.stages.iter().find(|stage| stage.state == state.name());
        frames[column] = match by_state {
            true => first().map(|stage| stage.frame),
            false => Some(last * column / STATES.len()),
        };
    }
    frames
}

/// Episodes to show, in order: evenly spread, some failed ones among them.
fn sample(episodes: &[EpisodeFacts]) -> Vec<&EpisodeFacts> {
    let (failed, others): (Vec<_>, Vec<_>) =
        episodes.iter().partition(|facts| facts.success == Some(false));
    let failed_rows = failed.len().min(FAILED_ROWS.max(MOST_ROWS.saturating_sub(others.len())));
    let mut rows = spread(&failed, failed_rows);
    rows.extend(spread(&others, MOST_ROWS - failed_rows.min(MOST_ROWS)));
    rows.sort_by_key(|facts| facts.episode);
    rows
}

/// Evenly spread members of a list, the first always.
fn spread<'a>(all: &[&'a EpisodeFacts], count: usize) -> Vec<&'a EpisodeFacts> {
    let count = count.min(all.len());
    (0..count).filter_map(|i| all.get(i * all.len() / count).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Stage;

    fn facts(episode: usize, success: bool) -> EpisodeFacts {
        let stage = |state: &str, frame| Stage { state: state.into(), frame, seconds: 1.0 };
        EpisodeFacts {
            episode,
            frames: 101,
            success: Some(success),
            stages: vec![stage("APPROACH", 0), stage("GRASP", 40), stage("APPROACH", 60)],
            ..EpisodeFacts::default()
        }
    }

    fn numbers(episodes: &[EpisodeFacts]) -> Vec<usize> {
        sample(episodes).iter().map(|facts| facts.episode).collect()
    }

    #[test]
    fn some_failures_are_among_the_rows() {
        let all: Vec<_> = (0..100).map(|i| facts(i, i % 20 != 7)).collect();
        let rows = numbers(&all);
        assert_eq!(rows.len(), MOST_ROWS);
        assert_eq!(rows.iter().filter(|i| **i % 20 == 7).count(), FAILED_ROWS);
        assert!(rows.is_sorted());
    }

    #[test]
    fn few_one_or_no_episodes_are_all_shown() {
        let all: Vec<_> = (0..5).map(|i| facts(i, i == 0)).collect();
        assert_eq!(numbers(&all), [0, 1, 2, 3, 4]);
        assert_eq!(numbers(&all[..1]), [0]);
        assert_eq!(numbers(&[]), [0_usize; 0]);
        let failed: Vec<_> = (0..20).map(|i| facts(i, false)).collect();
        assert_eq!(numbers(&failed).len(), MOST_ROWS);
    }

    #[test]
    fn columns_are_states_or_times() {
        let one = facts(0, true);
        assert_eq!(moments(&one, true), [Some(0), Some(40), None, None, None, Some(100)]);
        assert_eq!(moments(&one, false), [0, 20, 40, 60, 80, 100].map(Some));
    }
}
