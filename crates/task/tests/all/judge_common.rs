//! What the tests of the judges share: things that are seen, and the noise they are seen with.

use citrange_core::ObjectSeen;
use citrange_core::pose::Pose;
use citrange_core::rng::Rng;
use nalgebra::Vector3;

/// Time from frame to frame.
pub(crate) const FRAME_S: f64 = 1.0 / 30.0;

/// A thing at a place, at rest, seen by a rig that cannot feel.
pub(crate) fn seen(pos_m: Vector3<f64>) -> ObjectSeen {
    let pose = Pose { pos_m: pos_m.into(), ..Pose::IDENTITY };
    ObjectSeen { pose, lin_vel_m_s: [0.0; 3], touch_n: None }
}

/// The same place as it would be measured: off by 0.2 mm (one sigma) along each axis.
pub(crate) fn measured(pos_m: Vector3<f64>, rng: &mut Rng) -> Vector3<f64> {
    // Twelve uniform numbers: variance one, and close enough to a bell.
    let mut bell = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
    pos_m + Vector3::from_fn(|_, _| bell()) * 0.0002
}
