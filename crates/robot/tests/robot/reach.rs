//! Inverse kinematics from many starts, against the oracle: every solution there is, none that
//! is not one, and honest misses.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::common::{chain, direction, ready};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_robot::{
    Chain, IkSettings, IkTarget, InverseKinematics, Kinematics, Orientation, wrapped,
};
use nalgebra::{Isometry3, Matrix4, Rotation3, Vector3};
use serde_json::Value;

const ORACLE: &str = include_str!("../../../../models/oracle/fk_reference.json");

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

/// Joint vectors of the oracle and the poses of a frame, in the world of the chain.
fn cases(robot: &str, frame: &str, chain: &Chain) -> Vec<(Vec<f64>, Isometry3<f64>)> {
    let oracle: Value = serde_json::from_str(ORACLE).unwrap();
    let base = chain.world_from_base.isometry();
    let cases = oracle[robot]["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let f = numbers(&case["frames"][frame]);
            let pose =
                Pose { pos_m: [f[0], f[1], f[2]], quat_wxyz: [f[3], f[4], f[5], f[6]] }.isometry();
            (numbers(&case["q"]), base * pose)
        })
        .collect()
}

fn full(pose: &Isometry3<f64>) -> IkTarget {
    IkTarget {
        at_m: pose.translation.vector,
        orientation: Orientation::Full(pose.rotation.to_rotation_matrix()),
    }
}

/// Lengths of a UR in its table of Denavit and Hartenberg: d1, a2, a3, d4, d5, d6.
fn lengths(robot: &str) -> [f64; 6] {
    match robot {
        "ur5" => [0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823],
        _ => [0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996],
    }
}

fn link(turn: f64, d: f64, a: f64, twist: f64) -> Matrix4<f64> {
    let (s, c) = turn.sin_cos();
    let (st, ct) = twist.sin_cos();
    Matrix4::new(
        c,
        -s * ct,
        s * st,
        a * c, //
        s,
        c * ct,
        -c * st,
        a * s, //
        0.0,
        st,
        ct,
        d, //
        0.0,
        0.0,
        0.0,
        1.0,
    )
}

/// All solutions of a UR in closed form, each joint within half a turn; up to 8.
fn closed_form(robot: &str, base_from_tool: &Isometry3<f64>) -> Vec<[f64; 6]> {
    let [d1, a2, a3, d4, d5, d6] = lengths(robot);
    // The base of the table is half a turn from that of the model.
    let t = link(PI, 0.0, 0.0, 0.0).try_inverse().unwrap() * base_from_tool.to_homogeneous();
    let inverse = |m: Matrix4<f64>| m.try_inverse().unwrap();
    let wrist = t * nalgebra::Vector4::new(0.0, 0.0, -d6, 1.0);
    let reach = wrist.x.hypot(wrist.y);
    let mut all = Vec::new();
    if d4 > reach {
        return all;
    }
    for shoulder in [1.0, -1.0] {
        let q1 = wrist.y.atan2(wrist.x) + shoulder * (d4 / reach).acos() + FRAC_PI_2;
        let side = (t[(0, 3)] * q1.sin() - t[(1, 3)] * q1.cos() - d4) / d6;
        if side.abs() > 1.0 {
            continue;
        }
        for flip in [1.0, -1.0] {
            let q5 = flip * side.acos();
            let sign = q5.sin();
            let q6 = ((-t[(0, 1)] * q1.sin() + t[(1, 1)] * q1.cos()) / sign)
                .atan2((t[(0, 0)] * q1.sin() - t[(1, 0)] * q1.cos()) / sign);
            let planar = inverse(link(q1, d1, 0.0, FRAC_PI_2))
                * t
                * inverse(link(q5, d5, 0.0, -FRAC_PI_2) * link(q6, d6, 0.0, 0.0));
            let end = planar * nalgebra::Vector4::new(0.0, -d4, 0.0, 1.0);
            let cosine = (end.x.powi(2) + end.y.powi(2) - a2 * a2 - a3 * a3) / (2.0 * a2 * a3);
            if cosine.abs() > 1.0 {
                continue;
            }
            for elbow in [1.0, -1.0] {
                let q3 = elbow * cosine.acos();
                let q2 = (-end.y).atan2(-end.x) - (-a3 * q3.sin()).atan2(-a2 - a3 * q3.cos());
                let last = inverse(link(q2, 0.0, a2, 0.0) * link(q3, 0.0, a3, 0.0)) * planar;
                let q4 = last[(1, 0)].atan2(last[(0, 0)]);
                all.push([q1, q2, q3, q4, q5, q6].map(wrapped));
            }
        }
    }
    all
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| wrapped(a - b).abs() < 1e-2)
}

