//! What works on this machine and what does not: engine, models, cameras, OpenGL, video.

use std::time::Instant;

use citrange_sim::catalog::{robot_description, robot_names, scene_names};
use citrange_sim::{SimError, Threads, World, start_engine};
use citrange_video::{Decoder, Encoder, EncoderSettings};
use serde::Serialize;

use crate::error::{EpisodesError, Result};
use crate::simulated::compiled;

/// Edge of the test picture of the video coder.
const PICTURE_PX: u32 = 64;
/// Coded pictures may differ from what they were by so much on average, of 255.
const MOST_APART: f64 = 8.0;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// It works.
    Ok,
    /// It works differently or less well.
    Warn,
    /// It does not work.
    Fail,
}

impl Grade {
    /// Its word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
        }
    }
}

/// What one check showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub check: String,
    /// How it ended.
    pub grade: Grade,
    /// What was found, or what is wrong and the cure.
    pub detail: String,
}

impl Finding {
    fn new(check: &str, result: Result<String>, otherwise: Grade) -> Self {
        let (grade, detail) = match result {
            Ok(detail) => (Grade::Ok, detail),
            Err(error) => (otherwise, error.text()),
        };
        Self { check: check.to_owned(), grade, detail }
    }
}

/// Tries everything; without an engine only what needs none.
#[must_use]
pub fn examine() -> Vec<Finding> {
    let mut findings = vec![Finding::new("engine", engine(), Grade::Fail)];
    if findings[0].grade == Grade::Ok {
        for robot in robot_names() {
            findings.push(Finding::new(&format!("model {robot}"), model(robot), Grade::Fail));
        }
        for scene in scene_names() {
            findings.push(Finding::new(&format!("cameras {scene}"), cameras(scene), Grade::Fail));
        }
        findings.push(Finding::new("gl", gl(), Grade::Warn));
    }
    findings.push(Finding::new("video", video(), Grade::Fail));
    findings
}

fn engine() -> Result<String> {
    let engine = start_engine().map_err(SimError::from)?;
    let origin = if engine.managed { "checksum verified" } else { "your own copy" };
    Ok(format!("MuJoCo {} ({origin}) from {}", engine.version, engine.path.display()))
}

fn model(robot: &str) -> Result<String> {
    let description = robot_description(robot)?;
    Ok(format!("{}, {} joints", description.title, description.joints().count()))
}

/// Draws every camera of a scene.
fn cameras(scene: &str) -> Result<String> {
    let scene = compiled(scene)?;
    let mut world = World::new(scene.clone(), 1, Threads::Exactly(1))?;
    let mut times = Vec::new();
    for camera in scene.camera_names() {
        let start = Instant::now();
        let frame = world.frame(0, camera)?;
        if frame.ids.iter().all(|id| *id < 0) {
            return Err(EpisodesError::Failed(format!("camera {camera} sees nothing")));
        }
        times.push(format!("{camera} {:.0} ms", start.elapsed().as_secs_f64() * 1e3));
    }
    Ok(format!("software renderer: {}", times.join(", ")))
}

fn gl() -> Result<String> {
    Ok(format!("optional: {}", citrange_sim::gl_probe()?))
}

/// Codes a picture and decodes it again.
fn video() -> Result<String> {
    let (edge, settings) = (PICTURE_PX, EncoderSettings::default());
    let mut encoder = Encoder::new(edge, edge, settings)?;
    let picture: Vec<u8> = (0..edge * edge * 3).map(|i| (i / 96) as u8).collect();
    let start = Instant::now();
    let sample = encoder.encode(&picture)?.data.to_vec();
    let took = start.elapsed();
    let mut decoder = Decoder::new(encoder.avc_config().unwrap_or_default())?;
    let mut back = Vec::new();
    decoder.decode(&sample, &mut back)?;
    let apart = picture.iter().zip(&back).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>();
    let apart = apart / picture.len() as f64;
    if back.len() != picture.len() || apart > MOST_APART {
        let text = format!("what is coded does not come back: {apart:.1} apart on average");
        return Err(EpisodesError::Failed(text));
    }
    Ok(format!("H.264 built in, {:.1} ms for {edge}x{edge}", took.as_secs_f64() * 1e3))
}
