//! What the pipeline makes of one frame.

use std::time::Duration;

use citrange_cloud::PointOrder;
use serde::Serialize;

use crate::grid::Grid;

/// One occupied cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voxel {
    /// Number of its cell in the frame's grid.
    pub key: u32,
    /// Points in it.
    pub points: u32,
    /// Mean colour of its points.
    pub rgb: [u8; 3],
    /// Number of its group, from 0; 0 for all where groups are not looked for.
    pub cluster: u32,
}

/// Voxels of one frame, in the order of their keys.
#[derive(Clone, Debug)]
pub struct VoxelFrame {
    /// When the frame was taken.
    pub stamp_ns: u64,
    /// Where the voxels are.
    pub grid: Grid,
    /// The voxels.
    pub voxels: Vec<Voxel>,
    /// How many groups they form.
    pub clusters: u32,
    /// What became of the points.
    pub counts: Counts,
    /// How long the stages took.
    pub times: Vec<(PipelineStage, Duration)>,
}

/// What became of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fate {
    /// It is in the map.
    Kept,
    /// The camera saw nothing there.
    NotSeen,
    /// Outside of the workspace.
    Cropped,
    /// On the robot or within its padding.
    Robot,
    /// In one of the spheres around the hand.
    EndEffector,
    /// A statistical outlier.
    Outlier,
    /// Not confirmed by its neighbours in the picture, and alone in its voxel.
    Unsupported,
    /// Its voxel had too few points.
    Sparse,
    /// Its voxel was too near to the robot.
    NearRobot,
    /// Its voxel's group was too small.
    SmallCluster,
}

impl Fate {
    /// All of them, in the order of the stages.
    pub const ALL: [Self; 10] = [
        Self::Kept,
        Self::NotSeen,
        Self::Cropped,
        Self::Robot,
        Self::EndEffector,
        Self::Outlier,
        Self::Unsupported,
        Self::Sparse,
        Self::NearRobot,
        Self::SmallCluster,
    ];

    /// For people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::NotSeen => "not_seen",
            Self::Cropped => "cropped",
            Self::Robot => "robot",
            Self::EndEffector => "end_effector",
            Self::Outlier => "outlier",
            Self::Unsupported => "unsupported",
            Self::Sparse => "sparse",
            Self::NearRobot => "near_robot",
            Self::SmallCluster => "small_cluster",
        }
    }
}

/// Something that is not as good as it could be, in words, with its figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameWarning {
    /// What it is about; the same for every frame that has it.
    pub about: &'static str,
    /// What is the matter, and what would help.
    pub text: String,
    /// How much: what it counts stands in `text`.
    pub figure: f64,
}

impl FrameWarning {
    /// What the order of `points` points makes worse.
    pub(crate) fn of_order(order: &PointOrder, points: usize) -> Vec<Self> {
        match order {
            PointOrder::Picture => Vec::new(),
            PointOrder::Unordered { reason } => vec![Self {
                about: "unordered",
                text: format!(
                    "{points} points without their pixels: flying pixels are not filtered, free \
                     space is found less well ({reason}). Give the camera's intrinsics: pinhole \
                     (and distortion) in the config, or fx, fy, cx, cy beside the frame"
                ),
                figure: points as f64,
            }],
            PointOrder::Placed(placed) => {
                let worst = 0.1;
                let off = (placed.off_px > worst).then(|| Self {
                    about: "off_rays",
                    text: format!(
                        "points are {:.2} px from the rays of their pixels on average (0.25 with \
                         wrong intrinsics): are these the camera's, and its distortion?",
                        placed.off_px
                    ),
                    figure: placed.off_px,
                });
                let lost = placed.doubled + placed.behind;
                let lost = (lost > 0).then(|| Self {
                    about: "no_pixel",
                    text: format!("{lost} of {points} points have no pixel and are left out"),
                    figure: lost as f64,
                });
                off.into_iter().chain(lost).collect()
            }
        }
    }

    /// A pose was no rotation, by so much.
    pub(crate) fn mended(off: f64) -> Self {
        let text = format!(
            "T_cam_to_world is {off:.1e} off a rotation: the nearest one is taken; write more \
             decimals"
        );
        Self { about: "mended_rotation", text, figure: off }
    }
}

/// How many points had which fate. They sum up to the points of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Fate::ALL.len()]);

impl Counts {
    /// Points with this fate.
    #[must_use]
    pub fn of(&self, fate: Fate) -> u64 {
        self.0[fate as usize]
    }

    /// Counts points with a fate.
    pub fn add(&mut self, fate: Fate, points: u64) {
        self.0[fate as usize] += points;
    }

    /// Counts what another part of a frame counted.
    pub fn add_all(&mut self, other: &Self) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine += more;
        }
    }

    /// The same of a frame of which `points` points came, whatever its picture's pixels: those
    /// without a point were not seen.
    #[must_use]
    pub fn of_points(mut self, points: usize) -> Self {
        let others = self.total() - self.of(Fate::NotSeen);
        self.0[Fate::NotSeen as usize] = (points as u64).saturating_sub(others);
        self
    }

    /// All points.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A stage that is timed. Fused stages share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PipelineStage {
    /// Transform, crop, robot, support and sums per voxel, in one sweep.
    Front,
    /// Statistical outlier removal.
    Outliers,
    /// Means, minimum of points, distance to the robot, order.
    Voxels,
    /// Groups.
    Clusters,
}

impl PipelineStage {
    /// For people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Outliers => "outliers",
            Self::Voxels => "voxels",
            Self::Clusters => "clusters",
        }
    }
}
