//! Prints what inverse kinematics from many starts cost, and how much of all there is they find.
//! `cargo run --release -p citrange-robot --example reach_cost`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::f64::consts::PI;
use std::path::Path;
use std::time::Instant;

use citrange_core::rng::Rng;
use citrange_robot::{Chain, IkSettings, IkTarget, InverseKinematics, Kinematics, Orientation};
use nalgebra::Rotation3;

const GOALS: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chains");
    println!("robot  goal   starts  median us  99 % us  solved  answers, turns aside");
    for robot in ["so101", "ur5", "ur5e", "panda"] {
        let text = std::fs::read_to_string(folder.join(format!("{robot}.json")))?;
        let mut chain: Chain = serde_json::from_str(&text)?;
        for joint in &mut chain.joints[..] {
            // One turn only, so that answers are counted once.
            joint.range = joint.range.map(|[low, high]| [low.max(-PI), high.min(PI)]);
        }
        let all = chain.joints.len();
        let mut kinematics = Kinematics::new(&chain);
        let mut reach = InverseKinematics::new(&chain, &vec![0.0; all])?;
        for (goal, is_pose) in [("point", false), ("pose", true)] {
            for starts in [8, 32, 64, 128, 256] {
                let mut rng = Rng::new(7);
                let (mut costs, mut solved, mut answers) = (Vec::new(), 0, 0);
                for _ in 0..GOALS {
                    let ranges = chain.joints.iter().filter_map(|j| j.range);
                    let joints: Vec<f64> = ranges.map(|[l, h]| rng.uniform(l, h)).collect();
                    let mut held = vec![0.0; all];
                    held[..chain.arm_joints].copy_from_slice(&joints[..chain.arm_joints]);
                    kinematics.update(&held);
                    let tool = kinematics.site(&chain.tool);
                    let full = Orientation::Full(Rotation3::from_matrix_unchecked(tool.rot));
                    let orientation = if is_pose { full } else { Orientation::Free };
                    let settings = IkSettings { starts, ..IkSettings::default() };
                    let begun = Instant::now();
                    let aim = IkTarget { at_m: tool.pos_m, orientation };
                    let found = reach.solve(&aim, &vec![0.0; chain.arm_joints], &settings);
                    costs.push(begun.elapsed().as_secs_f64() * 1e6);
                    solved += usize::from(!found.solutions.is_empty());
                    answers += found.solutions.len();
                }
                costs.sort_by(f64::total_cmp);
                println!(
                    "{robot:<6} {goal:<6} {starts:>6} {:>10.0} {:>8.0} {:>6} % {:>8.2}",
                    costs[GOALS / 2],
                    costs[GOALS * 99 / 100],
                    solved * 100 / GOALS,
                    answers as f64 / GOALS as f64
                );
            }
        }
    }
    Ok(())
}
