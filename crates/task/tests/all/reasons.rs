//! What cannot be done is refused, or fails, with the reason that is true; what fits is placed.

use citrange_core::scene::Span;

use crate::work::{Done, Site, episodes, many, site};

fn desk(change: impl FnOnce(&mut citrange_core::Scene)) -> Site {
    site("orange_plate", |scene| {
        scene.job.as_mut().unwrap().targets.truncate(1);
        change(scene);
    })
}

fn first(done: &Done) -> (&str, String) {
    let failed = done.events.iter().find_map(|(_, event)| match event {
        citrange_core::Event::Failed(failed) => Some(failed),
        _ => None,
    });
    let failed = failed.unwrap_or_else(|| panic!("nothing failed: {:?}", done.outcome));
    (failed.reason.name(), failed.detail.clone().unwrap_or_default())
}

#[test]
fn a_plate_out_of_reach_is_said_to_have_no_place() {
    let mut site = desk(|scene| {
        scene.objects.get_mut("plate").unwrap().place.spot_m = Some([0.45, -0.2]);
    });
    let done = site.episode(1, 0);
    assert_eq!(done.outcome.success, Some(false));
    let (reason, text) = first(&done);
    assert_eq!(reason, "no_spot", "{text}");
    assert!(text.contains("reach"), "{text}");
    assert!(!done.states().contains(&"APPROACH"), "refused before moving: {:?}", done.states());
}

#[test]
fn an_orange_out_of_reach_is_refused_before_moving() {
    let mut site = desk(|scene| {
        let place = &mut scene.objects.get_mut("orange_1").unwrap().place;
        (place.rectangle, place.spot_m, place.yaw_deg) = (None, Some([0.5, 0.1]), Span::One(0.0));
    });
    let done = site.episode(1, 0);
    let (reason, text) = first(&done);
    assert_eq!(reason, "ik_unreachable", "{text}");
    assert!(text.contains("mm"), "{text}");
    assert!(!done.states().contains(&"APPROACH"), "{:?}", done.states());
}

#[test]
fn three_kilograms_are_too_heavy() {
    let mut site = desk(|scene| {
        scene.objects.get_mut("orange_1").unwrap().parts[0].mass_kg = 3.0;
    });
    site.settings.retries = 0;
    let done = site.episode(1, 0);
    assert_eq!(done.outcome.success, Some(false));
    let (reason, text) = first(&done);
    assert!(["too_heavy", "slip", "arm_blocked"].contains(&reason), "{reason}: {text}");
}

#[test]
fn soaped_pads_hold_or_it_is_said_that_they_do_not() {
    let mut site = desk(|scene| {
        // The pads decide what a grip is like.
        scene.robots.get_mut("robot0").unwrap().friction_factor = Some(0.01);
    });
    site.settings.retries = 0;
    for episode in 0..2 {
        let done = site.episode(1, episode);
        let thing = &done.things[0];
        assert_eq!(thing.says_placed, thing.is_placed, "{thing:?}");
        if !thing.says_placed {
            let (reason, text) = first(&done);
            let expected = ["grasp_missed", "slip", "lost_in_transport", "not_green"];
            assert!(expected.contains(&reason), "{reason}: {text}");
        }
    }
}

#[test]
fn a_plate_of_ten_grams_is_no_lie() {
    let mut site = desk(|scene| {
        for part in &mut scene.objects.get_mut("plate").unwrap().parts {
            part.mass_kg = 0.005;
        }
    });
    for episode in 0..2 {
        let done = site.episode(1, episode);
        assert_eq!(done.things[0].says_placed, done.things[0].is_placed, "{:?}", done.things);
    }
}

/// Some numbers of one to eight oranges on a plate that holds them; all of them by hand.
#[test]
fn as_many_oranges_as_fit_are_placed() {
    let all = (1..=8).map(|count| (count, if count < 6 { 0.95 } else { 0.7 }));
    for (count, least) in all.filter(|(count, _)| episodes(2) > 2 || [1, 4, 8].contains(count)) {
        let tally = many(episodes(2), |seed, episode, kept| {
            kept.get_or_insert_with(|| oranges(count)).episode(seed, episode)
        });
        eprintln!(
            "{count} oranges: {} of {} placed at once, {} in the end, nearest {:.4} m {:#?}",
            tally.at_once, tally.things, tally.placed, tally.nearest_m, tally.failures
        );
        assert!(tally.false_success.is_empty(), "{:#?}", tally.false_success);
        assert!(tally.placed as f64 >= least * tally.things as f64, "{:#?}", tally.failures);
    }
}

/// A table with so many oranges, and a plate of 24 cm.
fn oranges(count: usize) -> Site {
    site("orange_plate", |scene| {
        let orange = scene.objects["orange_1"].clone();
        scene.objects.retain(|name, _| name == "plate");
        let names: Vec<String> = (1..=count).map(|n| format!("orange_{n}")).collect();
        for name in &names {
            scene.objects.insert(name.clone(), orange.clone());
        }
        let plate = scene.objects.get_mut("plate").unwrap();
        let parts = [
            "{shape: {cylinder: {radius_m: 0.118, half_height_m: 0.004}}, pos_m: [0, 0, 0.004], \
             mass_kg: 0.35}",
            "{shape: {ring: {radius_m: 0.114, bar_radius_m: 0.006}}, pos_m: [0, 0, 0.014], \
             mass_kg: 0.15}",
        ];
        let parse = |text: &str| citrange_core::yaml::from_yaml(text, "plate").unwrap();
        plate.parts = parts.into_iter().map(parse).collect();
        plate.place.spot_m = Some([0.165, -0.165]);
        let job = scene.job.as_mut().unwrap();
        job.targets = names;
        let goal = "{plate: {object: plate, radius_m: 0.108, surface_m: 0.008}}";
        job.goal = citrange_core::yaml::from_yaml(goal, "goal").unwrap();
    })
}

/// The block goes into the box of the teleoperation scene.
#[test]
fn the_block_goes_into_the_box() {
    let mut site = site("block_box", |_| {});
    let mut placed = 0;
    let count = episodes(4);
    for episode in 0..count {
        let done = site.episode(3, episode);
        let thing = &done.things[0];
        assert!(thing.is_placed || !thing.says_placed, "{thing:?}");
        if !thing.says_placed {
            eprintln!("{episode} {:?} {:?}", first(&done), thing);
        }
        placed += u64::from(thing.says_placed);
    }
    eprintln!("{placed} of {count} blocks in the box");
    assert!(placed >= count - 1);
}
