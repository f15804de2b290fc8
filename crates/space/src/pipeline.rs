//! How a frame becomes voxels: the stages in their order.

use std::ops::Range;
use std::time::{Duration, Instant};

use citrange_core::Pose;

use crate::clusters::Grouping;
use crate::error::SpaceError;
use crate::frame::{Counts, Fate, PipelineStage, Voxel, VoxelFrame};
use crate::front::fates;
use crate::front::self_filter::{PosedRobot, RobotVolume};
use crate::front::support::Confirm;
use crate::front::sweep::{Strips, Survivors, SweepJob, Sweeper};
use crate::front::transform::CellTransform;
use crate::front::voxels::Rules;
use crate::grid::Grid;
use crate::outliers::{OutlierScratch, PictureXyz};
use crate::settings::PipelineSettings;
use citrange_cloud::Points;
use citrange_lanes::Isa;

/// Sums of colours of more points would not fit into 32 bits.
const MAX_POINTS: usize = 16_000_000;

/// Turns clouds into voxels. Keeps its memory: after the first frames of a camera, a frame on
/// one thread allocates nothing.
///
/// Which cell a point is in, and what becomes of it, is decided as if in f64, whatever the
/// instructions and the number of threads.
#[derive(Debug)]
pub struct Pipeline {
    settings: PipelineSettings,
    isa: Isa,
    own: RobotVolume,
    /// One per thread; the first gathers what all found.
    sweepers: Vec<Sweeper>,
    grouping: Grouping,
    /// Points that take part in the search for outliers.
    picture: [Vec<f32>; 3],
    outliers: OutlierScratch,
    frame: VoxelFrame,
    fates: Vec<Fate>,
}

impl Pipeline {
    /// A pipeline with these settings, on one thread, with the best instructions there are.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn new(settings: PipelineSettings) -> Result<Self, SpaceError> {
        let grid = settings.grid()?;
        let frame = VoxelFrame {
            stamp_ns: 0,
            grid,
            voxels: Vec::new(),
            clusters: 0,
            counts: Counts::default(),
            times: Vec::new(),
        };
        Ok(Self {
            settings,
            isa: Isa::best(),
            own: RobotVolume::default(),
            sweepers: vec![Sweeper::new(grid.cells())],
            grouping: Grouping::default(),
            picture: [const { Vec::new() }; 3],
            outliers: OutlierScratch::default(),
            frame,
            fates: Vec::new(),
        })
    }

    /// Shares the work between threads; frames stay the same bit by bit. 0 counts as 1.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        let cells = self.grid().cells();
        self.sweepers.resize_with(threads.max(1), || Sweeper::new(cells));
        self
    }

    /// Uses these instructions; frames stay the same bit by bit.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &PipelineSettings {
        &self.settings
    }

    /// Its cells.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.frame.grid
    }

    /// Makes voxels of a cloud that was taken from `world_from_camera` while the robot was as
    /// given.
    ///
    /// # Errors
    /// When the pose or the robot is not finite, there are too many points, or more voxels are
    /// left than `num_voxels`. The pipeline can be used again.
    pub fn run<P: Points>(
        &mut self,
        points: &P,
        world_from_camera: &Pose,
        robot: &PosedRobot<'_>,
    ) -> Result<&VoxelFrame, SpaceError> {
        self.fates.clear();
        self.make(points, world_from_camera, robot, false)?;
        Ok(&self.frame)
    }

    /// The same, and keeps what became of each point, which takes longer.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with_fates<P: Points>(
        &mut self,
        points: &P,
        world_from_camera: &Pose,
        robot: &PosedRobot<'_>,
    ) -> Result<&VoxelFrame, SpaceError> {
        self.fates.clear();
        self.make(points, world_from_camera, robot, true)?;
        Ok(&self.frame)
    }

    /// The last frame; empty before the first.
    #[must_use]
    pub fn frame(&self) -> &VoxelFrame {
        &self.frame
    }

    /// What became of each point in the last [`Self::run_with_fates`]; empty after [`Self::run`].
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    fn make<P: Points>(
        &mut self,
        points: &P,
        world_from_camera: &Pose,
        robot: &PosedRobot<'_>,
        with_fates: bool,
    ) -> Result<(), SpaceError> {
        let began = Instant::now();
        if points.len() > MAX_POINTS {
            let reason = format!("{} points are more than {MAX_POINTS}", points.len());
            return Err(SpaceError::bad("cloud", reason));
        }
        let to_cell = CellTransform::new(&self.frame.grid, world_from_camera)?;
        self.own.pose(&self.settings, robot, &to_cell)?;
        self.frame.stamp_ns = points.stamp_ns();
        self.frame.times.clear();
        let strips = Strips::of(points);
        let confirm = self.settings.support.as_ref().filter(|_| strips.picture).map(Confirm::new);
        let job = SweepJob {
            points,
            to_cell: &to_cell,
            own: &self.own,
            confirm,
            outliers: &[],
            isa: self.isa,
        };
        let mut watch = Watch { began, times: &mut self.frame.times };
        let job = match &self.settings.outliers {
            Some(settings) => {
                let left = survivors(&mut self.picture, points.len());
                distribute(&mut self.sweepers, &job, strips, 0..strips.count(), Some(left));
                watch.note(PipelineStage::Front);
                let [x, y, z] = &self.picture;
                let width = if strips.picture { points.width() } else { points.len() };
                let picture = PictureXyz { x, y, z, width };
                let threads = self.sweepers.len();
                let outliers = self.outliers.find(&picture, settings, self.isa, threads);
                watch.note(PipelineStage::Outliers);
                SweepJob { outliers, ..job }
            }
            None => job,
        };
        distribute(&mut self.sweepers, &job, strips, 0..strips.count(), None);
        let Some((first, others)) = self.sweepers.split_first_mut() else { return Ok(()) };
        let (slots, counts) = (&mut first.slots, &mut self.frame.counts);
        *counts = first.counts;
        for other in others {
            slots.merge(&other.slots);
            counts.add_all(&other.counts);
        }
        watch.note(PipelineStage::Front);
        let rules = Rules {
            grid: &self.frame.grid,
            confirmed: confirm.is_some(),
            min_points: self.settings.min_points,
            safe_distance_m: self.settings.robot_voxel_safe_distance_m,
            shapes: robot.shapes,
        };
        let voxels = &mut self.frame.voxels;
        rules.collect(slots, voxels, counts);
        watch.note(PipelineStage::Voxels);
        self.frame.clusters = 0;
        if let Some(clusters) = &self.settings.clusters {
            let dropped = |voxel: &Voxel| {
                counts.add(Fate::SmallCluster, u64::from(voxel.points));
                // Found in memory far away: only where somebody asks.
                if with_fates {
                    slots.set_fate(voxel.key, Fate::SmallCluster);
                }
            };
            let least = clusters.min_voxels;
            self.frame.clusters = self.grouping.number(&self.frame.grid, voxels, least, dropped);
            watch.note(PipelineStage::Clusters);
        }
        if voxels.len() > self.settings.num_voxels {
            let (found, limit) = (voxels.len(), self.settings.num_voxels);
            voxels.clear();
            self.frame.clusters = 0;
            return Err(SpaceError::TooManyVoxels { found, limit });
        }
        counts.add(Fate::Kept, voxels.iter().map(|voxel| u64::from(voxel.points)).sum());
        if with_fates {
            fates::write(&job, slots, &mut self.fates);
        }
        Ok(())
    }
}

