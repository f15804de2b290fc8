//! A film of plans: the scene as a camera sees it, with the planned way of the hand and the
//! voxels that the planner knew drawn over it.

use std::path::Path;

use anyhow::Context as _;
use citrange_cloud::{Pinhole, View};
use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Pose, Rig as _, Tape};
use citrange_render::{Image, letters};
use citrange_sim::{CameraQuery, SimRig, StateQuery};
use citrange_space::MapSnapshot;
use nalgebra::{Isometry3, Point3};

use citrange_episodes::film::Film;

const WAY: [u8; 3] = [255, 140, 0];
const VOXEL: [u8; 3] = [90, 170, 255];
const TEXT: [u8; 3] = [245, 245, 245];

/// A film being made.
pub(super) struct PlanFilm {
    film: Film,
    size: (usize, usize),
    eye: Eye,
    dots: Vec<Dot>,
    caption: String,
}

/// A square to be painted.
struct Dot {
    at: (usize, usize),
    edge: usize,
    rgb: [u8; 3],
}

/// How a camera that stands still sees.
struct Eye {
    camera_from_world: Isometry3<f64>,
    pinhole: Pinhole,
}

impl PlanFilm {
    /// Films with the rig's one camera.
    pub(super) fn begin(path: &Path, rig: &mut SimRig) -> anyhow::Result<Self> {
        let spec = rig.spec();
        let [camera] = spec.cameras.as_slice() else {
            anyhow::bail!("a plan is filmed with one camera");
        };
        let film = Film::begin(path, &spec.cameras, spec.rates.frame_hz)?;
        let size = (camera.width_px as usize, camera.height_px as usize);
        let name = camera.name.clone();
        let eye = Eye::of(rig, &name)?;
        Ok(Self { film, size, eye, dots: Vec::new(), caption: String::new() })
    }

    /// What is drawn over the pictures from here on.
    pub(super) fn show(&mut self, caption: String, way_m: &[[f64; 3]], map: Option<&MapSnapshot>) {
        self.caption = caption;
        self.dots.clear();
        for voxel in map.iter().flat_map(|map| map.voxels()) {
            let grid = map.map(MapSnapshot::grid);
            let at = grid.and_then(|grid| self.pixel(grid.centre_m(grid.cell_of(voxel.key))));
            self.dots.extend(at.map(|at| Dot { at, edge: 2, rgb: VOXEL }));
        }
        for point in way_m {
            let at = self.pixel(*point);
            self.dots.extend(at.map(|at| Dot { at, edge: 3, rgb: WAY }));
        }
    }

    /// Writes the file.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        Ok(self.film.finish()?)
    }

    fn pixel(&self, point_m: [f64; 3]) -> Option<(usize, usize)> {
        let seen = self.eye.camera_from_world * Point3::from(point_m);
        let eye = &self.eye.pinhole;
        if seen.z <= 0.05 {
            return None;
        }
        let (x, y) = (eye.cx + eye.fx * seen.x / seen.z, eye.cy + eye.fy * seen.y / seen.z);
        let (width, height) = (self.size.0 as f64, self.size.1 as f64);
        let is_inside = (0.0..width - 4.0).contains(&x) && (0.0..height - 4.0).contains(&y);
        is_inside.then_some((x as usize, y as usize))
    }
}

impl Tape for PlanFilm {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        let Some(picture) = frame.seen.pictures().next() else { return Ok(()) };
        let rgb = picture.pixels()?.to_vec();
        let mut image = Image { width: self.size.0, height: self.size.1, rgb };
        for dot in &self.dots {
            letters::dab(&mut image, dot.at, dot.edge, dot.rgb);
        }
        letters::write(&mut image, (8, 8), 2, TEXT, &self.caption);
        self.film.add_image(&image)?;
        Ok(())
    }
}

impl Eye {
    fn of(rig: &mut SimRig, camera: &str) -> anyhow::Result<Self> {
        let query = StateQuery {
            cameras: [(camera.to_owned(), CameraQuery::POSE)].into(),
            ..StateQuery::default()
        };
        let state = rig.world_mut().get_state(None, &query)?;
        let unknown = || format!("camera {camera} does not say where it is");
        let seen = state.cameras.get(camera).with_context(unknown)?;
        let k = seen.intrinsics.as_ref().with_context(unknown)?;
        let (pos, quat) = (seen.pos.as_ref(), seen.quat_world.as_ref());
        let (pos, quat) = (pos.with_context(unknown)?, quat.with_context(unknown)?);
        let pose = Pose {
            pos_m: std::array::from_fn(|a| pos[[0, a]]),
            quat_wxyz: std::array::from_fn(|a| quat[[0, a]]),
        };
        let pinhole =
            Pinhole { fx: k[[0, 0, 0]], fy: k[[0, 1, 1]], cx: k[[0, 0, 2]], cy: k[[0, 1, 2]] };
        let view = View::forward_x(&pose, Some(pinhole));
        Ok(Self { camera_from_world: view.world_from_camera.isometry().inverse(), pinhole })
    }
}
