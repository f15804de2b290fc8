//! Random scenes from a seed.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_render::{Camera, Instance, Light, Material, Placement, SceneModel, Shape};

use super::robot_scene::{rot_xyz, torus};

/// Parts of scenes, by chance.
pub struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.uniform(low, high)
    }

    pub fn rotation(&mut self) -> [f64; 9] {
        rot_xyz(self.between(-3.0, 3.0), self.between(-1.5, 1.5), self.between(-3.0, 3.0))
    }

    pub fn shape(&mut self, kind: usize) -> Shape {
        let mut size = || self.between(0.02, 0.3);
        match kind % 7 {
            0 => Shape::Sphere { radius_m: size() },
            1 => Shape::Capsule { radius_m: size(), half_height_m: size() },
            2 => Shape::Cylinder { radius_m: size(), half_height_m: size() },
            3 => Shape::Ellipsoid { radii_m: [size(), size(), size()] },
            4 => Shape::Box { half_m: [size(), size(), size()] },
            5 => Shape::Mesh(Arc::new(torus(0.2 + size(), 0.05 + 0.3 * size(), 9, 6))),
            _ => Shape::Plane { half_m: [Some(size()), Some(size())] },
        }
    }

    /// A floor and `count` shapes of all kinds around (0, 0, 1).
    pub fn scene(&mut self, count: usize) -> (SceneModel, Vec<Placement>) {
        let mut model = SceneModel { lights: vec![Light::default()], ..SceneModel::default() };
        let mut placements = vec![Placement::default()];
        let instance = |shape, i: usize| Instance {
            shape,
            material: Material::rgb(0.7, 0.7, 0.7),
            id: 100 + i as i32,
            casts_shadow: true,
        };
        model.instances.push(instance(Shape::Plane { half_m: [None, None] }, 0));
        for i in 1..=count {
            let shape = self.shape(i);
            model.instances.push(instance(shape, i));
            let pos_m = [self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(0.2, 1.6)];
            placements.push(Placement { pos_m, rot: self.rotation() });
        }
        (model, placements)
    }

    /// A camera `distance_m` from somewhere near the middle of the scene, above the floor.
    pub fn camera(&mut self, distance_m: f64, width: usize, height: usize) -> Camera {
        let target = [self.between(-0.3, 0.3), self.between(-0.3, 0.3), self.between(0.6, 1.0)];
        let (azimuth, rise) = (self.between(-3.1, 3.1), self.between(-0.1, 1.2));
        let eye = [
            target[0] + distance_m * azimuth.cos() * rise.cos(),
            target[1] + distance_m * azimuth.sin() * rise.cos(),
            target[2] + distance_m * rise.sin(),
        ];
        Camera::look_at(eye, target, self.between(0.6, 1.4), width, height)
    }
}
