//! What moves: things in a camera's picture that appear before what was there, and leave it.
//!
//! Each camera that stands still has a background: the depth at which each of its pixels ends when
//! nothing passes. What is nearer has appeared, what is farther was covered by something that has
//! left (background subtraction on depths). Large planes, which carry things, are taken away, what
//! is left falls into connected things. A thing moves only if pixels of it have appeared: what an
//! arm hides and shows again does not. Tables cannot move, since they are no things.

mod background;
mod components;
mod planes;

use citrange_cloud::Points;
use citrange_core::shape::PosedLinkShape;
use nalgebra::Isometry3;

use crate::grid::Grid;
use crate::map::bits::Bits;
use crate::map::settings::TrackSettings;
use crate::map::tracks::{Track, Tracks};

use background::{Background, Look};
use components::Components;
pub(crate) use components::Thing;
use planes::Planes;

/// At most so many pixels of a picture are looked at, evenly spread.
const MOST_SAMPLES: usize = 80_000;
/// A camera that has moved or turned by more than this sees another background.
const MOVED_M: f64 = 0.002;
const TURNED_RAD: f64 = 0.002;
/// Points within so much of the robot are its own, or flying pixels of its edge.
const ROBOT_MARGIN_M: f64 = 0.03;
/// Planes are looked for in these frames of a camera, and in every so many.
const PLANE_FRAMES: [u32; 3] = [0, 3, 15];
const PLANES_EVERY: u32 = 90;

/// Whether motion is watched in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MotionWatch {
    /// It is.
    Watched,
    /// The first frame of a camera, or the first since it moved: it becomes the background.
    Begun,
    /// It cannot be: the points are no picture.
    #[default]
    NoPicture,
}

impl MotionWatch {
    /// For JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Watched => "watched",
            Self::Begun => "begun",
            Self::NoPicture => "no_picture",
        }
    }
}

/// What a sampled pixel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing of interest: not seen, outside, a plane, the robot.
    #[default]
    Nothing,
    /// Where it has been.
    Still,
    /// Nearer than what was there.
    Appeared,
    /// Where it was, but it goes away from the camera.
    Receding,
}

/// A pixel that is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) kind: Kind,
    /// Depth; infinite where nothing was seen.
    pub(super) depth_m: f32,
    /// Place in the world.
    pub(super) place_m: [f32; 3],
}

impl Sample {
    /// Whether it shows that something moves.
    pub(super) fn moves(&self) -> bool {
        matches!(self.kind, Kind::Appeared | Kind::Receding)
    }
}

/// A camera that stands still.
#[derive(Clone, Debug)]
struct Eye {
    pose: Isometry3<f64>,
    size_px: [usize; 2],
    background: Background,
    planes: Planes,
    frames: u32,
}

/// All cameras, and the tracks of all that they see.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    settings: TrackSettings,
    tracks: Tracks,
    eyes: Vec<Option<Eye>>,
    samples: Vec<Sample>,
    row: [Vec<f32>; 3],
    components: Components,
}

impl Motion {
    pub(crate) fn new(settings: TrackSettings) -> Self {
        Self {
            settings,
            tracks: Tracks::new(settings),
            eyes: Vec::new(),
            samples: Vec::new(),
            row: [const { Vec::new() }; 3],
            components: Components::default(),
        }
    }

    /// The tracks, oldest first.
    pub(crate) fn tracks(&self) -> &[Track] {
        self.tracks.all()
    }

    /// Takes in a camera's next frame; `hit` are the cells with points that count.
    pub(crate) fn see<P: Points>(
        &mut self,
        camera: u16,
        points: &P,
        pose: &Isometry3<f64>,
        (grid, hit): (&Grid, &Bits),
        robot: &[PosedLinkShape],
    ) -> MotionWatch {
        let size_px = [points.width(), points.height()];
        if size_px[0] < 2 || size_px[1] < 2 {
            return MotionWatch::NoPicture;
        }
        let stride =
            (1..).find(|s| size_px[0].div_ceil(*s) * size_px[1].div_ceil(*s) <= MOST_SAMPLES);
        let stride = stride.unwrap_or(1);
        let columns = size_px[0].div_ceil(stride);
        self.read(points, stride);

        let camera_at = usize::from(camera);
        if self.eyes.len() <= camera_at {
            self.eyes.resize(camera_at + 1, None);
        }
        let eye = &mut self.eyes[camera_at];
        let is_same = eye.as_ref().is_some_and(|eye| {
            let off = eye.pose.inverse() * pose;
            eye.size_px == size_px
                && off.translation.vector.norm() < MOVED_M
                && off.rotation.angle() < TURNED_RAD
        });
        if !is_same {
            self.tracks.drop_camera(camera);
            *eye = None;
        }
        let eye = eye.get_or_insert_with(|| Eye {
            pose: *pose,
            size_px,
            background: Background::new(self.samples.len(), self.settings.adopt_s),
            planes: Planes::default(),
            frames: 0,
        });
        let focal_px = focal_px(&self.samples, columns, stride);
        let pixel_m = stride as f32 / focal_px;
        place(&mut self.samples, pose, grid, hit);
        let stamp_ns = points.stamp_ns();
        eye.background.look(&mut self.samples, stamp_ns);
        if PLANE_FRAMES.contains(&eye.frames) || (eye.frames + 1).is_multiple_of(PLANES_EVERY) {
            eye.planes.find(&self.samples, pixel_m);
        }
        eye.frames = eye.frames.saturating_add(1);
        eye.planes.take_away(&mut self.samples);
        take_robot_away(&mut self.samples, robot);
        let tracks = &self.tracks;
        let things =
            self.components.find(&self.samples, columns, pixel_m, |centroid_m, area_m2| {
                tracks.knows_whole(camera, stamp_ns, centroid_m, area_m2)
            });
        self.tracks.update(camera, stamp_ns, things);
        if eye.frames > 1 { MotionWatch::Watched } else { MotionWatch::Begun }
    }

