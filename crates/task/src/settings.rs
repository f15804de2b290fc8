//! All numbers of the autopilot, as people write them in YAML, under the names that the first
//! pick-and-place script gave them.
//!
//! A file names a profile to start from and overrides some keys:
//!
//! ```yaml
//! profile: default
//! lift_height: 0.09
//! retries: 0
//! grasp_detection: {contact_force_threshold_n: 1.0}
//! ```
//!
//! Step sizes are metres per frame and durations are frames, `frames_per_second` of them in a
//! second, whatever the rig's own rates are.

use std::path::Path;

use citrange_core::names::suggestion;
use citrange_core::origin::{Layer, Traced};
use citrange_core::schema::overrides_of;
use citrange_core::yaml::from_yaml;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::TaskError;
use crate::judge::{GraspSettings, PickupSettings, PlacementSettings, PlateSettings};
use crate::spots::SpotSettings;

/// Names and texts of the built-in profiles; each but the first says only what differs from it.
const PROFILES: [(&str, &str); 3] = [
    ("default", include_str!("../profiles/default.yaml")),
    ("panda", include_str!("../profiles/panda.yaml")),
    ("seed", include_str!("../profiles/seed.yaml")),
];

/// What the heights are heights of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HeightsOf {
    /// The point between the jaws.
    Tool,
    /// The wrist, as in the first script: the tool hangs below it.
    Wrist,
}

/// Which yaws of the jaws a thing may be taken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraspYaw {
    /// As the other things leave room: the thing is round.
    Free,
    /// Flat on two opposite faces: the thing is square.
    Faces,
}

/// All numbers of the autopilot. Heights are above the floor of the rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutopilotSettings {
    /// Frames per second that step sizes and durations are counted in.
    pub frames_per_second: f64,
    /// What the heights are heights of.
    pub heights_of: HeightsOf,
    /// Height above a thing before it is taken.
    pub approach_height: f64,
    /// Height a thing is lifted to.
    pub lift_height: f64,
    /// Height it is carried at.
    pub transport_height: f64,
    /// Height of a thing's underside above the goal when the jaws open.
    pub release_height: f64,
    /// Height of the grasp point above the thing's middle when the jaws close.
    pub grasp_offset_m: f64,
    /// Gap between the thing and the jaw that does not move, before the jaws close.
    pub grasp_clearance_m: f64,
    /// Speed of travel, metres per frame.
    pub travel_horizontal_speed: f64,
    /// Speed downwards, metres per frame.
    pub descend_step_size: f64,
    /// Speed upwards, metres per frame.
    pub lift_step_size: f64,
    /// How quickly the hand gains and loses speed.
    pub acceleration_m_s2: f64,
    /// How quickly the jaws rotate about the vertical.
    // Tapes and names of runs are made from these keys: old words stay in them.
    #[serde(rename = "turn_speed_rad_s")]
    pub yaw_speed_rad_s: f64,
    /// Fraction of each joint's largest speed that may be used.
    #[serde(rename = "joint_speed_share")]
    pub joint_speed_fraction: f64,
    /// Largest tilt of the tool.
    pub max_tilt_deg: f64,
    /// Farthest the hand may be from where it was sent; farther means something is in its way.
    pub blocked_m: f64,
    /// Smallest height of the hand's lowest point.
    pub floor_clearance_m: f64,
    /// Part of the way to the base that a lifted thing is drawn back before it is carried on.
    pub retreat_fraction: f64,
    /// Most that the jaws open to take a thing: fraction of the gripper's range. How far they do
    /// follows from the thing's shape.
    pub gripper_open: f64,
    /// Least that they are closed on it.
    pub gripper_closed: f64,
    /// Most that they open to let it go.
    pub gripper_release: f64,
    /// How far the jaws are closed beyond where they meet the thing, as a fraction of the
    /// gripper's range: with this the servo presses.
    pub grip_squeeze: f64,
    /// Gap between the thing and each moving jaw before the jaws close, where there is room.
    pub open_clearance_m: f64,
    /// The least gap between the thing and a jaw that passes it.
    pub least_clearance_m: f64,
    /// Room between thing and jaws, both sides together, when it is let go.
    pub release_clearance_m: f64,
    /// Least fraction of the gripper's range that the jaws open by to let go.
    pub least_release: f64,
    /// Most that the jaws may press off the line between their contacts: the angle whose tangent
    /// is the friction, less a margin.
    pub most_slant_deg: f64,
    /// Most that the directions may differ in which the jaws press.
    pub most_wedge_deg: f64,
    /// Least of the jaws, from their tips, that must be beside a thing where they touch it.
    pub least_overlap_m: f64,
    /// The jaws pass this far above a thing before they go down around it.
    pub over_clearance_m: f64,
    /// Which yaws of the jaws a thing may be taken with.
    #[serde(rename = "turn")]
    pub grasp_yaw: GraspYaw,
    /// Frames in which the jaws close.
    pub grasp_duration_steps: f64,
    /// Frames in which the grasp settles.
    pub grasp_settle_duration_steps: f64,
    /// Frames in which the grip is eased before the jaws open.
    pub release_ease_steps: f64,
    /// Frames in which the jaws open to let go.
    pub release_open_steps: f64,
    /// Longest time until a thing must lie still.
    pub release_duration_steps: f64,
    /// Whether the hand is brought exactly over a thing, and held there, before it goes down.
    pub enable_posture_correction: bool,
    /// Hand within this distance of where it should be, sideways, before it goes down.
    pub posture_tolerance_m: f64,
    /// Jaws and tool within this angle.
    pub posture_tolerance_deg: f64,
    /// Longest time for that.
    pub posture_duration_steps: f64,
    /// Longest approach.
    pub approach_duration_steps: f64,
    /// Longest way down.
    pub descend_duration_steps: f64,
    /// Longest lift.
    pub lift_duration_steps: f64,
    /// Longest retreat.
    pub retreat_duration_steps: f64,
    /// Longest way to the goal.
    pub transport_duration_steps: f64,
    /// Longest way home.
    pub return_duration_steps: f64,
    /// Longest work on one thing, all attempts together.
    pub target_duration_steps: f64,
    /// How often a thing is tried again, with a changed grasp.
    pub retries: u32,
    /// Whether something is held.
    pub grasp_detection: GraspSettings,
    /// Whether something can be taken.
    pub pickup: PickupSettings,
    /// Whether something lies where it should.
    pub placement: PlacementSettings,
    /// Whether the goal was moved.
    pub plate: PlateSettings,
    /// Where things go.
    pub spots: SpotSettings,
}

