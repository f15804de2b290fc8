//! A planned motion as JSON and in a line.

use citrange_plan::{PlanOutcome, Trajectory};
use serde_json::{Value, json};

use super::make::Leg;

/// A plan as JSON.
pub(super) fn told(leg: &Leg, hz: u32) -> Value {
    let made = &leg.made;
    let mut told = json!(made.outcome);
    let motion = |motion: &Trajectory| {
        json!({
            "duration_s": motion.duration_s(),
            "blends": motion.blends(),
            "stops": motion.stops(),
            "moments": motion.moments(f64::from(hz)).collect::<Vec<_>>(),
        })
    };
    told["goal"] = json!(leg.goal);
    told["start"] = json!(leg.start);
    told["reached_m"] = json!(made.goal.reached_m);
    told["reached_rad"] = json!(made.goal.reached_rad);
    told["warnings"] = json!(made.goal.warnings);
    told["times"] = json!(made.times);
    told["escape"] = json!(made.escape.as_ref().map(motion));
    told["trajectory"] = json!(made.trajectory.as_ref().map(motion));
    told
}

/// A plan in one line; nothing where there is none.
pub(super) fn summary(leg: &Leg) -> Option<String> {
    let (PlanOutcome::Found(path), Some(motion)) = (&leg.made.outcome, &leg.made.trajectory) else {
        return None;
    };
    let turned = leg
        .made
        .goal
        .reached_rad
        .map_or(String::new(), |rad| format!(" and {:.2} degrees", rad.to_degrees()));
    let times = &leg.made.times;
    Some(format!(
        "{}: {} way-points, {:.2} rad, {:.2} s, {:.2} mm{turned} off; goal {:.2} ms, search {:.2} \
         ms, timing {:.2} ms",
        leg.goal,
        path.waypoints.len(),
        path.length_rad,
        motion.duration_s(),
        1e3 * leg.made.goal.reached_m.unwrap_or(0.0),
        1e3 * times.goal_s,
        1e3 * times.search_s,
        1e3 * times.timing_s,
    ))
}
