//! Something stands between the things and where they belong: the arm goes around it. The
//! simulator's contacts are the judge.

use citrange_core::Extra;
use citrange_core::scene::Fixture;
use citrange_sim::SimRig;
use serde_json::json;

use crate::work::{Prank, Site, site};

/// A pillar between the oranges and the plate, on the way of the hand.
fn desk() -> Site {
    let mut site = site("orange_plate", |scene| {
        scene.job.as_mut().unwrap().targets.truncate(1);
        let pillar: Fixture = serde_json::from_value(json!({
            "parts": [{
                "shape": {"cylinder": {"radius_m": 0.012, "half_height_m": 0.11}},
                "pos_m": [0.175, -0.09, 0.11]
            }],
            "keep_clear": false
        }))
        .unwrap();
        let plate = scene.objects.get_mut("plate").unwrap();
        plate.place = serde_json::from_value(json!({"spot_m": [0.10, -0.21]})).unwrap();
        scene.fixtures.insert("pillar".to_owned(), pillar);
    });
    site.settings.retries = 0;
    site
}

/// Counts ticks at which anything touches the pillar.
#[derive(Default)]
struct Judge {
    ticks: u64,
    touches: u64,
}

impl Prank for Judge {
    fn act(&mut self, rig: &mut SimRig, _targets: &mut [f64]) {
        self.ticks += 1;
        let Extra::Contacts(contacts) = rig.world_mut().extra("contacts", &[0]).unwrap() else {
            panic!("no contacts")
        };
        let is_pillar = |body: &str| body == "pillar" || body.starts_with("pillar/");
        let touches = contacts[0].iter().any(|c| is_pillar(&c.body_a) || is_pillar(&c.body_b));
        self.touches += u64::from(touches);
    }
}

#[test]
fn it_goes_around_what_stands_in_the_way() {
    let mut counts = [[0; 3]; 2];
    for (row, knows) in counts.iter_mut().zip([true, false]) {
        let mut desk = desk();
        desk.knows_fixtures = knows;
        for episode in 0..4 {
            let mut judge = Judge::default();
            let done = desk.pranked(11, episode, &mut judge);
            let placed = done.things[0].is_placed && done.outcome.success == Some(true);
            row[0] += u64::from(placed);
            row[1] += u64::from(judge.touches > 0);
            row[2] += judge.ticks;
            eprintln!(
                "knows {knows} episode {episode}: {:?} {:?}, {} of {} ticks touch",
                done.outcome,
                done.reasons(),
                judge.touches,
                judge.ticks
            );
        }
    }
    let [[placed, touched, _], [_, blind, _]] = counts;
    assert_eq!(touched, 0, "it touched the pillar");
    assert!(placed >= 3, "{placed} of 4 placed");
    assert!(blind >= 2, "the pillar is not in the way: {blind}");
}

#[test]
fn what_it_does_depends_on_what_it_sees_alone() {
    let mut desk = desk();
    let once = desk.pranked(11, 1, &mut Judge::default());
    let again = desk.pranked(11, 1, &mut Judge::default());
    assert_eq!(once.things, again.things);
    assert_eq!(once.events.len(), again.events.len());
    let ticks = |done: &crate::work::Done| done.events.iter().map(|e| e.0).collect::<Vec<_>>();
    assert_eq!(ticks(&once), ticks(&again));
}