impl AutopilotSettings {
    /// Names of the built-in profiles.
    pub fn profiles() -> impl Iterator<Item = &'static str> + Clone {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// A built-in profile by name, or a YAML file when `name_or_path` ends in `.yaml` or `.yml`.
    ///
    /// # Errors
    /// When there is no such profile or file, a key is not known, or a value makes no sense.
    pub fn load(name_or_path: &str) -> Result<Self, TaskError> {
        let path = Path::new(name_or_path);
        if path.extension().is_some_and(|ext| ext == "yaml" || ext == "yml") {
            return Self::parse(&read(name_or_path)?, name_or_path);
        }
        let text = profile(name_or_path)?;
        Self::parse(text, &format!("profiles/{name_or_path}.yaml"))
    }

    /// Settings from the text of a file; `file` is for messages.
    ///
    /// # Errors
    /// When a key or the profile is not known, or a value makes no sense.
    pub fn parse(text: &str, file: &str) -> Result<Self, TaskError> {
        let fail = |reason: String| TaskError::Setting { file: file.to_owned(), reason };
        let value = merged(text, file, 0)?;
        let settings: Self = serde_json::from_value(value).map_err(|e| fail(e.to_string()))?;
        settings.check().map_err(fail)?;
        Ok(settings)
    }

    /// These settings with who said each value: [`Self::load`], traced.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn traced(name_or_path: &str) -> Result<Traced, TaskError> {
        let settings = Self::load(name_or_path)?;
        let mut layers = Vec::new();
        let mut next = Some(name_or_path.to_owned());
        while let Some(name) = next {
            let (text, built_in) = match profile(&name) {
                Ok(text) => (text.to_owned(), true),
                Err(_) => (read(&name)?, false),
            };
            let own: Value = from_yaml(&text, &name)?;
            let said = own.get("profile").and_then(Value::as_str).map(str::to_owned);
            next = said.or_else(|| (text != PROFILES[0].1).then(|| PROFILES[0].0.to_owned()));
            let profile = built_in.then(|| name.clone());
            layers.insert(0, Layer { profile, file: name, text });
        }
        Ok(Traced::new(&settings, &layers)?)
    }

    /// The JSON schema of a file of these settings.
    #[must_use]
    pub fn schema() -> Value {
        let profiles: Vec<&str> = Self::profiles().collect();
        overrides_of::<Self>("Numbers of the autopilot", &profiles)
    }

    /// Seconds of a number of frames.
    #[must_use]
    pub fn frames_s(&self, frames: f64) -> f64 {
        frames / self.frames_per_second
    }

    /// Metres per second of metres per frame.
    #[must_use]
    pub fn speed_m_s(&self, step_m: f64) -> f64 {
        step_m * self.frames_per_second
    }

    fn check(&self) -> Result<(), String> {
        let above = [
            ("frames_per_second", self.frames_per_second),
            ("approach_height", self.approach_height),
            ("lift_height", self.lift_height),
            ("transport_height", self.transport_height),
            ("travel_horizontal_speed", self.travel_horizontal_speed),
            ("descend_step_size", self.descend_step_size),
            ("lift_step_size", self.lift_step_size),
            ("acceleration_m_s2", self.acceleration_m_s2),
            ("turn_speed_rad_s", self.yaw_speed_rad_s),
            ("max_tilt_deg", self.max_tilt_deg),
            ("blocked_m", self.blocked_m),
            ("grasp_duration_steps", self.grasp_duration_steps),
            ("release_ease_steps", self.release_ease_steps),
            ("release_open_steps", self.release_open_steps),
            ("release_duration_steps", self.release_duration_steps),
            ("posture_tolerance_m", self.posture_tolerance_m),
            ("posture_tolerance_deg", self.posture_tolerance_deg),
            ("posture_duration_steps", self.posture_duration_steps),
            ("approach_duration_steps", self.approach_duration_steps),
            ("descend_duration_steps", self.descend_duration_steps),
            ("lift_duration_steps", self.lift_duration_steps),
            ("retreat_duration_steps", self.retreat_duration_steps),
            ("transport_duration_steps", self.transport_duration_steps),
            ("return_duration_steps", self.return_duration_steps),
            ("target_duration_steps", self.target_duration_steps),
        ];
        let not_below = [
            ("release_height", self.release_height),
            ("grasp_clearance_m", self.grasp_clearance_m),
            ("floor_clearance_m", self.floor_clearance_m),
            ("open_clearance_m", self.open_clearance_m),
            ("least_clearance_m", self.least_clearance_m),
            ("release_clearance_m", self.release_clearance_m),
            ("over_clearance_m", self.over_clearance_m),
            ("most_slant_deg", self.most_slant_deg),
            ("most_wedge_deg", self.most_wedge_deg),
            ("least_overlap_m", self.least_overlap_m),
            ("grasp_settle_duration_steps", self.grasp_settle_duration_steps),
        ];
        let fractions = [
            ("joint_speed_share", self.joint_speed_fraction),
            ("retreat_fraction", self.retreat_fraction),
            ("gripper_open", self.gripper_open),
            ("gripper_closed", self.gripper_closed),
            ("gripper_release", self.gripper_release),
            ("grip_squeeze", self.grip_squeeze),
            ("least_release", self.least_release),
        ];
        if let Some((key, n)) = above.iter().find(|(_, n)| !(*n > 0.0 && n.is_finite())) {
            return Err(format!("{key}: {n} must be a number above 0"));
        }
        if let Some((key, n)) = not_below.iter().find(|(_, n)| !(*n >= 0.0 && n.is_finite())) {
            return Err(format!("{key}: {n} must be a number, 0 or above"));
        }
        if let Some((key, n)) = fractions.iter().find(|(_, n)| !(0.0..=1.0).contains(n)) {
            return Err(format!("{key}: {n} must be between 0 and 1"));
        }
        if self.joint_speed_fraction == 0.0 {
            return Err("joint_speed_share: must be above 0, or nothing ever moves".into());
        }
        if self.gripper_closed >= self.gripper_open.min(self.gripper_release) {
            return Err("gripper_closed: must be below gripper_open and gripper_release".into());
        }
        if !self.grasp_offset_m.is_finite() {
            return Err("grasp_offset_m: must be a number".into());
        }
        let below =
            |part: &str, result: Result<(), String>| result.map_err(|e| format!("{part}.{e}"));
        below("grasp_detection", self.grasp_detection.check())?;
        below("pickup", self.pickup.check())?;
        below("placement", self.placement.check())?;
        below("plate", self.plate.check())?;
        below("spots", self.spots.check())
    }
}

