//! `citrange data delete|trim|split|merge|label|repair`: changing datasets, never losing any.

use std::path::{Path, PathBuf};

use citrange_episodes::{repaired_json, tell_repaired};
use citrange_lerobot::{Edit, Packing, Plan};
use citrange_tape::{Dataset, Entry, Rebuilt, Staging, TapeError};
use serde_json::{Value, json};

use super::data_lists::{numbers, parts, range};
use crate::exit::{bad_input, usage};
use crate::output::{self, Output};

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
    let leftovers = Dataset::clear_leftovers(root)?;
    let (index, repaired) = match root.is_dir() || leftovers.is_empty() {
        true => (Dataset::repair_index(root)?, Dataset::repair(root)?),
        // Nothing came to be there; what was left of it is told.
        false => (None, Vec::new()),
    };
    let copies = Dataset::undo_copies(root);
    if json {
        let list: Vec<Value> = leftovers
            .iter()
            .map(|l| json!({ "path": l.path, "what": l.what, "done": l.done }))
            .collect();
        let repaired: Vec<Value> = repaired.iter().map(repaired_json).collect();
        let report = json!({
            "dataset": root, "index": index.as_ref().map(rebuilt_json), "repaired": repaired,
            "leftovers": list, "undo_copies": copies,
        });
        return output::data(&report.to_string());
    }
    for left in &leftovers {
        output::talk(&format!("{}: {}: {}", left.path.display(), left.what, left.done));
    }
    if let Some(rebuilt) = &index {
        tell_rebuilt(rebuilt);
    }
    tell_repaired(&repaired, Output::Talk.context())?;
    if repaired.is_empty() && leftovers.is_empty() && index.is_none() {
        output::talk("nothing to repair: nothing was cut off, every tape is in its place");
    }
    if let (Some(last), n) = (copies.last(), copies.len()) {
        let last = last.display();
        output::talk(&format!("as it was before edits: {n} copies, the newest in {last}"));
    }
    Ok(())
}

fn rebuilt_json(rebuilt: &Rebuilt) -> Value {
    let Rebuilt { reason, changed, episodes, with_tape, kept, renamed, old, problems } = rebuilt;
    json!({
        "reason": reason, "changed": changed, "episodes": episodes, "with_tape": with_tape,
        "kept": kept, "renamed": renamed, "old": old, "problems": problems,
    })
}

/// Says what was wrong with the index and what became of it.
fn tell_rebuilt(rebuilt: &Rebuilt) {
    let Rebuilt { reason, changed, episodes, with_tape, kept, renamed, old, problems } = rebuilt;
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
    output::talk(&line);
    problems.iter().for_each(|problem| output::talk(&format!("not repaired: {problem}")));
}

pub(crate) fn delete(args: &Delete) -> anyhow::Result<()> {
    let episodes = numbers(&args.episodes)?;
    let dataset = Dataset::open(&args.dataset)?;
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
        return Err(usage("give --episode N --at FRAME, or --into train=0.8,val=0.2 --out FOLDER"));
    };
    let mut from = 0;
    let mut sets = Vec::new();
    for (name, count) in parts(into, dataset.len())? {
        sets.push((name, (from..from + count).collect::<Vec<usize>>()));
        from += count;
    }
    if args.how.dry_run {
        must_be_free(out)?;
    } else {
        // All of them appear in one step.
        let staging = Staging::begin(out).map_err(TapeError::from)?;
        for (name, episodes) in &sets {
            gather(&[(&dataset, episodes)], &staging.path().join(name))?;
        }
        staging.publish().map_err(TapeError::from)?;
    }
    if args.how.json {
        let of = |(name, episodes): &(String, Vec<usize>)| json!({ "dataset": out.join(name), "episodes": episodes });
        let sets: Vec<Value> = sets.iter().map(of).collect();
        let report = json!({ "dry_run": args.how.dry_run, "datasets": sets });
        return output::data(&report.to_string());
    }
    for (name, episodes) in &sets {
        let (target, count) = (out.join(name), episodes.len());
        if args.how.dry_run {
            output::data(&format!("{}: {count} episodes {episodes:?}", target.display()))?;
        } else {
            output::talk(&format!("{count} episodes"));
            output::data(&target.display().to_string())?;
        }
    }
    Ok(())
}