#[test]
fn a_ur_has_the_branches_that_its_closed_form_has_and_all_their_turns() {
    for robot in ["ur5", "ur5e"] {
        let chain = chain(robot);
        let mut reach = InverseKinematics::new(&chain, &ready(robot)).unwrap();
        let settings = IkSettings { starts: 256, ..IkSettings::default() };
        let to_base = chain.world_from_base.isometry().inverse();
        let (mut regular, mut branches) = (0, 0);
        for (joints, pose) in cases(robot, "tool0", &chain) {
            let found = reach.solve(&full(&pose), &ready(robot), &settings).solutions;
            assert!(found.iter().all(|s| s.error_m < 1e-6 && s.angle_rad < 1e-6));
            assert!(found.iter().any(|s| is_same(&s.joints, &joints)) || is_singular(&joints));
            assert!(!found.is_empty(), "{joints:?}");
            if is_singular(&joints) {
                continue;
            }
            let known = closed_form(robot, &(to_base * pose));
            if known.iter().any(|k| is_singular(k)) {
                continue;
            }
            regular += 1;
            branches += known.len();
            // Two places of each joint but the elbow, which turns once.
            for k in &known {
                let count = found.iter().filter(|s| is_same(&s.joints, k)).count();
                assert_eq!(count, 32, "{robot} {joints:?}: branch {k:?} of {}", known.len());
            }
            assert_eq!(found.len(), 32 * known.len(), "{robot} {joints:?}");
            if regular == 1 {
                let once = IkSettings { turns: false, ..settings };
                let once = reach.solve(&full(&pose), &ready(robot), &once).solutions;
                assert_eq!(once.len(), known.len());
                assert_eq!(once[0], found[0], "the turn nearest to the given joints");
            }
        }
        assert!(regular > 180 && branches > 6 * regular, "{regular} poses, {branches} branches");
    }
}

/// Where branches meet, and their number has no meaning.
fn is_singular(joints: &[f64]) -> bool {
    joints[2].sin().abs() < 0.03 || joints[4].sin().abs() < 0.03
}

#[test]
fn an_so101_has_the_solutions_of_its_oracle_and_no_others() {
    let mut chain = chain("so101");
    // The oracle's point is on the axis of the roll joint, which looks out of the hand along -z.
    chain.tool.link_from_site = Pose::IDENTITY;
    let home = [0.0, 0.0, 0.0, FRAC_PI_2, 0.0, 0.0];
    let mut reach = InverseKinematics::new(&chain, &home).unwrap();
    let base = chain.world_from_base.isometry();
    let oracle: Value = serde_json::from_str(ORACLE).unwrap();
    let (mut reachable, mut unreachable) = (0, 0);
    for case in oracle["so101_ik"]["cases"].as_array().unwrap() {
        let at = numbers(&case["tcp"]);
        let pitch = case["pitch"].as_f64().unwrap();
        // The arm's plane passes the pan axis at 0.18 mm.
        let (x, y) = (at[0] - 0.0388353, at[1]);
        let out = y.atan2(x) + (0.0001778 / x.hypot(y)).asin();
        let toward = Vector3::new(pitch.cos() * out.cos(), pitch.cos() * out.sin(), -pitch.sin());
        reach.set_point(-Vector3::z() * case["depth"].as_f64().unwrap());
        let aim = IkTarget {
            at_m: base.translation.vector + Vector3::new(at[0], at[1], at[2]),
            orientation: Orientation::Axis { of_tool: -Vector3::z(), toward },
        };
        let found = reach.solve(&aim, &home, &IkSettings::default());
        let known: Vec<Vec<f64>> =
            case["solutions"].as_array().unwrap().iter().map(numbers).collect();
        if known.is_empty() {
            unreachable += 1;
            assert!(found.solutions.is_empty(), "{case}: {:?}", found.solutions[0]);
            let near = &found.misses[0];
            assert!(near.error_m > 1e-6 || near.angle_rad > 1e-6, "{case}: {near:?}");
            continue;
        }
        reachable += 1;
        for k in &known {
            let same = |s: &[f64]| s.iter().zip(k).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(found.solutions.iter().any(|s| same(&s.joints[..4])), "{case}");
        }
        for s in &found.solutions {
            let same = |k: &Vec<f64>| k.iter().zip(&s.joints).all(|(a, b)| (a - b).abs() < 1e-2);
            assert!(known.iter().any(same), "{case}: {s:?} is none of the oracle's");
        }
    }
    assert_eq!((reachable, unreachable), (140, 60));
}

