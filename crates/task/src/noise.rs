//! Errors of what the autopilot sees of where things are: as a camera that finds them would make.

use citrange_core::rng::Rng;
use citrange_core::{Observation, Rates};

/// Numbers from 0 to 1 whose sum, less half their number, is nearly normal with variance 1.
const SUMMED: u32 = 12;
/// Spreads the numbers of frames over the seeds.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Noise on the places of things as the autopilot sees them. Every frame has errors of its own,
/// which hold until the next: a function of seed, episode and frame alone. How things are turned
/// and how fast they are stays as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseNoise {
    /// Standard deviation along each axis.
    pub sigma_m: f64,
    /// Seed of the run.
    pub seed: u64,
    /// Index of the episode.
    pub episode: u64,
}

impl PoseNoise {
    /// What is seen with these errors; pictures are left out.
    pub(crate) fn seen(&self, seen: &Observation, rates: &Rates) -> Observation {
        let frame = seen.tick / u64::from((rates.control_hz / rates.frame_hz).max(1));
        let seed = self.seed ^ frame.wrapping_mul(SPREAD);
        let mut rng = Rng::for_episode(seed, self.episode, "pose noise");
        let mut normal = || (0..SUMMED).map(|_| rng.unit()).sum::<f64>() - f64::from(SUMMED) / 2.0;
        let mut objects = seen.objects.clone();
        for object in objects.iter_mut().flatten() {
            object.pose.pos_m = object.pose.pos_m.map(|at| at + self.sigma_m * normal());
        }
        Observation {
            objects,
            tick: seen.tick,
            step: seen.step,
            at_ns: seen.at_ns,
            mode: seen.mode.clone(),
            joint_pos: seen.joint_pos.clone(),
            joint_vel: seen.joint_vel.clone(),
            joint_effort: seen.joint_effort.clone(),
            joints_at_ns: seen.joints_at_ns,
            wrist_pos_m: seen.wrist_pos_m,
            images: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::{ObjectSeen, Pose};

    use super::*;

    #[test]
    fn errors_hold_for_a_frame_and_come_again_with_the_seed() {
        let rates = Rates { physics_hz: 360, control_hz: 180, frame_hz: 30 };
        let pose = Pose::from_yaw([0.2, 0.1, 0.02], 0.5);
        let object = ObjectSeen { pose, lin_vel_m_s: [0.0; 3], touch_n: None };
        let noise = |seed, episode, tick| {
            let objects = vec![Some(object), None, Some(object)];
            let seen = Observation { tick, objects, ..Observation::default() };
            PoseNoise { sigma_m: 0.002, seed, episode }.seen(&seen, &rates).objects
        };
        assert_eq!(noise(1, 2, 6), noise(1, 2, 11));
        for other in [noise(1, 2, 12), noise(1, 3, 6), noise(2, 2, 6)] {
            assert_ne!(noise(1, 2, 6), other);
        }
        let misses = (0..2000).flat_map(|frame| {
            let objects = noise(5, 0, 6 * frame);
            objects.into_iter().flatten().map(|seen| seen.pose.pos_m[1] - 0.1).collect::<Vec<_>>()
        });
        let misses: Vec<f64> = misses.collect();
        let mean = misses.iter().sum::<f64>() / misses.len() as f64;
        let sigma = (misses.iter().map(|m| m * m).sum::<f64>() / misses.len() as f64).sqrt();
        assert!(mean.abs() < 1e-4 && (sigma - 0.002).abs() < 1e-4, "{mean} {sigma}");
    }
}
