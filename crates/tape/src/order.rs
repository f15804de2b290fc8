//! Arrays of a file in the order of a scene: models of others have the same joints in another
//! order, and as many numbers. By length alone a cube's place would become an arm's pose.
//!
//! Names decide. Where a file has none, what it says twice is compared, and joint limits.

use citrange_core::restore::JointSlot;

use crate::demo_in::DemoEpisode;
use crate::joint_names::{joints_of, likeness};

/// Positions that are the same joint's agree to rounding.
const SAME: f64 = 1e-6;
/// A pose that was read at another moment of the same frame may differ by this (rad, m).
const NEAR: f64 = 0.02;
/// How far servos go beyond a joint's limits (rad, m).
const BEYOND: f64 = 0.05;

/// Where the joints of a scene are in the arrays of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matched {
    pub(crate) slots: Vec<JointSlot>,
    /// First position and velocity in the file, by slot; `None` for joints that it does not have.
    pub(crate) places: Vec<Option<(usize, usize)>>,
    /// Joints of the file that the scene does not have.
    pub(crate) foreign: Vec<(String, bool)>,
    /// Positions and velocities of the file's model.
    pub(crate) sizes: [usize; 2],
}

impl Matched {
    /// A scene's own order.
    fn identity(scene: &[JointSlot]) -> Self {
        let of = |slot: &JointSlot| if slot.is_free { (7, 6) } else { (1, 1) };
        let end = |pick: &dyn Fn(&JointSlot) -> usize| scene.iter().map(pick).max().unwrap_or(0);
        Self {
            slots: scene.to_vec(),
            places: scene.iter().map(|slot| Some((slot.qpos, slot.dof))).collect(),
            foreign: Vec::new(),
            sizes: [end(&|s| s.qpos + of(s).0), end(&|s| s.dof + of(s).1)],
        }
    }

    /// Where the file has the position that the scene has at `qpos`.
    pub(crate) fn position(&self, qpos: usize) -> Option<usize> {
        let at = self.slots.iter().position(|slot| slot.qpos == qpos)?;
        Some(self.places.get(at).copied().flatten()?.0)
    }

    fn is_whole(&self) -> bool {
        self.places.iter().all(Option::is_some)
    }

    fn is_identity(&self) -> bool {
        let same = |(place, slot): (&Option<_>, &JointSlot)| *place == Some((slot.qpos, slot.dof));
        self.places.iter().zip(&self.slots).all(same) && self.foreign.is_empty()
    }

