//! Profile `seed`: the controller of the first teleoperation script, number by number.

use citrange_control::Velocity;
use citrange_core::rng::Rng;
use citrange_robot::Kinematics;
use nalgebra::{Matrix3, Vector3};

use crate::common::{Drive, chain, linear};

const HZ: f64 = 180.0;

/// The control step of that script, written down once more from its own words, for the SO-101.
fn document(q: &[f64], wanted: &Velocity, dq: &mut [f64; 5], q_des: &mut [f64]) {
    let chain = chain("so101");
    let mut kinematics = Kinematics::new(&chain);
    kinematics.update(q);
    let wrist = kinematics.site(&chain.wrist);
    let column = |j: usize| kinematics.column(j, chain.wrist.link, &wrist.pos_m);
    let j3 = Matrix3::from_columns(&[column(0).0, column(1).0, column(2).0]);
    let v = Vector3::from(wanted.linear_m_s);
    let square = j3 * j3.transpose() + Matrix3::identity() * 0.01 * 0.01;
    let dq3 = j3.transpose() * square.try_inverse().unwrap() * v;
    let mut new = [dq3[0], dq3[1], dq3[2], 0.0, 0.0];
    let tool_axis = wrist.rot * Vector3::new(0.0, -1.0, 0.0);
    let error = tool_axis.cross(&Vector3::new(0.0, 0.0, -1.0)).xy();
    let moving = wanted.linear_m_s != [0.0; 3] || wanted.roll_rad_s != 0.0;
    let sigma = j3.svd(false, false).singular_values.min();
    let sing = (sigma / 0.10).clamp(0.0, 1.0);
    let jcol = column(3).1.xy();
    if (moving || error.norm() > 0.03) && sing > 1e-3 && jcol.norm_squared() > 1e-8 {
        let mut w = error * 6.0 * sing;
        if w.norm() > 6.0 {
            w *= 6.0 / w.norm();
        }
        let turn = jcol.dot(&w) / (jcol.norm_squared() + 1e-4 * 1e-4);
        let [low, high] = chain.joints[3].range.unwrap();
        let gap = if turn > 0.0 { high - q[3] } else { q[3] - low };
        new[3] += (gap / 0.1).clamp(0.0, 1.0) * turn;
    }
    new[4] += wanted.roll_rad_s;
    let mut torques = [0.0; 6];
    kinematics.gravity_torques(&mut torques);
    new[3] += 0.5 * torques[3];
    for j in 0..5 {
        let (limit, alpha) = if j < 3 { (0.5, 0.30) } else { (8.0, 0.08) };
        dq[j] = (1.0 - alpha) * dq[j] + alpha * new[j].clamp(-limit, limit);
        q_des[j] = chain.joints[j].clamp(q_des[j] + dq[j] / HZ);
    }
    q_des[5] = chain.joints[5].clamp(q_des[5] + wanted.gripper_per_s / HZ);
}

#[test]
fn every_step_is_the_documents() {
    let mut rng = Rng::new(41);
    for _ in 0..100 {
        let start: Vec<f64> = chain("so101")
            .joints
            .iter()
            .map(|j| j.range.unwrap())
            .map(|[low, high]| rng.uniform(low, high))
            .collect();
        let mut drive = Drive::new("so101", "seed", Some(0.0), &start);
        let (mut dq, mut q_des) = ([0.0; 5], start.clone());
        let mut wanted = Velocity::ZERO;
        for tick in 0..100 {
            if tick % 30 == 0 {
                let mut number = |most: f64| rng.uniform(-most, most);
                wanted = linear(Vector3::new(number(0.1), number(0.1), number(0.1)));
                wanted.roll_rad_s = number(1.2);
                wanted.gripper_per_s = number(0.7);
            }
            // A servo that lags behind.
            let measured: Vec<f64> =
                q_des.iter().zip(&start).map(|(d, s)| d - 0.1 * (d - s)).collect();
            drive.step_with(&measured, &wanted, false);
            document(&measured, &wanted, &mut dq, &mut q_des);
            for (ours, theirs) in drive.targets.iter().zip(&q_des) {
                assert!((ours - theirs).abs() < 1e-9, "tick {tick}: {ours} {theirs}");
            }
        }
    }
}

/// Its gravity term is a speed: a tool that points down creeps away at half its torque in N m,
/// as rad/s, until it leaves the dead zone. The careful controller stays.
#[test]
fn the_seed_creeps_and_the_default_does_not() {
    let start = [0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2, -1.5, 1.5];
    let creep = |profile: &str, secs: u32| {
        let mut drive = Drive::new("so101", profile, None, &start);
        drive.steps(180 * secs, &Velocity::ZERO);
        drive.memory.desired()[3] - start[3]
    };
    let mut kinematics = Kinematics::new(&chain("so101"));
    let mut torques = [0.0; 6];
    kinematics.update(&start);
    kinematics.gravity_torques(&mut torques);
    // From the first to the second second the smoothing has settled.
    let speed = creep("seed", 2) - creep("seed", 1);
    let wanted = 0.5 * torques[3];
    assert!(wanted.abs() > 1e-4 && (speed - wanted).abs() < 0.1 * wanted.abs(), "{speed} {wanted}");
    assert!(creep("default", 2).abs() < 1e-6, "{}", creep("default", 2));
}

#[test]
fn arms_that_it_was_not_made_for_are_refused() {
    let settings = citrange_control::ControllerSettings::load("seed").unwrap();
    let error = citrange_control::CartesianController::new(chain("panda"), &settings, 20, None)
        .unwrap_err();
    assert!(error.to_string().contains("use profile default"), "{error}");
}
