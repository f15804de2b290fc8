//! The solid shapes of a robot, in the frames of its links.

use std::collections::BTreeMap;

use citrange_core::shape::Shape;
use citrange_robot::LinkShape;
use mujoco_rs::prelude::*;
use nalgebra::Isometry3;

use crate::chain::{Bodies, isometry};
use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::layout::{Tree, name_of};
use crate::mesh_boxes;

/// What a geom is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeomUse {
    Solid,
    Seen,
}

impl CompiledScene {
    /// The shapes that a robot collides with, in the frames of its links as [`citrange_control`]
    /// places them. A body without any gives what is seen of it. A mesh counts as a few boxes
    /// around slices of it.
    ///
    /// # Errors
    /// When there is no such robot, or it has a shape that is none of a solid body.
    pub fn link_shapes(&self, robot: &str) -> Result<Vec<LinkShape>, SimError> {
        self.shapes_of(robot, GeomUse::Solid)
    }

    /// The shapes that cameras see of a robot, in the same frames: finer than what it collides
    /// with. A body without any gives what is solid of it.
    ///
    /// # Errors
    /// As [`CompiledScene::link_shapes`].
    pub fn seen_shapes(&self, robot: &str) -> Result<Vec<LinkShape>, SimError> {
        self.shapes_of(robot, GeomUse::Seen)
    }

    fn shapes_of(&self, robot: &str, side: GeomUse) -> Result<Vec<LinkShape>, SimError> {
        let tree = self.layout.robot(robot)?;
        let bodies = Bodies::new(self, tree);
        let mut shapes_of = Vec::new();
        for (body, geoms) in self.geoms_of(tree, side) {
            let (link, link_from_body) = bodies.place(body);
            let body_name = &part_name(&tree.body_names[body - tree.bodies.start]);
            for geom in geoms {
                let name = self.shape_name(robot, body_name, geom);
                let parts = shapes(&self.model, geom).ok_or_else(|| {
                    let reason = format!(
                        "{name} of {robot} is a plane or a height field; robots are made of \
                         boxes, spheres, capsules, cylinders, ellipsoids and meshes"
                    );
                    SimError::Scene { scene: self.scene.name.clone(), reason }
                })?;
                let body_from_geom =
                    isometry(self.model.geom_pos()[geom], self.model.geom_quat()[geom]);
                for (shape, geom_from_shape) in parts {
                    let link_from_shape =
                        (link_from_body * body_from_geom * geom_from_shape).into();
                    shapes_of.push(LinkShape { link, link_from_shape, shape, name: name.clone() });
                }
            }
        }
        Ok(shapes_of)
    }

    /// Pairs of links that the robot's model lets pass through each other, by the name of the
    /// first solid body of each link. A pair is listed when all bodies of the one link may pass
    /// through all bodies of the other.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn allowed_pairs(&self, robot: &str) -> Result<Vec<[String; 2]>, SimError> {
        let tree = self.layout.robot(robot)?;
        let bodies = Bodies::new(self, tree);
        let mut links: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for body in self.geoms_of(tree, GeomUse::Solid).into_keys() {
            links.entry(bodies.place(body).0).or_default().push(body);
        }
        // The engine packs the two bodies of an exclusion into one number.
        let excluded = self.model.exclude_signature();
        let may_pass = |a: usize, b: usize| {
            excluded.iter().any(|s| {
                let pair = [(s >> 16) as usize, (s & 0xffff) as usize];
                pair == [a, b] || pair == [b, a]
            })
        };
        let name = |bodies: &[usize]| part_name(&tree.body_names[bodies[0] - tree.bodies.start]);
        let mut pairs = Vec::new();
        for (one, first) in links.iter().enumerate() {
            for second in links.iter().skip(one + 1) {
                if first.1.iter().all(|a| second.1.iter().all(|b| may_pass(*a, *b))) {
                    pairs.push([name(first.1), name(second.1)]);
                }
            }
        }
        Ok(pairs)
    }

    /// Per body of a robot, its geoms of one side; those of the other where it has none.
    fn geoms_of(&self, tree: &Tree, side: GeomUse) -> BTreeMap<usize, Vec<usize>> {
        let model = &self.model;
        let mut solid: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut seen: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for geom in 0..model.ffi().ngeom as usize {
            let body = model.geom_bodyid()[geom] as usize;
            // What is moved from outside is a mark for people, no part of the robot.
            let is_mark = model.body_mocapid()[body] >= 0;
            if tree.bodies.contains(&body) && !is_mark {
                let collides =
                    model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
                let list = if collides { &mut solid } else { &mut seen };
                list.entry(body).or_default().push(geom);
            }
        }
        let (mut wanted, other) = match side {
            GeomUse::Solid => (solid, seen),
            GeomUse::Seen => (seen, solid),
        };
        for (body, geoms) in other {
            wanted.entry(body).or_insert(geoms);
        }
        wanted
    }

    fn shape_name(&self, robot: &str, body: &str, geom: usize) -> String {
        let full = name_of(&self.model, MjtObjBase::mjOBJ_GEOM, geom, "");
        match full.strip_prefix(robot).and_then(|rest| rest.strip_prefix('/')) {
            Some(own) => format!("{body}/{own}"),
            None => body.to_owned(),
        }
    }
}

/// A body's name as part of a shape's: there a stroke divides the two.
fn part_name(body: &str) -> String {
    body.replace('/', "_")
}

/// What a geom is made of, with the poses in it: one shape, or several boxes of a mesh; `None` for
/// what bounds no volume.
pub(crate) fn shapes(model: &MjModel, geom: usize) -> Option<Vec<(Shape, Isometry3<f64>)>> {
    let [a, b, c] = model.geom_size()[geom];
    let shape = match model.geom_type()[geom] {
        MjtGeomBase::mjGEOM_SPHERE => Shape::Sphere { radius_m: a },
        MjtGeomBase::mjGEOM_CAPSULE => Shape::Capsule { radius_m: a, half_height_m: b },
        MjtGeomBase::mjGEOM_CYLINDER => Shape::Cylinder { radius_m: a, half_height_m: b },
        MjtGeomBase::mjGEOM_ELLIPSOID => Shape::Ellipsoid { radii_m: [a, b, c] },
        MjtGeomBase::mjGEOM_BOX => Shape::Box { half_m: [a, b, c] },
        MjtGeomBase::mjGEOM_MESH | MjtGeomBase::mjGEOM_SDF => {
            if let Some(boxes) = mesh_boxes::boxes(model, geom) {
                let each = boxes.into_iter().map(|(pose, half_m)| (Shape::Box { half_m }, pose));
                return Some(each.collect());
            }
            let [x, y, z, half_x, half_y, half_z] = model.geom_aabb()[geom];
            let bounds = Shape::Box { half_m: [half_x, half_y, half_z] };
            return Some(vec![(bounds, Isometry3::translation(x, y, z))]);
        }
        MjtGeomBase::mjGEOM_PLANE | MjtGeomBase::mjGEOM_HFIELD => return None,
    };
    Some(vec![(shape, Isometry3::identity())])
}
