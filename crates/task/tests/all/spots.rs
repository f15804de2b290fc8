//! Places on the plate.

use citrange_task::spots::{Area, SpotSettings, candidates, choose};
use proptest::prelude::*;

const CENTER: [f64; 2] = [0.165, -0.15];
const RADIUS_M: f64 = 0.088;
const OBJECT_M: f64 = 0.025;
const PLATE: Area = Area::Disc { center_xy: CENTER, radius_m: RADIUS_M };

fn settings() -> SpotSettings {
    SpotSettings {
        min_object_distance: 0.06,
        safety_margin_edge: 0.025,
        max_placement_attempts: 100,
        ring_step_m: 0.015,
        wanted_object_distance_m: 0.09,
        min_object_gap_m: 0.0,
    }
}

fn distance_m(one: [f64; 2], other: [f64; 2]) -> f64 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}

fn next(others: &[[f64; 2]], remaining: usize) -> Option<[f64; 2]> {
    choose(&settings(), &PLATE, OBJECT_M, others, remaining, &mut |_| true)
}

/// Smallest distance between any two.
fn closest_m(places: &[[f64; 2]]) -> f64 {
    let pairs = places.iter().enumerate().flat_map(|(index, one)| {
        places[index + 1..].iter().map(move |other| distance_m(*one, *other))
    });
    pairs.fold(f64::INFINITY, f64::min)
}

