//! The OpenGL renderer and the software renderer draw the same world.
//!
//! Where the machine has no OpenGL, the tests check the error instead, and say so.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // the helpers are tests too

use std::sync::Arc;

use citrange_render::Frame;
use citrange_sim::{
    CompiledScene, GlKind, GlRenderer, SimError, Threads, World, catalog, gl_probe, load_scene,
};
use mujoco_rs::prelude::MjtObjBase;

fn world(scene: &str) -> World {
    let scene = CompiledScene::new(&load_scene(scene).unwrap()).unwrap();
    let mut world = World::new(Arc::new(scene), 2, Threads::Exactly(1)).unwrap();
    // Things fall and arms sag a little: nothing stands at round numbers.
    world.reset(7, &[3, 4]).unwrap();
    world.step(40).unwrap();
    world
}

/// The renderer, or nothing where the machine has no OpenGL and the error says what to do.
fn renderer(world: &World) -> Option<GlRenderer> {
    match GlRenderer::new(world.scene(), GlKind::Auto) {
        Ok(renderer) => {
            println!("drawn by {}", renderer.backend());
            Some(renderer)
        }
        Err(error) => {
            check_cure(&error);
            println!("NO OPENGL HERE, only the error is checked: {error}");
            None
        }
    }
}

fn check_cure(error: &SimError) {
    assert!(matches!(error, SimError::NoGl { .. }), "{error}");
    let text = error.to_string();
    for part in
        ["libEGL.so.1", "libOSMesa.so.8", "libegl1 libgl1-mesa-dri", "libosmesa6", "needs none"]
    {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn probe_describes_the_context_or_the_cure() {
    match gl_probe() {
        Ok(text) => {
            println!("probe: {text}");
            assert!(text.starts_with("EGL (") || text.starts_with("OSMesa ("), "{text}");
        }
        Err(error) => check_cure(&error),
    }
}

#[test]
fn both_renderers_see_the_same() {
    for scene in catalog::scene_names() {
        let mut world = world(scene);
        let Some(mut gl) = renderer(&world) else { return };
        let cameras: Vec<String> = world.scene().camera_names().map(str::to_owned).collect();
        assert!(!cameras.is_empty());
        for camera in &cameras {
            let mut frame = Frame::new();
            gl.frame(&world, 1, camera, true, &mut frame).unwrap();
            let software = world.frame(1, camera).unwrap();
            assert_eq!((frame.width, frame.height), (software.width, software.height));

            let pixels = frame.ids.len() as f64;
            let same = frame.ids.iter().zip(&software.ids).filter(|(a, b)| a == b).count() as f64;
            let same = same / pixels;
            let mut depth: Vec<f32> = (frame.depth.iter().zip(&software.depth))
                .filter(|(a, b)| a.is_finite() && b.is_finite())
                .map(|(a, b)| (a - b).abs())
                .collect();
            depth.sort_by(f32::total_cmp);
            let median = depth[depth.len() / 2];
            let colour =
                mean((frame.rgb.iter().zip(&software.rgb)).map(|(a, b)| f64::from(a.abs_diff(*b))));
            println!("{scene}/{camera}: ids {same:.5}, depth {median:.1e} m, rgb {colour:.1}");
            assert!(same > 0.995, "{scene}/{camera}: ids agree on {same}");
            assert!(median < 1e-4, "{scene}/{camera}: depth differs by {median} m");
            assert!(colour < 40.0, "{scene}/{camera}: colours differ by {colour}");
            // Where there is no geom there is no depth, and the other way round.
            for (id, depth) in frame.ids.iter().zip(&frame.depth) {
                assert_eq!(*id >= 0, depth.is_finite());
            }
        }
    }
}

#[test]
fn shadows_can_be_left_out_and_frames_repeat() {
    let world = world("orange_plate");
    let Some(mut gl) = renderer(&world) else { return };
    // A second renderer on the same thread must not disturb the first.
    let mut other = GlRenderer::new(world.scene(), GlKind::Auto).unwrap();
    let camera = world.scene().camera_names().next().unwrap().to_owned();
    let mut frames = [Frame::new(), Frame::new(), Frame::new()];
    gl.frame(&world, 0, &camera, true, &mut frames[0]).unwrap();
    other.frame(&world, 0, &camera, false, &mut frames[1]).unwrap();
    drop(other);
    gl.frame(&world, 0, &camera, true, &mut frames[2]).unwrap();
    assert_eq!(frames[0], frames[2]);
    assert_eq!(frames[0].ids, frames[1].ids);
    // Not the mean: without shadows the engine limits the sum of all lights before it applies a
    // texture, which makes a bright floor darker.
    let both = frames[0].rgb.iter().zip(&frames[1].rgb);
    let shaded = both.filter(|(with, without)| i32::from(**with) + 20 < i32::from(**without));
    assert!(shaded.count() > frames[0].rgb.len() / 100);
}

#[test]
fn wrong_names_and_worlds_are_errors() {
    let world = world("orange_plate");
    let Some(mut gl) = renderer(&world) else { return };
    let mut frame = Frame::new();
    let error = gl.frame(&world, 0, "nowhere", true, &mut frame).unwrap_err().to_string();
    assert!(error.contains("unknown camera \"nowhere\""), "{error}");
    let error = gl.frame(&world, 2, "front", true, &mut frame).unwrap_err();
    assert!(matches!(error, SimError::Env { env: 2, .. }), "{error}");
    let other = self::world("block_box");
    let camera = other.scene().camera_names().next().unwrap().to_owned();
    let error = gl.frame(&other, 0, &camera, true, &mut frame).unwrap_err().to_string();
    assert!(error.contains("another scene"), "{error}");
}

#[test]
fn threads_have_renderers_of_their_own() {
    let world = world("orange_plate");
    if renderer(&world).is_none() {
        return;
    }
    let camera = world.scene().camera_names().next().unwrap().to_owned();
    let draw = || {
        let mut gl = GlRenderer::new(world.scene(), GlKind::Auto).unwrap();
        let mut frame = Frame::new();
        gl.frame(&world, 0, &camera, false, &mut frame).unwrap();
        frame
    };
    let frames = std::thread::scope(|s| {
        let threads = [s.spawn(draw), s.spawn(draw)];
        threads.map(|t| t.join().unwrap())
    });
    assert_eq!(frames[0], frames[1]);
}

#[test]
fn the_engine_keeps_to_one_kind_of_opengl() {
    let world = world("orange_plate");
    let Some(gl) = renderer(&world) else { return };
    let other = if gl.backend().starts_with("EGL") { GlKind::Osmesa } else { GlKind::Egl };
    let error = GlRenderer::new(world.scene(), other).unwrap_err().to_string();
    assert!(error.contains("already draws with"), "{error}");
}

/// What the engine would draw and the software renderer does not: glass in ids, sites, hidden
/// groups; a point light, which has no shadow map; and a camera that the model brings along.
const ODD_MODEL: &str = r#"<mujoco><worldbody><body name="odd">
  <light type="point" pos="0 0 2" castshadow="true" diffuse="0.3 0.3 0.3"/>
  <camera name="own" pos="0 0 2.5" fovy="50"/>
  <geom name="wall" type="box" size="0.41 0.43 0.02" pos="0 0 0.1"/>
  <geom name="glass" type="box" size="0.1 0.1 0.02" pos="0.15 0 0.5" rgba="0.2 0.4 1 0.3"/>
  <geom name="amber" type="box" size="0.1 0.1 0.02" pos="-0.15 0 0.5" rgba="1 0.7 0 0.7"/>
  <geom name="air" type="box" size="0.1 0.1 0.02" pos="0 0.25 0.5" rgba="1 1 1 0"/>
  <geom name="hidden" type="box" size="0.1 0.1 0.02" pos="0 -0.25 0.5" group="3"/>
  <site name="mark" type="sphere" size="0.05" pos="0 0 0.8"/>
</body></worldbody></mujoco>"#;

#[test]
fn glass_sites_and_hidden_shapes_are_treated_alike() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("odd.xml"), ODD_MODEL).unwrap();
    let path = folder.path().join("odd.yaml");
    let scene = "\
name: odd
title: odd
rates: {physics_hz: 500, control_hz: 100, frame_hz: 20}
robots: {r: {model: odd.xml}}
cameras:
  side:
    pos_m: [1.2, 0.3, 1.1]
    look_at_m: [0, 0, 0.3]
    fovy_deg: 50
    width_px: 320
    height_px: 200
";
    std::fs::write(&path, scene).unwrap();
    let mut world = world(path.to_str().unwrap());
    let Some(mut gl) = renderer(&world) else { return };
    for camera in ["side", "r/own"] {
        let mut frame = Frame::new();
        gl.frame(&world, 0, camera, true, &mut frame).unwrap();
        let software = world.frame(0, camera).unwrap();
        let same = frame.ids.iter().zip(&software.ids).filter(|(a, b)| a == b).count();
        println!("{camera}: {same} of {} ids", frame.ids.len());
        assert!(same as f64 > 0.999 * frame.ids.len() as f64, "{camera}: {same}");
        let geom = MjtObjBase::mjOBJ_GEOM;
        let seen = |name| {
            let id = world.scene().model().name_to_id(geom, name).unwrap();
            frame.ids.contains(&(id as i32))
        };
        assert!(seen("r/wall") && seen("r/amber"));
        assert!(!seen("r/glass") && !seen("r/air") && !seen("r/hidden"));
    }
}
