//! What a session came to, for the last page, the terminal and `--json`.

use std::path::Path;

use citrange_teleop::telemetry::{NextStep, SavedEpisode, Summary, percent};

/// How a session ended.
pub(crate) struct Ended<'a> {
    /// The scene as it was asked for.
    pub(crate) scene: &'a str,
    /// Where the episodes are; none when nothing was recorded.
    pub(crate) recorded: Option<&'a Path>,
    /// What broke it off.
    pub(crate) fault: Option<&'a str>,
}

/// What was saved, where, and what to do next.
pub(crate) fn summary(episodes: &[SavedEpisode], discarded: u64, ended: &Ended<'_>) -> Summary {
    let count = match episodes.len() {
        0 => "no episode was saved".to_owned(),
        1 => "1 episode is saved".to_owned(),
        many => format!("{many} episodes are saved"),
    };
    let headline = match (ended.recorded, ended.fault) {
        (_, Some(fault)) => format!("The session broke off: {fault}"),
        (Some(_), None) => format!("The session is over: {count}"),
        (None, None) => "The session is over: nothing was recorded".to_owned(),
    };
    let scene = quoted(ended.scene);
    let Some(root) = ended.recorded else {
        let record = format!("citrange drive {scene} --record my_set");
        let next = vec![step("Record what you drive", record)];
        return Summary { headline, next, discarded, ..Summary::default() };
    };
    let set = quoted(&root.display().to_string());
    let mut next = Vec::new();
    if ended.fault.is_some() {
        next.push(step("Keep what was cut short", format!("citrange data repair {set}")));
    }
    if let Some(last) = episodes.last() {
        let number = last.number;
        let watch = format!("citrange replay {set} --episode {number} --show");
        next.push(step("Watch the last one again", watch));
        next.push(step("Check files and pictures", format!("citrange data check {set}")));
        let exact = format!("citrange replay {set} --verify");
        next.push(step("Repeat every step and compare", exact));
    }
    let more = format!("citrange drive {scene} --record {set} --resume");
    next.push(step("Record more", more));
    let dataset = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let dataset = Some(dataset.display().to_string());
    Summary { headline, dataset, episodes: episodes.to_vec(), discarded, next }
}

/// What was shown, and how to see it again.
pub(crate) fn replayed(path: &Path, episode: Option<usize>, frames: u64) -> Summary {
    let (set, number) = (quoted(&path.display().to_string()), episode.unwrap_or(0));
    let again = |more: &str| format!("citrange replay {set} --episode {number}{more}");
    Summary {
        headline: format!("The replay is over: episode {number}, {frames} frames"),
        next: vec![
            step("Watch it again", again(" --show")),
            step("Compare every step", again(" --verify")),
        ],
        ..Summary::default()
    }
}

/// The summary as lines for a terminal.
#[must_use]
pub fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = vec![summary.headline.clone()];
    for episode in &summary.episodes {
        let judged = match episode.success {
            Some(true) => "success",
            Some(false) => "failure",
            None => "not judged",
        };
        let mut line = format!(
            "  episode {}: {} frames, {judged} ({})",
            episode.number, episode.frames, episode.reason
        );
        if episode.lost_share > 0.0 {
            line += &format!(", {} of its pictures lost", percent(episode.lost_share));
        }
        lines.push(line);
    }
    if let Some(dataset) = &summary.dataset {
        lines.push(format!("in {dataset}"));
    }
    lines.extend(summary.next.iter().map(|step| format!("  {}: {}", step.what, step.command)));
    lines
}

fn step(what: &str, command: String) -> NextStep {
    NextStep { what: what.to_owned(), command }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(number: u64) -> SavedEpisode {
        let reason = "success".to_owned();
        SavedEpisode { number, frames: 90, success: Some(true), reason, lost_share: 0.004 }
    }

    #[test]
    fn all_episodes_are_named_and_the_commands_can_be_pasted() {
        let root = Path::new("/data/my set");
        let ended = Ended { scene: "block_box", recorded: Some(root), fault: None };
        let summary = summary(&[saved(4), saved(5), saved(6)], 1, &ended);
        assert_eq!(summary.headline, "The session is over: 3 episodes are saved");
        assert_eq!(summary.dataset.as_deref(), Some("/data/my set"));
        let text = lines(&summary).join("\n");
        for part in [
            "episode 4: 90 frames, success",
            "episode 6",
            "less than 1 % of its pictures lost",
            "in /data/my set",
            "citrange replay '/data/my set' --episode 6 --show",
            "citrange data check '/data/my set'",
            "citrange drive block_box --record '/data/my set' --resume",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_session_that_broke_off_says_how_to_keep_what_there_is() {
        let ended =
            Ended { scene: "a.yaml", recorded: Some(Path::new("set")), fault: Some("disk full") };
        let text = lines(&summary(&[], 0, &ended)).join("\n");
        assert!(
            text.contains("broke off: disk full") && text.contains("data repair set"),
            "{text}"
        );
        let ended = Ended { scene: "a.yaml", recorded: None, fault: None };
        assert!(lines(&summary(&[], 0, &ended)).join("\n").contains("nothing was recorded"));
        assert_eq!(
            (percent(0.0), percent(0.999), percent(0.5)),
            ("0 %".into(), "more than 99 %".into(), "50 %".into())
        );
    }
}