#[test]
fn poses_of_all_robots_are_reached_within_their_ranges() {
    for (robot, name, frame) in
        [("so101", "so101", "gripperframe"), ("panda", "panda_robosuite", "grip_site")]
    {
        let chain = chain(robot);
        let home = ready(robot);
        let mut reach = InverseKinematics::new(&chain, &home).unwrap();
        for (joints, pose) in cases(name, frame, &chain) {
            let aim = full(&pose);
            // The oracle's numbers have nine digits: five joints cannot quite have such a pose.
            let settings =
                IkSettings { starts: 128, exact_m: 1e-5, exact_rad: 1e-5, ..IkSettings::default() };
            let found = reach.solve(&aim, &home, &settings);
            assert!(!found.solutions.is_empty(), "{robot} {joints:?}: {:?}", found.misses[0]);
            for s in &found.solutions {
                for (joint, q) in chain.joints.iter().zip(&s.joints) {
                    assert_eq!(joint.clamp(*q), *q, "{robot}: {} leaves its range", joint.name);
                }
            }
        }
    }
}

#[test]
fn solutions_differ_are_sorted_and_are_the_same_each_time() {
    let chain = chain("panda");
    let home = ready("panda");
    let mut reach = InverseKinematics::new(&chain, &home).unwrap();
    let mut kinematics = Kinematics::new(&chain);
    kinematics.update(&home);
    let tool = kinematics.site(&chain.tool);
    let toward = Vector3::new(0.3, 0.2, -0.9).normalize();
    let aim = IkTarget {
        at_m: tool.pos_m,
        orientation: Orientation::Axis { of_tool: Vector3::z(), toward },
    };
    let near = &home[..7];
    let found = reach.solve(&aim, near, &IkSettings::default());
    assert!(found.solutions.len() > 10, "{}", found.solutions.len());
    assert_eq!(found, reach.solve(&aim, near, &IkSettings::default()));
    let other = IkSettings { seed: 1, ..IkSettings::default() };
    assert_ne!(found, reach.solve(&aim, near, &other));
    let away = |q: &[f64]| q.iter().zip(near).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    for (index, s) in found.solutions.iter().enumerate() {
        for other in &found.solutions[..index] {
            assert!(away(&other.joints) <= away(&s.joints));
            let apart = s.joints.iter().zip(&other.joints).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) > 0.9e-2);
        }
        let mut all = home.clone();
        all[..7].copy_from_slice(&s.joints);
        kinematics.update(&all);
        let tool = kinematics.site(&chain.tool);
        assert!((tool.pos_m - aim.at_m).norm() < 1e-6);
        assert!((tool.rot * Vector3::z() - toward).norm() < 2e-6);
    }
}

