//! An episode told to people: what it is, what happened when, how it ended and why.

use citrange_core::Event;
use citrange_core::event::{AutopilotEvent, PlanEvent};
use citrange_tape::{Dataset, Episode};

/// The lines of an episode of a dataset; `replay` is how it can be repeated.
pub(crate) fn described(dataset: &Dataset, episode: usize, replay: &str) -> Vec<String> {
    let meta = &dataset.lerobot.episodes()[episode];
    let seconds = meta.length as f64 / f64::from(dataset.lerobot.info().fps);
    let root = dataset.root().display();
    let mut lines =
        vec![format!("episode {episode} of {root}: {} frames, {seconds:.1} s", meta.length)];
    let mut say = |key: &str, text: String| {
        if !text.is_empty() {
            lines.push(format!("  {key:<8}  {text}"));
        }
    };
    say("task", meta.tasks.join("; "));
    if let Some(entry) = dataset.entry(episode) {
        let outcome = &entry.outcome;
        say(
            "outcome",
            match outcome.success {
                Some(true) => format!("succeeded: {}", outcome.reason),
                Some(false) => format!("FAILED: {}", outcome.reason),
                None => outcome.reason.clone(),
            },
        );
        say("labels", entry.labels.join(", "));
        say("note", entry.note.clone());
        if let Some(parent) = &entry.parent {
            say("goes on", format!("from {} at frame {}", parent.uid, parent.frame));
        }
    }
    say("replay", replay.to_owned());
    lines
}

/// What a tape adds: where it was recorded, and its events between two ticks, each with its time
/// since the first of them.
pub(crate) fn happened(tape: &Episode, ticks: std::ops::Range<u64>) -> Vec<String> {
    let header = &tape.header;
    let rates = header.rig.rates;
    let mut lines = Vec::new();
    let scene = header.scene.as_ref().map_or("no scene", |scene| scene.name.as_str());
    lines.push(format!(
        "  recorded  {} moved {} in {scene}, seed {}, episode {}; {} Hz control, {}",
        header.pilot,
        header.rig.robot,
        header.seed,
        header.episode,
        rates.control_hz,
        header.engine
    ));
    let dropped = tape.end.as_ref().map(|end| &end.dropped);
    for (camera, frames) in dropped.into_iter().flatten().filter(|(_, f)| !f.is_empty()) {
        lines.push(format!("  lost      {} pictures of {camera}", frames.len()));
    }
    let mut keys = 0;
    for (tick, event) in tape.events.iter().filter(|(tick, _)| ticks.contains(tick)) {
        if matches!(event, Event::Keys(_)) {
            keys += 1;
        }
        if let Some(text) = words(event) {
            let at_s = (tick - ticks.start) as f64 / f64::from(rates.control_hz);
            lines.push(format!("{at_s:>8.2} s  {text}"));
        }
    }
    if keys > 0 {
        lines.push(format!("  keys      changed {keys} times; --json lists them"));
    }
    lines
}

/// One event in a line; nothing for what only machines want to know.
fn words(event: &Event) -> Option<String> {
    let at = |place: &Option<[f64; 3]>| {
        place.map_or_else(String::new, |[x, y, z]| format!(" at ({x:.3}, {y:.3}, {z:.3}) m"))
    };
    let thing = |name: &Option<String>| name.clone().unwrap_or_else(|| "the job".to_owned());
    Some(match event {
        Event::Phase(name) => format!("phase {name}"),
        Event::Stall(stall) => format!("STALL: the loop stood still for {:.0} ms", stall.late_ms),
        Event::Keys(_) => return None,
        Event::State(entered) => {
            let target = entered.target.as_deref().unwrap_or("");
            format!("{target}  {}", entered.state.name()).trim().to_owned()
        }
        Event::Target(chosen) => {
            let attempt = chosen.attempt.unwrap_or(1);
            format!("{}: attempt {attempt}, it is{}", chosen.target, at(&chosen.object_m))
        }
        Event::Retry(retry) => format!("{}: tried again", retry.target),
        Event::Grasp(grasp) => {
            let held = match grasp.held {
                Some(true) => "held",
                Some(false) => "NOT HELD",
                None => "nobody can tell whether it is held",
            };
            let doubt = grasp.doubt.as_ref().map(|doubt| format!(" ({doubt})"));
            format!("{}: {held}{}", thing(&grasp.target), doubt.unwrap_or_default())
        }
        Event::Spot(spot) => {
            let [x, y] = spot.spot_m;
            format!("{}: goes to ({x:.3}, {y:.3}) m", spot.target)
        }
        Event::Placed(placed) => {
            let off = placed.object_m.zip(placed.spot_m).map(|(object, spot)| {
                let off_m = (object[0] - spot[0]).hypot(object[1] - spot[1]);
                format!(", {:.1} mm beside its spot", 1e3 * off_m)
            });
            format!("{}: placed{}", placed.target, off.unwrap_or_default())
        }
        Event::Failed(failed) => {
            let state = failed.state.as_ref().map(|state| format!(" in {}", state.name()));
            format!(
                "{}: FAILED{}: {}{}",
                thing(&failed.target),
                state.unwrap_or_default(),
                failed.reason.name(),
                at(&failed.object_m)
            )
        }
        Event::Summary(summary) => {
            let placed = summary.targets.iter().filter(|t| t.placed == Some(true)).count();
            format!("{placed} of {} things placed", summary.targets.len())
        }
        Event::Plan(PlanEvent::Move { duration_s, .. }) => {
            format!("a planned motion of {duration_s:.2} s begins")
        }
        Event::Plan(PlanEvent::Stop { joint, off_rad, reason }) => {
            format!("the planned motion is GIVEN UP: {reason}; {joint} is {off_rad:.3} rad off")
        }
        Event::Autopilot(AutopilotEvent::Start { target }) => {
            format!("autopilot sent for {target}")
        }
        Event::Autopilot(AutopilotEvent::Stop { why, fault }) => {
            let fault = fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
            format!("autopilot lets go: {why}{fault}")
        }
        Event::Autopilot(AutopilotEvent::End { success, reason }) => {
            let how = if *success == Some(false) { "FAILED" } else { "done" };
            format!("autopilot {how}: {reason}")
        }
        Event::PicturesLost(lost) => format!(
            "{:.0} % of the pictures of {} were LOST, {:.0} % are allowed",
            100.0 * lost.fraction,
            lost.camera,
            100.0 * lost.limit
        ),
        Event::Other(other) => format!("{} {}", other.name, other.detail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(name: &str, detail: serde_json::Value) -> String {
        let event = serde_json::from_value(json!({"name": name, "detail": detail})).unwrap();
        words(&event).unwrap()
    }

    #[test]
    fn events_in_words() {
        let failed = json!({"target": "cube", "state": "LIFT", "reason": "slip"});
        assert_eq!(told("failed", failed), "cube: FAILED in LIFT: slip");
        let placed = json!({"target": "cube", "object_m": [0.1, 0.203, 0.0], "spot_m": [0.1, 0.2]});
        assert_eq!(told("placed", placed), "cube: placed, 3.0 mm beside its spot");
        assert_eq!(told("grasp", json!({"target": "cube", "held": false})), "cube: NOT HELD");
        assert_eq!(told("what nobody knows", json!({"a": 1})), r#"what nobody knows {"a":1}"#);
        let keys = serde_json::from_value(json!({"name": "keys", "detail": {"held": []}})).unwrap();
        assert_eq!(words(&keys), None);
    }
}