/// Notes how long stages take.
struct Watch<'a> {
    began: Instant,
    times: &'a mut Vec<(PipelineStage, Duration)>,
}

impl Watch<'_> {
    /// The stage ends and the next one begins.
    fn note(&mut self, stage: PipelineStage) {
        let now = Instant::now();
        let took = now - self.began;
        tracing::trace!(stage = stage.name(), ?took, "pipeline");
        self.times.push((stage, took));
        self.began = now;
    }
}

/// Room for the points that take part in the search for outliers; none does yet.
fn survivors(picture: &mut [Vec<f32>; 3], points: usize) -> Survivors<'_> {
    for axis in picture.iter_mut() {
        axis.clear();
        axis.resize(points, f32::NAN);
    }
    let [x, y, z] = picture;
    Survivors { first: 0, xyz: [x, y, z] }
}

/// Sweeps strips with as many threads as there are sweepers.
fn distribute<P: Points>(
    sweepers: &mut [Sweeper],
    job: &SweepJob<'_, P>,
    strips: Strips,
    range: Range<usize>,
    survivors: Option<Survivors<'_>>,
) {
    match sweepers {
        [] => {}
        [one] => one.sweep(job, strips, range, survivors),
        many => {
            let (left, right) = many.split_at_mut(many.len() / 2);
            let for_left = range.len() * left.len() / (left.len() + right.len());
            let middle = range.start + for_left;
            let (before, after) = match survivors {
                Some(all) => {
                    let (before, after) = all.split(strips.start(middle));
                    (Some(before), Some(after))
                }
                None => (None, None),
            };
            rayon::join(
                || distribute(left, job, strips, range.start..middle, before),
                || distribute(right, job, strips, middle..range.end, after),
            );
        }
    }
}
