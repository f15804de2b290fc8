//! The arm as the environment sees it: which joints are controlled, where they may be, where it
//! begins, how large it is, and in which groups its spheres are sensed. All of it follows from
//! the robot's description.

use citrange_core::rng::Rng;
use citrange_core::robot::RobotDescription;
use citrange_core::yaml::from_yaml;
use citrange_plan::{JointLimit, PlannedArm};
use citrange_robot::Robot;
use nalgebra::Point3;
use sha2::{Digest as _, Sha256};

use crate::error::PolicyError;

/// Reach of the arm that the numbers of the settings are made for: a UR5's. Lengths of others are
/// in proportion.
pub const REFERENCE_REACH_M: f64 = 0.9;

/// Groups of spheres that are sensed apart.
pub(crate) const GROUPS: usize = 10;

/// A joint that moves neither the tool nor a sphere by more than this (in proportion) is left
/// alone.
const STILL_M: f64 = 0.01;

/// How far a joint's start may be from home to both sides; the first joint turns all around.
const AROUND_HOME_RAD: f64 = 1.0;

/// Postures that are tried to find out how far the arm reaches.
const REACH_SAMPLES: usize = 4000;

/// Descriptions of the robots of ours.
const DESCRIPTIONS: [(&str, &str); 4] = [
    ("panda", include_str!("../../../../models/panda/robot.yaml")),
    ("so101", include_str!("../../../../models/so101/robot.yaml")),
    ("ur5", include_str!("../../../../models/ur5/robot.yaml")),
    ("ur5e", include_str!("../../../../models/ur5e/robot.yaml")),
];

/// A robot that learns.
#[derive(Clone, Debug)]
pub struct ReachArm {
    robot: Robot,
    arm: PlannedArm,
    home: Vec<f64>,
    controlled: Vec<usize>,
    ranges: Vec<[f64; 2]>,
    starts: Vec<[f64; 2]>,
    reach_m: f64,
    /// Group of each sphere; none for those that are not sensed.
    groups: Vec<Option<u8>>,
    group_links: Vec<u16>,
}

