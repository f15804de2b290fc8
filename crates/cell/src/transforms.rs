//! Where frames were in other frames, over time, and joints of robots: what a recording tells
//! beside its clouds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use citrange_cloud::{CloudError, JointState, StampedTransform};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};

/// What is known longer ago is forgotten.
const MEMORY_NS: u64 = 10_000_000_000;
/// What is farther in time from what is known is not guessed.
const HOLD_NS: u64 = 500_000_000;
/// Frames hang in frames at most so deep.
const DEEPEST: usize = 64;

/// A frame in its parent.
#[derive(Debug)]
struct Edge {
    parent: String,
    is_static: bool,
    places: VecDeque<(u64, Isometry3<f64>)>,
}

/// All frames.
#[derive(Debug, Default)]
pub(crate) struct Transforms {
    edges: BTreeMap<String, Edge>,
}

/// Without the slash that old writers put in front.
fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

fn bad(reason: String) -> CloudError {
    CloudError::bad("transforms of the recording", reason)
}

impl Transforms {
    /// Takes in where a frame was. What is no pose is left out.
    pub(crate) fn add(&mut self, sent: &StampedTransform, is_static: bool) {
        let [x, y, z, w] = sent.rotation_xyzw;
        let Some(rotation) = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6) else {
            return;
        };
        if sent.translation_m.iter().chain(&sent.rotation_xyzw).any(|v| !v.is_finite()) {
            return;
        }
        let pose = Isometry3::from_parts(Translation3::from(sent.translation_m), rotation);
        let parent = plain(&sent.header.frame_id).to_owned();
        let edge = self.edges.entry(plain(&sent.child_frame).to_owned());
        let edge = edge.or_insert_with(|| Edge {
            parent: parent.clone(),
            is_static,
            places: VecDeque::new(),
        });
        edge.parent = parent;
        edge.is_static = is_static;
        put(&mut edge.places, sent.header.stamp_ns, pose);
    }

    /// Pose of a frame in `world`, or in the frame that all hangs from where that is not said;
    /// with the name of that frame.
    ///
    /// # Errors
    /// Says which frame hangs from nothing, or is not known at that time.
    pub(crate) fn world_from(
        &self,
        frame: &str,
        world: Option<&str>,
        stamp_ns: u64,
    ) -> Result<(String, Isometry3<f64>), CloudError> {
        let world = world.map(plain);
        let mut at = plain(frame).to_owned();
        let mut pose = Isometry3::identity();
        for _ in 0..DEEPEST {
            if world == Some(at.as_str()) {
                return Ok((at, pose));
            }
            let Some(edge) = self.edges.get(&at) else {
                if world.is_none() && at != plain(frame) {
                    return Ok((at, pose));
                }
                let wanted = world.map_or(String::new(), |world| format!(", not from {world}"));
                let known = self.edges.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(bad(format!(
                    "{frame} hangs from {at}{wanted}, and nobody says where that is; known frames: \
                     {known}. Give the camera's pose in --config"
                )));
            };
            let found = match edge.is_static {
                true => edge.places.back().map(|(_, pose)| *pose),
                false => between(&edge.places, stamp_ns, |a, b, part| {
                    a.try_lerp_slerp(b, part, 1e-9).unwrap_or(*a)
                }),
            };
            let Some(found) = found else {
                return Err(bad(format!(
                    "nobody says where {at} was in {} within 0.5 s of the frame",
                    edge.parent
                )));
            };
            pose = found * pose;
            at.clone_from(&edge.parent);
        }
        Err(bad(format!("{frame} hangs from itself")))
    }
}

/// Joints of a robot over time.
#[derive(Debug, Default)]
pub(crate) struct JointHistory {
    joints: BTreeMap<String, VecDeque<(u64, f64)>>,
    newest_ns: u64,
}

impl JointHistory {
    /// Takes in positions; those that are no numbers are left out.
    pub(crate) fn add(&mut self, sent: &JointState, stamp_ns: u64) {
        for (name, position) in sent.name.iter().zip(&sent.position) {
            if position.is_finite() {
                put(self.joints.entry(name.clone()).or_default(), stamp_ns, *position);
            }
        }
        self.newest_ns = self.newest_ns.max(stamp_ns);
    }

