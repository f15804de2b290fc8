//! Lights as the shading loop wants them: in the frame of every instance.

use crate::camera::Camera;
use crate::math;
use crate::scene::{LightKind, Placement, SceneModel};
use crate::shadow::ShadowMap;

/// What a light does, wherever it is seen from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LightUse {
    pub(crate) is_directional: bool,
    /// Cosine of the cutoff and exponent.
    pub(crate) spot: Option<[f32; 2]>,
    pub(crate) diffuse: [f32; 3],
    pub(crate) specular: [f32; 3],
    /// `None` when it does not fade with distance.
    pub(crate) attenuation: Option<[f32; 3]>,
    /// Index of its shadow map.
    pub(crate) shadow: Option<usize>,
    world: [f64; 3],
    axis: [f64; 3],
}

/// A light in the frame of one instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalLight {
    /// Direction towards a directional light, position of another.
    pub(crate) at: [f32; 3],
    /// Direction in which a spot light shines.
    pub(crate) axis: [f32; 3],
    /// Rows of `light_from_instance`, with the offset last.
    pub(crate) shadow_rows: [[f32; 4]; 3],
}

/// All lights of one frame.
#[derive(Debug, Default)]
pub(crate) struct Lights {
    pub(crate) uses: Vec<LightUse>,
    pub(crate) ambient: [f32; 3],
    locals: Vec<LocalLight>,
}

impl Lights {
    /// `shadow_of[i]` is the map of light `i` of the model.
    pub(crate) fn build(
        &mut self,
        model: &SceneModel,
        placements: &[Placement],
        camera: &Camera,
        shadows: &[ShadowMap],
        shadow_of: &[Option<usize>],
    ) {
        self.uses.clear();
        self.ambient = model.ambient;
        for (i, light) in model.lights.iter().enumerate() {
            for k in 0..3 {
                self.ambient[k] += light.ambient[k];
            }
            let dir = math::normalize(light.dir);
            let is_directional = light.kind == LightKind::Directional;
            let spot = match light.kind {
                LightKind::Spot { cutoff_rad, exponent } => {
                    Some([f64::from(cutoff_rad).cos() as f32, exponent])
                }
                _ => None,
            };
            let fades = light.attenuation != [1.0, 0.0, 0.0] && !is_directional;
            self.uses.push(LightUse {
                is_directional,
                spot,
                diffuse: light.diffuse,
                specular: light.specular,
                attenuation: fades.then_some(light.attenuation),
                shadow: shadow_of.get(i).copied().flatten(),
                world: if is_directional { math::scale(dir, -1.0) } else { light.pos_m },
                axis: dir,
            });
        }
        if let Some(head) = &model.headlight {
            for k in 0..3 {
                self.ambient[k] += head.ambient[k];
            }
            self.uses.push(LightUse {
                is_directional: true,
                spot: None,
                diffuse: head.diffuse,
                specular: head.specular,
                attenuation: None,
                shadow: None,
                world: [camera.rot[2], camera.rot[5], camera.rot[8]],
                axis: [0.0; 3],
            });
        }
        self.locals.clear();
        for placement in placements {
            for light in &self.uses {
                self.locals.push(light.seen_from(placement, shadows));
            }
        }
    }

    pub(crate) fn of(&self, instance: usize) -> impl Iterator<Item = (&LightUse, &LocalLight)> {
        let n = self.uses.len();
        self.uses.iter().zip(&self.locals[instance * n..(instance + 1) * n])
    }
}

impl LightUse {
    fn seen_from(&self, placement: &Placement, shadows: &[ShadowMap]) -> LocalLight {
        let at = if self.is_directional {
            math::mul_t(&placement.rot, self.world)
        } else {
            math::mul_t(&placement.rot, math::sub(self.world, placement.pos_m))
        };
        let mut shadow_rows = [[0.0; 4]; 3];
        if let Some(map) = self.shadow.and_then(|i| shadows.get(i)) {
            let camera = &map.view.camera;
            let m = math::mat_t_mul(&camera.rot, &placement.rot);
            let o = math::mul_t(&camera.rot, math::sub(placement.pos_m, camera.pos_m));
            for r in 0..3 {
                let row = [m[3 * r], m[3 * r + 1], m[3 * r + 2], o[r]];
                shadow_rows[r] = row.map(|v| v as f32);
            }
        }
        LocalLight {
            at: math::to_f32(at),
            axis: math::to_f32(math::mul_t(&placement.rot, self.axis)),
            shadow_rows,
        }
    }
}
