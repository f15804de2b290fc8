//! A robot arm at a table: about 80 primitives, as a simulated workcell has them.
#![allow(unreachable_pub, clippy::expect_used, reason = "shared by tests, bench and example")]

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use citrange_render::{
    Headlight, Instance, Light, LightKind, Material, Mesh, Placement, SceneModel, Shape, Texture,
};

/// The scene and the pose of each instance.
pub struct RobotScene {
    pub model: SceneModel,
    pub placements: Vec<Placement>,
}

/// Row-major rotation: first about X, then Y, then Z.
pub fn rot_xyz(x: f64, y: f64, z: f64) -> [f64; 9] {
    let ((sx, cx), (sy, cy), (sz, cz)) = (x.sin_cos(), y.sin_cos(), z.sin_cos());
    [
        cz * cy,
        cz * sy * sx - sz * cx,
        cz * sy * cx + sz * sx,
        sz * cy,
        sz * sy * sx + cz * cx,
        sz * sy * cx - cz * sx,
        -sy,
        cy * sx,
        cy * cx,
    ]
}

impl RobotScene {
    pub fn add(&mut self, shape: Shape, material: Material, pos_m: [f64; 3], rot: [f64; 9]) {
        let id = self.model.instances.len() as i32;
        self.model.instances.push(Instance { shape, material, id, casts_shadow: true });
        self.placements.push(Placement { pos_m, rot });
    }

    pub fn new(shadow_lights: usize) -> Self {
        let mut scene = Self { model: SceneModel::default(), placements: Vec::new() };
        scene.model.ambient = [0.15; 3];
        scene.model.headlight =
            Some(Headlight { ambient: [0.1; 3], diffuse: [0.2; 3], specular: [0.1; 3] });
        scene.model.lights = vec![
            Light {
                dir: [-0.5, 0.35, -1.0],
                diffuse: [0.6, 0.58, 0.52],
                casts_shadow: shadow_lights > 0,
                ..Light::default()
            },
            Light {
                kind: LightKind::Spot { cutoff_rad: 0.8, exponent: 2.0 },
                pos_m: [-1.0, -1.2, 2.2],
                dir: [0.5, 0.6, -0.9],
                diffuse: [0.25, 0.28, 0.35],
                casts_shadow: shadow_lights > 1,
                ..Light::default()
            },
        ];
        scene.furniture();
        scene.arm();
        scene.things();
        scene
    }

    fn furniture(&mut self) {
        let none = rot_xyz(0.0, 0.0, 0.0);
        let floor = Texture::checker([0.35, 0.40, 0.45], [0.55, 0.60, 0.65]).expect("colours");
        let floor = Material {
            rgba: [1.0; 4],
            texture: Some(Arc::new(floor)),
            repeat: [1.0, 1.0],
            uniform: true,
            specular: 0.1,
            ..Material::default()
        };
        self.add(Shape::Plane { half_m: [None, None] }, floor, [0.0, 0.0, 0.0], none);
        let wood = Material { specular: 0.2, ..Material::rgb(0.62, 0.47, 0.32) };
        self.add(Shape::Box { half_m: [0.6, 0.4, 0.02] }, wood.clone(), [0.3, 0.0, 0.7], none);
        for (x, y) in [(-0.25, -0.35), (0.85, -0.35), (-0.25, 0.35), (0.85, 0.35)] {
            self.add(Shape::Box { half_m: [0.03, 0.03, 0.34] }, wood.clone(), [x, y, 0.34], none);
        }
    }

