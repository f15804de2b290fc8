//! `citrange doctor`: what works here, what does not, and the cure.

use std::time::Instant;

use anyhow::anyhow;
use citrange_sim::catalog::{robot_description, robot_names, scene_names};
use citrange_sim::{Threads, World, start_engine};
use citrange_video::{Decoder, Encoder, EncoderSettings};
use serde_json::json;

use super::compiled;
use crate::exit::problems_found;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Ok,
    /// Works differently or less well.
    Warn,
    Fail,
}

struct Finding {
    what: String,
    grade: Grade,
    detail: String,
}

impl Finding {
    fn new(what: &str, result: anyhow::Result<String>, otherwise: Grade) -> Self {
        let (grade, detail) = match result {
            Ok(detail) => (Grade::Ok, detail),
            Err(error) => (otherwise, format!("{error:#}")),
        };
        Self { what: what.to_owned(), grade, detail }
    }

    fn word(&self) -> &'static str {
        match self.grade {
            Grade::Ok => "OK",
            Grade::Warn => "WARN",
            Grade::Fail => "FAIL",
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
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
    if args.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({"check": f.what, "grade": f.word(), "detail": f.detail}))
            .collect();
        output::data(&json!({ "checks": list }).to_string())?;
    } else {
        for finding in &findings {
            output::data(&format!(
                "{:<4} {:<28} {}",
                finding.word(),
                finding.what,
                finding.detail
            ))?;
        }
    }
    let failed = findings.iter().filter(|f| f.grade == Grade::Fail).count();
    if failed > 0 {
        return Err(problems_found(format!("{failed} of {} checks failed", findings.len())));
    }
    Ok(())
}

fn engine() -> anyhow::Result<String> {
    let engine = start_engine()?;
    let origin = if engine.managed { "checksum verified" } else { "your own copy" };
    Ok(format!("MuJoCo {} ({origin}) from {}", engine.version, engine.path.display()))
}

fn model(robot: &str) -> anyhow::Result<String> {
    let description = robot_description(robot)?;
    Ok(format!("{}, {} joints", description.title, description.joints().count()))
}

/// Draws every camera of a scene.
fn cameras(scene: &str) -> anyhow::Result<String> {
    let scene = compiled(scene)?;
    let mut world = World::new(scene.clone(), 1, Threads::Exactly(1))?;
    let mut times = Vec::new();
    for camera in scene.camera_names() {
        let start = Instant::now();
        let frame = world.frame(0, camera)?;
        if frame.ids.iter().all(|id| *id < 0) {
            return Err(anyhow!("camera {camera} sees nothing"));
        }
        times.push(format!("{camera} {:.0} ms", start.elapsed().as_secs_f64() * 1e3));
    }
    Ok(format!("software renderer: {}", times.join(", ")))
}

fn gl() -> anyhow::Result<String> {
    Ok(format!("optional: {}", citrange_sim::gl_probe()?))
}

/// Codes a few pictures and decodes them again.
fn video() -> anyhow::Result<String> {
    const SIZE: u32 = 64;
    let mut encoder = Encoder::new(SIZE, SIZE, EncoderSettings::default())?;
    let picture: Vec<u8> = (0..SIZE * SIZE * 3).map(|i| (i / 96) as u8).collect();
    let start = Instant::now();
    let sample = encoder.encode(&picture)?.data.to_vec();
    let took = start.elapsed();
    let mut decoder = Decoder::new(encoder.avc_config().unwrap_or_default())?;
    let mut back = Vec::new();
    decoder.decode(&sample, &mut back)?;
    let apart = picture.iter().zip(&back).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>();
    let apart = apart / picture.len() as f64;
    if back.len() != picture.len() || apart > 8.0 {
        return Err(anyhow!("what is coded does not come back: {apart:.1} apart on average"));
    }
    Ok(format!("H.264 built in, {:.1} ms for {SIZE}x{SIZE}", took.as_secs_f64() * 1e3))
}