    /// Every `stride`-th pixel of every `stride`-th row.
    fn read<P: Points>(&mut self, points: &P, stride: usize) {
        let width = points.width();
        self.samples.clear();
        self.row.iter_mut().for_each(|part| part.resize(width, 0.0));
        for row in (0..points.height()).step_by(stride) {
            let [x, y, z] = &mut self.row;
            points.fill(row * width, x, y, z);
            self.samples.extend((0..width).step_by(stride).map(|column| {
                let seen = z[column] > 0.0 && z[column] < f32::INFINITY;
                let depth_m = if seen { z[column] } else { f32::INFINITY };
                let place_m = [x[column], y[column], z[column]];
                Sample { kind: Kind::Nothing, depth_m, place_m }
            }));
        }
    }
}

/// Focal length of the picture, from two points of one row that are far apart.
fn focal_px(samples: &[Sample], columns: usize, stride: usize) -> f32 {
    let slope = |sample: &Sample| sample.place_m[0] / sample.depth_m;
    let found = samples.chunks_exact(columns).filter_map(|row| {
        let first = row.iter().position(|s| s.depth_m.is_finite())?;
        let last = row.iter().rposition(|s| s.depth_m.is_finite())?;
        let apart = slope(&row[last]) - slope(&row[first]);
        (last > first + columns / 4 && apart > 0.0)
            .then(|| ((last - first) * stride) as f32 / apart)
    });
    let found = found.into_iter().next();
    found.filter(|f| f.is_finite()).unwrap_or((columns * stride) as f32)
}

/// Places of samples become those in the world; those that lie in no cell that counts are `Nothing`,
/// all others `Still` for now.
fn place(samples: &mut [Sample], pose: &Isometry3<f64>, grid: &Grid, hit: &Bits) {
    let rotation = pose.rotation.to_rotation_matrix().matrix().cast::<f32>();
    let shift = pose.translation.vector.cast::<f32>();
    let (lower, per_m) = (grid.lower_m().map(|v| v as f32), (1.0 / grid.voxel_m()) as f32);
    let size = grid.size().map(|n| n as f32);
    for sample in samples.iter_mut().filter(|s| s.depth_m.is_finite()) {
        let [x, y, z] = sample.place_m;
        let world: [f32; 3] = std::array::from_fn(|a| {
            rotation[(a, 0)] * x + rotation[(a, 1)] * y + rotation[(a, 2)] * z + shift[a]
        });
        sample.place_m = world;
        let cell: [f32; 3] = std::array::from_fn(|a| (world[a] - lower[a]) * per_m);
        if (0..3).all(|a| cell[a] >= 0.0 && cell[a] < size[a]) && hit.get(cell.map(|v| v as usize))
        {
            sample.kind = Kind::Still;
        }
    }
}

fn take_robot_away(samples: &mut [Sample], robot: &[PosedLinkShape]) {
    for part in robot {
        let [lower, upper] = part.bounds_m(ROBOT_MARGIN_M).map(|corner| corner.map(|v| v as f32));
        for sample in samples.iter_mut().filter(|s| s.moves()) {
            let place = sample.place_m;
            if (0..3).all(|a| place[a] >= lower[a] && place[a] <= upper[a])
                && part.distance_m(place.map(f64::from)) <= ROBOT_MARGIN_M
            {
                sample.kind = Kind::Nothing;
            }
        }
    }
}

/// Three deviations of a depth camera's noise and of its steps, more than which is a difference.
pub(super) fn tolerance_m(depth_m: f32) -> f32 {
    0.008 + 0.008 * depth_m * depth_m
}

impl Background {
    /// What the pixels are, of those that are not `Nothing`; every pixel is learnt from.
    fn look(&mut self, samples: &mut [Sample], stamp_ns: u64) {
        let now_ms = self.clock_ms(stamp_ns);
        for (at, sample) in samples.iter_mut().enumerate() {
            let look = self.look_at(at, sample.depth_m, now_ms);
            sample.kind = match (sample.kind, look) {
                (Kind::Still, Look::Before) => Kind::Appeared,
                (Kind::Still, Look::Receding) => Kind::Receding,
                (kind, _) => kind,
            };
        }
    }
}
