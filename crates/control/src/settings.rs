//! Numbers of the Cartesian controller, with units in their names, as people write them in YAML.
//!
//! A file may name a profile to start from and override some keys:
//!
//! ```yaml
//! profile: default   # or seed; default when absent
//! lin_speed_m_s: 0.06
//! workspace: {radius_m: [0.08, 0.26], z_m: [0.02, 0.30]}
//! ```
//!
//! The smoothing factors are meant for 180 control ticks per second. At other rates they are
//! converted so that the time constant stays: `1 - (1 - factor)^(180 / control_hz)`.

use std::fs;
use std::path::Path;

use citrange_core::origin::{Layer, Traced};
use citrange_core::schema::overrides_of;
use citrange_core::yaml::from_yaml;
use serde::{Deserialize, Serialize};

use crate::error::ControlError;

/// The rate that the smoothing factors are written for.
const SMOOTHING_HZ: f64 = 180.0;

/// Names and texts of the built-in profiles.
const PROFILES: [(&str, &str); 2] = [
    ("default", include_str!("../profiles/default.yaml")),
    ("seed", include_str!("../profiles/seed.yaml")),
];

/// How wishes become joint speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Limits keep the direction of motion; floor, workspace, wind-up and joint limits count.
    Careful,
    /// The short controller of the first teleoperation script: every joint clipped on its own, no
    /// floor, no workspace, no wind-up limit. For arms of 4 or 5 joints.
    Plain,
}

/// What is done against gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gravity {
    /// Targets are sent ahead by torque over stiffness, so that the arm ends where it should.
    Torque,
    /// `wrist_gff_gain` times the torque is added to the speed of the tilt joint.
    Seed,
    /// Nothing.
    None,
}

/// Which joint positions the kinematics are computed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KinematicsAt {
    /// Those that are commanded: smooth, no feedback through the servos.
    Targets,
    /// Those that were measured.
    Measured,
}

/// Where the control point may go. What is absent is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceLimits {
    /// Smallest and largest distance from the first joint's axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius_m: Option<[f64; 2]>,
    /// Lowest and highest height in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z_m: Option<[f64; 2]>,
}

