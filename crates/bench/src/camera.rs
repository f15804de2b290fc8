//! Pictures: CPU time per frame, and every pixel's depth and id against exact ray casts.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use citrange_render::{Antialias, Frame, Settings};
use citrange_sim::{CameraQuery, StateQuery, World, catalog};
use mujoco_rs::mujoco_c::mjtState;
use mujoco_rs::prelude::*;
use serde_json::{Map, Value, json};

use crate::args::Args;
use crate::clock::Samples;
use crate::export;
use crate::workload;

/// Steps before the picture: the arm is away from its start pose.
const STEPS: usize = 120;
const WIDTH: usize = 640;
const HEIGHT: usize = 480;
/// Colour, depth and id.
const BYTES_PER_PIXEL: usize = 3 + 4 + 4;
/// Groups that are seen, as in MuJoCo's own viewer.
const VISIBLE_GROUPS: [u8; 6] = [1, 1, 1, 0, 0, 0];

/// The ways to draw, by name: as the peers' "shadows on", "off", and "off without smoothing".
fn ways() -> [(&'static str, Settings); 3] {
    let shadows = Settings::default();
    let smooth = Settings { shadows: false, ..shadows };
    let plain = Settings { antialias: Antialias::Off, ..smooth };
    [("shadows", shadows), ("smooth", smooth), ("plain", plain)]
}

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let dir = args.required_folder("dir")?;
    let rounds = args.number("rounds", 3)?;
    let check = args.number("check", 0)? > 0;
    let mut views = Map::new();
    for scene in catalog::scene_names() {
        let mut world = workload::world(scene, 1, 1)?;
        let commands = workload::commands(&world, STEPS)?;
        world.rollout(STEPS as u32, &commands)?;
        let cameras: Vec<String> = world.scene().camera_names().map(str::to_owned).collect();
        for camera in cameras {
            let frame = world.frame(0, &camera)?;
            if (frame.width, frame.height) != (WIDTH, HEIGHT) {
                continue;
            }
            let name = format!("{scene}.{camera}");
            let view = dir.join(&name);
            std::fs::create_dir_all(&view)?;
            export::write_model(&world, &view)?;
            let integration = export::states(&world, mjtState::mjSTATE_INTEGRATION)?;
            workload::write_f64(&view.join("states.f64"), &integration)?;
            let [near_m, far_m] = range_m(&world, &camera);
            let meta = json!({ "camera": camera, "near_m": near_m, "far_m": far_m });
            std::fs::write(view.join("meta.json"), meta.to_string())?;
            let mut samples = times(&mut world, &camera, rounds)?;
            world.set_render_settings(Settings::default())?;
            let frame = world.frame(0, &camera)?.clone();
            write_frame(&frame, &view)?;
            if check {
                samples.insert("against_rays".into(), against_rays(&world, &camera, &frame)?);
            }
            views.insert(name, samples.into());
        }
    }
    Ok(json!({ "width": WIDTH, "height": HEIGHT, "views": views }))
}

fn times(
    world: &mut World,
    camera: &str,
    rounds: usize,
) -> Result<Map<String, Value>, Box<dyn Error>> {
    let mut all = Map::new();
    for (way, settings) in ways() {
        world.set_render_settings(settings)?;
        world.frame(0, camera)?;
        let mut samples = Samples::default();
        for _ in 0..rounds {
            samples.time(|| world.frame(0, camera).map(|_| ()))?;
        }
        all.insert(way.into(), samples.json());
    }
    // The same through State: arrays of their own, bodies and things instead of geoms.
    world.set_render_settings(Settings::default())?;
    let cameras = [(camera.to_owned(), CameraQuery::ALL)].into();
    let query = StateQuery { cameras, ..StateQuery::default() };
    world.get_state(None, &query)?;
    let mut samples = Samples::default();
    for _ in 0..rounds {
        samples.time(|| world.get_state(None, &query).map(|_| ()))?;
    }
    all.insert("state_shadows".into(), samples.json());
    // What memory allows: as many bytes as a frame holds, into memory that is already there.
    let source = vec![1_u8; WIDTH * HEIGHT * BYTES_PER_PIXEL];
    let mut target = source.clone();
    let mut copy = Samples::default();
    for _ in 0..rounds {
        copy.time(|| black_box(&mut target).copy_from_slice(black_box(&source)));
    }
    all.insert("copy".into(), copy.json());
    Ok(all)
}

fn write_frame(frame: &Frame, dir: &Path) -> Result<(), Box<dyn Error>> {
    let depth: Vec<u8> = frame.depth.iter().flat_map(|d| d.to_le_bytes()).collect();
    let ids: Vec<u8> = frame.ids.iter().flat_map(|d| d.to_le_bytes()).collect();
    std::fs::write(dir.join("rgb.u8"), &frame.rgb)?;
    std::fs::write(dir.join("depth.f32"), depth)?;
    Ok(std::fs::write(dir.join("ids.i32"), ids)?)
}

/// Nearest and farthest depth that a camera sees; a model's own camera has no entry in the scene.
fn range_m(world: &World, camera: &str) -> [f64; 2] {
    let written = world.scene().scene.cameras.get(camera);
    written.map_or([0.01, 50.0], |c| [c.near_m, c.far_m])
}

/// One exact ray through the centre of every pixel.
fn against_rays(world: &World, camera: &str, frame: &Frame) -> Result<Value, Box<dyn Error>> {
    let model = world.scene().model();
    let index = model.name_to_id(MjtObjBase::mjOBJ_CAMERA, camera).ok_or("no such camera")?;
    let [near, far] = range_m(world, camera);
    let part = mjtState::mjSTATE_INTEGRATION as u32;
    let mut data = MjData::try_new(std::sync::Arc::clone(model))?;
    data.set_state(&world.data(0)?.state(part), part)?;
    data.step1();
    let (origin, rot) = (data.cam_xpos()[index], data.cam_xmat()[index]);
    let focal_px = 0.5 * HEIGHT as f64 / (0.5 * model.cam_fovy()[index].to_radians()).tan();
    let (mut equal, mut errors) = (0, Vec::with_capacity(WIDTH * HEIGHT));
    for row in 0..HEIGHT {
        for column in 0..WIDTH {
            let x = (column as f64 + 0.5 - 0.5 * WIDTH as f64) / focal_px;
            let y = (0.5 * HEIGHT as f64 - row as f64 - 0.5) / focal_px;
            // Length 1 along the optical axis, so that the ray's parameter is the depth.
            let ray: [f64; 3] =
                std::array::from_fn(|i| rot[3 * i] * x + rot[3 * i + 1] * y - rot[3 * i + 2]);
            let start: [f64; 3] = std::array::from_fn(|i| origin[i] + near * ray[i]);
            let (geom, along) = data.ray(&start, &ray, Some(&VISIBLE_GROUPS), true, None, None);
            let depth = along + near;
            let geom = geom.filter(|_| depth <= far).map_or(-1, |g| g as i32);
            let pixel = row * WIDTH + column;
            if frame.ids[pixel] == geom {
                equal += 1;
                if geom >= 0 {
                    errors.push((f64::from(frame.depth[pixel]) - depth).abs());
                }
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let quantile = |q: f64| errors.get((q * (errors.len().max(1) - 1) as f64) as usize);
    Ok(json!({
        "ids_equal": f64::from(equal) / (WIDTH * HEIGHT) as f64,
        "depth_error_m": {
            "median": quantile(0.5), "p95": quantile(0.95), "p999": quantile(0.999),
            "max": quantile(1.0),
        },
    }))
}
