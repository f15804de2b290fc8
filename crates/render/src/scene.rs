//! What is in a scene: instances with materials, lights, and where everything is.

use std::sync::Arc;

use crate::error::RenderError;
use crate::math;
use crate::shape::{MAX_SIZE_M, MIN_SIZE_M, can_be_drawn, sizes_are_valid};
use crate::texture::Texture;
use citrange_core::shape::Shape;

/// How a surface looks. The colours add up without gamma, as in MuJoCo's renderer.
#[derive(Debug, Clone)]
pub struct Material {
    /// Colour and opacity, each 0 to 1. Alpha 0 is not drawn at all; below 1 the surface is
    /// blended over what is behind it; depth and ids see it from alpha 0.5 on.
    pub rgba: [f32; 4],
    /// Strength of highlights, 0 to 1.
    pub specular: f32,
    /// Sharpness of highlights, 0 to 1 (exponent 128 at 1).
    pub shininess: f32,
    /// Light of its own, as a share of `rgba`.
    pub emission: f32,
    /// Multiplies `rgba`, if there is one.
    pub texture: Option<Arc<Texture>>,
    /// Repeats of the texture along X and Y: per metre if `uniform`, else over the shape.
    pub repeat: [f32; 2],
    /// What `repeat` counts in.
    pub uniform: bool,
    /// Whether the texture is projected on each side along its own axis instead of along Z.
    pub cube_mapped: bool,
}

impl Material {
    /// An opaque material with a gentle highlight and no texture.
    pub fn rgb(r: f32, g: f32, b: f32) -> Self {
        Self { rgba: [r, g, b, 1.0], ..Self::default() }
    }
}

impl Default for Material {
    fn default() -> Self {
        Self {
            rgba: [0.5, 0.5, 0.5, 1.0],
            specular: 0.5,
            shininess: 0.5,
            emission: 0.0,
            texture: None,
            repeat: [1.0, 1.0],
            uniform: false,
            cube_mapped: false,
        }
    }
}

/// A shape with a look and a number.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Geometry, in its own frame.
    pub shape: Shape,
    /// Look.
    pub material: Material,
    /// What the ids image holds where this instance is seen.
    pub id: i32,
    /// Whether lights with shadows are blocked by it (planes never block).
    pub casts_shadow: bool,
}

/// Where light comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// From infinitely far, along `Light::dir`.
    Directional,
    /// From `Light::pos_m` to all sides. Its shadow map covers the shadow casters only up to
    /// 140 degrees of view.
    Point,
    /// From `Light::pos_m` around `Light::dir`.
    Spot {
        /// Half the opening angle, up to 80 degrees for shadows.
        cutoff_rad: f32,
        /// How fast the light falls off from its axis.
        exponent: f32,
    },
}

/// A light in the world frame.
#[derive(Debug, Clone)]
pub struct Light {
    /// Kind.
    pub kind: LightKind,
    /// Position; not used by directional lights.
    pub pos_m: [f64; 3],
    /// Direction in which the light travels; not used by point lights. Any length but zero.
    pub dir: [f64; 3],
    /// Light that reaches surfaces from everywhere.
    pub ambient: [f32; 3],
    /// Light scattered by matt surfaces.
    pub diffuse: [f32; 3],
    /// Light in highlights.
    pub specular: [f32; 3],
    /// Constant, linear (per m) and quadratic (per m²) terms that divide the light.
    pub attenuation: [f32; 3],
    /// Whether it casts shadows.
    pub casts_shadow: bool,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            kind: LightKind::Directional,
            pos_m: [0.0, 0.0, 3.0],
            dir: [0.0, 0.0, -1.0],
            ambient: [0.0; 3],
            diffuse: [0.7; 3],
            specular: [0.3; 3],
            attenuation: [1.0, 0.0, 0.0],
            casts_shadow: true,
        }
    }
}

/// A directional light that travels with the camera, along its view axis, without shadow.
#[derive(Debug, Clone, Copy)]
pub struct Headlight {
    /// Light that reaches surfaces from everywhere.
    pub ambient: [f32; 3],
    /// Light scattered by matt surfaces.
    pub diffuse: [f32; 3],
    /// Light in highlights.
    pub specular: [f32; 3],
}

/// Background colours by the height of the view ray.
#[derive(Debug, Clone, Copy)]
pub struct Sky {
    /// Straight up.
    pub top: [f32; 3],
    /// Straight down.
    pub bottom: [f32; 3],
}

impl Default for Sky {
    fn default() -> Self {
        Self { top: [0.30, 0.45, 0.65], bottom: [0.85, 0.88, 0.92] }
    }
}