#[test]
fn what_is_out_of_reach_is_missed_by_as_much_as_it_must_be() {
    for robot in ["so101", "ur5e", "panda"] {
        let chain = chain(robot);
        let home = ready(robot);
        let mut reach = InverseKinematics::new(&chain, &home).unwrap();
        let mut kinematics = Kinematics::new(&chain);
        let base = Vector3::from(chain.world_from_base.pos_m);
        let mut rng = Rng::new(3);
        for _ in 0..20 {
            let at_m = base + direction(&mut rng) * 1.5;
            let aim = IkTarget { at_m, orientation: Orientation::Free };
            let settings = IkSettings { starts: 32, ..IkSettings::default() };
            let found = reach.solve(&aim, &home, &settings);
            assert!(found.solutions.is_empty());
            let nearest = found.misses[0].error_m;
            assert!(found.misses.iter().all(|m| m.error_m >= nearest - 1e-12));
            // A walk of ever smaller random steps, from the best of many places.
            let mut best = (f64::INFINITY, home.clone());
            for trial in 0..12_000 {
                let width = 0.5 * 0.999_f64.powi((trial - 4000).max(0));
                let mut all = home.clone();
                for (j, joint) in chain.joints[..chain.arm_joints].iter().enumerate() {
                    let [low, high] = joint.range.unwrap();
                    all[j] = match trial < 4000 {
                        true => rng.uniform(low, high),
                        false => joint.clamp(best.1[j] + width * rng.uniform(-1.0, 1.0)),
                    };
                }
                kinematics.update(&all);
                let miss = (kinematics.site(&chain.tool).pos_m - at_m).norm();
                if miss < best.0 {
                    best = (miss, all);
                }
            }
            assert!(nearest < best.0 + 1e-4, "{robot}: {nearest} m, a walk gets to {} m", best.0);
        }
    }
}

#[test]
fn a_turn_of_the_tool_about_its_own_axis_may_be_free_or_not() {
    let chain = chain("ur5e");
    let home = ready("ur5e");
    let mut reach = InverseKinematics::new(&chain, &home).unwrap();
    reach.set_ranges([[-PI, PI]; 6]).unwrap();
    let rotation = Rotation3::from_euler_angles(PI, 0.0, 0.4);
    let at_m = Vector3::new(0.4, 0.2, 0.3);
    let settings = IkSettings { starts: 128, ..IkSettings::default() };
    let exact =
        reach.solve(&IkTarget { at_m, orientation: Orientation::Full(rotation) }, &home, &settings);
    assert_eq!(exact.solutions.len(), 8);
    let orientation = Orientation::Axis { of_tool: Vector3::z(), toward: rotation * Vector3::z() };
    let free = reach.solve(&IkTarget { at_m, orientation }, &home, &settings);
    assert!(free.solutions.len() > 64, "{}", free.solutions.len());
    // One turn of each joint only.
    assert!(exact.solutions.iter().all(|s| s.joints.iter().all(|q| q.abs() <= PI)));
    reach.set_ranges([[-0.1, 0.1]; 6]).unwrap();
    let none = reach.solve(&IkTarget { at_m, orientation }, &[TAU; 6], &settings);
    assert!(none.solutions.is_empty());
    assert!(none.misses.iter().all(|m| m.joints.iter().all(|q| q.abs() <= 0.1)));
}

#[test]
fn what_cannot_be_solved_for_is_named() {
    let error = InverseKinematics::new(&chain("so101"), &[0.0; 2]).unwrap_err().to_string();
    assert!(error.contains("6 numbers"), "{error}");
    let mut loose = chain("panda");
    loose.joints[2].is_slide = true;
    loose.joints[2].range = None;
    let error = InverseKinematics::new(&loose, &ready("panda")).unwrap_err().to_string();
    assert!(error.contains("joint3") && error.contains("range"), "{error}");
    let mut reach = InverseKinematics::new(&chain("panda"), &ready("panda")).unwrap();
    for range in [[1.0, -1.0], [f64::NAN, 1.0], [0.0, f64::INFINITY]] {
        let error = reach.set_ranges([[-1.0, 1.0], range]).unwrap_err().to_string();
        assert!(error.contains("joint 1") && error.contains("lowest"), "{error}");
    }
    let nowhere =
        IkTarget { at_m: Vector3::new(f64::NAN, 0.0, 0.0), orientation: Orientation::Free };
    let found = reach.solve(&nowhere, &ready("panda"), &IkSettings::default());
    assert!(found.solutions.is_empty());
}
