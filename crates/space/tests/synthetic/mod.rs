//! Boxes before a depth camera: clouds and voxels by plain loops in f64.
#![allow(dead_code, reason = "every test uses a part of it")]

use std::collections::BTreeMap;

use citrange_cloud::{Cloud, Pinhole, View};
use citrange_core::Pose;
use citrange_space::{Counts, Grid, Voxel, VoxelFrame};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// A box of the world, and the group that its voxels are in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thing {
    pub lower_m: [f64; 3],
    pub upper_m: [f64; 3],
    pub group: u32,
}

/// A thing at a place.
pub(crate) fn thing(group: u32, centre_m: [f64; 3], half_m: [f64; 3]) -> Thing {
    Thing {
        lower_m: std::array::from_fn(|a| centre_m[a] - half_m[a]),
        upper_m: std::array::from_fn(|a| centre_m[a] + half_m[a]),
        group,
    }
}

/// A camera with a picture of `width` by `height`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub pose: Isometry3<f64>,
    pub pinhole: Pinhole,
    pub width: usize,
    pub height: usize,
}

impl Camera {
    /// Stands at `eye_m` and looks at `target_m`.
    pub(crate) fn new(eye_m: [f64; 3], target_m: [f64; 3], width: usize, height: usize) -> Self {
        let eye = Vector3::from(eye_m);
        let forward = (Vector3::from(target_m) - eye).normalize();
        let right = forward.cross(&Vector3::z()).normalize();
        let rotation = Matrix3::from_columns(&[right, forward.cross(&right), forward]);
        let rotation =
            UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
        let (w, h) = (width as f64, height as f64);
        let pinhole = Pinhole { fx: 0.9 * w, fy: 0.9 * w, cx: w / 2.0 - 0.5, cy: h / 2.0 - 0.3 };
        Self {
            pose: Isometry3::from_parts(Translation3::from(eye), rotation),
            pinhole,
            width,
            height,
        }
    }

    pub(crate) fn view(&self) -> View {
        View::new(Pose::from(self.pose), Some(self.pinhole))
    }

    /// Direction of a pixel in the world, as long as it is for depth 1.
    pub(crate) fn ray(&self, column: usize, row: usize) -> Vector3<f64> {
        let p = &self.pinhole;
        let slopes = [(column as f64 - p.cx) / p.fx, (row as f64 - p.cy) / p.fy];
        self.pose.rotation * Vector3::new(slopes[0], slopes[1], 1.0)
    }

    /// What the camera sees; `hole` says which pixels see nothing.
    pub(crate) fn picture(
        &self,
        things: &[Thing],
        stamp_ns: u64,
        hole: impl Fn(usize, usize) -> bool,
    ) -> Cloud {
        let mut xyz_m = Vec::new();
        for row in 0..self.height {
            for column in 0..self.width {
                let way = self.ray(column, row);
                let depth = things
                    .iter()
                    .map(|thing| enter(thing, self.pose.translation.vector, way))
                    .fold(f64::INFINITY, f64::min);
                let point = self.pose.rotation.inverse() * (way * depth);
                xyz_m.push(if depth.is_finite() && !hole(column, row) {
                    [point.x as f32, point.y as f32, point.z as f32]
                } else {
                    [f32::NAN; 3]
                });
            }
        }
        Cloud::new(xyz_m, Vec::new(), self.width, stamp_ns).unwrap()
    }
}

fn enter(thing: &Thing, from: Vector3<f64>, way: Vector3<f64>) -> f64 {
    let (mut first, mut last) = (0.0_f64, f64::INFINITY);
    for a in 0..3 {
        let t = [thing.lower_m[a], thing.upper_m[a]].map(|side| (side - from[a]) / way[a]);
        first = first.max(t[0].min(t[1]));
        last = last.min(t[0].max(t[1]));
    }
    if first <= last { first } else { f64::INFINITY }
}

/// Points of a cloud in the world; those that were seen.
pub(crate) fn world_points(cloud: &Cloud, pose: &Isometry3<f64>) -> Vec<[f64; 3]> {
    let seen = cloud.xyz_m.iter().filter(|p| p[2].is_finite());
    seen.map(|p| (pose * Point3::from(p.map(f64::from))).coords.into()).collect()
}

/// Voxels of a cloud, in the groups of the things that they are nearest to.
pub(crate) fn frame(
    grid: &Grid,
    cloud: &Cloud,
    pose: &Isometry3<f64>,
    things: &[Thing],
) -> VoxelFrame {
    let mut voxels = BTreeMap::new();
    for point in world_points(cloud, pose) {
        let Some(cell) = grid.cell(point) else { continue };
        let off = |thing: &Thing| -> f64 {
            (0..3)
                .map(|a| (thing.lower_m[a] - point[a]).max(point[a] - thing.upper_m[a]).max(0.0))
                .sum()
        };
        let nearest = things.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        let voxel = voxels.entry(grid.key(cell)).or_insert(Voxel {
            key: grid.key(cell),
            points: 0,
            rgb: [200, 100, 50],
            cluster: nearest.map_or(0, |thing| thing.group),
        });
        voxel.points += 1;
    }
    VoxelFrame {
        stamp_ns: cloud.stamp_ns,
        grid: *grid,
        clusters: voxels.values().map(|v| v.cluster + 1).max().unwrap_or(0),
        voxels: voxels.into_values().collect(),
        counts: Counts::default(),
        times: Vec::new(),
    }
}
