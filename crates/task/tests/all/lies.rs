//! Somebody interferes: the autopilot must find out, say so, and never call it a success.

use citrange_core::{Command, DictObjectState, DictState, Observation, Rig as _, Want};
use citrange_sim::SimRig;
use citrange_task::AutopilotSettings;

use crate::work::{Done, Prank, Site, site};

const GRIPPER: usize = 5;

/// One orange is enough; `retries` as asked.
fn desk(retries: u32) -> Site {
    let mut site = site("orange_plate", |scene| {
        scene.job.as_mut().unwrap().targets.truncate(1);
    });
    site.settings.retries = retries;
    site
}

fn orange(rig: &mut SimRig) -> [f64; 3] {
    position(rig, "orange_1")
}

fn position(rig: &mut SimRig, name: &str) -> [f64; 3] {
    let state = rig.world_mut().get_state(None, &citrange_sim::StateQuery::default()).unwrap();
    let row = state.objects[name].root_state.as_ref().unwrap().row(0).to_vec();
    [row[0], row[1], row[2]]
}

/// Moves an object by so much, at once.
fn shift(rig: &mut SimRig, name: &str, by_m: [f64; 3]) {
    let [x, y, z] = position(rig, name);
    let pos = Some([x + by_m[0], y + by_m[1], z + by_m[2]]);
    let moved = DictObjectState { pos, ..DictObjectState::default() };
    let state = DictState { objects: [(name.to_owned(), moved)].into(), ..DictState::default() };
    rig.world_mut().set_dict_states(&[state], None).unwrap();
}

fn assert_found_out(done: &Done, reasons: &[&str]) {
    assert_eq!(done.outcome.success, Some(false), "{:?}", done.outcome);
    assert!(!done.things[0].says_placed);
    assert!(reasons.contains(&done.reasons()[0]), "{:?} is none of {reasons:?}", done.reasons());
    assert_eq!(done.states().last(), Some(&"IDLE"), "it came home: {:?}", done.states());
}

#[test]
fn an_orange_glued_to_the_table_is_not_carried() {
    let mut site = site("orange_plate", |scene| {
        scene.job.as_mut().unwrap().targets.truncate(1);
        // Too heavy to lift is as good as glue.
        scene.objects.get_mut("orange_1").unwrap().parts[0].mass_kg = 60.0;
    });
    site.settings.retries = 0;
    for episode in 0..4 {
        let done = site.episode(1, episode);
        // The jaws hold it; it is the arm that cannot lift it.
        let expected = ["too_heavy", "grasp_missed", "slip"];
        assert_found_out(&done, &expected);
        let failed = done.states();
        assert!(!failed.contains(&"TRANSPORT"), "{failed:?}");
    }
}

/// Opens the jaws a little when the orange is up.
struct LetGo {
    above_m: f64,
    until: u32,
}

impl Prank for LetGo {
    fn act(&mut self, rig: &mut SimRig, targets: &mut [f64]) {
        if self.until == 0 && orange(rig)[2] > self.above_m {
            self.until = 120;
        }
        if self.until > 1 {
            self.until -= 1;
            targets[GRIPPER] = 0.9;
        }
    }
}

#[test]
fn an_orange_that_falls_during_the_lift_is_missed() {
    let mut site = desk(0);
    for episode in 0..4 {
        let done = site.pranked(1, episode, &mut LetGo { above_m: 0.06, until: 0 });
        assert_found_out(&done, &["slip", "grasp_missed"]);
        assert!(!done.states().contains(&"RETREAT"), "{:?}", done.states());
    }
}

/// Opens the jaws after the orange has been carried for a while.
struct LetGoOnTheWay(f64);

impl Prank for LetGoOnTheWay {
    fn act(&mut self, rig: &mut SimRig, targets: &mut [f64]) {
        let [_, y, z] = orange(rig);
        if z > 0.08 && y < -0.03 {
            self.0 = 1.0;
        }
        if self.0 > 0.0 && z > 0.04 {
            targets[GRIPPER] = 0.9;
        }
    }
}

#[test]
fn an_orange_lost_on_the_way_is_noticed_there_and_fetched_again() {
    let mut site = desk(0);
    for episode in 0..4 {
        let done = site.pranked(1, episode, &mut LetGoOnTheWay(0.0));
        assert_found_out(&done, &["slip", "lost_in_transport"]);
    }
}

/// The jaws never close far enough to hold anything.
struct NeverCloses;

impl Prank for NeverCloses {
    fn act(&mut self, _: &mut SimRig, targets: &mut [f64]) {
        targets[GRIPPER] = targets[GRIPPER].max(0.62);
    }
}

#[test]
fn an_orange_that_is_nudged_but_not_held_is_missed() {
    let mut site = desk(0);
    for episode in 0..4 {
        let done = site.pranked(1, episode, &mut NeverCloses);
        assert_found_out(&done, &["grasp_missed", "slip", "grasp_unknown", "not_green"]);
        assert!(!done.states().contains(&"RETREAT"), "{:?}", done.states());
    }
}

/// Pushes the plate once, while the orange is in the air.
struct PushPlate {
    by_m: f64,
    is_done: bool,
}

impl Prank for PushPlate {
    fn act(&mut self, rig: &mut SimRig, _: &mut [f64]) {
        if !self.is_done && orange(rig)[2] > 0.07 {
            shift(rig, "plate", [0.0, -self.by_m, 0.0]);
            self.is_done = true;
        }
    }
}

