//! Which joint does what, found from the chain itself.

use citrange_robot::{Chain, Kinematics, RobotError};
use nalgebra::Vector3;

/// How far a joint may move the wrist and still count as not moving it.
const STILL_M: f64 = 1e-6;
/// How well two directions must agree, as the sine of the angle between them.
const ALONG: f64 = 0.01;

/// What an arm can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArmKind {
    /// 4 or 5 joints: three place the wrist, one tilts the tool, one may roll it.
    ToolDown { tilt: usize, roll: Option<usize> },
    /// 6 or 7 joints: the tool takes any pose.
    Twist,
}

/// What an arm can do, and where its tool points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roles {
    pub(crate) kind: ArmKind,
    /// Direction of the tool in the tool's link.
    pub(crate) tool_axis: Vector3<f64>,
}

impl Roles {
    pub(crate) fn of(chain: &Chain) -> Result<Self, RobotError> {
        let fail = |reason: String| RobotError::Chain { robot: chain.robot.clone(), reason };
        let arm = chain.arm_joints;
        if !(4..=7).contains(&arm) {
            return Err(fail(format!("its arm has {arm} joints; arms of 4 to 7 can be driven")));
        }
        if let Some(slide) = chain.joints[..arm].iter().find(|j| j.is_slide) {
            return Err(fail(format!("arm joint {} slides; all must turn", slide.name)));
        }
        let kinematics = Kinematics::new(chain);
        if let Some(other) = (0..arm).find(|j| !kinematics.moves(*j, chain.tool.link)) {
            let name = &chain.joints[other].name;
            return Err(fail(format!("arm joint {name} does not move the tool")));
        }
        let kind =
            if arm >= 6 { ArmKind::Twist } else { tool_down(chain, &kinematics).map_err(fail)? };
        let tool_axis = tool_axis(chain, &kinematics, kind).map_err(fail)?;
        Ok(Self { kind, tool_axis })
    }
}

fn tool_down(chain: &Chain, kinematics: &Kinematics) -> Result<ArmKind, String> {
    let wrist = kinematics.site(&chain.wrist).pos_m;
    let moves = |j: usize| kinematics.column(j, chain.wrist.link, &wrist).0.norm() > STILL_M;
    for j in 0..3 {
        // The pan axis of some arm may meet the wrist in this one pose, the others must not.
        if !kinematics.moves(j, chain.wrist.link) || (j > 0 && !moves(j)) {
            let name = &chain.joints[j].name;
            return Err(format!("joint {name} does not move the wrist; the first three must"));
        }
    }
    for j in 3..chain.arm_joints {
        if moves(j) {
            let name = &chain.joints[j].name;
            return Err(format!(
                "joint {name} moves the wrist site; in arms of 4 or 5 joints only the first three \
                 may. Put the site \"wrist\" where the axis of joint 4 passes"
            ));
        }
    }
    Ok(ArmKind::ToolDown { tilt: 3, roll: (chain.arm_joints == 5).then_some(4) })
}

/// The last joint's axis where it rolls the tool; where it tilts it, the way to the tool.
fn tool_axis(
    chain: &Chain,
    kinematics: &Kinematics,
    kind: ArmKind,
) -> Result<Vector3<f64>, String> {
    let last = chain.arm_joints - 1;
    let tool = kinematics.site(&chain.tool).pos_m;
    let in_world = match kind {
        ArmKind::ToolDown { tilt, roll: None } => {
            let out = tool - kinematics.anchor(tilt);
            let axis = kinematics.axis(tilt);
            (out - axis * axis.dot(&out))
                .try_normalize(STILL_M)
                .ok_or("the tool lies on the axis of the tilt joint, so it points nowhere")?
        }
        _ => {
            let axis = kinematics.axis(last);
            let out = (tool - kinematics.anchor(last - 1)).dot(&axis);
            if out.abs() < STILL_M {
                return Err(
                    "the tool is not in front of the last joints; check the site tool".into()
                );
            }
            axis * out.signum()
        }
    };
    if let ArmKind::ToolDown { tilt, .. } = kind
        && kinematics.axis(tilt).dot(&in_world).abs() > ALONG
    {
        let name = &chain.joints[tilt].name;
        return Err(format!("the axis of joint {name} must be square to the tool's"));
    }
    Ok(kinematics.link(chain.tool.link).rot.transpose() * in_world)
}
