//! `citrange space simulate`: frames of a simulated scene, as a depth camera would take them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use citrange_core::{CameraState, Pose};
use citrange_sim::{CameraQuery, StateQuery, Threads, World};
use citrange_space::{
    Cloud, CloudFile, DepthImage, Depths, Pinhole, Points as _, Sensor, Settings, Sidecar, View,
};
use serde_json::{Value, json};

use crate::output;
use crate::verbs::compiled;

/// Label of a point that the sensor put between two surfaces.
const FLYING: u8 = 254;
/// Label of a pixel without a point.
const NOT_SEEN: u8 = 255;
/// Frames of one episode are so many a second.
const FRAME_HZ: f64 = 30.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// Camera of the scene.
    #[arg(long)]
    camera: String,
    /// How many frames of the episode, a thirtieth of a second apart.
    #[arg(long, default_value_t = 1)]
    frames: u64,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode of the run: where the scene's objects are.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Another episode for each frame, so that things are elsewhere: for measurements. One map of
    /// such frames shows things that were never there together.
    #[arg(long)]
    each_episode: bool,
    /// What the sensor does to the truth.
    #[arg(long, value_enum, default_value_t = Kind::D435)]
    sensor: Kind,
    /// Seconds of simulation before the picture is taken, so that things come to rest.
    #[arg(long, default_value_t = 0.5)]
    settle_s: f64,
    /// Folder for frame_000.npz, frame_000.json, ...
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Noise that grows with the distance, flying pixels, dropouts.
    D435,
    /// The truth.
    Ideal,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let scene = compiled(&args.scene)?;
    let sensor = match args.sensor {
        Kind::D435 => Sensor::d435(),
        Kind::Ideal => Sensor::ideal(),
    };
    let mut world = World::new(scene.clone(), 1, Threads::Auto)?;
    let cameras = [(args.camera.clone(), CameraQuery::ALL)].into();
    let query = StateQuery { cameras, ..StateQuery::default() };
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot create {}", args.output.display()))?;
    let bar = output::progress("frames", args.frames);
    let physics_hz = f64::from(scene.scene.rates.physics_hz);
    // Physics steps of the episode so far.
    let mut done = 0;
    for frame in 0..args.frames {
        let mut time_s = args.settle_s;
        if args.each_episode || frame == 0 {
            let number = if args.each_episode { frame } else { 0 };
            world.reset_env(0, args.seed, args.episode + number)?;
            done = 0;
        } else {
            time_s += frame as f64 / FRAME_HZ;
        }
        let until = (time_s * physics_hz).round() as u32;
        world.step(until - done)?;
        done = until;
        let state = world.get_state(None, &query)?;
        let seen = state.cameras.get(&args.camera).context("the camera gave nothing")?;
        let shot = Shot::of(seen)?;
        let labels = labels(seen, |owner| {
            let is_robot = scene.robot_names().any(|name| name == owner);
            let is_object = scene.object_names().any(|name| name == owner);
            if is_robot { 3 } else { 1 + u8::from(is_object) }
        });
        let stamp_ns = 1_000_000_000 + (frame as f64 * 1e9 / FRAME_HZ) as u64;
        let taken = shot.take(&sensor, args.seed ^ (frame << 32), labels, stamp_ns)?;
        let path = args.output.join(format!("frame_{frame:03}.npz"));
        taken.write_npz(&path)?;
        let robot = state.robots.iter().find_map(|(name, robot)| {
            let joints = robot.joint_pos.as_ref()?.row(0).to_vec();
            let placed = scene.scene.robots.get(name)?;
            let said = json!({
                "model": placed.model, "pos_m": placed.pos_m, "yaw_deg": placed.yaw_deg,
            });
            Some((said, joints))
        });
        let side = shot.sidecar(robot, stamp_ns);
        std::fs::write(path.with_extension("json"), format!("{side:#}\n"))
            .with_context(|| format!("cannot write beside {}", path.display()))?;
        output::data(&path.display().to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The truth of one picture.
struct Shot {
    width: usize,
    height: usize,
    depth_m: Vec<f32>,
    rgb: Vec<[u8; 3]>,
    view: View,
    pinhole: Pinhole,
}

impl Shot {
    fn of(seen: &CameraState) -> anyhow::Result<Self> {
        let missing = "the camera gave no picture";
        let depth = seen.depth.as_ref().context(missing)?;
        let rgb = seen.rgb.as_ref().context(missing)?;
        let [_, height, width] = *depth.shape() else { anyhow::bail!(missing) };
        let k = seen.intrinsics.as_ref().context(missing)?;
        // State has pixel centres at halves, clouds at whole numbers.
        let pinhole = Pinhole {
            fx: k[[0, 0, 0]],
            fy: k[[0, 1, 1]],
            cx: k[[0, 0, 2]] - 0.5,
            cy: k[[0, 1, 2]] - 0.5,
        };
        let (pos, quat) = (seen.pos.as_ref().context(missing)?, seen.quat_world.as_ref());
        let quat = quat.context(missing)?;
        let pose = Pose {
            pos_m: std::array::from_fn(|a| pos[[0, a]]),
            quat_wxyz: std::array::from_fn(|a| quat[[0, a]]),
        };
        Ok(Self {
            width,
            height,
            depth_m: depth.iter().map(|d| if d.is_finite() { *d } else { f32::NAN }).collect(),
            rgb: rgb.iter().copied().collect::<Vec<u8>>().as_chunks().0.to_vec(),
            view: View::forward_x(&pose, Some(pinhole)),
            pinhole,
        })
    }

    /// What the sensor makes of it. Labels say where each point comes from.
    fn take(
        &self,
        sensor: &Sensor,
        seed: u64,
        mut labels: Vec<u8>,
        stamp_ns: u64,
    ) -> anyhow::Result<CloudFile> {
        let mut depth = vec![f32::NAN; self.depth_m.len()];
        sensor.apply(&self.depth_m, self.width, &self.pinhole, seed, &mut depth)?;
        for (label, (seen, truth)) in labels.iter_mut().zip(depth.iter().zip(&self.depth_m)) {
            // Farther off than noise ever is: it flies between two surfaces.
            let noise = 8.0 * sensor.sigma_m(f64::from(*truth), &self.pinhole) + 0.002;
            if seen.is_nan() {
                *label = NOT_SEEN;
            } else if f64::from((seen - truth).abs()) > noise {
                *label = FLYING;
            }
        }
        let image = DepthImage {
            width: self.width,
            height: self.height,
            depths: Depths::Metres(&depth),
            pinhole: self.pinhole,
            rgb: Some(&self.rgb),
            range_m: None,
            stamp_ns,
        };
        let points = image.points()?;
        let (mut x, mut y, mut z) = (depth.clone(), depth.clone(), depth.clone());
        points.fill(0, &mut x, &mut y, &mut z);
        let xyz_m = x.iter().zip(&y).zip(&z).map(|((x, y), z)| [*x, *y, *z]).collect();
        let cloud = Cloud::new(xyz_m, self.rgb.clone(), self.width, stamp_ns)?;
        Ok(CloudFile { cloud, labels: Some(labels), sidecar: Sidecar::default() })
    }

    /// What stands beside the cloud.
    fn sidecar(&self, robot: Option<(Value, Vec<f64>)>, stamp_ns: u64) -> Value {
        let workspace = Settings::default().workspace;
        let (robot, joints) =
            robot.map_or((Value::Null, Value::Null), |(robot, joints)| (robot, json!(joints)));
        json!({
            "width": self.width,
            "height": self.height,
            "fx": self.pinhole.fx,
            "fy": self.pinhole.fy,
            "cx": self.pinhole.cx,
            "cy": self.pinhole.cy,
            "T_cam_to_world": self.view.matrix(),
            "stamp_ns": stamp_ns,
            "robot": robot,
            "joints": joints,
            "workspace_lower": workspace.lower_m,
            "workspace_upper": workspace.upper_m,
        })
    }
}

/// A label per pixel: 0 the surroundings, otherwise what `kind` says of its owner.
fn labels(seen: &CameraState, kind: impl Fn(&str) -> u8) -> Vec<u8> {
    let names = &seen.instance_seg_id2label;
    let kinds: BTreeMap<i32, u8> = names.iter().map(|(id, name)| (*id, kind(name))).collect();
    let Some(ids) = &seen.instance_seg else { return Vec::new() };
    ids.iter().map(|id| kinds.get(id).copied().unwrap_or(0)).collect()
}