/// Everything about a scene but the poses. Cheap to clone: meshes and textures are shared.
#[derive(Debug, Clone, Default)]
pub struct SceneModel {
    /// What there is to see.
    pub instances: Vec<Instance>,
    /// Lights fixed in the world.
    pub lights: Vec<Light>,
    /// Light on the camera, if any.
    pub headlight: Option<Headlight>,
    /// Light that reaches all surfaces from everywhere, on top of that of the lights.
    pub ambient: [f32; 3],
    /// Background.
    pub sky: Sky,
}

/// The pose of one instance in one environment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Origin of the shape in the world.
    pub pos_m: [f64; 3],
    /// `world_from_shape`, row-major.
    pub rot: [f64; 9],
}

impl Placement {
    /// A placement without rotation.
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self { pos_m: [x, y, z], rot: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] }
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self::at(0.0, 0.0, 0.0)
    }
}

pub(crate) fn check_pose(
    pos_m: &[f64; 3],
    rot: &[f64; 9],
    what: impl Fn() -> String,
) -> Result<(), RenderError> {
    if !pos_m.iter().all(|v| v.abs() <= MAX_SIZE_M) {
        return Err(RenderError::BadPosition { what: what(), limit_m: MAX_SIZE_M });
    }
    if !math::is_rotation(rot) {
        return Err(RenderError::BadRotation { what: what() });
    }
    Ok(())
}

impl SceneModel {
    /// Refuses what cannot be drawn, naming the instance or light.
    pub(crate) fn check(&self, placements: &[Placement]) -> Result<(), RenderError> {
        if placements.len() != self.instances.len() {
            let (got, want) = (placements.len(), self.instances.len());
            return Err(RenderError::PlacementCount { got, want });
        }
        for (i, (instance, placement)) in self.instances.iter().zip(placements).enumerate() {
            check_pose(&placement.pos_m, &placement.rot, || format!("placement {i}"))?;
            if !can_be_drawn(&instance.shape) {
                let shape = instance.shape.name();
                return Err(RenderError::NotDrawn { instance: i, shape });
            }
            if !sizes_are_valid(&instance.shape) {
                let shape = instance.shape.name();
                let (min_m, max_m) = (MIN_SIZE_M, MAX_SIZE_M);
                return Err(RenderError::BadSize { instance: i, shape, min_m, max_m });
            }
            let m = &instance.material;
            let colours = m.rgba.iter().chain([&m.specular, &m.shininess, &m.emission]);
            in_range(colours, 1.0, || {
                format!("instance {i}: rgba, specular, shininess, emission")
            })?;
            in_range(m.repeat.iter(), 1e4, || format!("instance {i}: texture repeat"))?;
        }
        in_range(self.ambient.iter(), 100.0, || "ambient light".into())?;
        in_range(self.sky.top.iter().chain(&self.sky.bottom), 1.0, || "sky".into())?;
        if let Some(h) = &self.headlight {
            let colours = h.ambient.iter().chain(&h.diffuse).chain(&h.specular);
            in_range(colours, 100.0, || "headlight".into())?;
        }
        self.lights.iter().enumerate().try_for_each(|(i, light)| light.check(i))
    }
}

impl Light {
    fn check(&self, index: usize) -> Result<(), RenderError> {
        let colours = self.ambient.iter().chain(&self.diffuse).chain(&self.specular);
        in_range(colours, 100.0, || format!("light {index}: colours"))?;
        in_range(self.attenuation.iter(), 100.0, || format!("light {index}: attenuation"))?;
        if !self.pos_m.iter().all(|v| v.abs() <= MAX_SIZE_M) {
            let what = format!("light {index}");
            return Err(RenderError::BadPosition { what, limit_m: MAX_SIZE_M });
        }
        let length = math::length(self.dir);
        if self.kind != LightKind::Point && !(1e-6..=1e6).contains(&length) {
            let what = format!("light {index}: dir");
            return Err(RenderError::BadParameter {
                what,
                valid: "a vector of length 1e-6 to 1e6",
            });
        }
        if let LightKind::Spot { cutoff_rad, exponent } = self.kind {
            let right = std::f32::consts::FRAC_PI_2;
            in_range([cutoff_rad / right].iter(), 1.0, || {
                format!("light {index}: cutoff / 90 deg")
            })?;
            in_range([exponent / 128.0].iter(), 1.0, || format!("light {index}: exponent / 128"))?;
        }
        Ok(())
    }
}

fn in_range<'a>(
    mut values: impl Iterator<Item = &'a f32>,
    high: f32,
    what: impl Fn() -> String,
) -> Result<(), RenderError> {
    if values.all(|v| (0.0..=high).contains(v)) {
        return Ok(());
    }
    let valid = match high {
        1.0 => "in 0..=1",
        100.0 => "in 0..=100",
        _ => "in 0..=10000",
    };
    Err(RenderError::BadParameter { what: what(), valid })
}
