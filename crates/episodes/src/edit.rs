//! Changing datasets, never losing any: what goes lies in the trash beside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use citrange_lerobot::{Edit, Packing, Plan};
use citrange_tape::{Dataset, Entry, Rebuilt, RunName, Staging};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::collect::write_merged;
use crate::context::RunContext;
use crate::error::{Result, bad_input};
use crate::recording::{repaired_json, repaired_words};

/// Saves what a recorder that was cut off left behind; clears away what killed edits left.
///
/// # Errors
/// When it cannot be read or put in order.
pub fn repair(root: &Path) -> Result<Answer> {
    let leftovers = Dataset::clear_leftovers(root)?;
    let (index, repaired) = match root.is_dir() || leftovers.is_empty() {
        true => (Dataset::repair_index(root)?, Dataset::repair(root)?),
        // Nothing came to be there; what was left of it is told.
        false => (None, Vec::new()),
    };
    let copies = Dataset::undo_copies(root);
    let list = leftovers.iter().map(|l| json!({"path": l.path, "what": l.what, "done": l.done}));
    let json = json!({
        "dataset": root, "index": index.as_ref().map(rebuilt_json),
        "repaired": repaired.iter().map(repaired_json).collect::<Vec<Value>>(),
        "leftovers": list.collect::<Vec<Value>>(), "undo_copies": copies,
    });
    let left = leftovers.iter().map(|l| format!("{}: {}: {}", l.path.display(), l.what, l.done));
    let mut remarks: Vec<String> = left.collect();
    remarks.extend(index.iter().flat_map(rebuilt_words));
    remarks.extend(repaired.iter().map(repaired_words));
    if repaired.is_empty() && leftovers.is_empty() && index.is_none() {
        remarks.push("nothing to repair: nothing was cut off, every tape is in its place".into());
    }
    if let (Some(last), n) = (copies.last(), copies.len()) {
        let last = last.display();
        remarks.push(format!("as it was before edits: {n} copies, the newest in {last}"));
    }
    Ok(Answer { json, lines: Vec::new(), remarks })
}

fn rebuilt_json(rebuilt: &Rebuilt) -> Value {
    let Rebuilt { reason, changed, episodes, with_tape, kept, renamed, old, problems } = rebuilt;
    json!({
        "reason": reason, "changed": changed, "episodes": episodes, "with_tape": with_tape,
        "kept": kept, "renamed": renamed, "old": old, "problems": problems,
    })
}

/// What was wrong with the index and what became of it.
fn rebuilt_words(rebuilt: &Rebuilt) -> Vec<String> {
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
    let problems = problems.iter().map(|problem| format!("not repaired: {problem}"));
    std::iter::once(line).chain(problems).collect()
}

/// Plans an edit, and unless it is a dry run carries it out.
///
/// # Errors
/// When it cannot be done; then nothing was.
pub fn edit(dataset: &Dataset, edit: &Edit, dry_run: bool, ctx: RunContext<'_>) -> Result<Answer> {
    let plan = planned(dataset, edit)?;
    let trash = match dry_run {
        true => None,
        false => Some(carry_out(dataset, &plan, ctx)?),
    };
    let json = json!({
        "dataset": dataset.root(), "dry_run": dry_run,
        "episodes_before": plan.before.0, "frames_before": plan.before.1,
        "episodes": plan.after.0, "frames": plan.after.1, "trash": trash,
        "videos_linked": plan.videos_linked, "videos_cut": plan.videos_cut,
        "videos_partly_encoded": plan.videos_encoded, "frames_encoded": plan.frames_encoded,
    });
    let text = plan.to_string().trim_end().to_owned();
    let (lines, remarks) = match trash {
        None => (vec![text], Vec::new()),
        Some(trash) => (Vec::new(), vec![text, as_it_was(&trash)]),
    };
    Ok(Answer { json, lines, remarks })
}

