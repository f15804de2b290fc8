//! A film of plans: the scene as a camera sees it, with the planned way of the tool and the voxels
//! that the planner knew drawn over it.

use std::path::Path;

use citrange_cloud::Pinhole;
use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Tape};
use citrange_render::{Image, letters};
use citrange_space::MapSnapshot;
use nalgebra::{Isometry3, Point3};

use crate::cell::EpisodeRig;
use crate::error::{Context as _, EpisodesError, Result};
use crate::film::Film;

const WAY: [u8; 3] = [255, 140, 0];
const VOXEL: [u8; 3] = [90, 170, 255];
const TEXT: [u8; 3] = [245, 245, 245];
/// What is nearer to the camera is not drawn.
const NEAREST_M: f64 = 0.05;
/// Dots keep this distance from the right and lower edge.
const EDGE_PX: f64 = 4.0;

/// A film being made; a tape of the loop.
pub(super) struct PlanFilm {
    film: Film,
    size: (usize, usize),
    camera: FixedCamera,
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
struct FixedCamera {
    camera_from_world: Isometry3<f64>,
    pinhole: Pinhole,
}

impl PlanFilm {
    /// Films with the rig's one camera.
    pub(super) fn begin(path: &Path, rig: &mut dyn EpisodeRig) -> Result<Self> {
        let spec = rig.spec();
        let [camera] = spec.cameras.as_slice() else {
            return Err(EpisodesError::Failed("a plan is filmed with one camera".to_owned()));
        };
        let film = Film::begin(path, &spec.cameras, spec.rates.frame_hz)?;
        let size = (camera.width_px as usize, camera.height_px as usize);
        let name = camera.name.clone();
        let view = rig.camera_view(&name)?;
        let unknown = || format!("nobody knows how camera {name} sees");
        let pinhole = view.pinhole.with_context(unknown)?;
        let camera_from_world = view.world_from_camera.isometry().inverse();
        let camera = FixedCamera { camera_from_world, pinhole };
        Ok(Self { film, size, camera, dots: Vec::new(), caption: String::new() })
    }

    /// What is drawn over the pictures from here on; `way_m` in the world.
    pub(super) fn show(
        &mut self,
        caption: String,
        way_m: Vec<[f64; 3]>,
        map: Option<&MapSnapshot>,
    ) {
        self.caption = caption;
        self.dots.clear();
        if let Some(map) = map {
            for voxel in map.voxels() {
                let at = self.pixel(map.grid().centre_m(map.grid().cell_of(voxel.key)));
                self.dots.extend(at.map(|at| Dot { at, edge: 2, rgb: VOXEL }));
            }
        }
        for point in way_m {
            let at = self.pixel(point);
            self.dots.extend(at.map(|at| Dot { at, edge: 3, rgb: WAY }));
        }
    }

    /// Writes the file.
    pub(super) fn finish(self) -> Result<()> {
        self.film.finish()
    }

    fn pixel(&self, point_m: [f64; 3]) -> Option<(usize, usize)> {
        let seen = self.camera.camera_from_world * Point3::from(point_m);
        let pinhole = &self.camera.pinhole;
        if seen.z <= NEAREST_M {
            return None;
        }
        let x = pinhole.cx + pinhole.fx * seen.x / seen.z;
        let y = pinhole.cy + pinhole.fy * seen.y / seen.z;
        let (width, height) = (self.size.0 as f64, self.size.1 as f64);
        let is_inside = (0.0..width - EDGE_PX).contains(&x) && (0.0..height - EDGE_PX).contains(&y);
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
