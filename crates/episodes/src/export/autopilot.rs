//! What the autopilot was at, frame by frame.

use std::collections::BTreeMap;
use std::ops::Range;

use citrange_core::Event;
use citrange_tape::Episode;
use citrange_task::WorkAtFrame;

/// Number of the state where no autopilot was at work.
const NOBODY: f64 = -1.0;

/// A row per frame: number of the state (from IDLE, 0, in the order of the state machine), where
/// the hand was sent (m), and the place that was chosen at the goal (m); what there is not is no
/// number. Nothing for an episode without an autopilot.
pub(super) fn rows(tape: &Episode, frames: Range<usize>) -> BTreeMap<&'static str, Vec<Vec<f64>>> {
    let header = &tape.header;
    let joints = header.rig.arms().first().map_or(0, |arm| arm.joints.len());
    let work = |frame: usize| WorkAtFrame::of(&tape.snapshot(frame)?.fields, joints);
    let works: Vec<Option<WorkAtFrame>> = frames.clone().map(work).collect();
    if works.iter().all(Option::is_none) {
        return BTreeMap::new();
    }
    let ticks = u64::from((header.rig.rates.control_hz / header.rig.rates.frame_hz).max(1));
    let spot = |frame: usize| {
        let before = tape.events.iter().take_while(|(tick, _)| *tick < frame as u64 * ticks);
        before.fold([f64::NAN; 2], |spot, (_, event)| match event {
            Event::Spot(chosen) => chosen.spot_m,
            Event::Target(_) | Event::Placed(_) | Event::Failed(_) => [f64::NAN; 2],
            _ => spot,
        })
    };
    let state = |work: &Option<WorkAtFrame>| vec![work.map_or(NOBODY, |w| w.state.number())];
    let goal = |work: &Option<WorkAtFrame>| work.map_or([f64::NAN; 3], |w| w.hand_goal_m).to_vec();
    BTreeMap::from([
        ("autopilot_state", works.iter().map(state).collect()),
        ("autopilot_hand_goal", works.iter().map(goal).collect()),
        ("autopilot_spot", frames.map(|frame| spot(frame).to_vec()).collect()),
    ])
}
