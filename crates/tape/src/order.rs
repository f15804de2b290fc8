//! Arrays of a file in the order of a scene: models of others have the same joints in another
//! order, and as many numbers. By length alone a cube's place would become an arm's pose.

use citrange_core::restore::JointSlot;
use citrange_hdf5::Array;

use crate::demo_in::DemoEpisode;

/// Positions that are the same joint's agree to rounding.
const SAME: f64 = 1e-6;

impl DemoEpisode {
    /// Puts all arrays into the order of a scene's joints, by the names in the file's model.
    /// Arrays that do not belong to these joints are left out. Answers what was done, if anything.
    pub fn arrange(&mut self, scene: &[JointSlot]) -> Option<String> {
        let file = self.model_xml.as_deref().and_then(joints_of);
        let said = match file.map(|file| matched(&file, scene)) {
            Some(Ok(order)) if order.iter().zip(scene).all(|(a, b)| a == &(b.qpos, b.dof)) => None,
            Some(Ok(order)) => {
                self.reorder(&order, scene);
                Some("the file's joints are in another order: arranged by name".to_owned())
            }
            Some(Err(why)) => {
                self.leave_arrays_out();
                Some(format!("its arrays are of another model and not used: {why}"))
            }
            None => None,
        };
        if said.is_none()
            && let Some(name) = self.contradiction(scene)
        {
            self.leave_arrays_out();
            return Some(format!(
                "its arrays are not used: they have {name} elsewhere than where the file says it \
                 is, so they are in another order"
            ));
        }
        said
    }

    fn leave_arrays_out(&mut self) {
        (self.start.qpos, self.start.qvel, self.start.flattened) = (None, None, None);
        self.states = None;
    }

    /// A thing whose named place is not where the arrays have it.
    fn contradiction(&self, scene: &[JointSlot]) -> Option<String> {
        let flat = self.start.flattened.as_ref().and_then(|f| f.get(1..));
        let qpos = self.start.qpos.as_deref().or(flat)?;
        let differs = |slot: &&JointSlot| {
            let named = slot.is_free.then(|| self.start.named.get(&slot.name)).flatten();
            let there = qpos.get(slot.qpos..slot.qpos.saturating_add(7));
            let (Some(named), Some(there)) = (named, there) else { return false };
            named.iter().zip(there).any(|(a, b)| (a - b).abs() > SAME)
        };
        scene.iter().find(differs).map(|slot| slot.name.clone())
    }

    fn reorder(&mut self, order: &[(usize, usize)], scene: &[JointSlot]) {
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (slot, (from_q, from_v)) in scene.iter().zip(order) {
            let (nq, nv) = if slot.is_free { (7, 6) } else { (1, 1) };
            q.extend(*from_q..from_q + nq);
            v.extend(*from_v..from_v + nv);
        }
        let take = |numbers: &[f64], order: &[usize]| -> Option<Vec<f64>> {
            let whole = numbers.len() == order.len();
            whole.then(|| order.iter().filter_map(|at| numbers.get(*at)).copied().collect())
        };
        let all: Vec<usize> = std::iter::once(0)
            .chain(q.iter().map(|at| 1 + at))
            .chain(v.iter().map(|at| 1 + q.len() + at))
            .collect();
        let start = &mut self.start;
        start.qpos = start.qpos.take().and_then(|n| take(&n, &q));
        start.qvel = start.qvel.take().and_then(|n| take(&n, &v));
        start.flattened = start.flattened.take().and_then(|n| take(&n, &all));
        self.states = self.states.take().and_then(|states| {
            let rows = (0..states.rows()).map(|row| take(states.row(row)?, &all));
            let rows = rows.collect::<Option<Vec<_>>>()?;
            Array::matrix(rows.len(), all.len(), rows.concat()).ok()
        });
    }
}

