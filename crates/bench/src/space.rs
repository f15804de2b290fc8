//! Clouds to voxels, our side: answers requests, one JSON object per line, until its input ends.
//! A process that stays keeps its memory warm, as a program does that lives beside a camera.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use citrange_cloud::{CloudFile, View, message_of, pack_xyz_rgb};
use citrange_core::shape::PosedLinkShape;
use citrange_space::{
    Clusters, EndEffectorSpheres, Fate, Map, MapSettings, OutlierMode, Outliers, Pipeline,
    PipelineSettings, PipelineStage, PosedRobot, SelfFilter, Support,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::space_queries;

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    frame: String,
    stage: String,
    #[serde(default = "five_cm")]
    voxel_m: f64,
    times: usize,
    threads: usize,
}

fn five_cm() -> f64 {
    0.05
}

/// A frame in memory, with where everything was.
struct Frame {
    file: CloudFile,
    view: View,
    shapes: Vec<PosedLinkShape>,
}

impl Frame {
    fn load(path: &str) -> Result<Self, Box<dyn Error>> {
        let file = CloudFile::read(Path::new(path), None)?;
        let view = file.sidecar.view()?.ok_or("the frame has no T_cam_to_world")?;
        let shapes = file.sidecar.robot_capsules();
        Ok(Self { file, view, shapes })
    }

    fn robot(&self) -> PosedRobot<'_> {
        PosedRobot { shapes: &self.shapes, end_effector_m: self.file.sidecar.hand_m }
    }
}

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let mut frames = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let answer = if request.stage == "queries" {
            space_queries::run(request.times)?
        } else {
            if !frames.contains_key(&request.frame) {
                frames.insert(request.frame.clone(), Frame::load(&request.frame)?);
            }
            answer(&frames[&request.frame], &request)?
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// Nothing but crop and voxels.
fn bare(frame: &Frame, voxel_m: f64) -> PipelineSettings {
    PipelineSettings {
        workspace: frame.file.sidecar.workspace().unwrap_or_default(),
        voxel_size_m: voxel_m,
        num_voxels: 1_000_000,
        self_filter: None,
        support: None,
        clusters: None,
        ..PipelineSettings::default()
    }
}

fn answer(frame: &Frame, request: &Request) -> Result<Value, Box<dyn Error>> {
    let bare = bare(frame, request.voxel_m);
    let spheres = Some(EndEffectorSpheres::default());
    let groups = Some(Clusters { min_voxels: 5 });
    let outliers = |mode| Some(Outliers { mode, ..Outliers::default() });
    let links = Some(SelfFilter::default());
    let settings = match request.stage.as_str() {
        "front" => PipelineSettings { end_effector_spheres: spheres, ..bare },
        "whole" | "message" | "clusters" => {
            PipelineSettings { end_effector_spheres: spheres, clusters: groups, ..bare }
        }
        "bare" => bare,
        "min_points" => PipelineSettings { min_points: 3, ..bare },
        "support_alone" => PipelineSettings { support: Some(Support::default()), ..bare },
        "near" => PipelineSettings { robot_voxel_safe_distance_m: Some(0.15), ..bare },
        "self" => PipelineSettings { self_filter: links, clusters: groups, ..bare },
        "support" | "map" => {
            let support = Some(Support::default());
            PipelineSettings { self_filter: links, clusters: groups, support, ..bare }
        }
        "outliers_exact" => PipelineSettings { outliers: outliers(OutlierMode::Exact), ..bare },
        "outliers_fast" => PipelineSettings { outliers: outliers(OutlierMode::Fast), ..bare },
        other => return Err(format!("no stage {other}").into()),
    };
    let mut pipeline = Pipeline::new(settings)?.with_threads(request.threads);
    if request.stage == "map" {
        return map(frame, &mut pipeline, request.times);
    }
    let pose = &frame.view.world_from_camera;
    // Where one stage is compared, only its own time counts.
    let only = match request.stage.as_str() {
        "clusters" => Some(PipelineStage::Clusters),
        "near" => Some(PipelineStage::Voxels),
        "outliers_exact" | "outliers_fast" => Some(PipelineStage::Outliers),
        _ => None,
    };
    let packed = pack_xyz_rgb(&frame.file.cloud);
    let message = message_of(&frame.file.cloud, "camera", &packed);
    let from_message = request.stage == "message";
    let mut times_s = Vec::new();
    for round in 0..=request.times {
        let began = Instant::now();
        let made = if from_message {
            pipeline.run(&message.cloud().points()?, pose, &frame.robot())?
        } else {
            pipeline.run(&frame.file.cloud, pose, &frame.robot())?
        };
        let whole = began.elapsed();
        let own = |stage| {
            made.times.iter().filter(|(s, _)| *s == stage).map(|(_, t)| *t).sum::<Duration>()
        };
        // The first run takes its memory.
        if round > 0 {
            times_s.push(only.map_or(whole, own).as_secs_f64());
        }
    }
    pipeline.run_with_fates(&frame.file.cloud, pose, &frame.robot())?;
    let made = pipeline.frame();
    let cells: Vec<_> = made.voxels.iter().map(|v| made.grid.cell_of(v.key)).collect();
    let rgb: Vec<_> = made.voxels.iter().map(|v| v.rgb).collect();
    let gone: Vec<usize> = (pipeline.fates().iter().enumerate())
        .filter(|(_, fate)| **fate == Fate::Outlier)
        .map(|(index, _)| index)
        .collect();
    Ok(json!({ "secs": times_s, "cells": cells, "rgb": rgb, "outliers": gone }))
}

/// A camera that stands still, and the robot gone in every other frame.
fn map(frame: &Frame, pipeline: &mut Pipeline, times: usize) -> Result<Value, Box<dyn Error>> {
    let grid = *pipeline.grid();
    let pose = &frame.view.world_from_camera;
    let with = pipeline.run(&frame.file.cloud, pose, &PosedRobot::default())?.clone();
    let without = pipeline.run(&frame.file.cloud, pose, &frame.robot())?.clone();
    let mut map = Map::new(&MapSettings::default(), &grid)?;
    let mut times_s = Vec::new();
    let mut cloud = frame.file.cloud.clone();
    for round in 0..times + 4 {
        cloud.stamp_ns = 33_000_000 * (round as u64 + 1);
        let mut made = if round % 2 == 0 { with.clone() } else { without.clone() };
        made.stamp_ns = cloud.stamp_ns;
        let began = Instant::now();
        map.integrate(0, &cloud, &frame.view, &made)?;
        let snapshot = map.snapshot();
        if round >= 4 {
            times_s.push(began.elapsed().as_secs_f64());
        }
        drop(snapshot);
    }
    Ok(json!({ "secs": times_s }))
}