impl ReachArm {
    /// A robot of ours by its name, standing on the floor at the origin.
    ///
    /// # Errors
    /// When there is no such robot, or it is one that cannot be planned for.
    pub fn load(name: &str) -> Result<Self, PolicyError> {
        let robot = Robot::load(name)?.standing_at([0.0; 3], 0.0);
        let home = match DESCRIPTIONS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => {
                let bad = |reason: String| PolicyError::bad(format!("robot {name}"), reason);
                let described: RobotDescription =
                    from_yaml(text, name).map_err(|e| bad(e.to_string()))?;
                described.pose(&described.home).map_err(bad)?.to_vec()
            }
            None => middle(&robot),
        };
        Self::new(robot, &home)
    }

    /// Any robot, where it stands. `home`: positions of all joints around which it works.
    ///
    /// # Errors
    /// When the numbers do not fit the robot, or a joint has no limits.
    pub fn new(robot: Robot, home: &[f64]) -> Result<Self, PolicyError> {
        let chain = robot.chain();
        let what = || format!("robot {}", chain.robot);
        let count = chain.arm_joints;
        if home.len() != chain.joints.len() {
            let reason = format!("{} positions for {} joints", home.len(), chain.joints.len());
            return Err(PolicyError::bad(what(), reason));
        }
        let mut limits = Vec::new();
        for joint in &chain.joints[..count] {
            let missing = |key: &str| {
                PolicyError::bad(what(), format!("joint {} needs {key} to be trained", joint.name))
            };
            limits.push(JointLimit {
                range: joint.range.ok_or_else(|| missing("a range"))?,
                velocity: joint.max_speed.ok_or_else(|| missing("velocity_rad_s"))?,
                acceleration: joint
                    .max_acceleration
                    .ok_or_else(|| missing("acceleration_rad_s2"))?,
                jerk: joint.max_jerk.ok_or_else(|| missing("jerk_rad_s3"))?,
            });
        }
        let ranges: Vec<[f64; 2]> = limits.iter().map(|limit| limit.range).collect();
        let starts = starts(&ranges, home);
        let arm = PlannedArm::new(robot.clone(), limits, home)?;
        let reach_m = reach_m(&robot, &ranges, home)?;
        let mut made = Self {
            arm,
            home: home.to_vec(),
            controlled: Vec::new(),
            ranges,
            starts,
            reach_m,
            groups: Vec::new(),
            group_links: Vec::new(),
            robot,
        };
        made.controlled = made.find_controlled()?;
        made.group_spheres()?;
        Ok(made)
    }

    /// The same arm elsewhere, with its other joints held elsewhere.
    ///
    /// # Errors
    /// When it is another robot.
    pub fn standing(&self, arm: &PlannedArm) -> Result<Self, PolicyError> {
        let same = arm.joints() == self.arm.joints()
            && arm.body().spheres().len() == self.robot.spheres().len()
            && arm.body().chain().robot == self.robot.chain().robot;
        if !same {
            let (own, other) = (&self.robot.chain().robot, &arm.body().chain().robot);
            let reason = format!("it is for {own} as it was trained, this is {other}");
            return Err(PolicyError::bad("the policy", reason));
        }
        let mut made = self.clone();
        made.robot = arm.body().clone();
        made.arm = arm.clone();
        let count = arm.joints();
        made.home[count..].copy_from_slice(&arm.held()[count..]);
        Ok(made)
    }

    /// Its body.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// As the planner sees it.
    #[must_use]
    pub fn planned(&self) -> &PlannedArm {
        &self.arm
    }

    /// Positions of all joints around which it works.
    #[must_use]
    pub fn home(&self) -> &[f64] {
        &self.home
    }

    /// Joints that actions move; all others stay.
    #[must_use]
    pub fn controlled(&self) -> &[usize] {
        &self.controlled
    }

    /// Where the arm's joints may be, in rad.
    #[must_use]
    pub fn ranges(&self) -> &[[f64; 2]] {
        &self.ranges
    }

    /// Where starts and goals are drawn from.
    pub(crate) fn starts(&self) -> &[[f64; 2]] {
        &self.starts
    }

    /// How far the tool comes from the second joint.
    #[must_use]
    pub fn reach_m(&self) -> f64 {
        self.reach_m
    }

    /// By what the settings' lengths are multiplied.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.reach_m / REFERENCE_REACH_M
    }

    /// Group of each sphere.
    pub(crate) fn groups(&self) -> &[Option<u8>] {
        &self.groups
    }

    /// Which link each group is of.
    #[must_use]
    pub fn group_links(&self) -> &[u16] {
        &self.group_links
    }

    /// The tool's link (0 is the base) and place in it.
    pub(crate) fn tool(&self) -> (usize, [f64; 3]) {
        let tool = &self.robot.chain().tool;
        (tool.link + 1, tool.link_from_site.pos_m)
    }

    /// A checksum of what a policy depends on: joints, links, spheres. Not of where it stands.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let chain = self.robot.chain();
        hash.update(chain.robot.as_bytes());
        let mut put = |number: f64| hash.update(number.to_bits().to_le_bytes());
        for joint in &chain.joints {
            let pose = &joint.parent_from_link;
            pose.pos_m.iter().chain(&pose.quat_wxyz).chain(&joint.axis).for_each(|n| put(*n));
            joint.range.iter().flatten().for_each(|n| put(*n));
        }
        for sphere in self.robot.spheres() {
            put(f64::from(sphere.link));
            sphere.centre_m.iter().chain([&sphere.radius_m]).for_each(|n| put(*n));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Joints of the arm that move the tool or a sphere by a length that matters.
    fn find_controlled(&self) -> Result<Vec<usize>, PolicyError> {
        let centres = |joints: &[f64]| -> Result<Vec<Point3<f64>>, PolicyError> {
            let poses = self.robot.forward_kinematics(joints)?;
            let spheres = self.robot.spheres().iter();
            let mut points: Vec<_> =
                spheres.map(|s| poses[usize::from(s.link)] * Point3::from(s.centre_m)).collect();
            points.push(Point3::from(self.robot.tool_at(joints)?));
            Ok(points)
        };
        let before = centres(&self.home)?;
        let mut controlled = Vec::new();
        for joint in 0..self.arm.joints() {
            let mut turned = self.home.clone();
            turned[joint] += 1.0;
            let after = centres(&turned)?;
            let moved = before.iter().zip(&after).map(|(a, b)| (a - b).norm());
            if moved.fold(0.0, f64::max) > STILL_M * self.scale() {
                controlled.push(joint);
            }
        }
        Ok(controlled)
    }

    /// Spheres beyond the first moving link, in groups of the same link around the farthest points
    /// (Gonzalez, 1985).
    fn group_spheres(&mut self) -> Result<(), PolicyError> {
        let poses = self.robot.forward_kinematics(&self.home)?;
        let spheres = self.robot.spheres();
        let sensed: Vec<usize> = (0..spheres.len()).filter(|s| spheres[*s].link > 1).collect();
        let centre =
            |s: usize| poses[usize::from(spheres[s].link)] * Point3::from(spheres[s].centre_m);
        // One of each link, then the farthest from all before.
        let mut seeds: Vec<usize> = Vec::new();
        for sphere in sensed.iter().rev() {
            if seeds.len() < GROUPS
                && !seeds.iter().any(|s| spheres[*s].link == spheres[*sphere].link)
            {
                seeds.push(*sphere);
            }
        }
        while seeds.len() < GROUPS.min(sensed.len()) {
            let distance = |s: usize| {
                let own = seeds.iter().filter(|seed| spheres[**seed].link == spheres[s].link);
                own.map(|seed| (centre(s) - centre(*seed)).norm()).fold(f64::INFINITY, f64::min)
            };
            let far = sensed.iter().copied().max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            match far {
                Some(far) => seeds.push(far),
                None => break,
            }
        }
        seeds.sort_unstable();
        self.group_links = seeds.iter().map(|s| spheres[*s].link).collect();
        self.groups = vec![None; spheres.len()];
        for sphere in sensed {
            let distance = |seed: usize| (centre(sphere) - centre(seed)).norm();
            let own = (0..seeds.len()).filter(|g| spheres[seeds[*g]].link == spheres[sphere].link);
            let near = own.min_by(|a, b| distance(seeds[*a]).total_cmp(&distance(seeds[*b])));
            // A link without a seed of its own belongs to the nearest of all.
            let all = || {
                (0..seeds.len()).min_by(|a, b| distance(seeds[*a]).total_cmp(&distance(seeds[*b])))
            };
            self.groups[sphere] = near.or_else(all).map(|group| group as u8);
        }
        Ok(())
    }
}