    pub(crate) fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    /// Positions of these joints at a time, by their names; drivers may put a prefix in front.
    ///
    /// # Errors
    /// Names the joints that are missing, and those that are there.
    pub(crate) fn at(&self, names: &[String], stamp_ns: u64) -> Result<Vec<f64>, CloudError> {
        let mut missing = BTreeSet::new();
        let mut one = |name: &String| {
            let mut with_prefix = self.joints.iter().filter(|(known, _)| known.ends_with(name));
            let found = match (self.joints.get(name), with_prefix.next(), with_prefix.next()) {
                (Some(found), _, _) | (None, Some((_, found)), None) => Some(found),
                _ => None,
            };
            let position =
                found.and_then(|found| between(found, stamp_ns, |a, b, part| a + part * (b - a)));
            position.unwrap_or_else(|| {
                missing.insert(name.clone());
                0.0
            })
        };
        let positions = names.iter().map(&mut one).collect();
        if missing.is_empty() {
            return Ok(positions);
        }
        let text = |names: &mut dyn Iterator<Item = &String>| {
            names.map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let reason = format!(
            "no position within 0.5 s of the frame of {}; the recording has {}",
            text(&mut missing.iter()),
            text(&mut self.joints.keys())
        );
        Err(CloudError::bad("joints of the recording", reason))
    }
}

/// Puts a value where its time is, and forgets what is too old.
fn put<T>(values: &mut VecDeque<(u64, T)>, stamp_ns: u64, value: T) {
    let at = values.iter().rposition(|(known, _)| *known <= stamp_ns).map_or(0, |at| at + 1);
    values.insert(at, (stamp_ns, value));
    let newest_ns = values.back().map_or(0, |(newest, _)| *newest);
    while values.len() > 1
        && values.front().is_some_and(|(known, _)| newest_ns.saturating_sub(*known) > MEMORY_NS)
    {
        values.pop_front();
    }
}

/// The value at a time, between those that are known.
fn between<T: Clone>(
    values: &VecDeque<(u64, T)>,
    stamp_ns: u64,
    mix: impl Fn(&T, &T, f64) -> T,
) -> Option<T> {
    let after = values.iter().position(|(known, _)| *known >= stamp_ns);
    let before = after.map_or(values.len().checked_sub(1), |at| at.checked_sub(1));
    match (before.map(|at| &values[at]), after.map(|at| &values[at])) {
        (Some((t0, a)), Some((t1, b))) if t1 - t0 <= 2 * HOLD_NS => {
            Some(mix(a, b, (stamp_ns - t0) as f64 / (t1 - t0) as f64))
        }
        (Some((known, value)), _) if stamp_ns - known <= HOLD_NS => Some(value.clone()),
        (_, Some((known, value))) if known - stamp_ns <= HOLD_NS => Some(value.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use citrange_cloud::MessageHeader;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn edge(parent: &str, child: &str, stamp_ns: u64, x: f64) -> StampedTransform {
        StampedTransform {
            header: MessageHeader { seq: 0, stamp_ns, frame_id: parent.to_owned() },
            child_frame: child.to_owned(),
            translation_m: [x, 0.0, 0.0],
            rotation_xyzw: [0.0, 0.0, 0.0, 1.0],
        }
    }

    #[test]
    fn frames_hang_from_frames_and_move() {
        let mut all = Transforms::default();
        all.add(&edge("/world", "base", 0, 1.0), true);
        all.add(&edge("base", "tool", 10 * S, 0.0), false);
        all.add(&edge("base", "tool", 10 * S + S / 5, 0.2), false);
        all.add(&edge("tool", "/camera", 0, 5.0), true);
        let (world, pose) = all.world_from("camera", None, 10 * S + S / 10).unwrap();
        assert_eq!(world, "world");
        assert!((pose.translation.x - 6.1).abs() < 1e-9);
        let (_, in_base) = all.world_from("camera", Some("base"), 10 * S).unwrap();
        assert!((in_base.translation.x - 5.0).abs() < 1e-9);
        assert!(all.world_from("camera", None, 12 * S).unwrap_err().to_string().contains("tool"));
        let error = all.world_from("nobody", None, 0).unwrap_err().to_string();
        assert!(error.contains("known frames: base, camera, tool"), "{error}");
        all.add(&edge("camera", "world", 0, 0.0), true);
        assert!(all.world_from("camera", None, 10 * S).unwrap_err().to_string().contains("itself"));
    }

    #[test]
    fn joints_are_found_by_name_between_their_times() {
        let mut history = JointHistory::default();
        for (at, values) in [(0, [1.0, 5.0]), (S / 10, [2.0, f64::NAN])] {
            let sent = JointState {
                name: vec!["ur_elbow".to_owned(), "grip".to_owned()],
                position: values.to_vec(),
                ..JointState::default()
            };
            history.add(&sent, 7 * S + at);
        }
        let names = ["grip".to_owned(), "elbow".to_owned()];
        assert_eq!(history.at(&names, 7 * S + S / 20).unwrap(), [5.0, 1.5]);
        let error = history.at(&["wrist".to_owned()], 7 * S).unwrap_err().to_string();
        assert!(error.contains("wrist; the recording has grip, ur_elbow"), "{error}");
        assert!(history.at(&names, 9 * S).is_err());
    }
}
