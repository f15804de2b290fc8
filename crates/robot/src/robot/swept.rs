//! A robot some of whose joints may be anywhere between two positions: all that their links
//! sweep is solid.
//!
//! A sphere that moves `travel` at most between the two is put down n times on its way, each time
//! grown by `travel / 2n`: so no place of it is missed. Shapes the same.

use crate::chain::LinkShape;
use citrange_core::Pose;
use citrange_core::shape::Shape;
use nalgebra::{Isometry3, Point3, Vector3};

use super::{Robot, Sphere, check_joints, cover, link_of};
use crate::error::RobotError;

/// More copies of a sphere or a shape than this are not made.
const MOST_COPIES: f64 = 256.0;

impl Robot {
    /// The robot with all that its links sweep while joints go from `from` to `to` together; those
    /// where both are the same stay `at` theirs. It is to be asked with these joints `at` their
    /// positions: what is swept is fixed to the links there. No sphere is grown by more than
    /// `slack_m`.
    ///
    /// # Errors
    /// When positions are not as many numbers as there are joints, or the slack is no length, or
    /// too small for the way.
    pub fn swept(
        &self,
        at: &[f64],
        [from, to]: [&[f64]; 2],
        slack_m: f64,
    ) -> Result<Self, RobotError> {
        for positions in [at, from, to] {
            check_joints(&self.chain, positions)?;
        }
        if !(slack_m.is_finite() && slack_m > 0.0) {
            let reason = format!("{slack_m} is not a length above 0, such as 0.004");
            return Err(RobotError::setting("slack_m", reason));
        }
        let sweep = Sweep { body: self, at, from, to, slack_m };
        let mut made = self.clone();
        made.spheres.clear();
        for sphere in &self.spheres {
            sweep.sphere(sphere, &mut made.spheres)?;
        }
        made.spheres = cover::without_inner(std::mem::take(&mut made.spheres));
        made.shapes.clear();
        for shape in &self.shapes {
            sweep.shape(shape, &mut made.shapes)?;
        }
        // What a gripper does with itself is its own affair: fingers meet when they close.
        let carrier = |link: u16| sweep.carrier(usize::from(link));
        made.pairs.retain(|[a, b]| carrier(*a) != carrier(*b));
        Ok(made)
    }
}

struct Sweep<'a> {
    body: &'a Robot,
    at: &'a [f64],
    from: &'a [f64],
    to: &'a [f64],
    slack_m: f64,
}

