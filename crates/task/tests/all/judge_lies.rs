//! Planted lies about a grasp: things that look held and are not. The judge must find each within
//! a stated number of frames and never believe it again.

use citrange_core::ObjectSeen;
use citrange_core::rng::Rng;
use citrange_task::judge::{Doubt, GraspDetector, GraspSample, GraspSettings, GraspVerdict};
use nalgebra::Vector3;

use crate::judge_common::{FRAME_S, measured, seen};

const LIFT_M: f64 = 0.075;
const LIFT_S: f64 = 0.6;
/// Frame of the lift in which things begin to go wrong.
const MIDWAY: usize = 9;
/// Lift and a rest of about a second and a half.
const FRAMES: usize = 60;
const SEEDS: u64 = 40;
/// Jaws kept apart by something: lies that only the poses can tell.
const OPEN: f64 = 0.1;

fn settings() -> GraspSettings {
    GraspSettings {
        grasp_relative_distance_threshold: 0.02,
        grasp_success_xy_threshold: 0.05,
        grasp_success_z_threshold: 0.12,
        grasp_movement_ratio_threshold: 0.7,
        grasp_movement_ratio_max: 1.3,
        grasp_stability_variance_threshold: 1e-6,
        jaw_gap_min: 0.03,
        contact_force_threshold_n: 0.5,
        min_move_m: 0.01,
    }
}

/// The loose distance of profile `seed` must be enough to find the lies as well.
fn both_settings() -> [GraspSettings; 2] {
    [settings(), GraspSettings { grasp_relative_distance_threshold: 0.05, ..settings() }]
}

/// Hand on its way straight up, then at rest.
fn lifted(frame: usize) -> Vector3<f64> {
    let fraction = (frame as f64 * FRAME_S / LIFT_S).min(1.0);
    Vector3::new(0.2, 0.03, 0.026 + LIFT_M * fraction)
}

/// Where a held thing is in the hand.
fn in_hand(hand_m: Vector3<f64>) -> Vector3<f64> {
    hand_m + Vector3::new(0.002, -0.001, -0.003)
}

/// Verdicts from the first frame after the jaws closed; `[0]` is that of frame 1.
fn judge(
    settings: &GraspSettings,
    seed: u64,
    frames: usize,
    hand: impl Fn(usize) -> Vector3<f64>,
    world: impl Fn(usize) -> (Option<ObjectSeen>, f64),
) -> Vec<GraspVerdict> {
    let mut rng = Rng::new(seed);
    let mut at = |frame| {
        let (mut object, jaw_gap) = world(frame);
        if let Some(object) = &mut object {
            object.pose.pos_m = measured(object.pose.pos_m.into(), &mut rng).into();
        }
        (measured(hand(frame), &mut rng), object, jaw_gap)
    };
    let (hand_m, object, jaw_gap) = at(0);
    let begin = GraspSample { hand_m, object: object.as_ref(), jaw_gap };
    let mut detector = GraspDetector::begin(&begin);
    (1..=frames)
        .map(|frame| {
            let (hand_m, object, jaw_gap) = at(frame);
            let sample = GraspSample { hand_m, object: object.as_ref(), jaw_gap };
            detector.sample(settings, &sample)
        })
        .collect()
}

/// Asserts that a lie told from frame `from` on is found within `within` frames and never
/// believed again; before it began, the thing was held.
fn found(verdicts: &[GraspVerdict], from: usize, within: usize) {
    for (index, verdict) in verdicts.iter().enumerate() {
        let frame = index + 1;
        if (3..=from).contains(&frame) {
            assert_eq!(*verdict, GraspVerdict::Yes, "frame {frame}, before the lie");
        }
        if frame >= (from + within).max(3) {
            assert!(matches!(verdict, GraspVerdict::No(_)), "frame {frame}: {verdict:?}");
        }
    }
}

#[test]
fn what_is_held_is_held_from_the_third_sample_on() {
    for settings in both_settings() {
        for seed in 0..10 * SEEDS {
            let verdicts = judge(&settings, seed, 150, lifted, |frame| {
                let touch_n = Some([20.0, 18.0]);
                (Some(ObjectSeen { touch_n, ..seen(in_hand(lifted(frame))) }), OPEN)
            });
            assert_eq!(verdicts[..2], [GraspVerdict::Unknown(Doubt::TooFewSamples); 2]);
            let lost = verdicts.iter().skip(2).position(|verdict| *verdict != GraspVerdict::Yes);
            assert_eq!(lost, None, "seed {seed}: {verdicts:?}");
        }
    }
}

#[test]
fn glued_to_the_table_is_never_believed() {
    for settings in both_settings() {
        for seed in 0..SEEDS {
            let verdicts =
                judge(&settings, seed, FRAMES, lifted, |_| (Some(seen(in_hand(lifted(0)))), OPEN));
            found(&verdicts, 0, 3);
            assert!(!verdicts.contains(&GraspVerdict::Yes));
        }
    }
}

