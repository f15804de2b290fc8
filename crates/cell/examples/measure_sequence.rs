//! What moves, what lingers and what grows in a sequence of `citrange space simulate … --seconds S`:
//! `measure_sequence FOLDER [VOXEL_M]` reads its frames and its truth.
//!
//! Found: of the frames in which a thing has moved faster than 0.1 m/s for the window of velocities,
//! those that have a moving track of it. Wrong: moving tracks where nothing has moved. Ghosts: cells
//! that the map has and that the newest frame alone sees to be free. Occupied cells show growth.

#![allow(clippy::print_stdout, reason = "its product is a report")]

use std::error::Error;
use std::path::{Path, PathBuf};

use citrange_cell::CellReader;
use citrange_space::{CellState, FrameRunner, Map, RunnerSettings, Track};
use serde_json::Value;

/// Frames that a velocity looks back.
const WINDOW: usize = 15;
const MOVING_M_S: f64 = 0.1;
/// A track this near to a thing's middle is of the thing.
const NEAR_M: f64 = 0.25;

fn numbers(value: &Value) -> [f64; 3] {
    std::array::from_fn(|a| value[a].as_f64().unwrap_or(f64::NAN))
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    length(std::array::from_fn(|i| a[i] - b[i]))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What the frames gave.
#[derive(Default)]
struct Run {
    tracks: Vec<Vec<Track>>,
    occupied: Vec<usize>,
    ghosts: Vec<usize>,
    map_ms: Vec<f64>,
    motion_ms: Vec<f64>,
}

fn run(folder: &Path, voxel_m: f64) -> Result<Run, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|e| e == "npz"));
    paths.sort();
    let mut reader = CellReader::open(None, None, None)?;
    reader.cell_mut().pipeline.voxel_size_m = voxel_m;
    let (mut runner, mut run) = (None, Run::default());
    for path in &paths {
        let mut frame = reader.read(path)?;
        let runner = match &mut runner {
            Some(runner) => runner,
            none => none.insert(FrameRunner::new(reader.cell(), RunnerSettings::default())?),
        };
        let report = runner.run(&mut frame)?;
        run.map_ms.push(1e3 * report.map_time.as_secs_f64());
        run.motion_ms.push(1e3 * report.map.motion_time.as_secs_f64());
        run.tracks.push(runner.map.tracks().to_vec());
        let mut alone = Map::new(&reader.cell().map, runner.pipeline.grid())?;
        alone.integrate(0, &frame.cloud, &frame.view, runner.pipeline.frame())?;
        let (all, alone) = (runner.map.snapshot(), alone.snapshot());
        run.occupied.push(all.voxels().len());
        let is_ghost = |key: u32| alone.state(key) == CellState::Free;
        run.ghosts.push(all.voxels().iter().filter(|voxel| is_ghost(voxel.key)).count());
    }
    Ok(run)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("measure_sequence FOLDER [VOXEL_M]")?;
    let voxel_m = words.next().map_or(Ok(0.05), |word| word.parse())?;
    let truth: Vec<Value> = std::fs::read_to_string(Path::new(&folder).join("truth.jsonl"))?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let run = run(Path::new(&folder), voxel_m)?;
    let frames = run.tracks.len();
    let speed =
        |at: usize, thing: &str| length(numbers(&truth[at]["things"][thing]["velocity_m_s"]));
    let names: Vec<String> =
        truth[0]["things"].as_object().map(|t| t.keys().cloned().collect()).unwrap_or_default();
    let (mut wrong, mut moving) = (0, 0);
    println!("| thing | moved, frames | found | speed off, median | direction off, median |");
    println!("| --- | --: | --: | --: | --: |");
    for name in &names {
        let (mut due, mut found, mut offs, mut turns) = (0, 0, Vec::new(), Vec::new());
        for at in WINDOW..frames {
            if !(at - WINDOW..=at).all(|at| speed(at, name) > MOVING_M_S) {
                continue;
            }
            due += 1;
            let thing = &truth[at]["things"][name];
            let (place, v) = (numbers(&thing["pos_m"]), numbers(&thing["velocity_m_s"]));
            let near = |track: &&Track| track.is_moving && apart(track.centroid_m, place) < NEAR_M;
            let tracks = run.tracks[at].iter().filter(near);
            let nearest =
                tracks.min_by(|a, b| apart(a.velocity_m_s, v).total_cmp(&apart(b.velocity_m_s, v)));
            let Some(track) = nearest else { continue };
            found += 1;
            let w = track.velocity_m_s;
            offs.push((length(w) - length(v)).abs() / length(v));
            let cos = (0..3).map(|a| v[a] * w[a]).sum::<f64>() / (length(v) * length(w));
            turns.push(cos.clamp(-1.0, 1.0).acos().to_degrees());
        }
        if due > 0 {
            let (off, turn) = (100.0 * median(offs), median(turns));
            println!("| {name} | {due} | {found} | {off:.0} % | {turn:.0}° |");
        }
    }
    for at in 0..frames {
        for track in run.tracks[at].iter().filter(|track| track.is_moving) {
            moving += 1;
            let from = at.saturating_sub(WINDOW + 5);
            let is_near = |name: &String| {
                apart(track.centroid_m, numbers(&truth[at]["things"][name]["pos_m"])) < NEAR_M
            };
            let moved = |name: &String| (from..=at).any(|at| speed(at, name) > 0.03);
            wrong += usize::from(!names.iter().any(|name| is_near(name) && moved(name)));
        }
    }
    println!("\n{frames} frames: {moving} moving tracks, {wrong} of them where nothing has moved");
    let every = (frames / 10).max(1);
    let curve = |values: &[usize]| {
        let some: Vec<String> = values.iter().step_by(every).map(usize::to_string).collect();
        some.join(" ")
    };
    println!("occupied cells, every {every} frames: {}", curve(&run.occupied));
    println!("ghosts: {}; worst {}", curve(&run.ghosts), run.ghosts.iter().max().unwrap_or(&0));
    println!(
        "median map {:.2} ms, of which motion {:.2} ms",
        median(run.map_ms),
        median(run.motion_ms)
    );
    Ok(())
}
