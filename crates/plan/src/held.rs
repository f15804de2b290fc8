//! Things in a hand: shapes that go with a link, and must touch nothing on the way either.

use citrange_core::Pose;
use citrange_core::names::suggestion;
use citrange_core::shape::Shape;
use citrange_robot::{LinkShape, Robot, Sphere};
use nalgebra::{Isometry3, Rotation3, Translation3, UnitQuaternion};

use crate::arm::PlannedArm;
use crate::error::PlanError;

/// What the spheres of a held thing may reach beyond it.
const OVERHANG_M: f64 = 0.005;

/// Sizes beyond this are mistakes.
const LARGEST_M: f64 = 3.0;

/// What shapes can be written, for messages.
const SHAPES: [&str; 5] = ["box", "sphere", "cylinder", "capsule", "ellipsoid"];

/// A thing that an arm holds.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldThing {
    name: String,
    /// Number of the link that it goes with.
    link: usize,
    /// In the frame of that link.
    shapes: Vec<LinkShape>,
    spheres: Vec<Sphere>,
}

impl HeldThing {
    /// A thing of shapes that are placed in the frame of an arm's tool.
    ///
    /// # Errors
    /// When a shape makes no sense.
    pub fn in_tool(
        arm: &PlannedArm,
        name: &str,
        shapes: &[(Pose, Shape)],
    ) -> Result<Self, PlanError> {
        let tool = &arm.body().chain().tool;
        let link_from_tool = tool.link_from_site.isometry();
        let bad = |reason: &str| Err(PlanError::bad(format!("held {name:?}"), reason));
        if shapes.is_empty() {
            return bad("it has no shape");
        }
        let mut placed = Vec::with_capacity(shapes.len());
        for (tool_from_shape, shape) in shapes {
            let is_size = |size: f64| (0.0..LARGEST_M).contains(&size);
            let is_endless = matches!(shape, Shape::Plane { .. });
            if is_endless || !shape.sizes_m().all(is_size) {
                return bad("sizes must be lengths from 0 to 3 m");
            }
            let at = link_from_tool * tool_from_shape.isometry();
            placed.push(LinkShape {
                link: Some(tool.link),
                link_from_shape: Pose::from(at),
                shape: shape.clone(),
                name: name.to_owned(),
            });
        }
        let spheres = Robot::spheres_over(&placed, OVERHANG_M)?;
        Ok(Self { name: name.to_owned(), link: tool.link + 1, shapes: placed, spheres })
    }

    /// Of words: a shape, its sizes in metres, and where it is in the frame of the tool: `box 0.04
    /// 0.04 0.1 at 0 0 0.05`, with `roll pitch yaw` in radians behind the place if it is turned.
    /// Sizes: edges of a `box`, radius of a `sphere`, radius and height of a `cylinder` or
    /// `capsule` (round ends come on top), radii of an `ellipsoid`.
    ///
    /// # Errors
    /// Says which word is wrong.
    pub fn parse(arm: &PlannedArm, text: &str) -> Result<Self, PlanError> {
        let bad = |reason: String| PlanError::bad(format!("held {text:?}"), reason);
        let (what, place) = text.split_once(" at ").unwrap_or((text, "0 0 0"));
        let (kind, sizes) = what.trim().split_once(' ').unwrap_or((what.trim(), ""));
        let sizes = crate::goal::numbers(sizes)?;
        if sizes.iter().any(|size| *size <= 0.0) {
            return Err(bad("sizes are lengths above 0".to_owned()));
        }
        let shape = match (kind, &sizes[..]) {
            ("box", [x, y, z]) => Shape::Box { half_m: [x / 2.0, y / 2.0, z / 2.0] },
            ("sphere", [radius_m]) => Shape::Sphere { radius_m: *radius_m },
            ("cylinder", [radius_m, height]) => {
                Shape::Cylinder { radius_m: *radius_m, half_height_m: height / 2.0 }
            }
            ("capsule", [radius_m, height]) => {
                Shape::Capsule { radius_m: *radius_m, half_height_m: height / 2.0 }
            }
            ("ellipsoid", [x, y, z]) => Shape::Ellipsoid { radii_m: [*x, *y, *z] },
            (kind, _) if SHAPES.contains(&kind) => {
                let right = "box X Y Z (edges), sphere R, cylinder R HEIGHT, capsule R HEIGHT, \
                             ellipsoid X Y Z (radii)";
                return Err(bad(format!("{} sizes; right are {right}", sizes.len())));
            }
            _ => return Err(bad(suggestion(kind, SHAPES))),
        };
        let at = match crate::goal::numbers(place)?[..] {
            [x, y, z] => Isometry3::translation(x, y, z),
            [x, y, z, roll, pitch, yaw] => {
                let rotation = Rotation3::from_euler_angles(roll, pitch, yaw);
                let rotation = UnitQuaternion::from_rotation_matrix(&rotation);
                Isometry3::from_parts(Translation3::new(x, y, z), rotation)
            }
            ref other => {
                return Err(bad(format!(
                    "{} numbers behind \"at\"; 3 or 6 are right",
                    other.len()
                )));
            }
        };
        let number = arm.things().len();
        let name = if number == 0 { "held".to_owned() } else { format!("held {}", number + 1) };
        Self::in_tool(arm, &name, &[(Pose::from(at), shape)])
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of the link that it goes with.
    #[must_use]
    pub fn link(&self) -> usize {
        self.link
    }

    /// Its shapes, in the frame of that link.
    #[must_use]
    pub fn shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// Spheres that cover it, in the frame of that link.
    #[must_use]
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }
}