/// Free fall, with the speed it had, down to the table.
fn falling(from_m: Vector3<f64>, speed_m_s: Vector3<f64>, frames: usize) -> Vector3<f64> {
    let time_s = frames as f64 * FRAME_S;
    let mut at = from_m + speed_m_s * time_s - Vector3::z() * (9.81 / 2.0 * time_s * time_s);
    at.z = at.z.max(0.023);
    at
}

#[test]
fn a_fall_during_the_lift_is_found_within_three_frames() {
    let up = Vector3::z() * (LIFT_M / LIFT_S);
    for settings in both_settings() {
        for seed in 0..SEEDS {
            let verdicts = judge(&settings, seed, FRAMES, lifted, |frame| {
                let held_m = in_hand(lifted(frame.min(MIDWAY)));
                (Some(seen(falling(held_m, up, frame.saturating_sub(MIDWAY)))), OPEN)
            });
            found(&verdicts, MIDWAY, 3);
        }
    }
}

#[test]
fn a_fall_on_the_way_to_the_plate_is_found_within_three_frames() {
    let speed_m_s = Vector3::new(0.0, -0.25, 0.0);
    let hand =
        |frame: usize| Vector3::new(0.2, 0.1, 0.1) + speed_m_s * (frame.min(50) as f64 * FRAME_S);
    for settings in both_settings() {
        for seed in 0..SEEDS {
            // The hand is 25 cm and more from where it began: only the last samples can tell.
            let from = 30 + seed as usize % 10;
            let verdicts = judge(&settings, seed, FRAMES, hand, |frame| {
                // It flies on with the hand until it hits the table.
                let held_m = in_hand(hand(frame.min(from)));
                let flight = frame.saturating_sub(from).min(4);
                (Some(seen(falling(held_m, speed_m_s, flight))), OPEN)
            });
            found(&verdicts, from, 3);
        }
    }
}

#[test]
fn what_is_pushed_ahead_of_the_hand_is_not_held() {
    let loose = GraspSettings {
        grasp_relative_distance_threshold: 0.05,
        grasp_movement_ratio_threshold: 0.5,
        grasp_movement_ratio_max: 1.2,
        ..settings()
    };
    let verdicts = judge(&loose, 6, FRAMES, lifted, |frame| {
        let ahead_m = 0.35 * (lifted(frame) - lifted(0));
        (Some(seen(in_hand(lifted(frame)) + ahead_m)), OPEN)
    });
    assert!(verdicts[3..].iter().all(|verdict| *verdict == GraspVerdict::No(Doubt::MovementRatio)));
}

#[test]
fn what_comes_along_too_far_from_the_jaws_is_not_in_them() {
    for off_m in [Vector3::new(0.04, 0.04, 0.0), Vector3::new(0.0, 0.0, -0.13)] {
        let verdicts = judge(&settings(), 7, FRAMES, lifted, |frame| {
            (Some(seen(lifted(frame) + off_m)), OPEN)
        });
        assert!(
            verdicts[2..]
                .iter()
                .all(|verdict| *verdict == GraspVerdict::No(Doubt::AbsoluteDistance))
        );
    }
}

#[test]
fn nudged_aside_but_not_taken_along_is_found_within_three_frames() {
    let nudge_frames = 6;
    let aside =
        |frame: usize| Vector3::x() * (0.02 * frame.min(nudge_frames) as f64 / nudge_frames as f64);
    let hand = |frame: usize| lifted(frame.saturating_sub(nudge_frames)) + aside(frame);
    for settings in both_settings() {
        for seed in 0..SEEDS {
            let verdicts = judge(&settings, seed, FRAMES, hand, |frame| {
                (Some(seen(in_hand(lifted(0) + aside(frame)))), OPEN)
            });
            found(&verdicts, nudge_frames, 3);
        }
    }
}

#[test]
fn a_slow_slip_is_found_when_it_has_gone_as_far_as_the_limit() {
    // A thing held 4 mm off the middle is 20 mm farther away after 62 frames of 10 mm/s; with the
    // seed's 50 mm the movement ratio is first: 30 % of the lift are 67.5 frames. Four more for
    // the noise.
    for (settings, within) in both_settings().into_iter().zip([66, 72]) {
        for seed in 0..SEEDS {
            let verdicts = judge(&settings, seed, 180, lifted, |frame| {
                let slipped_m = 0.010 * frame as f64 * FRAME_S;
                (Some(seen(in_hand(lifted(frame)) - Vector3::z() * slipped_m)), OPEN)
            });
            found(&verdicts, 0, within);
        }
    }
}

#[test]
fn a_thing_that_trembles_in_the_jaws_is_not_held_firmly() {
    let verdicts = judge(&settings(), 1, FRAMES, lifted, |frame| {
        let side_m = if frame > MIDWAY && frame % 2 == 0 { 0.003 } else { 0.0 };
        (Some(seen(in_hand(lifted(frame)) + Vector3::x() * side_m)), OPEN)
    });
    found(&verdicts, MIDWAY, 4);
    assert_eq!(verdicts[FRAMES - 1], GraspVerdict::No(Doubt::Variance));
}