/// Makes several datasets of one, by names and numbers of episodes, in a folder.
///
/// # Errors
/// When they cannot be written; then none is there.
pub fn split_into(
    dataset: &Dataset,
    parts: Vec<(String, usize)>,
    out: &Path,
    dry_run: bool,
    ctx: RunContext<'_>,
) -> Result<Answer> {
    let mut from = 0;
    let mut sets = Vec::new();
    for (name, count) in parts {
        sets.push((name, (from..from + count).collect::<Vec<usize>>()));
        from += count;
    }
    if dry_run {
        Staging::must_be_free(out)?;
    } else {
        // All of them appear in one step.
        let staging = Staging::begin(out)?;
        for (name, episodes) in &sets {
            gather(&[(dataset, episodes)], &staging.path().join(name), ctx)?;
        }
        staging.publish()?;
    }
    let of = |(name, episodes): &(String, Vec<usize>)| json!({ "dataset": out.join(name), "episodes": episodes });
    let json =
        json!({ "dry_run": dry_run, "datasets": sets.iter().map(of).collect::<Vec<Value>>() });
    let mut answer = Answer { json, ..Answer::default() };
    for (name, episodes) in &sets {
        let (target, count) = (out.join(name), episodes.len());
        if dry_run {
            answer.lines.push(format!("{}: {count} episodes {episodes:?}", target.display()));
        } else {
            answer.remarks.push(format!("{count} episodes"));
            answer.lines.push(target.display().to_string());
        }
    }
    Ok(answer)
}

/// What a merged dataset is made of.
struct Merged<'a> {
    /// Datasets with the numbers of their episodes, in order.
    episodes: Vec<(&'a Dataset, usize)>,
    /// What people should know of it.
    remark: Option<String>,
    /// Whether an episode is there twice: then it is no run that can be gone on with.
    has_twins: bool,
}

/// All episodes of several datasets, one after the other; parts of one run in the order of their
/// indices, whatever the order of the datasets is.
fn in_order(datasets: &[Dataset]) -> Merged<'_> {
    let all = datasets.iter().flat_map(|dataset| (0..dataset.len()).map(move |e| (dataset, e)));
    let all: Vec<(&Dataset, usize)> = all.collect();
    let run_of =
        |(dataset, episode): &(&Dataset, usize)| RunName::split(&dataset.entry(*episode)?.uid);
    let as_given = |episodes| Merged { episodes, remark: None, has_twins: false };
    let mut by_index = BTreeMap::new();
    let mut run = None;
    for place in &all {
        let Some((name, index)) = run_of(place) else { return as_given(all) };
        if *run.get_or_insert_with(|| name.clone()) != name {
            return as_given(all);
        }
        if let Some((other, _)) = by_index.insert(index, *place) {
            let (one, two) = (other.root().display(), place.0.root().display());
            let remark = format!(
                "{one} and {two} both have the episode of index {index} of the same run: it is there \
                 twice, in the order of the datasets, and the result cannot be gone on with"
            );
            return Merged { remark: Some(remark), has_twins: true, ..as_given(all) };
        }
    }
    as_given(by_index.into_values().collect())
}

/// Puts several datasets together into a new one; parts of one run become what it would be in one
/// piece, and can be gone on with.
///
/// # Errors
/// When they do not fit together or cannot be written; then nothing is there.
pub fn merge(
    datasets: &[Dataset],
    out: &Path,
    dry_run: bool,
    ctx: RunContext<'_>,
) -> Result<Answer> {
    let Merged { episodes: all, remark, has_twins } = in_order(datasets);
    let sources: Vec<(&Dataset, &[usize])> =
        all.iter().map(|(dataset, episode)| (*dataset, std::slice::from_ref(episode))).collect();
    let count = all.len();
    if dry_run {
        Staging::must_be_free(out)?;
    } else {
        let staging = Staging::begin(out)?;
        gather(&sources, staging.path(), ctx)?;
        if !has_twins {
            write_merged(&all, staging.path())?;
        }
        staging.publish()?;
    }
    let json = json!({ "dataset": out, "episodes": count, "dry_run": dry_run });
    let (lines, remarks) = match dry_run {
        true => (vec![format!("{}: {count} episodes", out.display())], Vec::new()),
        false => (vec![out.display().to_string()], vec![format!("{count} episodes")]),
    };
    Ok(Answer { json, lines, remarks: remarks.into_iter().chain(remark).collect() })
}

/// What is to be said anew about episodes.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// A new task text.
    pub task: Option<String>,
    /// Whether the task was done.
    pub success: Option<bool>,
    /// Labels to add.
    pub add: Vec<String>,
    /// Labels to take away.
    pub remove: Vec<String>,
    /// A note.
    pub note: Option<String>,
}

