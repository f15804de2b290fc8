//! The map over time: frames of all cameras go in, snapshots come out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nalgebra::Isometry3;

use crate::error::SpaceError;
use crate::frame::VoxelFrame;
use crate::grid::Grid;
use crate::map::carve::{Carver, patch_px};
use crate::map::carve_rays::RayCarver;
use crate::map::cells::Cells;
use crate::map::depth::DepthPicture;
use crate::map::field::GapField;
use crate::map::lens::pinhole_of;
use crate::map::motion::{Motion, MotionWatch};
use crate::map::recheck::Verdict;
use crate::map::settings::MapSettings;
use crate::map::snapshot::{MapSnapshot, Sight, sight_of};
use crate::map::tracks::Track;
use crate::map::virtual_picture::VirtualPicture;
use citrange_cloud::{Pinhole, Points, View};
use citrange_core::shape::PosedLinkShape;
use citrange_lanes::Isa;

/// Points that are read at once.
const CHUNK: usize = 2048;

/// What a frame did to the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapReport {
    /// Voxels that became occupied.
    pub appeared: usize,
    /// Voxels that became free, because cameras looked through them.
    pub cleared: usize,
    /// Voxels that were forgotten, because nobody confirmed them: too old, or the noise of a
    /// surface that is seen beside them.
    pub forgotten: usize,
    /// How free space was found.
    pub carving: Carving,
    /// Whether motion is watched.
    pub motion: MotionWatch,
    /// Time for points, carving and hits.
    pub integrate_time: Duration,
    /// Time for what moves.
    pub motion_time: Duration,
    /// Time for the gap field.
    pub field_time: Duration,
    /// Time for the snapshot.
    pub snapshot_time: Duration,
}

/// How free space was found in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carving {
    /// Nothing was seen.
    #[default]
    None,
    /// Voxels were projected into the depth picture.
    Picture,
    /// The points are no picture of a pinhole: the depths that they would make one of.
    Projected,
    /// The points are all around: their rays were followed one by one.
    Rays,
}

/// What the points are read into.
#[derive(Clone, Copy, Debug)]
enum Read {
    /// The depth picture that they are.
    Picture,
    /// A depth picture that they are not.
    Into(VirtualPicture),
    /// Rays.
    Rays,
}

/// Cells over time, from any number of cameras.
#[derive(Debug)]
pub struct Map {
    settings: MapSettings,
    grid: Grid,
    reach_cells: usize,
    isa: Isa,
    cells: Cells,
    field: GapField,
    picture: DepthPicture,
    rays: Option<Box<RayCarver>>,
    motion: Motion,
    /// Newest stamp of each camera.
    cameras: Vec<Option<u64>>,
    epoch_ns: Option<u64>,
    newest_ns: u64,
    chunk: [Vec<f32>; 3],
    keys: Vec<u32>,
    current: Arc<MapSnapshot>,
    spare: Vec<Arc<MapSnapshot>>,
}

