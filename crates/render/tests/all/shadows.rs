//! Shadows against shadow rays in double precision.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use citrange_render::{
    Antialias, Camera, Frame, Instance, Light, LightKind, Material, Placement, Renderer,
    SceneModel, Settings, Shape,
};
use support::oracle;
use support::random::Random;
use support::robot_scene::RobotScene;

const PLAIN: Settings = Settings { shadows: true, antialias: Antialias::Off, shadow_texels: 1024 };

/// Makes all surfaces matt white and keeps one light, so that a pixel says how lit it is.
fn bare(model: &mut SceneModel, light: Light) {
    for instance in &mut model.instances {
        instance.material =
            Material { rgba: [1.0; 4], specular: 0.0, texture: None, ..Material::default() };
    }
    model.ambient = [0.0; 3];
    model.headlight = None;
    model.lights = vec![Light { diffuse: [1.0; 3], ambient: [0.0; 3], ..light }];
}

/// Share of lit and dark pixels, away from shadow edges, that are as shadow rays say.
fn agreement(model: &SceneModel, placements: &[Placement], camera: &Camera) -> (f64, [usize; 2]) {
    let mut frame = Frame::new();
    Renderer::new().render(model, placements, camera, &PLAIN, &mut frame).unwrap();
    let light = &model.lights[0];
    let (w, h) = (camera.width, camera.height);
    // Per pixel: how bright it should be if lit, and whether a shadow ray gets through.
    let mut want = vec![(0.0, false, usize::MAX); w * h];
    for y in 0..h {
        for x in 0..w {
            let ray = oracle::pixel_ray(camera, x as f64 + 0.5, y as f64 + 0.5);
            let range = [camera.near_m, camera.far_m];
            let Some(hit) = oracle::cast(model, placements, ray, range, |_| true) else { continue };
            let p = oracle::at(ray.0, ray.1, hit.t);
            // Shadow rays start outside, at the light, because surfaces are seen from there.
            let (from, distance) = match light.kind {
                LightKind::Directional => (oracle::at(p, oracle::unit(light.dir), -10.0), 10.0),
                _ => {
                    let way = [0, 1, 2].map(|k| p[k] - light.pos_m[k]);
                    (light.pos_m, oracle::dot(way, way).sqrt())
                }
            };
            let dir = oracle::unit([0, 1, 2].map(|k| p[k] - from[k]));
            let mut facing = -oracle::dot(dir, hit.normal);
            if let LightKind::Spot { cutoff_rad, .. } = light.kind {
                let along = oracle::dot(dir, oracle::unit(light.dir));
                // Outside of the cone there is no light to be blocked.
                facing *= f64::from(u8::from(along > f64::from(cutoff_rad).cos() + 0.01));
            }
            let blocker =
                oracle::cast(model, placements, (from, dir), [1e-6, distance - 1e-4], |i| {
                    !matches!(model.instances[i].shape, Shape::Plane { .. })
                });
            want[y * w + x] = (facing, blocker.is_none(), hit.instance);
        }
    }
    let (mut right, mut counted) = (0, [0, 0]);
    for y in 4..h - 4 {
        for x in 4..w - 4 {
            let (facing, lit, instance) = want[y * w + x];
            let around = (y - 4..=y + 4).flat_map(|b| (x - 4..=x + 4).map(move |a| b * w + a));
            let uniform = around.into_iter().all(|i| want[i].1 == lit && want[i].2 == instance);
            if facing < 0.2 || !uniform {
                continue;
            }
            let share = f64::from(frame.rgb[3 * (y * w + x)]) / 255.0 / facing;
            counted[usize::from(lit)] += 1;
            right += usize::from((share > 0.5) == lit);
        }
    }
    (right as f64 / (counted[0] + counted[1]) as f64, counted)
}

#[test]
fn directional_shadows_are_where_shadow_rays_say() {
    let mut scene = RobotScene::new(1);
    let light = scene.model.lights[0].clone();
    bare(&mut scene.model, light);
    let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 320, 240);
    let (share, [dark, lit]) = agreement(&scene.model, &scene.placements, &camera);
    assert!(dark > 3_000 && lit > 10_000, "both are in view: {dark} dark, {lit} lit");
    assert!(share >= 0.99, "{share}");
}

#[test]
fn spot_and_point_shadows_of_all_shapes_are_where_shadow_rays_say() {
    for (seed, kind) in [
        (3, LightKind::Spot { cutoff_rad: 1.2, exponent: 0.0 }),
        (4, LightKind::Point),
        (5, LightKind::Directional),
    ] {
        let mut random = Random::new(seed);
        let (mut model, placements) = random.scene(14);
        let light =
            Light { kind, pos_m: [0.5, -0.4, 3.5], dir: [-0.1, 0.1, -1.0], ..Light::default() };
        bare(&mut model, light);
        let camera = Camera::look_at([1.5, 2.0, 2.2], [0.0, 0.0, 0.5], 1.0, 320, 240);
        let (share, [dark, lit]) = agreement(&model, &placements, &camera);
        assert!(dark > 1_000 && lit > 10_000, "both are in view: {dark} dark, {lit} lit");
        assert!(share >= 0.99, "{kind:?}: {share}");
    }
}

#[test]
fn a_ball_darkens_the_floor_below_it_and_only_there() {
    let mut model = SceneModel::default();
    let shapes = [Shape::Plane { half_m: [None, None] }, Shape::Sphere { radius_m: 0.2 }];
    for (id, shape) in (0..).zip(shapes) {
        let material = Material::default();
        model.instances.push(Instance { shape, material, id, casts_shadow: true });
    }
    bare(&mut model, Light::default());
    let placements = [Placement::default(), Placement::at(0.0, 0.0, 1.0)];
    let camera = Camera::look_at([0.0, -3.0, 0.6], [0.0, 0.0, 0.3], 0.9, 160, 120);
    let mut frame = Frame::new();
    let mut renderer = Renderer::new();
    let mut floor_at = |model: &SceneModel, x: f64| {
        renderer.render(model, &placements, &camera, &PLAIN, &mut frame).unwrap();
        // Project the floor point (x, 0, 0).
        let m = camera.rot;
        let p = [x - camera.pos_m[0], -camera.pos_m[1], -camera.pos_m[2]];
        let c = [0, 1, 2].map(|k| m[k] * p[0] + m[k + 3] * p[1] + m[k + 6] * p[2]);
        let k = camera.intrinsics;
        let (u, v) = (k.cx + k.fx * c[0] / -c[2], k.cy - k.fy * c[1] / -c[2]);
        let pixel = v as usize * 160 + u as usize;
        assert_eq!(frame.ids[pixel], 0, "the floor is seen there");
        frame.rgb[3 * pixel]
    };
    let (below, beside) = (floor_at(&model, 0.0), floor_at(&model, 0.5));
    assert!(below < 5 && beside > 250, "{below} below the ball, {beside} beside it");
    model.instances[1].casts_shadow = false;
    assert!(floor_at(&model, 0.0) > 250, "a ball that casts no shadow");
}