fn read(path: &str) -> Result<String, TaskError> {
    std::fs::read_to_string(path)
        .map_err(|e| TaskError::File { path: path.to_owned(), reason: e.to_string() })
}

fn profile(name: &str) -> Result<&'static str, TaskError> {
    let found = PROFILES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| TaskError::unknown("profile", name, AutopilotSettings::profiles()))
}

/// The values of a file over those of the profile it names.
fn merged(text: &str, file: &str, depth: u32) -> Result<Value, TaskError> {
    let fail = |reason: String| TaskError::Setting { file: file.to_owned(), reason };
    let mut own: Value = from_yaml(text, file)?;
    let Some(map) = own.as_object_mut() else {
        return Err(fail("must be keys and values".into()));
    };
    let name = match map.remove("profile") {
        None if text == PROFILES[0].1 => return Ok(own),
        None => PROFILES[0].0.to_owned(),
        Some(Value::String(name)) if depth < 2 => name,
        Some(other) => return Err(fail(format!("profile: {other} is no profile to start from"))),
    };
    let mut base = merged(profile(&name)?, &format!("profiles/{name}.yaml"), depth + 1)?;
    to_their_sections(&mut own, &base);
    lay_over(&mut base, own, "").map_err(fail)?;
    Ok(base)
}

/// Moves keys that stand in another section than ours to the section that has them: the first
/// script kept some of the placement's beside those of the grasp, or in none.
fn to_their_sections(own: &mut Value, base: &Value) {
    let (Some(map), Some(known)) = (own.as_object_mut(), base.as_object()) else { return };
    let has = |section: &str, key: &str| known.get(section).is_some_and(|s| s.get(key).is_some());
    let home = |key: &str| known.keys().find(|section| has(section, key));
    let mut moved: Vec<(String, String, Value)> = Vec::new();
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        if let Some(inner) = map.get_mut(&name).and_then(Value::as_object_mut) {
            let strays: Vec<String> = inner
                .keys()
                .filter(|key| !has(&name, key) && home(key).is_some())
                .cloned()
                .collect();
            for key in strays {
                if let (Some(section), Some(value)) = (home(&key), inner.remove(&key)) {
                    moved.push((section.clone(), key, value));
                }
            }
        } else if !known.contains_key(&name)
            && let Some(section) = home(&name)
            && let Some(value) = map.remove(&name)
        {
            moved.push((section.clone(), name, value));
        }
    }
    for (section, key, value) in moved {
        let place = map.entry(section).or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(place) = place.as_object_mut() {
            place.entry(key).or_insert(value);
        }
    }
}

fn lay_over(base: &mut Value, own: Value, path: &str) -> Result<(), String> {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => {
            for (key, value) in own {
                let hint = suggestion(&key, base.keys().map(String::as_str));
                let Some(place) = base.get_mut(&key) else {
                    return Err(format!("{path}{key}: unknown key, {hint}"));
                };
                lay_over(place, value, &format!("{path}{key}."))?;
            }
            Ok(())
        }
        (Value::Object(_), other) => Err(format!("{path} {other} must be keys and values")),
        (place, value) => {
            *place = value;
            Ok(())
        }
    }
}
