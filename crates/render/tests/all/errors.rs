//! Bad input gives an error that says what, which and what would be right; never a panic.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use citrange_render::{
    Camera, Frame, Headlight, Instance, Job, Light, LightKind, Material, Mesh, Placement,
    RenderPool, Renderer, SceneModel, Settings, Shape,
};
use proptest::prelude::*;

use crate::support;

fn ball() -> Instance {
    let shape = Shape::Sphere { radius_m: 0.1 };
    Instance { shape, material: Material::default(), id: 0, casts_shadow: true }
}

fn good() -> (SceneModel, Vec<Placement>, Camera) {
    let model = SceneModel {
        instances: vec![ball(), ball()],
        lights: vec![Light::default()],
        ..SceneModel::default()
    };
    let camera = Camera::look_at([1.0, 0.0, 1.0], [0.0; 3], 0.8, 32, 24);
    (model, vec![Placement::default(); 2], camera)
}

fn message(change: impl FnOnce(&mut SceneModel, &mut Vec<Placement>, &mut Camera)) -> String {
    let (mut model, mut placements, mut camera) = good();
    change(&mut model, &mut placements, &mut camera);
    let mut frame = Frame::new();
    Renderer::new()
        .render(&model, &placements, &camera, &Settings::default(), &mut frame)
        .map_or_else(|error| error.to_string(), |()| "no error".into())
}

#[test]
fn messages_name_the_culprit() {
    assert_eq!(message(|_, _, _| {}), "no error");
    let says = |text: String, words: &[&str]| {
        assert!(words.iter().all(|w| text.contains(w)), "{text:?} lacks one of {words:?}");
    };
    says(message(|_, p, _| p.truncate(1)), &["1 placements", "2 instances"]);
    says(message(|_, p, _| p[1].pos_m[2] = f64::NAN), &["placement 1", "finite"]);
    says(message(|_, p, _| p[1].rot[0] = 2.0), &["placement 1", "rotation", "row-major"]);
    says(
        message(|m, _, _| m.instances[1].shape = Shape::Sphere { radius_m: 0.0 }),
        &["instance 1", "sphere", "1e-6 m"],
    );
    says(message(|m, _, _| m.instances[0].material.rgba[1] = 1.5), &["instance 0", "0..=1"]);
    says(message(|m, _, _| m.lights[0].dir = [0.0; 3]), &["light 0", "dir"]);
    says(message(|m, _, _| m.lights[0].pos_m[0] = f64::INFINITY), &["light 0", "finite"]);
    says(message(|_, _, c| c.width = 0), &["camera", "width", "8192"]);
    says(message(|_, _, c| c.intrinsics.fx = -1.0), &["camera", "fx"]);
    says(message(|_, _, c| c.near_m = 0.0), &["camera", "near_m"]);
    says(message(|_, _, c| c.far_m = 0.001), &["camera", "far_m"]);
    says(message(|_, _, c| c.pos_m[0] = f64::NAN), &["camera", "finite"]);
}

#[test]
fn a_frame_is_untouched_by_an_error_and_a_batch_names_the_job() {
    let (model, placements, camera) = good();
    let bad = Camera { near_m: -1.0, ..camera };
    let mut frame = Frame::new();
    let settings = Settings::default();
    assert!(Renderer::new().render(&model, &placements, &bad, &settings, &mut frame).is_err());
    assert!(frame == Frame::new());
    let job = |camera| Job { model: &model, placements: &placements, camera };
    let jobs = [job(camera), job(bad), job(camera), job(bad)];
    let mut frames = vec![Frame::new(); 4];
    let pool = RenderPool::new();
    let text = pool.render_batch(&jobs, &settings, &mut frames).unwrap_err().to_string();
    assert!(text.contains("job 1") && text.contains("near_m"), "{text}");
    assert!(frames[2].width == 32, "the other jobs are drawn");
    let text = pool.render_batch(&jobs, &settings, &mut frames[..2]).unwrap_err().to_string();
    assert!(text.contains("2 frames for 4 jobs"), "{text}");
}

/// Mostly sensible numbers, with absurd ones among them.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => -2.0..2.0_f64,
        1 => Just(0.0),
        1 => Just(1e-6),
        1 => Just(1e6),
        1 => Just(-1e6),
        1 => -1e5..1e5_f64,
        1 => 1e-6..1e-3_f64,
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(f64::MIN_POSITIVE)],
    ]
}

