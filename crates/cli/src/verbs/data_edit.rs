//! `citrange data delete|trim|split|merge|label|repair`: changing datasets, never losing any.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use citrange_lerobot::{Edit, Packing};
use citrange_tape::{Dataset, Rebuilt, TapeError};
use serde_json::json;

use crate::recording::tell_repaired;
use crate::say;

#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Episodes, for example 1,3,5-7.
    #[arg(long)]
    episodes: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Trim {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Which episode.
    #[arg(long)]
    episode: usize,
    /// Frames to keep, FROM:TO without TO; either may be left out.
    #[arg(long, value_name = "FROM:TO")]
    frames: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Split {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Make two episodes of this one.
    #[arg(long, requires = "at", conflicts_with = "into")]
    episode: Option<usize>,
    /// First frame of the second one.
    #[arg(long)]
    at: Option<usize>,
    /// Make several datasets, by parts: train=0.8,val=0.2. The dataset itself stays.
    #[arg(long, value_name = "NAME=PART,…", requires = "out")]
    into: Option<String>,
    /// Folder for the new datasets, with --into.
    #[arg(short, long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// Datasets, in the order in which their episodes shall come.
    #[arg(required = true, num_args = 2..)]
    datasets: Vec<PathBuf>,
    /// Folder of the new dataset.
    #[arg(short, long)]
    out: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Label {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Episodes, for example 1,3,5-7; all by default.
    #[arg(long)]
    episodes: Option<String>,
    /// A new task text.
    #[arg(long)]
    task: Option<String>,
    /// Whether the task was done.
    #[arg(long)]
    success: Option<bool>,
    /// Add a label.
    #[arg(long)]
    add: Vec<String>,
    /// Take a label away.
    #[arg(long)]
    remove: Vec<String>,
    /// Write a note.
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Only say what would happen.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn repair(root: &Path, json: bool) -> anyhow::Result<()> {
    let index = Dataset::repair_index(root)?;
    if let Some(rebuilt) = &index {
        tell_rebuilt(rebuilt, json)?;
    }
    let repaired = Dataset::repair(root)?;
    tell_repaired(&repaired, json)?;
    if !json && repaired.is_empty() && index.is_none() {
        say::talk("nothing to repair: no recording was cut off, every tape is in its place");
    }
    Ok(())
}

/// Says what was wrong with the index and what became of it.
fn tell_rebuilt(rebuilt: &Rebuilt, as_json: bool) -> anyhow::Result<()> {
    let Rebuilt { reason, changed, episodes, with_tape, kept, renamed, old, problems } = rebuilt;
    if as_json {
        let line = json!({
            "event": "index", "reason": reason, "changed": changed, "episodes": episodes,
            "with_tape": with_tape, "kept": kept, "renamed": renamed, "old": old,
            "problems": problems,
        });
        return say::data(&line.to_string());
    }
    let made = if *changed { "made again from the tapes" } else { "left as it is" };
    let mut line = format!(
        "citrange/index.json: {reason}; {made}: {with_tape} of {episodes} episodes have their tape"
    );
    if *changed {
        line += &format!(", labels, notes and judgements of {kept} could be taken over");
    }
    if *renamed > 0 {
        line += &format!("; {renamed} tapes were put under their own names");
    }
    if let Some(old) = old {
        line += &format!("; the old one is {}", old.display());
    }
    say::talk(&line);
    problems.iter().for_each(|problem| say::talk(&format!("not repaired: {problem}")));
    Ok(())
}

pub(crate) fn delete(args: &Delete) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    let episodes = numbers(&args.episodes)?;
    edit(&dataset, &Edit::Delete { episodes }, &args.how)
}

pub(crate) fn trim(args: &Trim) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    dataset.check_episode(args.episode)?;
    let length = dataset.lerobot.episodes()[args.episode].length;
    let frames = range(&args.frames, length)?;
    edit(&dataset, &Edit::Trim { episode: args.episode, frames }, &args.how)
}

pub(crate) fn split(args: &Split) -> anyhow::Result<()> {
    let dataset = Dataset::open(&args.dataset)?;
    if let (Some(episode), Some(at)) = (args.episode, args.at) {
        return edit(&dataset, &Edit::Split { episode, at }, &args.how);
    }
    let (Some(into), Some(out)) = (&args.into, &args.out) else {
        return usage("give --episode N --at FRAME, or --into train=0.8,val=0.2 --out FOLDER");
    };
    let mut from = 0;
    let parts = parts(into, dataset.len())?;
    if let Some((name, _)) = parts.iter().find(|(name, _)| out.join(name).exists()) {
        return usage(&format!("{} exists already", out.join(name).display()));
    }
    for (name, count) in parts {
        let episodes: Vec<usize> = (from..from + count).collect();
        from += count;
        let target = out.join(&name);
        if args.how.dry_run {
            say::data(&format!("{}: {count} episodes {episodes:?}", target.display()))?;
            continue;
        }
        std::fs::create_dir_all(out)?;
        gather(&[(&dataset, &episodes)], &target)?;
        told(&target, count, args.how.json)?;
    }
    Ok(())
}

pub(crate) fn merge(args: &Merge) -> anyhow::Result<()> {
    let datasets = args.datasets.iter().map(|p| Dataset::open(p)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<Vec<usize>> = datasets.iter().map(|d| (0..d.len()).collect()).collect();
    let sources: Vec<(&Dataset, &[usize])> =
        datasets.iter().zip(&all).map(|(d, e)| (d, e.as_slice())).collect();
    let count = all.iter().map(Vec::len).sum();
    if args.how.dry_run {
        return say::data(&format!("{}: {count} episodes", args.out.display()));
    }
    gather(&sources, &args.out)?;
    told(&args.out, count, args.how.json)
}

pub(crate) fn label(args: &Label) -> anyhow::Result<()> {
    let mut dataset = Dataset::open(&args.dataset)?;
    let episodes = match &args.episodes {
        Some(list) => numbers(list)?,
        None => (0..dataset.len()).collect(),
    };
    for episode in &episodes {
        dataset.check_episode(*episode)?;
    }
    let says_more = args.success.is_some()
        || args.note.is_some()
        || !args.add.is_empty()
        || !args.remove.is_empty();
    if args.task.is_none() && !says_more {
        return usage("give what to change: --task, --success, --add, --remove or --note");
    }
    if args.how.dry_run && says_more {
        say::data(&format!("outcome, labels or note of episodes {episodes:?} would change"))?;
    } else if says_more {
        dataset.annotate(&episodes, &|entry| {
            if let Some(success) = args.success {
                entry.outcome.success = Some(success);
            }
            entry.labels.retain(|label| !args.remove.contains(label));
            for label in &args.add {
                if !entry.labels.contains(label) {
                    entry.labels.push(label.clone());
                }
            }
            if let Some(note) = &args.note {
                entry.note.clone_from(note);
            }
        })?;
        if !args.how.json {
            say::talk(&format!("labelled {} episodes", episodes.len()));
        }
    }
    match &args.task {
        Some(task) => edit(&dataset, &Edit::Label { episodes, task: task.clone() }, &args.how),
        None => Ok(()),
    }
}

/// Plans, says, and unless it is a dry run carries out.
fn edit(dataset: &Dataset, edit: &Edit, how: &How) -> anyhow::Result<()> {
    let plan = dataset.plan(edit)?;
    if how.dry_run {
        return say::data(plan.to_string().trim_end());
    }
    let bar = say::progress("editing", 1);
    let applied = dataset.apply(&plan, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    if how.json {
        let report = json!({
            "episodes": plan.after.0, "frames": plan.after.1, "trash": applied.trash,
            "videos_linked": plan.videos_linked, "videos_cut": plan.videos_cut,
            "videos_partly_encoded": plan.videos_encoded, "frames_encoded": plan.frames_encoded,
        });
        return say::data(&report.to_string());
    }
    say::talk(plan.to_string().trim_end());
    say::talk(&format!("the dataset as it was: {}", applied.trash.display()));
    Ok(())
}

fn gather(sources: &[(&Dataset, &[usize])], out: &Path) -> anyhow::Result<()> {
    let bar = say::progress("writing", 1);
    Dataset::gather(sources, out, Packing::PerEpisode, true, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    Ok(())
}

fn told(out: &Path, episodes: usize, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return say::data(&json!({ "dataset": out, "episodes": episodes }).to_string());
    }
    say::talk(&format!("{episodes} episodes"));
    say::data(&out.display().to_string())
}

fn usage<T>(text: &str) -> anyhow::Result<T> {
    bail!(TapeError::Missing(text.to_owned()))
}

/// `1,3,5-7`.
pub(crate) fn numbers(text: &str) -> anyhow::Result<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to && to - from < 1_000_000 => all.extend(from..=to),
            _ => return usage(&format!("\"{part}\" is no episode; give numbers like 1,3,5-7")),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// `7:40`, `:40`, `7:`.
fn range(text: &str, length: usize) -> anyhow::Result<Range<usize>> {
    let number = |part: &str, empty: usize| match part.trim() {
        "" => Some(empty),
        part => part.parse().ok(),
    };
    let parts = text.split_once(':').map(|(a, b)| (number(a, 0), number(b, length)));
    match parts {
        Some((Some(from), Some(to))) => Ok(from..to),
        _ => usage(&format!("\"{text}\" is no range of frames; give FROM:TO, for example 7:40")),
    }
}

/// `train=0.8,val=0.2` as numbers of episodes: each its share, the last takes the rest.
fn parts(text: &str, episodes: usize) -> anyhow::Result<Vec<(String, usize)>> {
    let mut parts: Vec<(String, f64)> = Vec::new();
    for part in text.split(',') {
        let Some((name, share)) = part.split_once('=') else {
            return usage(&format!("\"{part}\": give NAME=PART, for example train=0.8"));
        };
        let plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
        match share.trim().parse::<f64>() {
            Ok(share) if plain && share > 0.0 && share.is_finite() => {
                parts.push((name.trim().to_owned(), share));
            }
            _ => return usage(&format!("\"{part}\": give a name and a part above 0")),
        }
    }
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    let (mut done, mut so_far) = (0, 0.0);
    let mut counted = Vec::new();
    for (name, share) in parts {
        so_far += share;
        let until = (so_far / sum * episodes as f64).round() as usize;
        if until == done {
            return usage(&format!("{name} would get none of {episodes} episodes"));
        }
        counted.push((name, until - done));
        done = until;
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(numbers("5-7, 1,3").unwrap(), [1, 3, 5, 6, 7]);
        assert!(numbers("2-1").is_err() && numbers("x").is_err() && numbers("").is_err());
        assert_eq!(range("7:", 40).unwrap(), 7..40);
        assert_eq!(range(":9", 40).unwrap(), 0..9);
        assert!(range("9", 40).is_err());
    }

    #[test]
    fn shares_cover_all_episodes() {
        let parts = parts("train=0.8,val=0.2", 11).unwrap();
        assert_eq!(parts, [("train".to_owned(), 9), ("val".to_owned(), 2)]);
        assert!(super::parts("a=1,b=0.01", 3).is_err());
        assert!(super::parts("../a=1", 3).is_err());
    }
}
