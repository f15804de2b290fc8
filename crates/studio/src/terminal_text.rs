//! What the screen of the terminal driver says.

use citrange_teleop::telemetry::{AutopilotStatus, Phase, Sample, SceneInfo, Session, percent};
use citrange_teleop::{
    Action, AutopilotRequest, Binding, KEY_TABLE, Order, Telling, orders_in_words,
};

/// Orders in the line for them.
const ORDERS: [Order; 6] =
    [Order::Save, Order::Discard, Order::Success, Order::Failure, Order::Reset, Order::Stop];

/// What the screen says.
pub(crate) fn lines(
    stage: &SceneInfo,
    live: &Sample,
    telling: Telling,
    links: &[String],
    wheel: Option<&str>,
) -> Vec<String> {
    let session = &live.session;
    let phase = match session.phase {
        Phase::Starting => "starting",
        Phase::Free => "driving (not recorded)",
        Phase::Countdown => "get ready",
        Phase::Recording => "● RECORDING",
        Phase::Asking => "!! KEEP IT?",
        Phase::Saving => "saving",
        Phase::Reset => "pause",
        Phase::Replay => "replay",
        Phase::Finished => "finished",
    };
    let time = match session.limit_s {
        Some(limit) => format!("{:.1} of {limit:.0} s", session.seconds),
        None => format!("{:.1} s", session.seconds),
    };
    let wanted = session.wanted.map_or(String::new(), |wanted| format!(" of {wanted}"));
    let mut lines = vec![
        format!("citrange drive: {} ({})", stage.scene, stage.robot),
        stage.task.clone(),
        String::new(),
        format!("{phase}   {time}   episode {}   saved {}{wanted}", session.episode, session.saved),
        session.message.clone(),
        wheel.map(str::to_owned).unwrap_or_default(),
    ];
    for ((joint, pos), target) in stage.joints.iter().zip(&live.joint_pos).zip(&live.targets) {
        let shown = |value: f32| {
            if joint.is_slide {
                format!("{:7.1} mm", value * 1e3)
            } else {
                format!("{:7.1}°  ", value.to_degrees())
            }
        };
        let bar = joint.range.map_or(String::new(), |range| bar(f64::from(*pos), range));
        lines.push(format!("{:>14} {} → {} {bar}", joint.name, shown(*pos), shown(*target)));
    }
    let [x, y, z] = live.hand_m.map(|v| v * 1e3);
    lines.push(format!("{:>14} {x:7.1} {y:7.1} {z:7.1} mm", "hand"));
    if live.tilt_rad.is_finite() {
        lines.push(format!("{:>14} {:7.1}°", "tilt", live.tilt_rad.to_degrees()));
    }
    lines.push(String::new());
    let held =
        if live.brake { "BRAKE: let go and press anew".to_owned() } else { live.held.join(" ") };
    lines.push(format!("held: {held:30} limited by: {}", live.limited_by.join(" ")));
    lines.push(format!(
        "loop {:.1} Hz, {} late, worst {:.1} ms, {} stalls, {} pictures dropped{}",
        live.loop_hz,
        live.late_ticks,
        live.worst_late_ms,
        live.stalls,
        session.dropped,
        too_many_lost(session)
    ));
    lines.extend(autopilot_line(live.flight.as_ref()));
    lines.push(String::new());
    let pairs: Vec<String> = stage
        .keys
        .iter()
        .map(|k| format!("{} {}", k.letter.to_ascii_uppercase(), k.name))
        .collect();
    lines.extend(pairs.chunks(5).map(|row| row.join("   ")));
    lines.push(orders_in_words(&ORDERS, "   "));
    if let Some(autopilot) = &stage.autopilot {
        let targets = autopilot.targets.iter().enumerate();
        let keys = targets.map(|(at, name)| sends(AutopilotRequest::Target(at + 1), name));
        let keys: Vec<String> = keys.chain([sends(AutopilotRequest::All, "all")]).collect();
        lines.push(format!("autopilot: {}", keys.join("   ")));
        lines.push(
            "   any key stops it, and so do another window and a hang-up; nothing has to be held"
                .into(),
        );
    }
    lines.push(match telling {
        Telling::Releases => "this terminal tells when a key is let go: hold keys to move".into(),
        Telling::Presses => {
            "this terminal does not tell when a key is let go: every press is a short step; \
             a terminal with the kitty keyboard protocol, or the browser, is smoother"
                .into()
        }
    });
    lines.extend(links.iter().map(|link| format!("page: {link}")));
    lines
}

