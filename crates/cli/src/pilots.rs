//! Who moves the arm when no person does.

use citrange_core::Pilot;
use citrange_sim::SimRig;

use crate::scripts;

/// The pilot for the rig's scene, from the state the rig is in.
pub(crate) fn for_rig(rig: &mut SimRig) -> anyhow::Result<Box<dyn Pilot>> {
    Ok(Box::new(scripts::grasps(rig)?))
}