fn size() -> impl Strategy<Value = f64> {
    number().prop_map(f64::abs)
}

fn rotation() -> impl Strategy<Value = [f64; 9]> {
    let turn = [-3.0..3.0_f64, -3.0..3.0_f64, -3.0..3.0_f64];
    let sensible = turn.prop_map(|[x, y, z]| support::robot_scene::rot_xyz(x, y, z));
    let square = Just([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0]);
    prop_oneof![8 => sensible, 4 => square, 1 => proptest::array::uniform9(number())]
}

fn shape() -> impl Strategy<Value = Shape> {
    let three = || [size(), size(), size()];
    let mesh = proptest::collection::vec([number(), number(), number()], 3..8).prop_map(|points| {
        let positions: Vec<_> = points.iter().map(|p| p.map(|v| v as f32)).collect();
        let triangles = (2..positions.len() as u32).map(|i| [0, i - 1, i]).collect();
        match Mesh::new(positions, triangles) {
            Ok(mesh) => Shape::Mesh(Arc::new(mesh)),
            Err(_) => Shape::Sphere { radius_m: 0.5 },
        }
    });
    prop_oneof![
        [size(), size()].prop_map(|s| Shape::Plane { half_m: s.map(|v| (v < 1.0).then_some(v)) }),
        size().prop_map(|radius_m| Shape::Sphere { radius_m }),
        [size(), size()]
            .prop_map(|[radius_m, half_height_m]| Shape::Capsule { radius_m, half_height_m }),
        [size(), size()]
            .prop_map(|[radius_m, half_height_m]| Shape::Cylinder { radius_m, half_height_m }),
        three().prop_map(|radii_m| Shape::Ellipsoid { radii_m }),
        three().prop_map(|half_m| Shape::Box { half_m }),
        mesh,
    ]
}

fn light() -> impl Strategy<Value = Light> {
    let kind = prop_oneof![
        Just(LightKind::Directional),
        Just(LightKind::Point),
        [size(), size()].prop_map(|[cutoff, exponent]| LightKind::Spot {
            cutoff_rad: cutoff as f32,
            exponent: exponent as f32,
        }),
    ];
    let three = || [number(), number(), number()];
    (kind, three(), three()).prop_map(|(kind, pos_m, dir)| Light {
        kind,
        pos_m,
        dir,
        attenuation: [0.0, 0.0, 1.0],
        ..Light::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_panics(
        things in proptest::collection::vec(
            (shape(), [number(), number(), number()], rotation(), size()), 0..5),
        lights in proptest::collection::vec(light(), 0..3),
        eye in ([number(), number(), number()], rotation(), (size(), size(), number(), number())),
        [near, far] in [size(), size()],
        [width, height] in [0..50_usize, 0..50_usize],
        texels in 0..70_usize,
    ) {
        let (mut model, mut placements) = (SceneModel::default(), vec![]);
        for (shape, pos_m, rot, alpha) in things {
            let material = Material { rgba: [0.5, 0.5, 0.5, alpha as f32], ..Material::default() };
            model.instances.push(Instance { shape, material, id: 1, casts_shadow: true });
            placements.push(Placement { pos_m, rot });
        }
        model.lights = lights;
        model.headlight = Some(Headlight { ambient: [0.1; 3], diffuse: [0.4; 3], specular: [0.5; 3] });
        let (pos_m, rot, (fx, fy, cx, cy)) = eye;
        let intrinsics = citrange_render::Intrinsics { fx: 30.0 * fx, fy: 30.0 * fy, cx: 9.0 * cx, cy };
        let camera = Camera { pos_m, rot, intrinsics, width, height, near_m: near, far_m: far };
        let settings = Settings { shadow_texels: texels, ..Settings::default() };
        let mut frame = Frame::new();
        if Renderer::new().render(&model, &placements, &camera, &settings, &mut frame).is_ok() {
            prop_assert_eq!(frame.rgb.len(), 3 * width * height);
            let far = camera.far_m as f32;
            prop_assert!(frame.depth.iter().all(|z| *z == f32::INFINITY || (*z > 0.0 && *z <= far)));
        }
    }
}