/// The middle of every joint's range.
fn middle(robot: &Robot) -> Vec<f64> {
    let joints = robot.joints().iter();
    joints.map(|j| j.range.map_or(j.reference, |[low, high]| (low + high) / 2.0)).collect()
}

/// Around home, within the ranges; the first joint half a turn to both sides.
fn starts(ranges: &[[f64; 2]], home: &[f64]) -> Vec<[f64; 2]> {
    let each = ranges.iter().zip(home).enumerate().map(|(joint, ([low, high], home))| {
        if joint == 0 {
            return [low.max(-std::f64::consts::PI), high.min(std::f64::consts::PI)];
        }
        [(home - AROUND_HOME_RAD).max(*low), (home + AROUND_HOME_RAD).min(*high)]
    });
    each.collect()
}

/// The farthest that the tool comes from the second joint (the first one only turns it), over
/// many postures that are the same every time.
fn reach_m(robot: &Robot, ranges: &[[f64; 2]], home: &[f64]) -> Result<f64, PolicyError> {
    let mut rng = Rng::new(0);
    let mut joints = home.to_vec();
    let mut most = 0.0_f64;
    for _ in 0..REACH_SAMPLES {
        for (joint, [low, high]) in joints.iter_mut().zip(ranges).skip(1) {
            *joint = rng.uniform(low.max(-3.2), high.min(3.2));
        }
        let poses = robot.forward_kinematics(&joints)?;
        let second = poses.get(2).map_or_else(Point3::origin, |p| p.translation.vector.into());
        most = most.max((Point3::from(robot.tool_at(&joints)?) - second).norm());
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_are_as_their_descriptions_say() {
        for (name, controlled, reach) in [
            ("ur5e", 0..5, 0.85..1.05),
            ("ur5", 0..5, 0.85..1.05),
            ("panda", 0..7, 0.7..1.1),
            ("so101", 0..5, 0.3..0.5),
        ] {
            let arm = ReachArm::load(name).unwrap();
            assert!(reach.contains(&arm.reach_m()), "{name}: {}", arm.reach_m());
            let joints: Vec<usize> = controlled.collect();
            assert_eq!(arm.controlled()[..joints.len()], joints, "{name}");
            // Every sphere beyond the first moving link is sensed, with its own link.
            let spheres = arm.robot().spheres();
            for (sphere, group) in spheres.iter().zip(arm.groups()) {
                assert_eq!(group.is_some(), sphere.link > 1, "{name}");
                if let Some(group) = group {
                    assert_eq!(arm.group_links()[usize::from(*group)], sphere.link, "{name}");
                }
            }
        }
        assert!(ReachArm::load("ur6").is_err());
    }
}
