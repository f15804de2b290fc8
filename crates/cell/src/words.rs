//! What was found, in words for people.

use std::fmt;

use citrange_calibrate::{Calibration, Certainty, CubeCalibration};
use citrange_cloud::{CameraPose, PointOrder};
use citrange_space::Fate;

use crate::by_hand::HandView;
use crate::mapper::{MapSummary, MappedFrame};
use crate::picture::DrawnFrame;

/// Names of a cube's faces, in the order of [`CubeCalibration::faces`].
const FACES: [&str; 6] = ["-x", "+x", "-y", "+y", "-z", "+z"];

impl MappedFrame {
    /// What became of the points, how long each stage took, what moves.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let one = &self.report;
        let mut lines = vec![format!("{}: {} points", one.name, one.points)];
        lines.extend(one.warnings.iter().map(|warning| format!("  WARNING: {}", warning.text)));
        match &one.order {
            PointOrder::Placed(placed) => lines.push(format!(
                "  put back into their pixels in {:.3} ms, {} points{}",
                1e3 * one.order_time.as_secs_f64(),
                placed.placed,
                if placed.found { ", by the intrinsics that they tell" } else { "" }
            )),
            PointOrder::Picture | PointOrder::Unordered { .. } => {}
        }
        for fate in Fate::ALL.into_iter().filter(|fate| one.counts.of(*fate) > 0) {
            let count = one.counts.of(fate);
            let percent = 100.0 * count as f64 / one.points.max(1) as f64;
            lines.push(format!("  {:<14} {count:>9}  {percent:>5.1} %", fate.name()));
        }
        lines.push(format!("  {} voxels in {} groups", one.voxels, one.clusters));
        for (stage, time) in &one.stages {
            lines.push(format!("  {:<14} {:>9.3} ms", stage.name(), 1e3 * time.as_secs_f64()));
        }
        lines.extend(one.moving.iter().map(|thing| format!("  moving: {thing}")));
        if let Some(drift) = &self.drift {
            lines.push(format!("  camera: {}", drift.verdict));
        }
        let [pipeline, map] =
            [one.pipeline_time, one.map_time].map(|time| 1e3 * time.as_secs_f64());
        lines.push(format!("  pipeline {pipeline:.3} ms, map {map:.3} ms: {:.0} Hz", one.hz()));
        lines
    }
}

impl fmt::Display for DrawnFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} voxels in {} groups", self.name, self.voxels, self.clusters)
    }
}

impl fmt::Display for MapSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, left_out, cameras, map_voxels, pipeline_ms, map_ms, hz } = self;
        let of = if *cameras > 1 { format!(" of {cameras} cameras") } else { String::new() };
        let left = if *left_out > 0 { format!(", {left_out} left out") } else { String::new() };
        write!(
            f,
            "{frames} frames{of}{left}, {map_voxels} voxels in the map; median pipeline {pipeline_ms:.3} ms, \
             map {map_ms:.3} ms: {hz:.0} Hz"
        )
    }
}

impl fmt::Display for HandView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} voxels; ", pose_text(&self.pose), self.voxels)?;
        match &self.drift.offset {
            Some(offset) => {
                let shift_m = offset.shift_m.iter().map(|v| v * v).sum::<f64>().sqrt();
                write!(
                    f,
                    "robot seen {:.1} mm and {:.2} degrees off, rms {:.1} mm",
                    1e3 * shift_m,
                    offset.rotation_deg,
                    1e3 * self.drift.rms_before_m
                )
            }
            None => self.drift.verdict.fmt(f),
        }
    }
}

/// A camera's pose from pairs of points: how far each pair is off, and the pose.
#[must_use]
pub fn pairs_lines(found: &Calibration) -> Vec<String> {
    let pair = |(index, off): (usize, &f64)| {
        let left_out = if found.dropped.contains(&index) { "  left out" } else { "" };
        format!("pair {}: {:.2} mm off{left_out}", index + 1, 1e3 * off)
    };
    let mut lines: Vec<String> = found.residuals_m.iter().enumerate().map(pair).collect();
    lines.push(format!("rms {:.2} mm", 1e3 * found.rms_m));
    lines.push(pose_text(&found.world_from_camera.into()));
    lines
}

/// A camera's pose from a cube: the faces that were seen, how sure it is, and the pose.
#[must_use]
pub fn cube_lines(found: &CubeCalibration) -> Vec<String> {
    let used: usize = found.faces.iter().sum();
    let faces = FACES.iter().zip(found.faces).filter(|(_, points)| *points > 0);
    let faces: Vec<String> = faces.map(|(name, points)| format!("{name} {points}")).collect();
    let mut lines = vec![
        format!("{used} points on faces {}", faces.join(", ")),
        format!("rms {:.2} mm", 1e3 * found.rms_m),
    ];
    lines.extend(certainty_lines(&found.certainty));
    lines.push(pose_text(&found.world_from_camera.into()));
    lines
}

fn certainty_lines(certainty: &Certainty) -> Vec<String> {
    let [x, y, z] = certainty.sigma_m.map(|v| 1e3 * v);
    let [roll, pitch, yaw] = certainty.sigma_deg;
    let sigma = format!("sigma {x:.2} {y:.2} {z:.2} mm, {roll:.3} {pitch:.3} {yaw:.3} degrees");
    let free = certainty.free.iter().map(|free| format!("not determined by this view: {free}"));
    std::iter::once(sigma).chain(free).collect()
}

fn pose_text(pose: &CameraPose) -> String {
    let [x, y, z] = pose.xyz_m;
    let [roll, pitch, yaw] = pose.rpy_deg;
    format!("xyz {x:.4} {y:.4} {z:.4} m, rpy {roll:.2} {pitch:.2} {yaw:.2} degrees")
}