/// For every joint of the scene, where its positions and velocities begin in the file.
fn matched(file: &[(String, bool)], scene: &[JointSlot]) -> Result<Vec<(usize, usize)>, String> {
    let mut found = vec![None; scene.len()];
    let (mut q, mut v) = (0, 0);
    for (name, is_free) in file {
        let fitting = scene.iter().enumerate().filter(|(_, slot)| slot.is_free == *is_free);
        // `gripper0_right_finger_joint1` ends like `joint1` and like `finger_joint1`: the longest
        // name that fits is meant.
        let best = fitting.max_by_key(|(_, slot)| likeness(name, slot)).map(|(at, _)| at);
        let at = best.filter(|at| likeness(name, &scene[*at]) > 0);
        let at = at.ok_or_else(|| format!("the scene has no joint {name}"))?;
        if found[at].replace((q, v)).is_some() {
            return Err(format!("two joints of it could be {}", scene[at].name));
        }
        (q, v) = if *is_free { (q + 7, v + 6) } else { (q + 1, v + 1) };
    }
    let missing = found.iter().position(Option::is_none);
    match missing {
        Some(at) => Err(format!("it has no joint {}", scene[at].name)),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// How much of a file's joint name is the name of a joint of the scene; 0 when it is another's.
fn likeness(name: &str, slot: &JointSlot) -> usize {
    let plain = name.replace('/', "_");
    let own = slot.name.replace('/', "_");
    if plain == own {
        return usize::MAX;
    }
    if slot.is_free {
        let rest = plain.strip_prefix(&own);
        let usual = ["_joint0", "_joint", "_freejoint", "_free"];
        return if rest.is_some_and(|rest| usual.contains(&rest)) { own.len() } else { 0 };
    }
    let base = slot.name.rsplit('/').next().unwrap_or(&slot.name);
    let ends = plain.strip_suffix(base).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    if ends { base.len() } else { 0 }
}

/// Names of the joints of an MJCF model in the order of their positions, and whether they are
/// free; `None` when it has joints of other kinds or no plain structure.
fn joints_of(xml: &str) -> Option<Vec<(String, bool)>> {
    let mut joints = Vec::new();
    let mut bodies: Vec<String> = Vec::new();
    let mut rest = xml;
    let mut inside = false;
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->")?..];
            continue;
        }
        let end = rest.find('>')?;
        let tag = &rest[1..end];
        rest = &rest[end..];
        let word = tag.split(|c: char| c.is_whitespace() || c == '/').find(|w| !w.is_empty());
        let closes = tag.starts_with('/');
        match word {
            Some("worldbody") => inside = !closes && !tag.ends_with('/'),
            Some("body") if inside && closes => drop(bodies.pop()),
            Some("body") if inside && !tag.ends_with('/') => {
                bodies.push(attribute(tag, "name").unwrap_or_default().to_owned());
            }
            Some(kind @ ("joint" | "freejoint")) if inside && !closes => {
                let own = attribute(tag, "type").unwrap_or("hinge");
                let is_free = kind == "freejoint" || own == "free";
                if own == "ball" {
                    return None;
                }
                // A free joint without a name is its body's.
                let body = bodies.last().map(String::as_str).unwrap_or_default();
                let name = attribute(tag, "name").unwrap_or(body);
                joints.push((name.to_owned(), is_free));
            }
            _ => {}
        }
    }
    (!joints.is_empty()).then_some(joints)
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let after = rest[at + name.len()..].trim_start();
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
            return value[1..].split(quote).next();
        }
        rest = &rest[at + name.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = r#"<mujoco><default><joint type="ball"/></default><!-- <joint name="no"/> -->
        <worldbody><body name="base"><joint name="robot0_joint1" class="a"/>
          <body name="hand"><joint type="slide" name="gripper0_right_finger_joint1"/></body></body>
          <body name="cubeB"><freejoint/></body>
          <body name="cubeA_main"><joint name="cubeA_joint0" type='free'/><geom/></body>
        </worldbody><equality><joint joint1="x"/></equality></mujoco>"#;

    fn scene() -> Vec<JointSlot> {
        let slot =
            |name: &str, is_free, qpos, dof| JointSlot { name: name.into(), is_free, qpos, dof };
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
        assert!(demo.arrange(&scene()).unwrap().contains("another order"));
        let numbers = |range: std::ops::Range<i32>| range.map(f64::from);
        let qpos: Vec<f64> = numbers(9..16).chain(numbers(2..9)).chain([0.0, 1.0]).collect();
        let qvel: Vec<f64> =
            numbers(108..114).chain(numbers(102..108)).chain([100.0, 101.0]).collect();
        let flat = [&[7.5][..], &qpos, &qvel].concat();
        assert_eq!(demo.states.unwrap().row(0).unwrap(), flat);
        assert_eq!(demo.start.flattened, Some(flat));
        assert_eq!((demo.start.qpos, demo.start.qvel), (Some(qpos), Some(qvel)));
    }

    #[test]
    fn arrays_of_other_models_are_left_out() {
        for xml in [XML.replace("cubeA_joint0", "milk_joint0"), XML.replace("<freejoint/>", "")] {
            let mut demo = episode(Some(&xml));
            assert!(demo.arrange(&scene()).unwrap().contains("another model"));
            assert!(demo.start.qpos.is_none() && demo.start.flattened.is_none());
            assert!(demo.states.is_none());
        }
    }

    #[test]
    fn without_a_model_the_named_places_decide() {
        let mut demo = episode(None);
        assert_eq!(demo.arrange(&scene()), None);
        demo.start.named.insert("cubeA".into(), (0..7).map(f64::from).collect());
        assert_eq!(demo.arrange(&scene()), None);
        demo.start.named.insert("cubeB".into(), vec![0.5; 7]);
        assert!(demo.arrange(&scene()).unwrap().contains("cubeB elsewhere"));
        assert!(demo.start.qpos.is_none());
    }

    #[test]
    fn broken_models_are_no_models() {
        for end in 0..XML.len() {
            let _any = joints_of(&XML[..end]);
        }
        assert_eq!(joints_of("<worldbody><joint type=\"ball\"/></worldbody>"), None);
        assert_eq!(
            joints_of("<worldbody><joint name></worldbody>"),
            Some(vec![("".into(), false)])
        );
    }
}