impl Map {
    /// A map that knows nothing yet.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn new(settings: &MapSettings, grid: &Grid) -> Result<Self, SpaceError> {
        let (reach_cells, isa) = (settings.check(grid)?, Isa::best());
        Ok(Self {
            settings: *settings,
            grid: *grid,
            reach_cells,
            isa,
            cells: Cells::new(grid, settings),
            field: GapField::new(grid, reach_cells, isa),
            picture: DepthPicture::default(),
            rays: None,
            motion: Motion::new(settings.tracks),
            cameras: Vec::new(),
            epoch_ns: None,
            newest_ns: 0,
            chunk: std::array::from_fn(|_| vec![0.0; CHUNK]),
            keys: Vec::new(),
            current: Arc::new(MapSnapshot::empty(grid, reach_cells)),
            spare: Vec::new(),
        })
    }

    /// What the map knows now. Readers keep it as long as they like.
    #[must_use]
    pub fn snapshot(&self) -> Arc<MapSnapshot> {
        Arc::clone(&self.current)
    }

    /// Things that are followed from frame to frame.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        self.motion.tracks()
    }

    /// Stamp of a camera's newest frame.
    #[must_use]
    pub fn newest_ns(&self, camera: u16) -> Option<u64> {
        self.cameras.get(usize::from(camera)).copied().flatten()
    }

    /// How old a camera's newest frame is; `None` if it has given none.
    #[must_use]
    pub fn age_s(&self, camera: u16, now_ns: u64) -> Option<f64> {
        self.newest_ns(camera).map(|newest| now_ns.saturating_sub(newest) as f64 * 1e-9)
    }

    /// Cameras whose newest frame is older than `limit_s`.
    pub fn stale_cameras(&self, now_ns: u64, limit_s: f64) -> impl Iterator<Item = u16> {
        (0..=u16::MAX)
            .take(self.cameras.len())
            .filter(move |camera| self.age_s(*camera, now_ns).is_some_and(|age| age > limit_s))
    }

    /// Takes in a camera's next frame: its points as they came, where from, and the voxels that
    /// the pipeline made of them. The points say what was looked through, also where they are
    /// outside of the grid or the robot's own.
    ///
    /// # Errors
    /// When the frame is not newer than the camera's last, belongs to another grid, or the pose
    /// or the pinhole are wrong. The map is as it was then.
    pub fn integrate<P: Points>(
        &mut self,
        camera: u16,
        points: &P,
        view: &View,
        frame: &VoxelFrame,
    ) -> Result<MapReport, SpaceError> {
        self.integrate_with_robot(camera, points, view, frame, &[])
    }

    /// The same, with the robot's shapes when the frame was taken: its edges do not count as
    /// things that move.
    ///
    /// # Errors
    /// As [`Self::integrate`].
    pub fn integrate_with_robot<P: Points>(
        &mut self,
        camera: u16,
        points: &P,
        view: &View,
        frame: &VoxelFrame,
        robot: &[PosedLinkShape],
    ) -> Result<MapReport, SpaceError> {
        let _span = tracing::trace_span!("integrate", camera).entered();
        let started = Instant::now();
        let world_from_camera = self.check(camera, view, frame)?;
        let pinhole = pinhole_of(points, view)?;

        let mut report = MapReport::default();
        let epoch_ns = *self.epoch_ns.get_or_insert(frame.stamp_ns);
        let sight = sight_of(epoch_ns, frame.stamp_ns);
        self.note_stamp(camera, frame.stamp_ns);
        report.appeared = self.cells.hit(&frame.voxels, sight);
        let picture = match pinhole {
            Some(pinhole) => {
                let size_px = [points.width(), points.height()];
                report.carving = Carving::Picture;
                Some(VirtualPicture { pinhole, size_px })
            }
            None => {
                let picture = VirtualPicture::of(points, &mut self.chunk);
                picture.inspect(|_| report.carving = Carving::Projected)
            }
        };
        if let Some(picture) = picture {
            let [width, height] = picture.size_px;
            self.picture.resize(width, height);
            match report.carving {
                Carving::Projected => self.read(points, &world_from_camera, Read::Into(picture)),
                _ => self.read(points, &world_from_camera, Read::Picture),
            }
            self.carve(&picture.pinhole, &world_from_camera, sight, &mut report);
        } else if points.len() > 0 {
            self.read(points, &world_from_camera, Read::Rays);
            for cell in self.rays.iter().flat_map(|rays| rays.free()) {
                report.cleared += usize::from(self.cells.look_through_one(cell, sight));
            }
            report.carving = Carving::Rays;
        }
        report.forgotten += self.forget(epoch_ns);
        report.integrate_time = started.elapsed();

        let started = Instant::now();
        let cells = (&self.grid, &self.cells.hit_now);
        report.motion = self.motion.see(camera, points, &world_from_camera, cells, robot);
        report.motion_time = started.elapsed();

        let started = Instant::now();
        self.field.update(&self.cells.occupied);
        report.field_time = started.elapsed();

        let started = Instant::now();
        self.publish(epoch_ns);
        report.snapshot_time = started.elapsed();
        Ok(report)
    }

    /// Everything that can be wrong with a frame but its points; the camera's pose.
    pub(super) fn check(
        &self,
        camera: u16,
        view: &View,
        frame: &VoxelFrame,
    ) -> Result<Isometry3<f64>, SpaceError> {
        if frame.grid != self.grid {
            let reason =
                format!("its grid is {:?}, that of the map is {:?}", frame.grid, self.grid);
            return Err(SpaceError::bad("frame", reason));
        }
        let cells = self.grid.cells();
        if let Some(voxel) = frame.voxels.iter().find(|v| v.key as usize >= cells) {
            let reason = format!("voxel {}: the grid has cells 0 to {}", voxel.key, cells - 1);
            return Err(SpaceError::bad("frame", reason));
        }
        let pose = view.world_from_camera.isometry();
        let rotation = pose.rotation.quaternion();
        let finite =
            pose.translation.vector.iter().chain(rotation.coords.iter()).all(|v| v.is_finite());
        if !finite {
            let reason = format!("the camera's pose is not finite: {:?}", view.world_from_camera);
            return Err(SpaceError::bad("view", reason));
        }
        match self.newest_ns(camera) {
            Some(newest_ns) if frame.stamp_ns <= newest_ns => {
                Err(SpaceError::TimeBackwards { stamp_ns: frame.stamp_ns, newest_ns })
            }
            _ => Ok(pose),
        }
    }

    fn note_stamp(&mut self, camera: u16, stamp_ns: u64) {
        let camera = usize::from(camera);
        if self.cameras.len() <= camera {
            self.cameras.resize(camera + 1, None);
        }
        self.cameras[camera] = Some(stamp_ns);
        self.newest_ns = self.newest_ns.max(stamp_ns);
    }

    /// Frees what the picture looks through.
    fn carve(
        &mut self,
        pinhole: &Pinhole,
        world_from_camera: &Isometry3<f64>,
        sight: Sight,
        report: &mut MapReport,
    ) {
        self.picture.finish(patch_px(&self.grid, pinhole, world_from_camera));
        let margin_m = self.settings.carve_margin_m;
        let (grid, picture) = (&self.grid, &self.picture);
        let carver = Carver::new(grid, picture, pinhole, world_from_camera, margin_m, self.isa);
        self.cells.list_unseen(&mut self.keys);
        carver.carve(&mut |cells| report.cleared += self.cells.look_through(cells, sight));
        for key in &self.keys {
            let cell = self.grid.cell_of(*key);
            // Those that the carver has found are done.
            if self.cells.is_looked_through(*key) || !self.cells.occupied.get(cell) {
                continue;
            }
            match carver.recheck(cell) {
                Verdict::Passed => {
                    report.cleared += usize::from(self.cells.look_through_one(cell, sight));
                }
                Verdict::Touched => report.forgotten += usize::from(self.cells.touch(cell)),
                Verdict::Unclear => {}
            }
        }
    }

    /// Reads all points once, for the depth picture or the rays.
    fn read<P: Points>(&mut self, points: &P, world_from_camera: &Isometry3<f64>, read: Read) {
        if let Read::Into(_) = read {
            self.picture.clear();
        }
        let mut carver = if let Read::Rays = read {
            let margin_m = self.settings.carve_margin_m;
            let grid = &self.grid;
            let carver = self.rays.get_or_insert_with(|| Box::new(RayCarver::new(grid, margin_m)));
            carver.clear();
            Some(carver)
        } else {
            None
        };
        let total = points.len();
        for start in (0..total).step_by(CHUNK) {
            let length = CHUNK.min(total - start);
            let [x, y, z] = self.chunk.each_mut().map(|part| &mut part[..length]);
            points.fill(start, x, y, z);
            match (&mut carver, &read) {
                (Some(carver), _) => carver.add(world_from_camera, x, y, z),
                (None, Read::Into(to)) => {
                    for i in 0..length {
                        if let Some(pixel) = to.pixel([x[i], y[i], z[i]]) {
                            self.picture.see(pixel, z[i]);
                        }
                    }
                }
                (None, _) => self.picture.set(start, z),
            }
        }
    }

    /// Forgets voxels that are too old, if there is such a thing.
    fn forget(&mut self, epoch_ns: u64) -> usize {
        let Some(max_age_s) = self.settings.max_age_s else { return 0 };
        let now = sight_of(epoch_ns, self.newest_ns);
        let oldest = now.saturating_sub((max_age_s * 1e3) as Sight);
        self.cells.forget_before(oldest, &mut self.keys)
    }

    /// Makes a new snapshot, in one that no reader holds any more if there is one.
    fn publish(&mut self, epoch_ns: u64) {
        let free = self.spare.iter_mut().position(|spare| Arc::get_mut(spare).is_some());
        let mut next = match free {
            Some(at) => self.spare.swap_remove(at),
            None => Arc::new(MapSnapshot::empty(&self.grid, self.reach_cells)),
        };
        if let Some(snapshot) = Arc::get_mut(&mut next) {
            snapshot.occupied.copy_from(&self.cells.occupied);
            snapshot.filled.update(&self.cells.occupied);
            snapshot.gap2[..self.grid.cells()].copy_from_slice(self.field.gap2());
            snapshot.seen.copy_from_slice(&self.cells.seen);
            snapshot.voxels.clear();
            snapshot.voxels.extend(self.cells.voxels(epoch_ns));
            snapshot.tracks.clear();
            snapshot.tracks.reserve(super::tracks::USUAL_THINGS);
            snapshot.tracks.extend_from_slice(self.motion.tracks());
            snapshot.epoch_ns = epoch_ns;
            snapshot.stamp_ns = self.newest_ns;
            snapshot.sequence = self.current.sequence + 1;
        }
        self.spare.push(std::mem::replace(&mut self.current, next));
    }
}