#[test]
fn a_pushed_plate_ends_the_work_with_a_hard_reset() {
    let mut site = desk(1);
    for episode in 0..3 {
        let done = site.pranked(1, episode, &mut PushPlate { by_m: 0.05, is_done: false });
        assert_eq!(done.reasons(), ["plate_moved"], "and it is not tried again");
        assert_eq!(done.outcome.success, Some(false));
        assert_eq!(done.outcome.reason, "plate_moved");
        let summary = done.events.iter().rev().find(|(_, e)| e.name() == "summary").unwrap();
        assert_eq!(summary.1.detail()["hard_reset"], true);
    }
    // A small push is taken into account instead.
    let done = site.pranked(1, 0, &mut PushPlate { by_m: 0.015, is_done: false });
    assert_eq!(done.outcome.success, Some(true), "{:?}", done.reasons());
    assert!(done.things[0].is_placed);
}

/// The orange, or the plate, is not seen any more from some moment on.
struct Vanishes {
    index: usize,
    from_z_m: f64,
    is_gone: bool,
}

impl Prank for Vanishes {
    fn observe(&mut self, seen: &mut Observation) {
        let orange = seen.objects[0].map(|o| o.pose.pos_m[2]);
        self.is_gone |= orange.is_some_and(|z| z > self.from_z_m);
        if self.is_gone {
            seen.objects[self.index] = None;
        }
    }
}

#[test]
fn what_vanishes_is_never_taken_for_held_or_placed() {
    let mut site = desk(0);
    let names: Vec<String> = site.rig.spec().objects.iter().map(|o| o.name.clone()).collect();
    assert_eq!(names[0], "orange_1");
    let plate = names.iter().position(|n| n == "plate").unwrap();
    // Before it is taken, during the lift, on the way.
    for (from_z_m, expected) in [
        (0.0, &["target_not_seen"][..]),
        (0.05, &["grasp_unknown"][..]),
        (0.095, &["grasp_unknown", "lost_in_transport", "transport_timeout"][..]),
    ] {
        let mut gone = Vanishes { index: 0, from_z_m, is_gone: false };
        let done = site.pranked(1, 0, &mut gone);
        assert!(gone.is_gone);
        assert_found_out(&done, expected);
    }
    let done = site.pranked(1, 0, &mut Vanishes { index: plate, from_z_m: 0.05, is_gone: false });
    assert_found_out(&done, &["plate_not_seen"]);
}

/// The orange is taken away from the plate behind the hand's back.
struct StealFromPlate {
    is_done: bool,
}

impl Prank for StealFromPlate {
    fn act(&mut self, rig: &mut SimRig, targets: &mut [f64]) {
        let [_, y, z] = orange(rig);
        // On the plate, and the hand on its way home.
        if !self.is_done && y < -0.05 && z < 0.036 && targets[0] < 0.3 {
            let [x, y, z] = orange(rig);
            shift(rig, "orange_1", [0.31 - x, -0.06 - y, 0.026 - z]);
            self.is_done = true;
        }
    }
}

#[test]
fn an_orange_that_leaves_the_plate_again_is_not_a_success() {
    let mut site = desk(0);
    let mut thief = StealFromPlate { is_done: false };
    let done = site.pranked(1, 0, &mut thief);
    assert!(thief.is_done);
    assert_eq!(done.outcome.success, Some(false));
    assert_eq!(done.outcome.reason, "off_plate");
    // With a second try it is fetched again.
    let mut site = desk(1);
    let done = site.pranked(1, 0, &mut StealFromPlate { is_done: false });
    assert_eq!(done.outcome.success, Some(true), "{:?}", done.reasons());
    assert_eq!((done.things[0].attempts, done.things[0].is_placed), (2, true));
    assert_eq!(done.outcome.reason, "placed_with_retry");
}

/// A joint that reads nonsense ends the episode with an error, not with a motion.
#[test]
fn numbers_that_are_none_stop_it() {
    use citrange_core::Pilot as _;
    let mut site = desk(0);
    site.rig.world_mut().reset_env(0, 1, 0).unwrap();
    let mut command = Command::at(&site.rig.targets());
    let mut pilot = site.autopilot();
    let mut seen = Observation::default();
    site.rig.observe(Want::Joints, &mut seen).unwrap();
    seen.joint_pos[2] = f64::NAN;
    let error = pilot.decide(&seen, &mut command, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("elbow_flex"), "{error}");
    seen.joint_pos.pop();
    assert!(pilot.decide(&seen, &mut command, &mut Vec::new()).is_err());
}

/// The first script's own numbers (profile `seed`): its LIFT lifts nothing (its height is below that of the grasp) and
/// its release drops the orange from 5 cm. Whatever comes of it, nothing is called placed
/// that is not.
#[test]
fn the_seeds_own_numbers_do_not_lie() {
    let mut site = site("orange_plate", |_| {});
    site.settings = AutopilotSettings::load("seed").unwrap();
    for episode in 0..4 {
        let done = site.episode(1, episode);
        for thing in &done.things {
            assert!(thing.is_placed || !thing.says_placed, "{thing:?}");
        }
        let lifted = done.events.iter().find(|(_, e)| e.detail()["state"] == "LIFT").unwrap().0;
        let next =
            done.events.iter().find(|(tick, e)| *tick > lifted && e.name() == "state").unwrap();
        assert!(next.0 - lifted < 40, "there is no way up in LIFT");
    }
}