#[test]
fn what_vanishes_or_is_no_number_is_unknown_at_once() {
    for (not_a_number, doubt) in [(false, Doubt::NotSeen), (true, Doubt::NotFinite)] {
        let verdicts = judge(&settings(), 3, FRAMES, lifted, |frame| {
            let mut object = seen(in_hand(lifted(frame)));
            if frame > MIDWAY && not_a_number {
                object.pose.pos_m[1] = f64::NAN;
            }
            (Some(object).filter(|_| frame <= MIDWAY || not_a_number), OPEN)
        });
        assert!(verdicts[2..MIDWAY].iter().all(|verdict| *verdict == GraspVerdict::Yes));
        assert!(verdicts[MIDWAY..].iter().all(|verdict| *verdict == GraspVerdict::Unknown(doubt)));
    }
}

#[test]
fn what_was_not_seen_when_the_jaws_closed_is_never_believed() {
    let verdicts = judge(&settings(), 4, FRAMES, lifted, |frame| {
        (Some(seen(in_hand(lifted(frame)))).filter(|_| frame > MIDWAY), OPEN)
    });
    assert!(
        verdicts.iter().all(|verdict| matches!(verdict, GraspVerdict::Unknown(_))),
        "{verdicts:?}"
    );
    assert_eq!(verdicts[FRAMES - 1], GraspVerdict::Unknown(Doubt::NotSeen));
}

#[test]
fn jaws_that_closed_on_nothing_hold_nothing_from_the_first_frame() {
    for seed in 0..SEEDS {
        // It lies between the jaws, below; it even comes along, and is felt.
        for comes_along in [false, true] {
            let verdicts = judge(&settings(), seed, FRAMES, lifted, |frame| {
                let hand_m = lifted(if comes_along { frame } else { 0 });
                let touch_n = Some([5.0; 2]);
                (Some(ObjectSeen { touch_n, ..seen(in_hand(hand_m)) }), 0.01)
            });
            assert_eq!(verdicts, vec![GraspVerdict::No(Doubt::JawGap); FRAMES]);
        }
    }
    let verdicts = judge(&settings(), 1, FRAMES, lifted, |frame| {
        (Some(seen(in_hand(lifted(frame)))), f64::NAN)
    });
    assert_eq!(verdicts[FRAMES - 1], GraspVerdict::Unknown(Doubt::NotFinite));
}

#[test]
fn one_jaw_alone_holds_nothing_but_a_flicker_is_forgiven() {
    let judged = |touches: fn(usize) -> bool| {
        judge(&settings(), 5, FRAMES, lifted, |frame| {
            let touch_n = Some([12.0, if touches(frame) { 12.0 } else { 0.0 }]);
            (Some(ObjectSeen { touch_n, ..seen(in_hand(lifted(frame))) }), OPEN)
        })
    };
    let never = judged(|_| false);
    assert!(never[2..].iter().all(|verdict| *verdict == GraspVerdict::No(Doubt::ContactForce)));
    found(&never, 0, 3);
    found(&judged(|frame| frame <= MIDWAY), MIDWAY, 3);
    // Two frames of three without contact.
    let flickers = judged(|frame| frame % 3 == 0);
    assert!(flickers[2..].iter().all(|verdict| *verdict == GraspVerdict::Yes), "{flickers:?}");
}

#[test]
fn the_evidence_has_the_numbers_of_all_methods() {
    fn sample(object: Option<&ObjectSeen>, hand_m: Vector3<f64>) -> GraspSample<'_> {
        GraspSample { hand_m, object, jaw_gap: OPEN }
    }
    let at = |frame| {
        let touch_n = Some([7.0, 6.0]);
        ObjectSeen { touch_n, ..seen(in_hand(lifted(frame))) }
    };
    let mut detector = GraspDetector::begin(&sample(Some(&at(0)), lifted(0)));
    for frame in 1..=12 {
        detector.sample(&settings(), &sample(Some(&at(frame)), lifted(frame)));
    }
    let evidence = detector.evidence();
    assert!(evidence.relative_distance_m.is_some_and(|m| m < 1e-12));
    let [xy_m, z_m] = evidence.absolute_distance_m.unwrap();
    assert!((xy_m - 0.002_f64.hypot(0.001)).abs() < 1e-12 && (z_m - 0.003).abs() < 1e-12);
    let [low, high] = evidence.movement_ratio.unwrap();
    assert!((low - 1.0).abs() < 1e-9 && (high - 1.0).abs() < 1e-9);
    assert!(evidence.variance_m2.is_some_and(|m2| m2 < 1e-20));
    assert_eq!((evidence.jaw_gap, evidence.contact_force_n), (Some(OPEN), Some(6.0)));
    detector.sample(&settings(), &sample(None, lifted(13)));
    assert_eq!(detector.evidence().relative_distance_m, None);
}