/// The key that sends the autopilot; beyond the ninth target there is none.
fn sends(request: AutopilotRequest, name: &str) -> String {
    let is_it = |binding: &&Binding| binding.action == Action::Send(request);
    let cap = KEY_TABLE.iter().find(is_it).map_or("-", Binding::cap);
    format!("{cap} {name}")
}

/// A word of alarm while an episode loses more pictures than it may.
fn too_many_lost(session: &Session) -> String {
    match session.lost_limit.filter(|limit| session.lost_share > *limit) {
        Some(limit) => {
            format!("   !! {} LOST, more than {}", percent(session.lost_share), percent(limit))
        }
        None => String::new(),
    }
}

/// What the autopilot is at, or how it ended.
fn autopilot_line(flight: Option<&AutopilotStatus>) -> Option<String> {
    let flight = flight?;
    let placed = flight.placed.iter().filter(|placed| **placed).count();
    let of = flight.placed.len();
    Some(if flight.flying {
        let target = flight.target.as_deref().unwrap_or("-");
        let failure = flight.failure.as_ref().map(|why| format!("   last failure {why}"));
        format!(
            "AUTOPILOT {} {target}   try {}   held {}   {placed} of {of} placed{}",
            flight.state,
            flight.attempt,
            flight.held,
            failure.unwrap_or_default()
        )
    } else {
        format!("autopilot off   {placed} of {of} placed   {}", flight.message)
    })
}

/// A joint's place in its range.
fn bar(pos: f64, [low, high]: [f64; 2]) -> String {
    const WIDTH: usize = 21;
    let fraction = ((pos - low) / (high - low)).clamp(0.0, 1.0);
    let at = (fraction * (WIDTH - 1) as f64).round() as usize;
    (0..WIDTH).map(|i| if i == at { '█' } else { '·' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_teleop::telemetry::{AutopilotInfo, JointInfo};

    #[test]
    fn the_screen_says_what_matters() {
        let joint = JointInfo {
            name: "elbow".into(),
            is_slide: false,
            range: Some([-1.0, 1.0]),
            gripper: None,
        };
        let stage = SceneInfo { scene: "desk".into(), joints: vec![joint], ..SceneInfo::default() };
        let mut live = Sample { joint_pos: vec![0.5], targets: vec![1.0], ..Sample::default() };
        live.session.phase = Phase::Recording;
        live.held = vec!["up", "open"];
        let text = lines(&stage, &live, Telling::Presses, &[], None).join("\n");
        for part in ["desk", "RECORDING", "28.6°", "57.3°", "up open", "short step"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        live.session.lost_share = 0.4;
        live.session.lost_limit = Some(0.05);
        let links = ["http://robot:8420/?token=abc".to_owned()];
        let wheel = Some("STOPPED by viewer 2");
        let text = lines(&stage, &live, Telling::Presses, &links, wheel).join("\n");
        for part in ["page: http://robot:8420/?token=abc", "40 % LOST", "STOPPED by viewer 2"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        live.brake = true;
        assert!(lines(&stage, &live, Telling::Releases, &[], None).join("\n").contains("BRAKE"));
        assert_eq!(bar(-1.0, [-1.0, 1.0]).chars().next(), Some('█'));
    }

    #[test]
    fn the_screen_says_what_the_autopilot_is_at() {
        let targets = vec!["orange_1".into(), "orange_2".into()];
        let autopilot = Some(AutopilotInfo { targets, states: vec!["LIFT"] });
        let stage = SceneInfo { autopilot, ..SceneInfo::default() };
        let flight = AutopilotStatus {
            flying: true,
            state: "LIFT",
            target: Some("orange_2".into()),
            attempt: 1,
            held: "yes",
            placed: vec![true, false],
            ..AutopilotStatus::default()
        };
        let mut live = Sample { flight: Some(flight), ..Sample::default() };
        let text = lines(&stage, &live, Telling::Presses, &[], None).join("\n");
        for part in ["AUTOPILOT LIFT orange_2", "held yes", "1 of 2", "2 orange_2", "any key stops"]
        {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        live.flight = Some(AutopilotStatus {
            message: "stopped: a reason".into(),
            ..AutopilotStatus::default()
        });
        let text = lines(&stage, &live, Telling::Releases, &[], None).join("\n");
        assert!(text.contains("autopilot off") && text.contains("a reason"), "{text}");
    }
}