impl Labels {
    /// What changes, by name.
    #[must_use]
    pub fn changes(&self) -> Vec<&'static str> {
        let given = [
            (self.success.is_some(), "success"),
            (!self.add.is_empty() || !self.remove.is_empty(), "labels"),
            (self.note.is_some(), "note"),
            (self.task.is_some(), "task"),
        ];
        given.iter().filter(|(is_given, _)| *is_given).map(|(_, what)| *what).collect()
    }

    fn apply(&self, entry: &mut Entry) {
        if let Some(success) = self.success {
            entry.outcome.success = Some(success);
        }
        entry.labels.retain(|label| !self.remove.contains(label));
        for label in &self.add {
            if !entry.labels.contains(label) {
                entry.labels.push(label.clone());
            }
        }
        if let Some(note) = &self.note {
            entry.note.clone_from(note);
        }
    }
}

/// Changes what is said about episodes.
///
/// # Errors
/// When there are no such episodes, or it cannot be written.
pub fn label(
    dataset: &mut Dataset,
    episodes: &[usize],
    labels: &Labels,
    dry_run: bool,
    ctx: RunContext<'_>,
) -> Result<Answer> {
    for episode in episodes {
        dataset.check_episode(*episode)?;
    }
    let changes = labels.changes();
    let relabel = |task: &String| Edit::Label { episodes: episodes.to_vec(), task: task.clone() };
    // What cannot be done is refused before anything is done.
    let plan = labels.task.as_ref().map(|task| planned(dataset, &relabel(task))).transpose()?;
    let mut trash = None;
    if !dry_run {
        if changes.iter().any(|what| *what != "task") {
            dataset.annotate(episodes, &|entry| labels.apply(entry))?;
        }
        trash = plan.as_ref().map(|plan| carry_out(dataset, plan, ctx)).transpose()?;
    }
    let json = json!({
        "dataset": dataset.root(), "dry_run": dry_run, "episodes": episodes, "changed": changes,
        "trash": trash,
    });
    let (count, what) = (episodes.len(), changes.join(", "));
    if dry_run {
        let lines = vec![format!("{what} of {count} episodes {episodes:?} would change")];
        return Ok(Answer { json, lines, remarks: Vec::new() });
    }
    let mut remarks = vec![format!("labelled {count} episodes: {what}")];
    remarks.extend(trash.as_deref().map(as_it_was));
    Ok(Answer { json, lines: Vec::new(), remarks })
}

fn as_it_was(trash: &Path) -> String {
    format!("the dataset as it was: {}", trash.display())
}

/// A plan for a dataset that can be swapped.
fn planned(dataset: &Dataset, edit: &Edit) -> Result<Plan> {
    refuse_inside(dataset.root())?;
    Ok(dataset.plan(edit)?)
}

/// Carries a plan out; answers where the dataset as it was lies.
fn carry_out(dataset: &Dataset, plan: &Plan, ctx: RunContext<'_>) -> Result<PathBuf> {
    let bar = ctx.progress("editing", 1);
    let applied = dataset.apply(plan, &mut |done, all| {
        bar.set_parts(all as u64);
        bar.set(done as u64);
    })?;
    bar.finish();
    Ok(applied.trash)
}

/// An edit puts a new folder into the dataset's place: a shell inside would go on in the old one.
fn refuse_inside(root: &Path) -> Result<()> {
    let (Ok(here), Ok(real)) = (std::env::current_dir(), std::fs::canonicalize(root)) else {
        return Ok(());
    };
    let here = here.canonicalize().unwrap_or(here);
    if !here.starts_with(&real) {
        return Ok(());
    }
    let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let above = real.parent().unwrap_or(&real).display();
    bad_input!(
        "you are inside {}, which an edit replaces by a new folder while the old one goes to the \
         trash; go out of it first: cd {above}, and name it {name}",
        real.display()
    )
}

fn gather(sources: &[(&Dataset, &[usize])], out: &Path, ctx: RunContext<'_>) -> Result<()> {
    let bar = ctx.progress("writing", 1);
    Dataset::gather_into(sources, out, Packing::PerEpisode, true, &mut |done, all| {
        bar.set_parts(all as u64);
        bar.set(done as u64);
    })?;
    bar.finish();
    Ok(())
}
