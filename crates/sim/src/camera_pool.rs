//! Cameras: pictures of many environments at once, through the software renderer.

use std::collections::BTreeMap;

use citrange_core::CameraState;
use citrange_core::pose::forward_x_from_forward_minus_z;
use citrange_render::{Camera, Frame, Job, Placement, RenderPool, Settings};
use ndarray::{Array2, Array3, Array4};

use crate::error::SimError;
use crate::extras::quat_from_matrix;
use crate::layout::CameraLayout;
use crate::picture::Picture;
use crate::world::World;

/// Which images of a camera to make. Pose and intrinsics are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CameraQuery {
    /// Colours.
    pub rgb: bool,
    /// Distances.
    pub depth: bool,
    /// Bodies and things seen.
    pub segmentation: bool,
}

impl CameraQuery {
    /// All images.
    pub const ALL: Self = Self { rgb: true, depth: true, segmentation: true };
    /// Colours only.
    pub const RGB: Self = Self { rgb: true, depth: false, segmentation: false };
    /// Pose and intrinsics only.
    pub const POSE: Self = Self { rgb: false, depth: false, segmentation: false };
}

/// What a world needs to draw pictures; made when the first is asked for.
pub(crate) struct CameraPool {
    picture: Picture,
    pool: RenderPool,
    frames: Vec<Frame>,
    placements: Vec<Vec<Placement>>,
    settings: Settings,
}

impl World {
    /// Sets how pictures are drawn (shadows, smoothing of edges).
    ///
    /// # Errors
    /// When the model has something that cannot be drawn.
    pub fn set_render_settings(&mut self, settings: Settings) -> Result<(), SimError> {
        self.camera_pool()?.settings = settings;
        Ok(())
    }

    /// How pictures are drawn.
    pub(crate) fn render_settings(&self) -> Settings {
        self.camera_pool.as_ref().map(|room| room.settings).unwrap_or_default()
    }

    fn camera_pool(&mut self) -> Result<&mut CameraPool, SimError> {
        if self.camera_pool.is_none() {
            self.camera_pool = Some(CameraPool {
                picture: Picture::new(&self.scene.model)?,
                pool: RenderPool::new(),
                frames: Vec::new(),
                placements: Vec::new(),
                settings: Settings::default(),
            });
        }
        // Just made, if it was not there.
        self.camera_pool.as_mut().ok_or_else(|| SimError::Mujoco("no camera pool".into()))
    }

    pub(crate) fn read_camera(
        &mut self,
        name: &str,
        ids: &[usize],
        query: CameraQuery,
    ) -> Result<CameraState, SimError> {
        let camera = self.scene.layout.camera(name)?.clone();
        let mut state = self.camera_geometry(&camera, ids);
        if query == CameraQuery::POSE {
            return Ok(state);
        }
        self.draw(&camera, ids)?;
        let Some(camera_pool) = &self.camera_pool else { return Ok(state) };
        let frames = &camera_pool.frames[..ids.len()];
        let shape = (ids.len(), camera.height, camera.width);
        if query.rgb {
            let all = gather(frames, |f| &f.rgb);
            state.rgb = Array4::from_shape_vec((shape.0, shape.1, shape.2, 3), all).ok();
        }
        if query.depth {
            state.depth = Array3::from_shape_vec(shape, gather(frames, |f| &f.depth)).ok();
        }
        if query.segmentation {
            let layout = &self.scene.layout;
            let bodies = self.scene.model.geom_bodyid();
            let body_of = |geom: i32| usize::try_from(geom).ok().map(|g| bodies[g]);
            let geoms = gather(frames, |f| &f.ids);
            let body_ids: Vec<i32> =
                geoms.iter().map(|geom| body_of(*geom).unwrap_or(-1)).collect();
            state.instance_id_seg_id2label = layout
                .body_names
                .iter()
                .enumerate()
                .map(|(id, name)| (id as i32, name.clone()))
                .collect();
            let (owner_ids, labels) = owner_ids(&layout.owners);
            let things = body_ids.iter().map(|b| usize::try_from(*b).map_or(-1, |b| owner_ids[b]));
            state.instance_seg = Array3::from_shape_vec(shape, things.collect()).ok();
            state.instance_seg_id2label = labels;
            state.instance_id_seg = Array3::from_shape_vec(shape, body_ids).ok();
        }
        Ok(state)
    }

