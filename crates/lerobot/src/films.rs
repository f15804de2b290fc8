//! Which videos an edited dataset gets: whole files are linked, parts are cut and joined.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use citrange_video::mp4::Movie;
use citrange_video::{MoviePart, can_join, join};

use crate::error::{Result, invalid};
use crate::files;
use crate::movie::{self, Outline};
use crate::rewrite::{Packing, Piece};

/// Frames of a source video.
#[derive(Clone, Debug, PartialEq)]
struct Cut {
    path: PathBuf,
    frames: Range<usize>,
    bytes: u64,
    to_encode: usize,
}

/// One video file of the new dataset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Film {
    /// The pieces in it, in order.
    pub(crate) pieces: Range<usize>,
    cuts: Vec<Cut>,
    /// It is a source file as it is.
    pub(crate) whole: bool,
}

impl Film {
    /// Frames that will have to be encoded again.
    pub(crate) fn to_encode(&self) -> usize {
        if self.whole { 0 } else { self.cuts.iter().map(|c| c.to_encode).sum() }
    }

    /// Makes the file.
    pub(crate) fn make(&self, out: &Path) -> Result<()> {
        if let (true, Some(cut)) = (self.whole, self.cuts.first()) {
            return files::link_or_copy(&cut.path, out).map(drop);
        }
        let parts: Result<Vec<MoviePart<'_>>> = self
            .cuts
            .iter()
            .map(|cut| match (u32::try_from(cut.frames.start), u32::try_from(cut.frames.end)) {
                (Ok(from), Ok(to)) => Ok(MoviePart { path: &cut.path, from, to }),
                _ => invalid(format!("{}: too many frames", cut.path.display())),
            })
            .collect();
        join(&parts?, out).map(drop).map_err(movie::video_error(out))
    }
}

/// Plans the files of one camera.
pub(crate) fn plan(
    pieces: &[Piece<'_>],
    key: &str,
    packing: Packing,
    limit: u64,
) -> Result<Vec<Film>> {
    let mut outlines: BTreeMap<PathBuf, Outline> = BTreeMap::new();
    let mut films: Vec<Film> = Vec::new();
    let mut first: Option<Movie> = None;
    let mut bytes = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let video = piece.dataset.video_of(piece.episode, key)?;
        let mut opened = None;
        if !outlines.contains_key(&video.path) || packing == Packing::Packed {
            let movie = movie::open(&video.path)?;
            outlines.insert(video.path.clone(), Outline::of(&movie));
            opened = Some(movie);
        }
        let outline = &outlines[&video.path];
        let frames = video.first_frame + piece.frames.start..video.first_frame + piece.frames.end;
        if frames.end > outline.frames {
            return invalid(format!(
                "episode {} needs frames {}..{} of {}, which has {}",
                piece.episode,
                frames.start,
                frames.end,
                video.path.display(),
                outline.frames
            ));
        }
        let cut_bytes = outline.bytes / outline.frames.max(1) as u64 * frames.len() as u64;
        let to_encode = outline.to_encode(frames.start, frames.end);
        if to_encode > 0 && !outline.can_encode {
            let (before, after) = outline.keys_near(frames.start);
            return invalid(format!(
                "{} can be cut at key frames only: begin at frame {} or {} of episode {}",
                video.path.display(),
                before.saturating_sub(video.first_frame),
                after.saturating_sub(video.first_frame),
                piece.episode
            ));
        }
        let cut = Cut { path: video.path, frames, bytes: cut_bytes, to_encode };
        let fits = packing == Packing::Packed
            && bytes + cut_bytes < limit
            && matches!((&first, &opened), (Some(a), Some(b)) if can_join(a, b).is_ok());
        match films.last_mut() {
            Some(film) if fits => {
                film.pieces.end = at + 1;
                film.cuts.push(cut);
                bytes += cut_bytes;
            }
            _ => {
                films.push(Film { pieces: at..at + 1, cuts: vec![cut], whole: false });
                (first, bytes) = (opened, cut_bytes);
            }
        }
    }
    let mut films = keep_whole_files(films, &outlines);
    for film in &mut films {
        film.whole = is_whole(&film.cuts, &outlines);
    }
    Ok(films)
}

/// Neighbours that together are one source file stay together: nothing has to be cut.
fn keep_whole_files(films: Vec<Film>, outlines: &BTreeMap<PathBuf, Outline>) -> Vec<Film> {
    let mut out: Vec<Film> = Vec::new();
    let mut at = 0;
    while at < films.len() {
        let run = (at + 1..=films.len()).take_while(|end| {
            let next = &films[*end - 1].cuts;
            next.len() == 1 && next[0].path == films[at].cuts[0].path
        });
        let whole = run
            .map(|end| {
                (end, films[at..end].iter().flat_map(|f| f.cuts.clone()).collect::<Vec<_>>())
            })
            .find(|(_, cuts)| is_whole(cuts, outlines));
        match whole {
            Some((end, cuts)) => {
                let pieces = films[at].pieces.start..films[end - 1].pieces.end;
                out.push(Film { pieces, cuts, whole: true });
                at = end;
            }
            None => {
                out.push(films[at].clone());
                at += 1;
            }
        }
    }
    out
}

fn is_whole(cuts: &[Cut], outlines: &BTreeMap<PathBuf, Outline>) -> bool {
    let Some(outline) = cuts.first().and_then(|c| outlines.get(&c.path)) else { return false };
    let mut next = 0;
    cuts.iter().all(|cut| {
        let follows = cut.path == outline.path && cut.frames.start == next;
        next = cut.frames.end;
        follows
    }) && next == outline.frames
}
