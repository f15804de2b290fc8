//! A robot written down: one JSON file, read back bit for bit.

use std::path::Path;

use citrange_core::shape::Shape;
use serde::{Deserialize, Serialize};

use super::{Robot, RobotDetails, Sphere};
use crate::chain::{Chain, LinkShape};
use crate::error::RobotError;

/// Version that is written.
const FORMAT: u32 = 2;

/// The first version, which has no details; still read.
const FORMAT_WITHOUT_DETAILS: u32 = 1;

/// Metres beyond this are mistakes.
const ABSURD_M: f64 = 1e3;

/// Name and description of every robot of ours; `crates/sim/tests/robots.rs` compares them
/// with the compiled models and writes them anew.
const ROBOTS: [(&str, &str); 4] = [
    ("panda", include_str!("../../../../models/panda/description.json")),
    ("so101", include_str!("../../../../models/so101/description.json")),
    ("ur5", include_str!("../../../../models/ur5/description.json")),
    ("ur5e", include_str!("../../../../models/ur5e/description.json")),
];

/// What is written of a [`Robot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RobotFile {
    format: u32,
    chain: Chain,
    shapes: Vec<LinkShape>,
    links: Vec<String>,
    spheres: Vec<Sphere>,
    pairs: Vec<[u16; 2]>,
    #[serde(default)]
    details: RobotDetails,
}

impl Robot {
    /// Names of the robots that need no file.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        ROBOTS.iter().map(|(name, _)| *name)
    }

    /// Whether [`Robot::load`] knows a name, or may be given a path: `.json`. Models of other
    /// kinds (MJCF, URDF, robot.yaml) have to be compiled by an engine first.
    #[must_use]
    pub fn is_described(name_or_path: &str) -> bool {
        Self::names().any(|name| name == name_or_path)
            || Path::new(name_or_path).extension().is_some_and(|e| e == "json")
    }

    /// A robot of ours by its name, or any from the JSON that it was written as. No engine is
    /// started. Ours stand at the world's origin.
    ///
    /// # Errors
    /// When there is no such robot, or the file is not one.
    pub fn load(name_or_path: &str) -> Result<Self, RobotError> {
        let bad = |reason: String| RobotError::bad(format!("robot {name_or_path}"), reason);
        if let Some((_, text)) = ROBOTS.iter().find(|(name, _)| *name == name_or_path) {
            return serde_json::from_str(text).map_err(|e| bad(e.to_string()));
        }
        if !Self::is_described(name_or_path) {
            let known = citrange_core::names::suggestion(name_or_path, Self::names());
            return Err(bad(format!("no such robot and no .json file, {known}")));
        }
        let text = std::fs::read_to_string(name_or_path).map_err(|e| bad(e.to_string()))?;
        serde_json::from_str(&text).map_err(|e| bad(e.to_string()))
    }

    /// Writes it down for [`Robot::load`]: a line for each joint and shape.
    ///
    /// # Errors
    /// When a number is not one that JSON can hold.
    pub fn to_json(&self) -> Result<String, RobotError> {
        let text = serde_json::to_string(self)
            .map_err(|e| RobotError::bad("robot as JSON", e.to_string()))?;
        Ok(text.replace("},{", "},\n{").replace("}],", "}],\n") + "\n")
    }
}

impl From<Robot> for RobotFile {
    fn from(robot: Robot) -> Self {
        let Robot { chain, shapes, links, spheres, pairs, details } = robot;
        Self { format: FORMAT, chain, shapes, links, spheres, pairs, details }
    }
}

impl TryFrom<RobotFile> for Robot {
    type Error = RobotError;

    fn try_from(file: RobotFile) -> Result<Self, RobotError> {
        let RobotFile { format, chain, shapes, links, spheres, pairs, details } = file;
        let bad = |reason: String| Err(RobotError::bad(format!("body of {}", chain.robot), reason));
        if ![FORMAT, FORMAT_WITHOUT_DETAILS].contains(&format) {
            return bad(format!(
                "format {format} is not known; this version reads {FORMAT_WITHOUT_DETAILS} and \
                 {FORMAT}"
            ));
        }
        check_shapes(&chain, &shapes)?;
        check_details(&chain, &details)?;
        let count = chain.joints.len() + 1;
        if links.len() != count {
            return bad(format!("{} names for {count} links", links.len()));
        }
        let is_sphere = |s: &Sphere| {
            usize::from(s.link) < count
                && s.centre_m.iter().all(|c| c.abs() < ABSURD_M)
                && (0.0..ABSURD_M).contains(&s.radius_m)
        };
        if let Some(at) = spheres.iter().position(|s| !is_sphere(s)) {
            return bad(format!("sphere {at} needs a link below {count} and sensible lengths"));
        }
        if !spheres.is_sorted_by_key(|s| s.link) {
            return bad("spheres must be in the order of their links".into());
        }
        if let Some([a, b]) = pairs.iter().find(|[a, b]| a >= b || usize::from(*b) >= count) {
            return bad(format!("pair {a}, {b} must be two links below {count}, lower first"));
        }
        Ok(Self { chain, shapes, links, spheres, pairs, details })
    }
}

pub(super) fn check_details(chain: &Chain, details: &RobotDetails) -> Result<(), RobotError> {
    check_shapes(chain, &details.seen)?;
    let (given, joints) = (details.inertias.len(), chain.joints.len());
    if given != 0 && given != joints {
        let reason = format!("{given} inertias for {joints} joints");
        return Err(RobotError::Chain { robot: chain.robot.clone(), reason });
    }
    Ok(())
}

pub(super) fn check_shapes(chain: &Chain, shapes: &[LinkShape]) -> Result<(), RobotError> {
    chain.check()?;
    for shape in shapes {
        let pose = &shape.link_from_shape;
        let norm = pose.quat_wxyz.iter().map(|n| n * n).sum::<f64>();
        let lengths = shape.shape.reach_m();
        if shape.link.is_some_and(|joint| joint >= chain.joints.len())
            || matches!(shape.shape, Shape::Plane { .. })
            || !lengths.iter().all(|l| (0.0..ABSURD_M).contains(l))
            || !pose.pos_m.iter().all(|p| p.abs() < ABSURD_M)
            || norm.is_nan()
            || (norm - 1.0).abs() > 1e-3
        {
            let reason = format!(
                "needs a joint below {} and sensible sizes and pose, has {:?}",
                chain.joints.len(),
                shape
            );
            return Err(RobotError::bad(format!("shape {}", shape.name), reason));
        }
    }
    Ok(())
}