impl Sweep<'_> {
    /// The link that carries another and is not moved by what is swept.
    fn carrier(&self, link: usize) -> usize {
        match link.checked_sub(1) {
            Some(joint) if self.from[joint] != self.to[joint] => {
                self.carrier(self.body.chain.joints[joint].parent.map_or(0, |p| p + 1))
            }
            _ => link,
        }
    }

    fn sphere(&self, sphere: &Sphere, all: &mut Vec<Sphere>) -> Result<(), RobotError> {
        let link = usize::from(sphere.link);
        let centre = Point3::from(sphere.centre_m);
        let (copies, grown_m) = self.copies(self.travel_m(link, &centre, 0.0), self.slack_m)?;
        for copy in 0..copies {
            let moved = self.moved(link, copy, copies)?;
            let centre_m = (moved * centre).coords.into();
            let radius_m = sphere.radius_m + grown_m;
            all.push(Sphere { link: sphere.link, centre_m, radius_m });
        }
        Ok(())
    }

    fn shape(&self, shape: &LinkShape, all: &mut Vec<LinkShape>) -> Result<(), RobotError> {
        let link = link_of(shape);
        let at = shape.link_from_shape.isometry();
        let size_m = Vector3::from(shape.shape.reach_m()).norm();
        let travel_m = self.travel_m(link, &Point3::from(at.translation.vector), size_m);
        // A box grows at its corners by more than at its faces.
        let (copies, grown_m) = self.copies(travel_m, self.slack_m / 2.0)?;
        if copies == 1 && grown_m == 0.0 {
            all.push(shape.clone());
            return Ok(());
        }
        for copy in 0..copies {
            all.push(LinkShape {
                link_from_shape: Pose::from(self.moved(link, copy, copies)? * at),
                shape: grown(&shape.shape, grown_m),
                ..shape.clone()
            });
        }
        Ok(())
    }

    /// How often something that travels so far is put down, and what it grows by.
    fn copies(&self, travel_m: f64, slack_m: f64) -> Result<(usize, f64), RobotError> {
        let copies = (travel_m / (2.0 * slack_m)).ceil().max(1.0);
        if copies > MOST_COPIES {
            let reason = format!("too small for links that sweep {travel_m:.3} m");
            return Err(RobotError::setting("slack_m", reason));
        }
        Ok((copies as usize, travel_m / (2.0 * copies)))
    }

    /// From a link as it is in the middle of one of the parts of the way to the same link `at`
    /// its place.
    fn moved(&self, link: usize, part: usize, parts: usize) -> Result<Isometry3<f64>, RobotError> {
        let fraction = (part as f64 + 0.5) / parts as f64;
        let there: Vec<f64> = (0..self.at.len())
            .map(|j| {
                let (from, to) = (self.from[j], self.to[j]);
                if from == to { self.at[j] } else { from + (to - from) * fraction }
            })
            .collect();
        let mut poses = vec![Isometry3::identity(); self.at.len() + 1];
        self.body.link_poses(self.at, &mut poses)?;
        let here = poses[link];
        self.body.link_poses(&there, &mut poses)?;
        Ok(here.inverse() * poses[link])
    }

    /// A bound of how far any point within `size_m` of a point of a link goes.
    fn travel_m(&self, link: usize, point: &Point3<f64>, size_m: f64) -> f64 {
        let joints = &self.body.chain.joints;
        let mut travel_m = 0.0;
        // How far the point can be from what the joint turns about.
        let mut lever_m = None;
        let mut reach_m = 0.0;
        let mut next = link.checked_sub(1);
        while let Some(index) = next {
            let joint = &joints[index];
            let anchor = Point3::from(joint.anchor_m);
            if lever_m.is_none() {
                let out = point - anchor;
                let axis = Vector3::from(joint.axis).normalize();
                lever_m = Some((out - axis * out.dot(&axis)).norm());
                reach_m = out.norm();
            }
            let way = (self.to[index] - self.from[index]).abs();
            let lever = lever_m.unwrap_or(reach_m) + size_m;
            travel_m += if joint.is_slide { way } else { way * lever };
            if joint.is_slide {
                let ends = [self.at[index], self.from[index], self.to[index]];
                reach_m +=
                    ends.map(|p| (p - joint.reference).abs()).into_iter().fold(0.0, f64::max);
            }
            if let Some(parent) = joint.parent {
                let in_parent = joint.parent_from_link.isometry() * anchor;
                reach_m += (in_parent - Point3::from(joints[parent].anchor_m)).norm();
                lever_m = Some(reach_m);
            }
            next = joint.parent;
        }
        travel_m
    }
}

/// A shape that holds all points within a distance of another.
fn grown(shape: &Shape, by_m: f64) -> Shape {
    match *shape {
        Shape::Box { half_m } => Shape::Box { half_m: half_m.map(|h| h + by_m) },
        Shape::Sphere { radius_m } => Shape::Sphere { radius_m: radius_m + by_m },
        Shape::Cylinder { radius_m, half_height_m } => {
            Shape::Cylinder { radius_m: radius_m + by_m, half_height_m: half_height_m + by_m }
        }
        Shape::Capsule { radius_m, half_height_m } => {
            Shape::Capsule { radius_m: radius_m + by_m, half_height_m }
        }
        // Grown, these are none of our shapes any more.
        Shape::Ellipsoid { radii_m } => Shape::Box { half_m: radii_m.map(|r| r + by_m) },
        Shape::Frustum { radius_m, top_radius_m, half_height_m } => Shape::Cylinder {
            radius_m: radius_m.max(top_radius_m) + by_m,
            half_height_m: half_height_m + by_m,
        },
        Shape::Ring { radius_m, bar_radius_m } => Shape::Cylinder {
            radius_m: radius_m + bar_radius_m + by_m,
            half_height_m: bar_radius_m + by_m,
        },
        Shape::Mesh(_) | Shape::Plane { .. } => {
            let (centre_m, half_m) = shape.bounds_m().unwrap_or(([0.0; 3], [f64::MAX; 3]));
            Shape::Box { half_m: std::array::from_fn(|a| centre_m[a].abs() + half_m[a] + by_m) }
        }
    }
}
