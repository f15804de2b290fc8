//! Robots and random directions for the tests.
#![allow(unreachable_pub)] // shared by the test files

use std::f64::consts::FRAC_PI_2;

use citrange_core::rng::Rng;
use citrange_robot::Chain;
use nalgebra::Vector3;

pub fn chain(robot: &str) -> Chain {
    let text = match robot {
        "so101" => include_str!("../chains/so101.json"),
        "panda" => include_str!("../chains/panda.json"),
        "ur5e" => include_str!("../chains/ur5e.json"),
        "ur5" => include_str!("../chains/ur5.json"),
        other => panic!("{other}"),
    };
    serde_json::from_str(text).unwrap()
}

/// A start pose with room in every direction.
pub fn ready(robot: &str) -> Vec<f64> {
    match robot {
        "so101" => vec![0.2, 0.1, 0.2, FRAC_PI_2 - 0.3, 0.0, 0.5],
        "panda" => vec![0.0, 0.196, 0.0, -2.618, 0.0, 2.94, 0.785, 0.02, -0.02],
        _ => vec![-FRAC_PI_2, -FRAC_PI_2, FRAC_PI_2, -FRAC_PI_2, -FRAC_PI_2, 0.0],
    }
}

/// A random direction.
pub fn direction(rng: &mut Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}
