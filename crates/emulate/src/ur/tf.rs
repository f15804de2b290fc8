//! Frames that a UR's driver publishes.

use citrange_core::Pose;
use citrange_robot::{Chain, Kinematics};
use citrange_ros::message::{Header, TransformStamped};

/// Where a frame is in its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    child: &'static str,
    pos_m: [f64; 3],
    quat_wxyz: [f64; 4],
}

impl Placed {
    pub(super) fn stamped(self, header: Header) -> TransformStamped {
        let [w, x, y, z] = self.quat_wxyz;
        TransformStamped {
            header,
            child_frame_id: self.child.to_owned(),
            translation: self.pos_m,
            rotation_xyzw: [x, y, z, w],
        }
    }
}

/// The tool in the frame `base`, which is `base_link` turned by half a turn about z.
pub(super) fn base_from_tool(chain: &Chain, pos: &[f64]) -> Placed {
    let mut kinematics = Kinematics::new(chain);
    kinematics.update(pos);
    let world_from_tool = kinematics.site(&chain.tool).isometry();
    let in_link: Pose = (chain.world_from_base.isometry().inverse() * world_from_tool).into();
    let [x, y, z] = in_link.pos_m;
    let [qw, qx, qy, qz] = in_link.quat_wxyz;
    Placed { child: "tool0_controller", pos_m: [-x, -y, z], quat_wxyz: [-qz, -qy, qx, qw] }
}

/// A camera in the world, as `/tf_static` has it.
pub(super) fn world_from_camera(pose: &Pose, frame: String, header: Header) -> TransformStamped {
    let [w, x, y, z] = pose.quat_wxyz;
    TransformStamped {
        header,
        child_frame_id: frame,
        translation: pose.pos_m,
        rotation_xyzw: [x, y, z, w],
    }
}

#[cfg(test)]
mod tests {
    use citrange_robot::Robot;

    use super::*;

    #[test]
    fn base_is_half_a_turn_from_base_link() {
        let robot = Robot::load("ur5e").unwrap();
        let chain = robot.chain();
        // Stretched out along base_link's x: along -x of base.
        let tool = base_from_tool(chain, &[0.0; 6]);
        let mut kinematics = Kinematics::new(chain);
        kinematics.update(&[0.0; 6]);
        let at = kinematics.site(&chain.tool).pos_m;
        assert!((tool.pos_m[0] + at.x).abs() < 1e-12 && (tool.pos_m[1] + at.y).abs() < 1e-12);
        let norm: f64 = tool.quat_wxyz.iter().map(|q| q * q).sum();
        assert!((norm - 1.0).abs() < 1e-12);
    }
}
