//! What is in the hand, and what may touch what, as people write it: names and shapes of a scene.

use citrange_core::Pose;
use citrange_core::names::suggestion;
use nalgebra::Isometry3;

use super::PlanScene;
use crate::arm::PlannedArm;
use crate::error::PlanError;
use crate::held::HeldThing;
use crate::obstacles::{AllowedTouch, Obstacles};
use crate::tool::Tool;
use crate::words::ObstacleNames;

impl PlanScene {
    /// The arm with what it holds: shapes in the frame of its tool, or things of the scene by their
    /// names, as they are to the tool with the arm at `start`. Those are in the way no longer.
    pub(super) fn holding(
        &self,
        arm: PlannedArm,
        held: &[String],
        start: &[f64],
        obstacles: &mut Obstacles,
        names: &mut ObstacleNames,
    ) -> Result<PlannedArm, PlanError> {
        let mut arm = arm;
        for text in held {
            let pieces: Vec<_> = self.solids.iter().filter(|solid| solid.name == *text).collect();
            let thing = if pieces.is_empty() {
                match HeldThing::parse(&arm, text) {
                    Ok(thing) => thing,
                    // One word that is no shape was meant as a name.
                    Err(_) if !text.contains(' ') => {
                        let known = self.solids.iter().filter(|solid| solid.can_move);
                        let known = known.map(|solid| solid.name.as_str());
                        return Err(PlanError::Bad {
                            what: format!("the scene has nothing {text:?} to hold"),
                            reason: suggestion(text, known),
                        });
                    }
                    Err(error) => return Err(error),
                }
            } else {
                if !pieces.iter().all(|piece| piece.can_move) {
                    let reason = "it is fixed to the scene: only what can move can be held";
                    return Err(PlanError::bad(format!("held {text:?}"), reason));
                }
                let tool: Isometry3<f64> = Tool::new(&arm).place(start).isometry();
                let in_tool = pieces.iter().map(|piece| {
                    let at = tool.inverse() * piece.solid.pose.isometry();
                    (Pose::from(at), piece.solid.shape.clone())
                });
                HeldThing::in_tool(&arm, text, &in_tool.collect::<Vec<_>>())?
            };
            let mut is_left = names.solids.iter().map(|name| name != text);
            obstacles.solids.retain(|_| is_left.next().unwrap_or(true));
            names.solids.retain(|name| name != text);
            arm = arm.holding(vec![thing])?;
        }
        Ok(arm)
    }
}

/// Pairs `link:thing` or `link:link` that may touch; the arm with the latter, the former among the
/// obstacles.
pub(super) fn allow(
    arm: PlannedArm,
    pairs: &[String],
    obstacles: &mut Obstacles,
    names: &ObstacleNames,
) -> Result<PlannedArm, PlanError> {
    let mut links = Vec::new();
    for text in pairs {
        let bad = |reason: String| PlanError::bad(format!("allowed pair {text:?}"), reason);
        let Some((first, second)) = text.split_once(':') else {
            return Err(bad("right is link:thing or link:link, such as gripper:table".to_owned()));
        };
        let (first, second) = (first.trim(), second.trim());
        let link = arm.link(first)?;
        let solids = names.solids.iter().enumerate().filter(|(_, name)| *name == second);
        let solids: Vec<usize> = solids.map(|(number, _)| number).collect();
        if !solids.is_empty() {
            let touches = solids.into_iter().map(|solid| AllowedTouch { link, solid });
            obstacles.allowed.extend(touches);
        } else if arm.link(second).is_ok() {
            links.push([first.to_owned(), second.to_owned()]);
        } else {
            let mut known: Vec<&str> = names.solids.iter().map(String::as_str).collect();
            known.dedup();
            let known = known.into_iter().chain(arm.link_names());
            return Err(PlanError::Bad {
                what: format!("allowed pair {text:?}: there is nothing {second:?}"),
                reason: suggestion(second, known),
            });
        }
    }
    arm.allowing(&links)
}
