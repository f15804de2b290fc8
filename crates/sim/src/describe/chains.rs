//! Which joints of a model are an arm, and which are its gripper.

use mujoco_rs::prelude::*;

use crate::layout::{Joint, Part, Root, Tree};

/// Fewer joints are no arm.
const LEAST_ARM: usize = 3;
/// A branch as deep as this, in joints, may be an arm of its own.
const ARM_DEPTH: usize = 6;
/// Joints before a branch that can be a trunk; more are an arm already.
const LONGEST_TRUNK: usize = 4;
/// What names of a gripper's only joint have in them.
const JAW_WORDS: [&str; 6] = ["grip", "jaw", "finger", "claw", "pinch", "knuckle"];

/// An arm in a model: places in the list of joints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArmChain {
    /// From the base outwards.
    pub(crate) arm: Vec<usize>,
    /// The joints behind the arm, grouped by what hangs on the hand: one group each.
    pub(crate) jaws: Vec<Vec<usize>>,
    /// First joints of other chains that were passed over.
    pub(crate) others: Vec<usize>,
}

/// Finds the arm.
pub(crate) fn find(model: &MjModel, tree: &Tree) -> Result<ArmChain, String> {
    if matches!(tree.root, Root::Free { .. }) {
        return Err("its base is free to move: it walks, flies or swims, and is no arm".into());
    }
    let joints = &tree.joints;
    if joints.is_empty() {
        return Err("it has no joints".into());
    }
    let parents = parents(model, tree);
    let children = |of: Option<usize>| -> Vec<usize> {
        (0..joints.len()).filter(|joint| parents[*joint] == of).collect()
    };
    let (mut arm, mut jaws, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = None;
    loop {
        let next = children(at);
        let depth = |joint: &usize| depth(*joint, &parents);
        let deepest = next.iter().map(depth).max().unwrap_or(0);
        match next[..] {
            [] => break,
            [one] => {
                arm.push(one);
                at = Some(one);
            }
            _ if deepest >= ARM_DEPTH && arm.len() <= LONGEST_TRUNK => {
                let Some(one) = next.iter().copied().find(|j| depth(j) == deepest) else { break };
                others.extend(next.into_iter().filter(|other| *other != one));
                arm.push(one);
                at = Some(one);
            }
            _ if arm.len() >= LEAST_ARM => {
                jaws = next.iter().map(|root| below(*root, &parents)).collect();
                break;
            }
            _ => {
                let count = next.len();
                return Err(format!(
                    "no arm is found in it: {count} short chains of joints stand beside each \
                     other, as in a hand or gripper alone"
                ));
            }
        }
    }
    if jaws.is_empty()
        && arm.len() > LEAST_ARM
        && let Some(last) = arm.last().copied()
        && is_jaw(model, tree, &joints[last])
    {
        arm.pop();
        jaws = vec![vec![last]];
    }
    if let Some(joint) = arm.iter().map(|j| &joints[*j]).find(|j| j.part != Part::Whole) {
        let name = joint.name.split(':').next().unwrap_or_default();
        return Err(format!(
            "its chain has the ball or free joint {name}; arms have hinges and slides"
        ));
    }
    if let Some(joint) = arm.iter().map(|j| &joints[*j]).find(|j| j.follows.is_some()) {
        let name = &joint.name;
        return Err(format!("joint {name} of its chain is coupled to another: no independent arm"));
    }
    if arm.len() < LEAST_ARM {
        return Err(format!(
            "its longest chain has {} joints; arms have {LEAST_ARM} or more",
            arm.len()
        ));
    }
    Ok(ArmChain { arm, jaws, others })
}

/// Whether the last joint of a chain closes a gripper, by its name or that of its body.
fn is_jaw(model: &MjModel, tree: &Tree, joint: &Joint) -> bool {
    let body = model.jnt_bodyid()[joint.id] as usize;
    let body = tree.bodies.clone().position(|b| b == body).map(|at| tree.body_names[at].as_str());
    let has = |name: &str| {
        let name = name.to_lowercase();
        JAW_WORDS.iter().any(|word| name.contains(word))
            && !["rot", "roll", "wrist", "twist", "base"].iter().any(|word| name.contains(word))
    };
    has(&joint.name) || body.is_some_and(|body| body.to_lowercase().contains("jaw"))
}

/// Per joint the joint that carries it.
pub(crate) fn parents(model: &MjModel, tree: &Tree) -> Vec<Option<usize>> {
    let body_of = |joint: &Joint| model.jnt_bodyid()[joint.id] as usize;
    let last_on = |body: usize| tree.joints.iter().rposition(|joint| body_of(joint) == body);
    let carried_by = |(index, joint): (usize, &Joint)| {
        let mut body = body_of(joint);
        if index > 0 && body_of(&tree.joints[index - 1]) == body {
            return Some(index - 1);
        }
        while body > 0 {
            body = model.body_parentid()[body] as usize;
            if let Some(found) = last_on(body) {
                return Some(found);
            }
        }
        None
    };
    tree.joints.iter().enumerate().map(carried_by).collect()
}

/// A joint and all that it carries, in the order of the model.
fn below(root: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let carried =
        |joint: &usize| std::iter::successors(Some(*joint), |at| parents[*at]).any(|at| at == root);
    (0..parents.len()).filter(carried).collect()
}

/// Joints on the longest way out from a joint, itself counted.
fn depth(root: usize, parents: &[Option<usize>]) -> usize {
    let way = |joint: usize| {
        let ups = std::iter::successors(Some(joint), |at| parents[*at]);
        ups.take_while(|at| *at != root).count() + 1
    };
    below(root, parents).into_iter().map(way).max().unwrap_or(1)
}