    fn names(&self) -> String {
        let name = |slot: &JointSlot| match slot.is_free {
            true => format!("{} (7)", slot.name),
            false => slot.name.clone(),
        };
        self.slots.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

impl DemoEpisode {
    /// Puts the arrays of the start into the order of a scene's joints, by the names in the file's
    /// model. Joints that only one side has are listed; arrays that contradict what the file says
    /// elsewhere, or the joints' limits, are left out. Answers what was done, line by line.
    pub fn arrange(&mut self, scene: &[JointSlot]) -> Vec<String> {
        let mut said = Vec::new();
        self.name_order(scene, &mut said);
        let file = self.model_xml.as_deref().and_then(joints_of);
        let named = file.is_some();
        let matched = match file.map(|file| matched(&file, scene)) {
            None => Matched::identity(scene),
            Some(Ok(matched)) => matched,
            Some(Err(why)) => {
                self.leave_arrays_out();
                said.push(format!("its arrays are of another model and not used: {why}"));
                return said;
            }
        };
        if !matched.places.iter().any(Option::is_some) {
            self.leave_arrays_out();
            said.push("its arrays are of another model and not used: no joint is the same".into());
            return said;
        }
        self.check_lengths(&matched, named, &mut said);
        if !matched.is_identity() {
            match matched.is_whole() {
                true => {
                    said.push("the file's joints are in another order: arranged by name".into())
                }
                false => self.take_what_matches(&matched, &mut said),
            }
            if !matched.foreign.is_empty() {
                let names: Vec<&str> = matched.foreign.iter().map(|(n, _)| n.as_str()).collect();
                said.push(format!("joints of the file that the scene lacks: {}", names.join(", ")));
            }
            self.reorder(&matched);
        }
        if let Some(why) = self.contradiction(scene) {
            self.leave_arrays_out();
            said.push(format!("its arrays are not used: {why}"));
            return said;
        }
        let has_arrays = self.start.qpos.is_some() || self.start.flattened.is_some();
        if !named && has_arrays && !self.says_twice(scene) {
            said.push(format!(
                "NOTHING IN THE FILE SAYS THE ORDER of its {} positions: taken as this scene's: {}",
                matched.sizes[0],
                matched.names()
            ));
        }
        self.matched = Some(matched);
        said
    }

    fn leave_arrays_out(&mut self) {
        (self.start.qpos, self.start.qvel, self.start.flattened) = (None, None, None);
        self.states = None;
    }

    /// Leaves out arrays that do not have as many numbers as the model they belong to.
    fn check_lengths(&mut self, matched: &Matched, named: bool, said: &mut Vec<String>) {
        let [nq, nv] = matched.sizes;
        let whose = if named { "its own model" } else { "this scene" };
        let mut check = |name: &str, found: Option<usize>, wanted: usize| {
            let wrong = found.filter(|found| *found != wanted);
            if let Some(found) = wrong {
                said.push(format!(
                    "{name} has {found} numbers, {whose} needs {wanted}: {}",
                    matched.names()
                ));
            }
            wrong.is_some()
        };
        let start = &mut self.start;
        if check("qpos", start.qpos.as_ref().map(Vec::len), nq) {
            start.qpos = None;
        }
        if check("qvel", start.qvel.as_ref().map(Vec::len), nv) {
            start.qvel = None;
        }
        let all = 1 + nq + nv;
        if check("the flattened state", start.flattened.as_ref().map(Vec::len), all) {
            start.flattened = None;
        }
        if check("a row of states", self.states.as_ref().map(|s| s.cols()), all) {
            self.states = None;
        }
    }

    /// Robot arrays that come with joint names are put into the scene's order.
    fn name_order(&mut self, scene: &[JointSlot], said: &mut Vec<String>) {
        let Some(names) = &self.joint_names else { return };
        for (robot, values) in &mut self.start.named {
            let own = scene.iter().filter_map(|s| s.name.strip_prefix(&format!("{robot}/")));
            let own: Vec<&str> = own.collect();
            if own.is_empty() || own.len() != values.len() {
                continue;
            }
            if let Some(order) = order_by_name(names, &own) {
                let sorted: Vec<f64> = order.iter().map(|at| values[*at]).collect();
                if sorted != *values {
                    said.push(format!("{robot}: joints arranged by the names in the file"));
                }
                *values = sorted;
            }
        }
    }

    /// Named positions of the joints that both sides have.
    fn take_what_matches(&mut self, matched: &Matched, said: &mut Vec<String>) {
        let row = self.states.as_ref().and_then(|s| s.row(0)).and_then(|row| row.get(1..));
        let flat = self.start.flattened.as_ref().and_then(|f| f.get(1..));
        let Some(qpos) = self.start.qpos.as_deref().or(flat).or(row).map(<[f64]>::to_vec) else {
            return;
        };
        let mut stopped: Vec<String> = Vec::new();
        let mut lacking = Vec::new();
        for (slot, place) in matched.slots.iter().zip(&matched.places) {
            let (tree, joint) = slot.name.split_once('/').unwrap_or((&slot.name, ""));
            let count = if slot.is_free { 7 } else { 1 };
            let Some(values) = place.and_then(|(at, _)| qpos.get(at..at + count)) else {
                lacking.push(slot.name.as_str());
                // Positions of a robot are given from its first joint on.
                stopped.push(tree.to_owned());
                continue;
            };
            let known = self.start.named.contains_key(tree);
            if slot.is_free || joint.is_empty() {
                self.start.named.entry(tree.to_owned()).or_insert_with(|| values.to_vec());
            } else if !stopped.iter().any(|s| s == tree) && (!known || self.taken.contains(tree)) {
                self.taken.insert(tree.to_owned());
                self.start.named.entry(tree.to_owned()).or_default().extend_from_slice(values);
            }
        }
        said.push(format!(
            "only joints that both have are restored; the scene's own stand as in a fresh scene: {}",
            lacking.join(", ")
        ));
    }

    /// Whether the file says some position twice, so that the order was really compared.
    fn says_twice(&self, scene: &[JointSlot]) -> bool {
        let known = |slot: &&JointSlot| {
            let tree = slot.name.split('/').next().unwrap_or_default();
            self.start.named.contains_key(tree)
        };
        !self.start.bodies.is_empty() || scene.iter().filter(known).count() > 1
    }

    /// What the arrays say otherwise than the rest of the file, or beyond the joints' limits.
    fn contradiction(&self, scene: &[JointSlot]) -> Option<String> {
        let flat = self.start.flattened.as_ref().and_then(|f| f.get(1..));
        let qpos = self.start.qpos.as_deref().or(flat)?;
        for slot in scene.iter().filter(|slot| slot.is_free) {
            let named = self.start.named.get(&slot.name);
            let there = qpos.get(slot.qpos..slot.qpos.saturating_add(7));
            let (Some(named), Some(there)) = (named, there) else { continue };
            if named.iter().zip(there).any(|(a, b)| (a - b).abs() > SAME) {
                let name = &slot.name;
                return Some(format!(
                    "they have {name} elsewhere than where the file says it is, so they are in \
                     another order"
                ));
            }
        }
        let robots: Vec<&String> = self.start.named.keys().collect();
        for robot in robots {
            let prefix = format!("{robot}/");
            let own = scene.iter().filter(|slot| slot.name.starts_with(&prefix));
            for (slot, named) in own.zip(&self.start.named[robot]) {
                let Some(there) = qpos.get(slot.qpos) else { continue };
                if (there - named).abs() > NEAR {
                    return Some(format!(
                        "they have {} at {there:.3} where the file's joint positions begin with \
                         {named:.3} ({:.2} off), so they are in another order",
                        slot.name,
                        (there - named).abs()
                    ));
                }
            }
        }
        let outside = scene.iter().filter_map(|slot| {
            let ([low, high], at) = (slot.range?, *qpos.get(slot.qpos)?);
            let off = (low - at).max(at - high);
            (off > BEYOND).then_some((off, slot, at))
        });
        let (off, slot, at) = outside.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let [low, high] = slot.range.unwrap_or_default();
        Some(format!(
            "they have {} at {at:.3}, {off:.2} outside of its limits {low:.3} to {high:.3}: another \
             order or another robot",
            slot.name
        ))
    }

    fn reorder(&mut self, matched: &Matched) {
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (slot, place) in matched.slots.iter().zip(&matched.places) {
            let Some((from_q, from_v)) = place else {
                // The arrays of a scene need all of its joints.
                (self.start.qpos, self.start.qvel, self.start.flattened) = (None, None, None);
                return;
            };
            let (nq, nv) = if slot.is_free { (7, 6) } else { (1, 1) };
            q.extend(*from_q..from_q + nq);
            v.extend(*from_v..from_v + nv);
        }
        let take = |numbers: &[f64], order: &[usize]| -> Option<Vec<f64>> {
            order.iter().map(|at| numbers.get(*at).copied()).collect()
        };
        let from = matched.sizes[0];
        let all: Vec<usize> = std::iter::once(0)
            .chain(q.iter().map(|at| 1 + at))
            .chain(v.iter().map(|at| 1 + from + at))
            .collect();
        let start = &mut self.start;
        start.qpos = start.qpos.take().and_then(|n| take(&n, &q));
        start.qvel = start.qvel.take().and_then(|n| take(&n, &v));
        start.flattened = start.flattened.take().and_then(|n| take(&n, &all));
    }
}

/// For every wanted joint its place among the names of a file; `None` when they are others.
pub(crate) fn order_by_name(names: &[String], wanted: &[&str]) -> Option<Vec<usize>> {
    let ends = |name: &str, own: &str| {
        let rest = name.strip_suffix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '/', '.']))
    };
    let mut order = Vec::new();
    for own in wanted {
        let exact = names.iter().position(|name| name == own);
        let at = exact.or_else(|| names.iter().position(|name| ends(name, own)))?;
        if order.contains(&at) {
            return None;
        }
        order.push(at);
    }
    Some(order)
}