    /// Where a camera of an environment looks from, and how.
    pub(crate) fn view(&self, camera: &CameraLayout, env: usize) -> Camera {
        let data = &self.envs[env].data;
        view_of(camera, data.cam_xpos()[camera.index], data.cam_xmat()[camera.index])
    }

    /// Position, orientation and intrinsics.
    fn camera_geometry(&self, camera: &CameraLayout, ids: &[usize]) -> CameraState {
        let n = ids.len();
        let (mut pos, mut quat) = (Array2::zeros((n, 3)), Array2::zeros((n, 4)));
        let mut intrinsics = Array3::zeros((n, 3, 3));
        for (row, env) in ids.iter().enumerate() {
            let data = &self.envs[*env].data;
            let gl = quat_from_matrix(&data.cam_xmat()[camera.index]);
            let forward_x = forward_x_from_forward_minus_z(gl);
            for i in 0..3 {
                pos[[row, i]] = data.cam_xpos()[camera.index][i];
            }
            for i in 0..4 {
                quat[[row, i]] = forward_x[i];
            }
            let k = view_of(camera, [0.0; 3], IDENTITY).intrinsics;
            for (at, value) in
                [([0, 0], k.fx), ([1, 1], k.fy), ([0, 2], k.cx), ([1, 2], k.cy), ([2, 2], 1.0)]
            {
                intrinsics[[row, at[0], at[1]]] = value;
            }
        }
        CameraState {
            pos: Some(pos),
            quat_world: Some(quat),
            intrinsics: Some(intrinsics),
            ..CameraState::default()
        }
    }

    /// Draws one camera in the given environments into the camera_pool's frames. Ids in the frames
    /// are the engine's geoms.
    fn draw(&mut self, camera: &CameraLayout, ids: &[usize]) -> Result<(), SimError> {
        self.camera_pool()?;
        let Some(mut room) = self.camera_pool.take() else { return Ok(()) };
        if room.frames.len() < ids.len() {
            room.frames.resize_with(ids.len(), Frame::default);
            room.placements.resize_with(ids.len(), Vec::new);
        }
        for (env, placements) in ids.iter().zip(&mut room.placements) {
            let data = &self.envs[*env].data;
            room.picture.place(data.geom_xpos(), data.geom_xmat(), placements);
        }
        let jobs: Vec<Job<'_>> = ids
            .iter()
            .zip(&room.placements)
            .map(|(env, placements)| {
                let view = self.view(camera, *env);
                Job { model: &room.picture.model, placements, camera: view }
            })
            .collect();
        let frames = &mut room.frames[..ids.len()];
        let drawn = self.in_pool(|| room.pool.render_batch(&jobs, &room.settings, frames));
        drop(jobs);
        self.camera_pool = Some(room);
        Ok(drawn?)
    }

    /// Draws one camera in one environment: the raw frame, whose ids are the engine's geoms.
    ///
    /// # Errors
    /// When the environment or camera is not known.
    pub fn frame(&mut self, env: usize, camera: &str) -> Result<&Frame, SimError> {
        self.check_env(env)?;
        let camera = self.scene.layout.camera(camera)?.clone();
        self.draw(&camera, &[env])?;
        let room = self.camera_pool.as_ref();
        room.and_then(|r| r.frames.first()).ok_or_else(|| SimError::Mujoco("no frame".into()))
    }
}

const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

fn view_of(camera: &CameraLayout, pos_m: [f64; 3], rot: [f64; 9]) -> Camera {
    let view =
        Camera::from_fovy(pos_m, rot, camera.fovy_deg.to_radians(), camera.width, camera.height);
    Camera { near_m: camera.near_m, far_m: camera.far_m, ..view }
}

fn gather<T: Copy>(frames: &[Frame], pick: impl Fn(&Frame) -> &Vec<T>) -> Vec<T> {
    let mut all = Vec::with_capacity(frames.iter().map(|f| pick(f).len()).sum());
    for frame in frames {
        all.extend_from_slice(pick(frame));
    }
    all
}

/// A number for every robot, object and fixture: for each body, and the names of the numbers.
fn owner_ids(owners: &[String]) -> (Vec<i32>, BTreeMap<i32, String>) {
    let mut numbers: BTreeMap<&str, i32> = BTreeMap::new();
    let mut labels = BTreeMap::new();
    let ids = owners.iter().map(|owner| {
        let next = numbers.len() as i32;
        *numbers.entry(owner).or_insert_with(|| {
            labels.insert(next, owner.clone());
            next
        })
    });
    let ids = ids.collect();
    (ids, labels)
}
