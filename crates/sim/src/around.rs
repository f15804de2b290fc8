//! What stands around a robot: everything solid that is not the robot, where it is now.

use citrange_core::shape::{PosedShape, Shape};
use mujoco_rs::prelude::*;
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};

use crate::error::SimError;
use crate::layout::name_of;
use crate::picture::shape;
use crate::world::World;

/// Half the edges of the slab that stands for a floor without end.
const FLOOR_HALF_M: [f64; 3] = [10.0, 10.0, 0.5];

/// A solid piece of something.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidAround {
    /// The body that it is part of: a fixture, an object, another robot's link, or `world`.
    pub body: String,
    /// Whether it can be moved: a part of an object, or of another robot.
    pub can_move: bool,
    /// What it is, and where in the world.
    pub solid: PosedShape,
}

impl World {
    /// Everything solid in an environment but a robot. Meshes are what the
    /// engine collides: their convex hull. A floor is a slab of 20 by 20 m below it.
    ///
    /// # Errors
    /// When there is no such robot or environment, a mesh is empty, or there is a height field.
    pub fn solids_around(&self, env: usize, robot: &str) -> Result<Vec<SolidAround>, SimError> {
        let data = self.data(env)?;
        let scene = self.scene();
        let model = scene.model.as_ref();
        let own = scene.layout.robot(robot)?.bodies.clone();
        let mut solids = Vec::new();
        for geom in 0..model.ffi().ngeom as usize {
            let body = model.geom_bodyid()[geom] as usize;
            let collides = model.geom_contype()[geom] != 0 || model.geom_conaffinity()[geom] != 0;
            if own.contains(&body) || !collides {
                continue;
            }
            let shape = match model.geom_type()[geom] {
                MjtGeomBase::mjGEOM_HFIELD => None,
                _ => shape(model, geom)?,
            };
            let (shape, geom_from_shape) = match shape {
                Some(Shape::Plane { .. }) => {
                    let below = Isometry3::translation(0.0, 0.0, -FLOOR_HALF_M[2]);
                    (Shape::Box { half_m: FLOOR_HALF_M }, below)
                }
                Some(shape) => (shape, Isometry3::identity()),
                None => {
                    let name = name_of(model, MjtObjBase::mjOBJ_GEOM, geom, "a shape");
                    let reason = format!("{name} is a height field, which has no solid shape");
                    return Err(SimError::Scene { scene: scene.scene.name.clone(), reason });
                }
            };
            let rotation = Matrix3::from_row_slice(&data.geom_xmat()[geom]);
            let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix(&rotation));
            let at = Translation3::from(data.geom_xpos()[geom]);
            let pose = (Isometry3::from_parts(at, rotation) * geom_from_shape).into();
            solids.push(SolidAround {
                body: scene.body_names()[body].clone(),
                can_move: model.body_weldid()[body] != 0,
                solid: PosedShape { pose, shape },
            });
        }
        Ok(solids)
    }
}