/// Where the joints of a scene are in a file; an error when two could be the same.
fn matched(file: &[(String, bool)], scene: &[JointSlot]) -> Result<Matched, String> {
    let mut places = vec![None; scene.len()];
    let mut foreign = Vec::new();
    let (mut q, mut v) = (0, 0);
    for (name, is_free) in file {
        let fitting = scene.iter().enumerate().filter(|(_, slot)| slot.is_free == *is_free);
        // `gripper0_right_finger_joint1` ends like `joint1` and like `finger_joint1`: the longest
        // name that fits is meant.
        let best = fitting.max_by_key(|(_, slot)| likeness(name, slot)).map(|(at, _)| at);
        match best.filter(|at| likeness(name, &scene[*at]) > 0) {
            None => foreign.push((name.clone(), *is_free)),
            Some(at) if places[at].replace((q, v)).is_some() => {
                return Err(format!("two joints of it could be {}", scene[at].name));
            }
            Some(_) => {}
        }
        (q, v) = if *is_free { (q + 7, v + 6) } else { (q + 1, v + 1) };
    }
    Ok(Matched { slots: scene.to_vec(), places, foreign, sizes: [q, v] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint_names::tests::XML;
    use citrange_hdf5::Array;

    fn scene() -> Vec<JointSlot> {
        let slot = |name: &str, is_free, qpos, dof| JointSlot {
            name: name.into(),
            is_free,
            qpos,
            dof,
            range: None,
        };
        vec![
            slot("cubeA", true, 0, 0),
            slot("cubeB", true, 7, 6),
            slot("robot0/joint1", false, 14, 12),
            slot("robot0/finger_joint1", false, 15, 13),
        ]
    }

    /// Positions and velocities in the order of `XML`: 0, 1, then cubeB 2.., then cubeA 9...
    fn episode(xml: Option<&str>) -> DemoEpisode {
        let (qpos, qvel): (Vec<f64>, Vec<f64>) =
            ((0..16).map(f64::from).collect(), (100..114).map(f64::from).collect());
        let flat = [&[7.5][..], &qpos, &qvel].concat();
        let mut demo = DemoEpisode { model_xml: xml.map(str::to_owned), ..DemoEpisode::default() };
        demo.states = Some(Array::matrix(1, 31, flat.clone()).unwrap());
        demo.start.flattened = Some(flat);
        (demo.start.qpos, demo.start.qvel) = (Some(qpos), Some(qvel));
        demo
    }

    #[test]
    fn joints_are_arranged_by_their_names() {
        let mut demo = episode(Some(XML));
        assert!(demo.arrange(&scene())[0].contains("another order"));
        let numbers = |range: std::ops::Range<i32>| range.map(f64::from);
        let qpos: Vec<f64> = numbers(9..16).chain(numbers(2..9)).chain([0.0, 1.0]).collect();
        let qvel: Vec<f64> =
            numbers(108..114).chain(numbers(102..108)).chain([100.0, 101.0]).collect();
        let flat = [&[7.5][..], &qpos, &qvel].concat();
        let matched = demo.matched.as_ref().unwrap();
        assert_eq!([0, 7, 14, 15].map(|at| matched.position(at)), [9, 2, 0, 1].map(Some));
        assert_eq!(demo.start.flattened, Some(flat));
        assert_eq!((demo.start.qpos, demo.start.qvel), (Some(qpos), Some(qvel)));
    }

    #[test]
    fn what_matches_is_taken_and_the_rest_listed() {
        let mut demo = episode(Some(&XML.replace("cubeA_joint0", "milk_joint0")));
        let said = demo.arrange(&scene()).join("\n");
        assert!(
            said.contains("lacks: milk_joint0") && said.contains("fresh scene: cubeA"),
            "{said}"
        );
        assert!(demo.start.qpos.is_none() && demo.start.flattened.is_none());
        assert_eq!(demo.start.named["robot0"], [0.0, 1.0]);
        assert_eq!(demo.start.named["cubeB"], (2..9).map(f64::from).collect::<Vec<_>>());
        assert!(!demo.start.named.contains_key("cubeA"));
    }

    #[test]
    fn arrays_of_other_models_are_left_out() {
        let strange =
            r#"<mujoco><worldbody><body><joint name="wheel"/></body></worldbody></mujoco>"#;
        let mut demo = episode(Some(strange));
        assert!(demo.arrange(&scene())[0].contains("another model"));
        assert!(demo.start.qpos.is_none() && demo.start.flattened.is_none());
        assert!(demo.states.is_none());
    }

    #[test]
    fn wrong_lengths_say_both_and_the_names() {
        let mut demo = episode(Some(XML));
        demo.start.qpos.as_mut().unwrap().pop();
        let said = demo.arrange(&scene()).join("\n");
        assert!(said.contains("qpos has 15 numbers, its own model needs 16: cubeA (7)"), "{said}");
        assert!(demo.start.qpos.is_none() && demo.start.flattened.is_some());
    }

    #[test]
    fn without_a_model_the_named_places_decide() {
        let mut demo = episode(None);
        assert!(demo.arrange(&scene())[0].contains("NOTHING IN THE FILE SAYS THE ORDER"));
        demo.start.named.insert("cubeA".into(), (0..7).map(f64::from).collect());
        demo.start.named.insert("robot0".into(), vec![14.0, 15.0]);
        assert_eq!(demo.arrange(&scene()), Vec::<String>::new());
        let mut turned = demo.clone();
        turned.start.named.insert("robot0".into(), vec![15.0, 14.0]);
        assert!(turned.arrange(&scene())[0].contains("robot0/joint1 at 14.000"), "{turned:?}");
        assert!(turned.start.qpos.is_none());
        // Names of the robot's joints settle it.
        let mut named = demo.clone();
        named.start.named.insert("robot0".into(), vec![15.0, 14.0]);
        named.joint_names = Some(vec!["finger_joint1".into(), "joint1".into()]);
        assert!(named.arrange(&scene())[0].contains("arranged by the names"), "{named:?}");
        assert!(named.start.qpos.is_some());
        demo.start.named.insert("cubeB".into(), vec![0.5; 7]);
        assert!(demo.arrange(&scene())[0].contains("cubeB elsewhere"));
        assert!(demo.start.qpos.is_none());
    }

    #[test]
    fn joint_limits_betray_another_order() {
        let mut limited = scene();
        limited[2].range = Some([-3.0, 3.0]);
        let mut demo = episode(None);
        let said = demo.arrange(&limited).join("\n");
        assert!(said.contains("robot0/joint1 at 14.000, 11.00 outside"), "{said}");
        assert!(demo.start.qpos.is_none() && demo.start.flattened.is_none());
    }
}