/// One list of fields for the settings and for the file that overrides some of them.
macro_rules! settings {
    ($($(#[doc = $doc:literal])* $(#[serde(alias = $alias:literal)])? $key:ident: $kind:ty,)*) => {
        /// All numbers of the controller.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ControllerSettings {
            $(
                $(#[doc = $doc])*
                $(#[serde(alias = $alias)] #[schemars(extend("x-aliases" = [$alias]))])?
                pub $key: $kind,
            )*
            /// Where the control point may go; reach alone limits it when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub workspace: Option<WorkspaceLimits>,
        }

        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Overrides {
            #[serde(default)]
            profile: Option<String>,
            #[serde(default)]
            workspace: Option<WorkspaceLimits>,
            $(#[serde(default $(, alias = $alias)?)] $key: Option<$kind>,)*
        }

        impl ControllerSettings {
            fn apply(&mut self, file: Overrides) {
                $(if let Some(value) = file.$key { self.$key = value; })*
                self.workspace = file.workspace.or(self.workspace);
            }
        }
    };
}

settings! {
    /// How wishes become joint speeds.
    method: Method,
    /// Which joint positions the kinematics are computed at.
    state: KinematicsAt,
    /// What is done against gravity.
    gravity: Gravity,
    /// Whether the tilt joint cancels the pitch that the other joints cause, at once.
    feed_forward: bool,
    /// Whether the hand is kept above the floor.
    floor_guard: bool,
    /// Speed of the control point while a key is held.
    #[serde(alias = "lin_speed")]
    lin_speed_m_s: f64,
    /// Speed of the wrist's roll while a key is held.
    #[serde(alias = "yaw_speed")]
    yaw_speed_rad_s: f64,
    /// Speed of a turning gripper while a key is held.
    #[serde(alias = "grip_speed")]
    grip_speed_rad_s: f64,
    /// Speed of a sliding gripper's first finger while a key is held.
    grip_speed_m_s: f64,
    /// How strongly a wrong orientation is corrected: rad/s per rad.
    #[serde(alias = "ori_gain")]
    ori_gain_per_s: f64,
    /// Damping of the least squares for the position, in metres per radian.
    lambda_pos: f64,
    /// Damping of the tilt's least squares.
    lambda_tilt: f64,
    /// Largest speed of the arm's joints.
    #[serde(alias = "vel_limit")]
    vel_limit_rad_s: f64,
    /// Largest speed of the wrist's joints.
    #[serde(alias = "vel_limit_wrist")]
    vel_limit_wrist_rad_s: f64,
    /// Fraction of the new speed taken per tick at 180 Hz: arm.
    smooth_dq: f64,
    /// Fraction of the new speed taken per tick at 180 Hz: roll and tilt correction.
    smooth_dq_wrist: f64,
    /// Speed per torque for `gravity: seed`, rad/s per N m.
    wrist_gff_gain: f64,
    /// Tilt that is not corrected while nothing is asked for.
    dead_zone_rad: f64,
    /// Smallest singular value of the position Jacobian below which tilt correction fades.
    singularity_m: f64,
    /// Distance from a joint limit within which tilt correction fades, towards it.
    limit_margin_rad: f64,
    /// Height of the lowest point of the hand above the floor that is kept.
    floor_clearance_m: f64,
    /// Targets never run further than this from the measured joints, and less where the strength of
    /// the servo is known; 0 switches it off.
    windup_rad: f64,
    /// Time in which targets that were in force at the start give way to those of the controller.
    soft_start_s: f64,
    /// Time constant of the brake.
    brake_s: f64,
}

fn is_file(name_or_path: &str) -> bool {
    Path::new(name_or_path).extension().is_some_and(|ext| ext == "yaml" || ext == "yml")
}

fn read(path: &str) -> Result<String, ControlError> {
    fs::read_to_string(path)
        .map_err(|e| ControlError::File { path: path.into(), reason: e.to_string() })
}

impl ControllerSettings {
    /// Names of the built-in profiles.
    pub fn profiles() -> impl Iterator<Item = &'static str> + Clone {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// A built-in profile by name, or a YAML file when `name_or_path` ends in `.yaml` or `.yml`.
    ///
    /// # Errors
    /// When there is no such profile or file, a key is not known, or a value makes no sense.
    pub fn load(name_or_path: &str) -> Result<Self, ControlError> {
        if is_file(name_or_path) {
            return Self::parse(&read(name_or_path)?, name_or_path);
        }
        let (name, text) = PROFILES
            .iter()
            .find(|(name, _)| *name == name_or_path)
            .ok_or_else(|| ControlError::unknown("profile", name_or_path, Self::profiles()))?;
        let settings: Self = from_yaml(text, &format!("profiles/{name}.yaml"))?;
        settings.check()?;
        Ok(settings)
    }

    /// Settings from the text of a file that overrides a profile.
    ///
    /// # Errors
    /// When a key or the profile is not known, or a value makes no sense.
    pub fn parse(text: &str, file: &str) -> Result<Self, ControlError> {
        let overrides: Overrides = from_yaml(text, file)?;
        let profile = overrides.profile.as_deref().unwrap_or("default");
        if !Self::profiles().any(|known| known == profile) {
            return Err(ControlError::unknown("profile", profile, Self::profiles()));
        }
        let mut settings = Self::load(profile)?;
        settings.apply(overrides);
        settings.check()?;
        Ok(settings)
    }

    /// These settings with who said each value: [`Self::load`], traced.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn traced(name_or_path: &str) -> Result<Traced, ControlError> {
        let settings = Self::load(name_or_path)?;
        let layer = |name: &str| {
            let text = PROFILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
            Layer {
                profile: Some(name.to_owned()),
                file: format!("profiles/{name}.yaml"),
                text: text.unwrap_or_default().to_owned(),
            }
        };
        let mut layers = vec![];
        if is_file(name_or_path) {
            let text = read(name_or_path)?;
            let overrides: Overrides = from_yaml(&text, name_or_path)?;
            layers.push(layer(overrides.profile.as_deref().unwrap_or("default")));
            layers.push(Layer { profile: None, file: name_or_path.to_owned(), text });
        } else {
            layers.push(layer(name_or_path));
        }
        Ok(Traced::new(&settings, &layers)?)
    }

    /// The JSON schema of a file of these settings.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        let profiles: Vec<&str> = Self::profiles().collect();
        overrides_of::<Self>("How an arm answers to keys", &profiles)
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Names the key, its value and what would be right.
    pub fn check(&self) -> Result<(), ControlError> {
        let above = "must be a number above 0";
        let not_below = "must be a number, 0 or above";
        let fraction = "must be above 0 and at most 1";
        type Test = fn(f64) -> bool;
        let positive: Test = |n| n > 0.0 && n.is_finite();
        let zero_or_more: Test = |n| n >= 0.0 && n.is_finite();
        let part: Test = |n| n > 0.0 && n <= 1.0;
        let rows: [(&'static str, f64, Test, &'static str); 19] = [
            ("lin_speed_m_s", self.lin_speed_m_s, positive, above),
            ("yaw_speed_rad_s", self.yaw_speed_rad_s, positive, above),
            ("grip_speed_rad_s", self.grip_speed_rad_s, positive, above),
            ("grip_speed_m_s", self.grip_speed_m_s, positive, above),
            ("ori_gain_per_s", self.ori_gain_per_s, zero_or_more, not_below),
            ("lambda_pos", self.lambda_pos, positive, above),
            ("lambda_tilt", self.lambda_tilt, positive, above),
            ("vel_limit_rad_s", self.vel_limit_rad_s, positive, above),
            ("vel_limit_wrist_rad_s", self.vel_limit_wrist_rad_s, positive, above),
            ("smooth_dq", self.smooth_dq, part, fraction),
            ("smooth_dq_wrist", self.smooth_dq_wrist, part, fraction),
            ("wrist_gff_gain", self.wrist_gff_gain, f64::is_finite, "must be a number"),
            ("dead_zone_rad", self.dead_zone_rad, zero_or_more, not_below),
            ("singularity_m", self.singularity_m, positive, above),
            ("limit_margin_rad", self.limit_margin_rad, positive, above),
            ("floor_clearance_m", self.floor_clearance_m, zero_or_more, not_below),
            ("windup_rad", self.windup_rad, zero_or_more, not_below),
            ("soft_start_s", self.soft_start_s, zero_or_more, not_below),
            ("brake_s", self.brake_s, positive, above),
        ];
        if let Some((key, value, _, wanted)) = rows.into_iter().find(|(_, n, test, _)| !test(*n)) {
            return Err(ControlError::Setting { key, value, wanted });
        }
        let space = self.workspace.unwrap_or_default();
        let spans = [("workspace.radius_m", space.radius_m), ("workspace.z_m", space.z_m)];
        for (key, span) in spans {
            if let Some([from, to]) = span
                && !(from < to && from.is_finite() && to.is_finite())
            {
                let wanted = "must be [smallest, largest], two numbers in this order";
                return Err(ControlError::Setting { key, value: from, wanted });
            }
        }
        Ok(())
    }

    /// A smoothing factor for another control rate, with the same time constant.
    #[must_use]
    pub fn smoothing_at(factor: f64, control_hz: u32) -> f64 {
        1.0 - (1.0 - factor).powf(SMOOTHING_HZ / f64::from(control_hz.max(1)))
    }
}
