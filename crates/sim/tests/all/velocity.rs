//! Velocities of every body of every scene against finite differences of its pose.

use citrange_core::TensorState;
use citrange_core::pose::matrix_from_quat;
use citrange_sim::catalog::scene_names;

use crate::common;

/// Sets roots and joints `h` seconds of constant velocity later.
fn moved(state: &TensorState, h: f64) -> TensorState {
    let mut later = state.clone();
    let objects =
        later.objects.values_mut().chain(later.robots.values_mut().map(|r| &mut r.object));
    for object in objects {
        object.body_state = None;
        let root = object.root_state.as_mut().unwrap();
        for mut row in root.rows_mut() {
            for i in 0..3 {
                row[i] += h * row[7 + i];
            }
            let w = [row[10], row[11], row[12]];
            let speed = w.iter().map(|c| c * c).sum::<f64>().sqrt();
            if speed > 0.0 {
                let half = h * speed / 2.0;
                let rotation = [
                    half.cos(),
                    w[0] / speed * half.sin(),
                    w[1] / speed * half.sin(),
                    w[2] / speed * half.sin(),
                ];
                let q = [row[3], row[4], row[5], row[6]];
                let turned = product(rotation, q);
                (0..4).for_each(|i| row[3 + i] = turned[i]);
            }
        }
        if let (Some(pos), Some(vel)) = (object.joint_pos.as_mut(), object.joint_vel.as_ref()) {
            pos.scaled_add(h, vel);
        }
    }
    later
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

#[test]
fn every_body_moves_as_its_velocity_says() {
    const H: f64 = 1e-5;
    for name in scene_names() {
        let mut world = common::world(name, 3);
        let mut rng = common::rng(11);
        let mut fastest = 0.0_f64;
        for _ in 0..10 {
            let mut state = common::read(&mut world);
            for robot in state.robots.values_mut() {
                robot.object.body_state = None;
                let (pos, vel) = (
                    robot.object.joint_pos.as_mut().unwrap(),
                    robot.object.joint_vel.as_mut().unwrap(),
                );
                pos.mapv_inplace(|_| rng.uniform(-1.0, 1.0));
                vel.mapv_inplace(|_| rng.uniform(-2.0, 2.0));
            }
            for object in state.objects.values_mut() {
                for mut row in object.root_state.as_mut().unwrap().rows_mut() {
                    (0..3).for_each(|i| row[i] = rng.uniform(-0.5, 0.5));
                    let q: [f64; 4] = std::array::from_fn(|_| rng.uniform(-1.0, 1.0));
                    let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
                    (0..4).for_each(|i| row[3 + i] = q[i] / n);
                    (7..13).for_each(|i| row[i] = rng.uniform(-3.0, 3.0));
                }
            }
            world.set_state(&state, None).unwrap();
            let now = common::read(&mut world);
            // The mirror: what was set is what is read.
            for (name, object) in &state.objects {
                let (given, got) = (
                    object.root_state.as_ref().unwrap(),
                    now.objects[name].root_state.as_ref().unwrap(),
                );
                let off = (given - got).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                assert!(off < 1e-12, "{name}: {off}");
            }
            world.set_state(&moved(&now, H), None).unwrap();
            let after = world_bodies(&mut world);
            world.set_state(&moved(&now, -H), None).unwrap();
            let before = world_bodies(&mut world);
            world.set_state(&now, None).unwrap();
            let here = world_bodies(&mut world);
            for (index, body) in here.iter().enumerate() {
                let (a, b) = (&after[index], &before[index]);
                for i in 0..3 {
                    let difference = (a[i] - b[i]) / (2.0 * H);
                    fastest = fastest.max(difference.abs());
                    assert!(
                        (difference - body[7 + i]).abs() < 1e-6,
                        "{name} body {index}: {difference} {}",
                        body[7 + i]
                    );
                }
                let spin = spin(a, b, 2.0 * H);
                for i in 0..3 {
                    assert!((spin[i] - body[10 + i]).abs() < 1e-6, "{name} body {index} spin");
                }
            }
        }
        assert!(fastest > 1.0, "{name}: nothing moved, the test says nothing");
    }
}

/// 13 numbers of every body of every environment.
fn world_bodies(world: &mut citrange_sim::World) -> Vec<Vec<f64>> {
    let state = common::read(world);
    let mut all = Vec::new();
    for robot in state.robots.values() {
        let bodies = robot.body_state.as_ref().unwrap();
        all.extend(
            bodies
                .outer_iter()
                .flat_map(|env| env.outer_iter().map(|b| b.to_vec()).collect::<Vec<_>>()),
        );
    }
    for object in state.objects.values() {
        all.extend(object.root_state.as_ref().unwrap().outer_iter().map(|r| r.to_vec()));
    }
    all
}

/// Angular velocity from two orientations: the skew part of R_after R_before^T over the time.
fn spin(after: &[f64], before: &[f64], time: f64) -> [f64; 3] {
    let a = matrix_from_quat([after[3], after[4], after[5], after[6]]);
    let b = matrix_from_quat([before[3], before[4], before[5], before[6]]);
    let m = |i: usize, j: usize| (0..3).map(|k| a[3 * i + k] * b[3 * j + k]).sum::<f64>();
    [
        (m(2, 1) - m(1, 2)) / (2.0 * time),
        (m(0, 2) - m(2, 0)) / (2.0 * time),
        (m(1, 0) - m(0, 1)) / (2.0 * time),
    ]
}
