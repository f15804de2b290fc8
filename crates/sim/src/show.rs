//! What a viewer needs: the shapes of a scene once, then the poses of its bodies.

use citrange_core::Pose;
use citrange_core::shape::{PosedShape, ShownShape};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::extras::quat_from_matrix;
use crate::picture::Picture;
use crate::world::World;

impl CompiledScene {
    /// Names of all bodies: `world`, `robot0/base`, `block`, …
    #[must_use]
    pub fn body_names(&self) -> &[String] {
        &self.layout.body_names
    }

    /// All visible shapes, each with the index of its body in [`CompiledScene::body_names`].
    ///
    /// # Errors
    /// When the model has something that cannot be drawn.
    pub fn shapes(&self) -> Result<Vec<ShownShape>, SimError> {
        let model = &self.model;
        let drawn = Picture::new(model)?.model.instances.into_iter();
        let shown = drawn.map(|instance| {
            let geom = instance.id as usize;
            let mut rgba = instance.material.rgba;
            if let Some(texture) = &instance.material.texture {
                rgba[..3].copy_from_slice(&texture.mean_rgb());
            }
            let pose = Pose { pos_m: model.geom_pos()[geom], quat_wxyz: model.geom_quat()[geom] };
            ShownShape {
                body: model.geom_bodyid()[geom] as usize,
                posed: PosedShape { pose, shape: instance.shape },
                rgba,
            }
        });
        Ok(shown.collect())
    }
}

impl World {
    /// Position and orientation (w, x, y, z) of every body of an environment, in single
    /// precision, into a buffer that is used again.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn shown_poses(&self, env: usize, poses: &mut Vec<[f32; 7]>) -> Result<(), SimError> {
        let data = self.data(env)?;
        poses.clear();
        poses.extend(data.xpos().iter().zip(data.xmat()).map(|(pos, rot)| {
            let [w, x, y, z] = quat_from_matrix(rot);
            [pos[0], pos[1], pos[2], w, x, y, z].map(|number| number as f32)
        }));
        Ok(())
    }
}