#[test]
fn candidates_go_from_the_middle_outwards_with_more_on_larger_rings() {
    let places = candidates(RADIUS_M, &settings());
    assert_eq!(places[0], [0.0, 0.0]);
    assert_eq!(places.len(), 1 + 6 + 12 + 18 + 24);
    let radii: Vec<f64> = places.iter().map(|place| distance_m(*place, [0.0; 2])).collect();
    assert!(radii.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
    assert!(closest_m(&places) > 0.014);
    assert!((radii[60] - 0.06).abs() < 1e-12);
}

#[test]
fn few_attempts_are_spread_over_the_whole_disc() {
    let few = SpotSettings { max_placement_attempts: 20, ..settings() };
    let places = candidates(0.2, &few);
    assert_eq!(places.len(), 19);
    assert!((distance_m(places[18], [0.0; 2]) - 0.175).abs() < 1e-12);
    let one = SpotSettings { max_placement_attempts: 1, ..settings() };
    assert_eq!(candidates(0.2, &one), [[0.0; 2]]);
    for radius_m in [0.02, f64::NAN, f64::INFINITY] {
        assert!(candidates(radius_m, &settings()).is_empty());
    }
}

#[test]
fn one_thing_on_an_empty_plate_goes_to_the_middle_and_only_that_is_asked_for() {
    let mut asked = Vec::new();
    let mut reachable = |place| {
        asked.push(place);
        true
    };
    let place = choose(&settings(), &PLATE, OBJECT_M, &[], 1, &mut reachable);
    assert_eq!(place, Some(CENTER));
    assert_eq!(asked, [CENTER]);
}

#[test]
fn three_things_lie_as_far_apart_as_wanted_and_seven_still_fit() {
    for number in 1..=7 {
        let mut placed = Vec::new();
        for remaining in (1..=number).rev() {
            let place = next(&placed, remaining);
            placed.push(place.unwrap_or_else(|| panic!("{remaining} of {number}: {placed:?}")));
        }
        let least_m = if number <= 3 { 0.09 } else { 0.06 };
        assert!(closest_m(&placed) >= least_m - 1e-9, "{number}: {placed:?}");
        assert!(placed.iter().all(|place| distance_m(*place, CENTER) <= 0.063 + 1e-9));
    }
}

#[test]
fn things_that_came_to_rest_elsewhere_are_minded() {
    // Each of three rests 8 mm from its place, in every combination of eight directions.
    for first in 0..8 {
        for second in 0..8 {
            let mut placed = Vec::new();
            for (remaining, way) in [(3, first), (2, second), (1, 0)] {
                let [x, y] = next(&placed, remaining).unwrap();
                assert!(placed.iter().all(|other| distance_m([x, y], *other) >= 0.06 - 1e-9));
                let angle_rad = std::f64::consts::FRAC_PI_4 * f64::from(way);
                placed.push([x + 0.008 * angle_rad.cos(), y + 0.008 * angle_rad.sin()]);
            }
        }
    }
}

#[test]
fn there_is_no_place_where_nothing_fits_or_nothing_can_be_reached() {
    assert_eq!(next(&[], 8), None);
    assert_eq!(next(&[CENTER], 7), None);
    assert_eq!(next(&[[f64::NAN, 0.0]], 1), None);
    let none = choose(&settings(), &PLATE, OBJECT_M, &[], 1, &mut |_| false);
    assert_eq!(none, None);
    // Room for two, but only the middle can be reached.
    let mut middle_only = |place| place == CENTER;
    let place = choose(&settings(), &PLATE, OBJECT_M, &[], 2, &mut middle_only);
    assert_eq!(place, None);
    assert_eq!(choose(&settings(), &PLATE, f64::NAN, &[], 1, &mut |_| true), None);
    // What is larger than a disc may lie in its middle, alone.
    let small = Area::Disc { center_xy: CENTER, radius_m: 0.02 };
    assert_eq!(choose(&settings(), &small, OBJECT_M, &[], 1, &mut |_| true), Some(CENTER));
    assert_eq!(choose(&settings(), &small, OBJECT_M, &[], 2, &mut |_| true), None);
    for (center, radius_m) in [([f64::NAN, 0.0], OBJECT_M), (CENTER, f64::NAN)] {
        let area = Area::Disc { center_xy: center, radius_m: RADIUS_M };
        let place = choose(&settings(), &area, radius_m, &[], 1, &mut |_| true);
        assert_eq!(place, None);
    }
    // Two things of 13 cm do not lie beside each other on this plate, whatever the settings say.
    assert_eq!(choose(&settings(), &PLATE, 0.065, &[], 2, &mut |_| true), None);
}

proptest! {
    #[test]
    fn a_place_is_free_inside_reachable_and_does_not_depend_on_the_order(
        offsets in prop::collection::vec([-0.08..0.08_f64, -0.08..0.08_f64], 0..5),
        remaining in 1_usize..5,
        object_m in 0.01..0.04_f64,
        limit_x in 0.10..0.25_f64,
    ) {
        let others: Vec<[f64; 2]> =
            offsets.iter().map(|[x, y]| [CENTER[0] + x, CENTER[1] + y]).collect();
        let mut asked: Vec<[f64; 2]> = Vec::new();
        let mut reachable = |place: [f64; 2]| {
            asked.push(place);
            place[0] <= limit_x
        };
        let place =
            choose(&settings(), &PLATE, object_m, &others, remaining, &mut reachable);
        if let Some(place) = place {
            let least_m = settings().min_object_distance.max(2.0 * object_m);
            prop_assert!(others.iter().all(|other| distance_m(place, *other) >= least_m - 1e-9));
            prop_assert!(distance_m(place, CENTER) <= RADIUS_M - 0.025 + 1e-9);
            prop_assert!(place[0] <= limit_x);
        }
        for (index, one) in asked.iter().enumerate() {
            prop_assert!(!asked[..index].contains(one), "asked twice for {one:?}");
        }
        let reversed: Vec<[f64; 2]> = others.iter().rev().copied().collect();
        let mut reachable = |place: [f64; 2]| place[0] <= limit_x;
        let again =
            choose(&settings(), &PLATE, object_m, &reversed, remaining, &mut reachable);
        prop_assert_eq!(place, again);
    }

    /// A place for one is found whenever a candidate is free.
    #[test]
    fn one_more_fits_wherever_a_candidate_is_free(
        offsets in prop::collection::vec([-0.08..0.08_f64, -0.08..0.08_f64], 0..6),
    ) {
        let others: Vec<[f64; 2]> =
            offsets.iter().map(|[x, y]| [CENTER[0] + x, CENTER[1] + y]).collect();
        let is_free = candidates(RADIUS_M, &settings()).iter().any(|[x, y]| {
            let place = [CENTER[0] + x, CENTER[1] + y];
            others.iter().all(|other| distance_m(place, *other) >= 0.06)
        });
        prop_assert_eq!(next(&others, 1).is_some(), is_free);
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    assert_eq!(settings().check(), Ok(()));
    type Spoil = fn(&mut SpotSettings);
    let wrong: [(&str, Spoil); 7] = [
        ("min_object_distance", |s| s.min_object_distance = -0.01),
        ("safety_margin_edge", |s| s.safety_margin_edge = f64::NAN),
        ("max_placement_attempts", |s| s.max_placement_attempts = 0),
        ("max_placement_attempts", |s| s.max_placement_attempts = 129),
        ("ring_step_m", |s| s.ring_step_m = 0.0),
        ("min_object_gap_m", |s| s.min_object_gap_m = -0.01),
        ("wanted_object_distance_m", |s| s.wanted_object_distance_m = 0.05),
    ];
    for (key, spoil) in wrong {
        let mut settings = settings();
        spoil(&mut settings);
        let message = settings.check().unwrap_err();
        assert!(message.starts_with(&format!("{key}: must be")), "{message}");
    }
}