pub(crate) fn merge(args: &Merge) -> anyhow::Result<()> {
    let datasets = args.datasets.iter().map(|p| Dataset::open(p)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<Vec<usize>> = datasets.iter().map(|d| (0..d.len()).collect()).collect();
    let sources: Vec<(&Dataset, &[usize])> =
        datasets.iter().zip(&all).map(|(d, e)| (d, e.as_slice())).collect();
    let count: usize = all.iter().map(Vec::len).sum();
    let (out, how) = (args.out.display(), &args.how);
    if how.dry_run {
        must_be_free(&args.out)?;
    } else {
        let staging = Staging::begin(&args.out).map_err(TapeError::from)?;
        gather(&sources, staging.path())?;
        staging.publish().map_err(TapeError::from)?;
    }
    if how.json {
        let report = json!({ "dataset": args.out, "episodes": count, "dry_run": how.dry_run });
        return output::data(&report.to_string());
    }
    if how.dry_run {
        return output::data(&format!("{out}: {count} episodes"));
    }
    output::talk(&format!("{count} episodes"));
    output::data(&out.to_string())
}

pub(crate) fn label(args: &Label) -> anyhow::Result<()> {
    let mut changes = Vec::new();
    let given = [
        (args.success.is_some(), "success"),
        (!args.add.is_empty() || !args.remove.is_empty(), "labels"),
        (args.note.is_some(), "note"),
    ];
    changes.extend(given.iter().filter(|(is, _)| *is).map(|(_, what)| *what));
    let says_more = !changes.is_empty();
    changes.extend(args.task.as_ref().map(|_| "task"));
    if changes.is_empty() {
        return Err(usage("give what to change: --task, --success, --add, --remove or --note"));
    }
    let mut dataset = Dataset::open(&args.dataset)?;
    let episodes = match &args.episodes {
        Some(list) => numbers(list)?,
        None => (0..dataset.len()).collect(),
    };
    for episode in &episodes {
        dataset.check_episode(*episode)?;
    }
    let relabel = args.task.clone().map(|task| Edit::Label { episodes: episodes.clone(), task });
    // What cannot be done is refused before anything is done.
    let plan = relabel.as_ref().map(|edit| planned(&dataset, edit)).transpose()?;
    let mut trash = None;
    if !args.how.dry_run {
        if says_more {
            dataset.annotate(&episodes, &|entry| change(entry, args))?;
        }
        trash = plan.as_ref().map(|plan| carry_out(&dataset, plan)).transpose()?;
    }
    if args.how.json {
        let report = json!({
            "dataset": args.dataset, "dry_run": args.how.dry_run, "episodes": episodes,
            "changed": changes, "trash": trash,
        });
        return output::data(&report.to_string());
    }
    let (count, what) = (episodes.len(), changes.join(", "));
    if args.how.dry_run {
        return output::data(&format!("{what} of {count} episodes {episodes:?} would change"));
    }
    output::talk(&format!("labelled {count} episodes: {what}"));
    if let Some(trash) = trash {
        output::talk(&format!("the dataset as it was: {}", trash.display()));
    }
    Ok(())
}

fn change(entry: &mut Entry, args: &Label) {
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
}

/// Plans, says, and unless it is a dry run carries out.
fn edit(dataset: &Dataset, edit: &Edit, how: &How) -> anyhow::Result<()> {
    let plan = planned(dataset, edit)?;
    let trash = match how.dry_run {
        true => None,
        false => Some(carry_out(dataset, &plan)?),
    };
    if how.json {
        let report = json!({
            "dataset": dataset.root(), "dry_run": how.dry_run,
            "episodes_before": plan.before.0, "frames_before": plan.before.1,
            "episodes": plan.after.0, "frames": plan.after.1, "trash": trash,
            "videos_linked": plan.videos_linked, "videos_cut": plan.videos_cut,
            "videos_partly_encoded": plan.videos_encoded, "frames_encoded": plan.frames_encoded,
        });
        return output::data(&report.to_string());
    }
    let text = plan.to_string();
    match trash {
        None => output::data(text.trim_end()),
        Some(trash) => {
            output::talk(text.trim_end());
            output::talk(&format!("the dataset as it was: {}", trash.display()));
            Ok(())
        }
    }
}

/// A plan for a dataset that can be swapped.
fn planned(dataset: &Dataset, edit: &Edit) -> anyhow::Result<Plan> {
    refuse_inside(dataset.root())?;
    Ok(dataset.plan(edit)?)
}

/// Carries a plan out; answers where the dataset as it was lies.
fn carry_out(dataset: &Dataset, plan: &Plan) -> anyhow::Result<PathBuf> {
    let bar = output::progress("editing", 1);
    let applied = dataset.apply(plan, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    Ok(applied.trash)
}

/// An edit puts a new folder into the dataset's place: a shell inside would go on in the old one.
fn refuse_inside(root: &Path) -> anyhow::Result<()> {
    let (Ok(here), Ok(real)) = (std::env::current_dir(), std::fs::canonicalize(root)) else {
        return Ok(());
    };
    let here = here.canonicalize().unwrap_or(here);
    if !here.starts_with(&real) {
        return Ok(());
    }
    let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let above = real.parent().unwrap_or(&real).display();
    Err(bad_input(format!(
        "you are inside {}, which an edit replaces by a new folder while the old one goes to the \
         trash; go out of it first: cd {above}, and name it {name}",
        real.display()
    )))
}

fn must_be_free(out: &Path) -> anyhow::Result<()> {
    Ok(Staging::must_be_free(out).map_err(TapeError::from)?)
}

fn gather(sources: &[(&Dataset, &[usize])], out: &Path) -> anyhow::Result<()> {
    let bar = output::progress("writing", 1);
    Dataset::gather_into(sources, out, Packing::PerEpisode, true, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    Ok(())
}
