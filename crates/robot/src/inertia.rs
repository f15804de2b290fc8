//! What a joint must overcome beside its chain's weight: the turning of links, gears, friction.

use serde::{Deserialize, Serialize};

/// For one joint and the link behind it. Together with the masses of a [`crate::Chain`] this is
/// all that is needed to know the torques of a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkInertia {
    /// Inertia of the link about its centre of mass, along the link's axes, kg m².
    pub inertia_kg_m2: [[f64; 3]; 3],
    /// Inertia of motor and gears, as felt at the joint, kg m² (kg for slides).
    pub armature_kg_m2: f64,
    /// Torque of the joint's own damping per speed, N m s/rad (N s/m for slides).
    pub damping_nm_s: f64,
    /// Torque of its dry friction, N m (N for slides).
    pub friction_nm: f64,
}
