//! Depth and ids against a double-precision ray caster, over random scenes of all shapes.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail")]

mod support;

use citrange_render::{Antialias, Camera, Frame, Renderer, Settings};
use support::oracle;
use support::random::Random;
use support::robot_scene::RobotScene;

/// Depth errors of pixels whose ids agree, sorted, and the share of pixels whose ids agree.
fn compare(
    model: &citrange_render::SceneModel,
    placements: &[citrange_render::Placement],
    camera: &Camera,
    frame: &Frame,
) -> (Vec<f64>, f64) {
    let mut errors = Vec::new();
    let (mut equal, mut total) = (0, 0);
    for y in 0..camera.height {
        for x in 0..camera.width {
            let ray = oracle::pixel_ray(camera, x as f64 + 0.5, y as f64 + 0.5);
            let range = [camera.near_m, camera.far_m];
            let hit = oracle::cast(model, placements, ray, range, |_| true);
            let want = hit.map_or(-1, |h| model.instances[h.instance].id);
            let (got, depth) = (frame.ids[y * camera.width + x], frame.depth[y * camera.width + x]);
            total += 1;
            assert_eq!(got == -1, depth == f32::INFINITY, "depth and ids agree on empty pixels");
            if got == want {
                equal += 1;
                if let Some(hit) = hit {
                    errors.push((f64::from(depth) - hit.t).abs());
                }
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    (errors, equal as f64 / total as f64)
}

fn report(name: &str, errors: &[f64], share: f64) {
    let at = |q: f64| errors[((errors.len() - 1) as f64 * q) as usize];
    let (median, p99, worst) = (at(0.5), at(0.99), at(1.0));
    eprintln!(
        "{name}: ids equal {share:.6}, depth error median {median:.2e}, 99 % {p99:.2e}, worst {worst:.2e} m"
    );
    assert!(share >= 0.9995, "{name}: only {share} of the ids are equal");
    assert!(median < 1e-6, "{name}: median depth error {median} m");
    assert!(p99 < 1e-4, "{name}: 99 % of the depth errors are below {p99} m only");
}

#[test]
fn random_scenes_agree_with_the_oracle() {
    let settings = Settings { shadows: false, antialias: Antialias::Off, ..Settings::default() };
    let mut renderer = Renderer::new();
    let mut frame = Frame::new();
    for (seed, distance) in [(1, 2.5), (2, 1.5), (3, 3.0), (4, 0.4), (5, 0.1), (6, 6.0)] {
        let mut random = Random::new(seed);
        let (model, placements) = random.scene(21);
        let camera = random.camera(distance, 640, 480);
        renderer.render(&model, &placements, &camera, &settings, &mut frame).unwrap();
        let (errors, share) = compare(&model, &placements, &camera, &frame);
        assert!(errors.len() > 640 * 480 / 4, "the scene is in view");
        report(&format!("seed {seed} from {distance} m"), &errors, share);
    }
}

#[test]
fn the_robot_scene_agrees_with_the_oracle_in_an_image_of_odd_size() {
    let scene = RobotScene::new(0);
    let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 333, 251);
    let mut frame = Frame::new();
    let settings = Settings::default();
    Renderer::new()
        .render(&scene.model, &scene.placements, &camera, &settings, &mut frame)
        .unwrap();
    let (errors, share) = compare(&scene.model, &scene.placements, &camera, &frame);
    report("robot", &errors, share);
    let seen: std::collections::BTreeSet<i32> = frame.ids.iter().copied().collect();
    assert!(seen.len() > 50, "most of the 86 instances are in view, not {}", seen.len());
}

#[test]
fn an_off_centre_camera_with_oblong_pixels_agrees_with_the_oracle() {
    let mut random = Random::new(9);
    let (model, placements) = random.scene(21);
    let mut camera = random.camera(2.0, 200, 150);
    camera.intrinsics.fx *= 1.7;
    camera.intrinsics.cx = 31.25;
    camera.intrinsics.cy = 120.5;
    let mut frame = Frame::new();
    Renderer::new().render(&model, &placements, &camera, &Settings::default(), &mut frame).unwrap();
    let (errors, share) = compare(&model, &placements, &camera, &frame);
    report("off-centre", &errors, share);
}