    fn arm(&mut self) {
        let white = Material::rgb(0.88, 0.88, 0.86);
        let dark = Material::rgb(0.18, 0.19, 0.22);
        let orange = Material::rgb(0.95, 0.45, 0.10);
        let base = [0.0, 0.0, 0.72];
        let cylinder = |r, h| Shape::Cylinder { radius_m: r, half_height_m: h };
        let capsule = |r, h| Shape::Capsule { radius_m: r, half_height_m: h };
        let none = rot_xyz(0.0, 0.0, 0.0);
        self.add(cylinder(0.09, 0.02), dark.clone(), [base[0], base[1], base[2] + 0.02], none);
        self.add(cylinder(0.06, 0.05), white.clone(), [base[0], base[1], base[2] + 0.09], none);
        // Links in the XZ plane, each with a joint drum, a cover, cables and bolts.
        let mut at = [base[0], base[1], base[2] + 0.16];
        for (angle, half) in [(0.45, 0.14), (1.25, 0.12), (2.0, 0.09), (2.7, 0.05)] {
            let radius = 0.055 - 0.01 * angle;
            let dir = [f64::sin(angle), 0.0, f64::cos(angle)];
            let along = |t: f64, side: f64| [at[0] + t * dir[0], at[1] + side, at[2] + t * dir[2]];
            let lean = rot_xyz(0.0, angle, 0.0);
            self.add(cylinder(radius * 1.15, 0.06), dark.clone(), at, rot_xyz(FRAC_PI_2, 0.0, 0.0));
            self.add(capsule(radius, half), white.clone(), along(half, 0.0), lean);
            let cover = Shape::Box { half_m: [radius * 0.8, 0.012, half * 0.8] };
            self.add(cover, orange.clone(), along(half, radius), lean);
            for side in [-1.0, 1.0] {
                let cable = along(half, side * radius * 1.1);
                self.add(capsule(0.006, half * 0.9), dark.clone(), cable, lean);
                for k in 0..4 {
                    let bolt = along(half * (0.4 + 0.4 * f64::from(k)), side * (radius + 0.012));
                    let facing = rot_xyz(FRAC_PI_2, 0.0, 0.0);
                    self.add(cylinder(0.006, 0.004), dark.clone(), bolt, facing);
                }
            }
            at = along(2.0 * half, 0.0);
        }
        let palm = Shape::Box { half_m: [0.03, 0.05, 0.015] };
        self.add(palm, dark.clone(), at, rot_xyz(0.0, 2.7, 0.0));
        for side in [-1.0, 1.0] {
            let finger = Shape::Box { half_m: [0.012, 0.008, 0.035] };
            let tip = [at[0] + 0.02, at[1] + side * 0.035, at[2] - 0.045];
            self.add(finger, dark.clone(), tip, rot_xyz(0.0, 2.7, 0.0));
            let pad = Shape::Ellipsoid { radii_m: [0.01, 0.006, 0.02] };
            let at = [tip[0], tip[1] - side * 0.009, tip[2]];
            self.add(pad, orange.clone(), at, rot_xyz(0.0, 2.7, 0.0));
        }
    }

    fn things(&mut self) {
        let none = rot_xyz(0.0, 0.0, 0.0);
        let top = 0.72;
        let balls = [
            ([0.55, -0.15], 0.04, [1.0, 0.5, 0.05]),
            ([0.62, 0.02], 0.035, [0.8, 0.12, 0.12]),
            ([0.48, 0.22], 0.045, [0.35, 0.65, 0.15]),
        ];
        for ([x, y], r, [red, green, blue]) in balls {
            let ball = Shape::Sphere { radius_m: r };
            self.add(ball, Material::rgb(red, green, blue), [x, y, top + r], none);
        }
        let china = Material { shininess: 0.8, ..Material::rgb(0.9, 0.9, 0.95) };
        let plate = Shape::Cylinder { radius_m: 0.11, half_height_m: 0.006 };
        self.add(plate, china.clone(), [0.7, -0.2, top + 0.006], none);
        for k in 0..16 {
            let (s, c) = (2.0 * PI * f64::from(k) / 16.0).sin_cos();
            let rim = Shape::Capsule { radius_m: 0.008, half_height_m: 0.022 };
            let at = [0.7 + 0.11 * c, -0.2 + 0.11 * s, top + 0.014];
            let around = rot_xyz(FRAC_PI_2, 0.0, 2.0 * PI * f64::from(k) / 16.0);
            self.add(rim, china.clone(), at, around);
        }
        let cube = Shape::Box { half_m: [0.03; 3] };
        let blue = Material::rgb(0.15, 0.3, 0.75);
        self.add(cube, blue, [0.35, -0.25, top + 0.03], rot_xyz(0.0, 0.0, 0.5));
    }
}

/// A torus with smooth normals and texture coordinates, around Z.
pub fn torus(ring_m: f64, tube_m: f64, around: u32, across: u32) -> Mesh {
    let point = |i: u32, j: u32| {
        let (sa, ca) = (2.0 * PI * f64::from(i) / f64::from(around)).sin_cos();
        let (sb, cb) = (2.0 * PI * f64::from(j) / f64::from(across)).sin_cos();
        let r = ring_m + tube_m * cb;
        let at = [r * ca, r * sa, tube_m * sb].map(|v| v as f32);
        let normal = [cb * ca, cb * sa, sb].map(|v| v as f32);
        (at, normal)
    };
    let index = |i: u32, j: u32| (i % around) * across + j % across;
    let (mut positions, mut triangles, mut normals) = (vec![], vec![], vec![]);
    for i in 0..around {
        for j in 0..across {
            positions.push(point(i, j).0);
            for corners in
                [[(i, j), (i + 1, j), (i + 1, j + 1)], [(i, j), (i + 1, j + 1), (i, j + 1)]]
            {
                triangles.push(corners.map(|(a, b)| index(a, b)));
                normals.push(corners.map(|(a, b)| point(a, b).1));
            }
        }
    }
    Mesh::new(positions, triangles).and_then(|m| m.with_normals(normals)).expect("a torus")
}
