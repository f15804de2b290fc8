//! The same bits for any number of threads, any history, and any settings of the colours.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use citrange_lanes::Isa;
use citrange_render::{Antialias, Camera, Frame, Job, RenderPool, Renderer, Settings};

use crate::support::random::Random;
use crate::support::robot_scene::RobotScene;

#[test]
fn batches_equal_single_frames_for_any_number_of_threads() {
    let scenes: Vec<_> = (0..6).map(|seed| Random::new(seed).scene(15)).collect();
    let cameras: Vec<_> = (0..6)
        .map(|seed| Random::new(50 + seed).camera(2.0, 150 + 10 * seed as usize, 90))
        .collect();
    let settings = Settings { shadow_texels: 256, ..Settings::default() };
    let jobs: Vec<_> = scenes
        .iter()
        .zip(&cameras)
        .map(|((model, placements), camera)| Job { model, placements, camera: *camera })
        .collect();
    let single: Vec<_> = jobs
        .iter()
        .map(|job| {
            let mut frame = Frame::new();
            Renderer::new()
                .render(job.model, job.placements, &job.camera, &settings, &mut frame)
                .unwrap();
            frame
        })
        .collect();
    assert!(single[0].rgb != single[1].rgb, "the jobs are not all the same");
    for threads in [1, 2, 4] {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pool = RenderPool::new();
        let mut frames = vec![Frame::new(); jobs.len()];
        // Twice: the second time, renderers carry memory of other jobs.
        for _ in 0..2 {
            threads.install(|| pool.render_batch(&jobs, &settings, &mut frames)).unwrap();
            assert!(frames == single);
        }
    }
}

#[test]
fn every_instruction_set_draws_the_same_bits() {
    let settings = Settings { shadow_texels: 256, ..Settings::default() };
    let robot = RobotScene::new(2);
    let (model, placements) = Random::new(11).scene(25);
    let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 210, 130);
    for (model, placements) in [(&robot.model, &robot.placements), (&model, &placements)] {
        let mut pictures = Isa::available().into_iter().map(|isa| {
            let mut frame = Frame::new();
            let mut renderer = Renderer::with_isa(isa);
            renderer.render(model, placements, &camera, &settings, &mut frame).unwrap();
            (isa, frame)
        });
        let (_, first) = pictures.next().unwrap();
        assert!(first.rgb.iter().any(|byte| *byte != first.rgb[0]), "something is seen");
        for (isa, frame) in pictures {
            assert!(frame == first, "{isa:?}");
        }
    }
}

#[test]
fn a_reused_renderer_forgets_what_it_drew_before() {
    let scene = RobotScene::new(2);
    let (model, placements) = Random::new(7).scene(30);
    let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 320, 240);
    let settings = Settings { shadow_texels: 512, ..Settings::default() };
    let (mut first, mut again) = (Frame::new(), Frame::new());
    let mut renderer = Renderer::new();
    renderer.render(&scene.model, &scene.placements, &camera, &settings, &mut first).unwrap();
    let other = Camera::look_at([2.0, 1.0, 2.5], [0.0, 0.0, 0.5], 1.0, 400, 300);
    renderer.render(&model, &placements, &other, &settings, &mut again).unwrap();
    renderer.render(&scene.model, &scene.placements, &camera, &settings, &mut again).unwrap();
    assert!(first == again);
}

#[test]
fn colour_settings_leave_depth_and_ids_alone_but_change_the_colours() {
    let scene = RobotScene::new(2);
    let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 320, 240);
    let plain = Settings { shadows: false, antialias: Antialias::Off, shadow_texels: 512 };
    let mut renderer = Renderer::new();
    let mut draw = |settings: Settings| {
        let mut frame = Frame::new();
        renderer.render(&scene.model, &scene.placements, &camera, &settings, &mut frame).unwrap();
        frame
    };
    let base = draw(plain);
    for settings in [
        Settings { shadows: true, ..plain },
        Settings { antialias: Antialias::Four, ..plain },
        Settings { antialias: Antialias::Eight, ..plain },
    ] {
        let frame = draw(settings);
        assert!(frame.depth == base.depth && frame.ids == base.ids, "{settings:?}");
        assert!(frame.rgb != base.rgb, "{settings:?}");
    }
}
