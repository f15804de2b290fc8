//! Which column of a file of others is which joint of a rig: by names, whatever the file calls its
//! arms. `left_shoulder_pan.pos` is joint `shoulder_pan` of the arm `left`, or of the first of two.

use std::collections::BTreeMap;

use citrange_core::RigSpec;

const BETWEEN: [char; 4] = ['_', '/', '.', '-'];

/// For every joint of a rig its place among the names; `None` where the names do not say it.
pub(crate) fn columns_by_name(names: &[String], rig: &RigSpec) -> Option<Vec<usize>> {
    let plain = |name: &String| {
        let name = name.strip_suffix(".pos").unwrap_or(name);
        name.strip_prefix("main_").unwrap_or(name).to_owned()
    };
    let names: Vec<String> = names.iter().map(plain).collect();
    let place = |joint: &str| names.iter().position(|name| name == joint);
    let exact: Option<Vec<usize>> = rig.joints.iter().map(|joint| place(&joint.name)).collect();
    if exact.is_some() {
        return exact;
    }
    let arms = rig.arms();
    let own = |arm: &citrange_core::rig::ArmSpec| {
        rig.of_joints(&arm.joints).joints.into_iter().map(|joint| joint.name).collect()
    };
    let joints: Vec<Vec<String>> = arms.iter().map(own).collect();
    let prefixed = Prefixed::of(&names, &joints);
    let scene_name = |at: usize| rig.robots_in_scene.get(at).map(String::as_str);
    let by_name: Option<Vec<usize>> = arms
        .iter()
        .enumerate()
        .map(|(at, arm)| {
            let is = |known: Option<&str>| prefixed.0.iter().position(|(p, _)| Some(&**p) == known);
            is(scene_name(at)).or_else(|| is(Some(&arm.name)))
        })
        .collect();
    let in_order = (prefixed.0.len() == arms.len()).then(|| (0..arms.len()).collect());
    let chosen: Vec<usize> = by_name.or(in_order)?;
    let mut columns = Vec::new();
    for (at, joints) in chosen.iter().zip(&joints) {
        let (_, places) = prefixed.0.get(*at)?;
        for joint in joints {
            columns.push(*places.get(joint)?);
        }
    }
    Some(columns)
}

/// Places of joints by what stands before their names, in the order of the file.
struct Prefixed(Vec<(String, BTreeMap<String, usize>)>);

impl Prefixed {
    fn of(names: &[String], joints: &[Vec<String>]) -> Self {
        let mut all: Vec<(String, BTreeMap<String, usize>)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            // `finger_joint1` ends like `joint1` too: the longest name that fits is meant.
            let ends = joints.iter().flatten().filter_map(|joint| {
                let rest = name.strip_suffix(joint.as_str())?;
                let fits = rest.is_empty() || rest.ends_with(BETWEEN);
                fits.then(|| (joint, rest.trim_end_matches(BETWEEN)))
            });
            let Some((joint, prefix)) = ends.max_by_key(|(joint, _)| joint.len()) else { continue };
            let known = all.iter().position(|(known, _)| known == prefix);
            let known = known.unwrap_or_else(|| {
                all.push((prefix.to_owned(), BTreeMap::new()));
                all.len() - 1
            });
            all[known].1.entry(joint.clone()).or_insert(at);
        }
        Self(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::Rates;
    use citrange_core::rig::{ArmSpec, JointSpec};

    fn rig(arms: usize, in_scene: &[&str]) -> RigSpec {
        let joint = |name: String| JointSpec { name, is_slide: false, range: None, gripper: None };
        let prefix = |arm: usize| if arms > 1 { format!("robot{arm}_") } else { String::new() };
        let joints = (0..arms)
            .flat_map(|arm| ["joint1", "finger_joint1"].map(|n| joint(prefix(arm) + n)))
            .collect();
        let rates = Rates { physics_hz: 60, control_hz: 60, frame_hz: 30 };
        let mut rig = RigSpec::new("arm", joints, rates);
        let arm = |at: usize| ArmSpec {
            name: format!("robot{at}"),
            robot: "arm".into(),
            joints: 2 * at..2 * at + 2,
        };
        if arms > 1 {
            rig.several_arms = (0..arms).map(arm).collect();
        }
        rig.robots_in_scene = in_scene.iter().map(|name| (*name).to_owned()).collect();
        rig
    }

    fn columns(rig: &RigSpec, names: &str) -> Option<Vec<usize>> {
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        columns_by_name(&names, rig)
    }

    #[test]
    fn arms_are_found_by_their_names_and_else_by_their_order() {
        let file =
            "right_joint1.pos right_finger_joint1.pos left_joint1.pos left_finger_joint1.pos";
        let named = rig(2, &["left", "right"]);
        assert_eq!(columns(&named, file), Some(vec![2, 3, 0, 1]), "by the scene's names");
        let other = rig(2, &["a", "b"]);
        assert_eq!(columns(&other, file), Some(vec![0, 1, 2, 3]), "in the file's order");
        assert_eq!(columns(&rig(1, &["left"]), file), Some(vec![2, 3]), "one of the two");
        assert_eq!(columns(&rig(1, &[]), file), None, "which of the two?");
        let ours = "robot1_joint1 robot1_finger_joint1 robot0_finger_joint1 robot0_joint1";
        assert_eq!(columns(&other, ours), Some(vec![3, 2, 0, 1]));
        assert_eq!(columns(&rig(1, &[]), "main_joint1.pos finger_joint1.pos"), Some(vec![0, 1]));
        assert_eq!(columns(&other, "joint1 finger_joint1"), None, "one arm is not two");
        assert_eq!(columns(&other, "left_joint1 left_finger_joint1 right_joint1"), None);
    }
}
