//! Recording: the loop, the recorder and the dataset that people use, on pictures from files.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Instant;

use citrange_core::{Pace, Rig as _, RunSettings, run as run_episode};
use citrange_tape::{Dataset, RecordSettings, Recorder, Unit, WhenFull};
use serde_json::{Value, json};

use crate::args::Args;
use crate::clock;
use crate::served::{CAMERAS, Served, Sway};
use crate::stalls::Timed;

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let raws = CAMERAS.map(|name| args.required_path(name));
    let raws = raws.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (out, paced) = (args.required_path("out")?, args.is_on("paced"));
    let count = args.number("count", 421)?;
    let (mut rig, (header, model, targets)) = Served::new(&raws)?;
    let (mut dataset, _) = Dataset::record(&out, rig.spec(), Unit::Degrees, &BTreeSet::new())?;
    let usual = RecordSettings::default();
    let how = RecordSettings {
        when_full: if paced { WhenFull::Drop } else { WhenFull::Wait },
        video_qp: args.number("qp", usual.video_qp.into())?.try_into()?,
        video_gop: args.number("gop", usual.video_gop as usize)?.try_into()?,
        ..usual
    };
    let settings = RunSettings {
        pace: Pace::at_speed(paced.then_some(1.0)),
        max_frames: Some(count as u64),
        pictures: true,
        ..RunSettings::default()
    };
    let before_mb = peak_mb()?;
    let (cpu, start) = (clock::process_cpu_s(), Instant::now());
    let folder = dataset.recording_folder(&header.uid);
    let recorder = Recorder::begin(&folder, header, &model, &how)?;
    let mut tape = Timed::new(recorder, rig.spec().rates.ticks_per_frame());
    let mut pilot = Sway { middle: targets.clone() };
    let report = run_episode(&mut pilot, &mut rig, &mut tape, &settings)?;
    let stop = Instant::now();
    let stalls = (tape.per_frame(), tape.per_tick());
    let recording = tape.recorder.finish()?;
    let finished = stop.elapsed();
    let dropped: usize = recording.dropped.values().map(Vec::len).sum();
    dataset.save(recording)?;
    let saved = stop.elapsed();
    drop(dataset);
    let frames = Dataset::open(&out)?.lerobot.info().total_frames;
    let (save, wall) = (stop.elapsed(), start.elapsed());
    let cpu = clock::process_cpu_s() - cpu - rig.reading_s;
    if frames != count {
        return Err(format!("{frames} frames can be loaded, {count} were recorded").into());
    }
    Ok(json!({
        "paced": paced, "steps": count, "qp": how.video_qp, "gop": how.video_gop,
        "cpu_ms_per_step": 1e3 * cpu / count as f64,
        "wall_secs": wall.as_secs_f64(),
        "steps_per_sec": count as f64 / wall.as_secs_f64(),
        "save_secs": save.as_secs_f64(),
        "save_parts_secs": {
            "coded": finished.as_secs_f64(), "saved": (saved - finished).as_secs_f64(),
            "opened": (save - saved).as_secs_f64(),
        },
        "stall_ms": stalls.0, "stall_tick_ms": stalls.1,
        "late_ticks": report.late_ticks, "worst_late_ms": 1e3 * report.worst_late.as_secs_f64(),
        "peak_rss_mb": peak_mb()?, "rss_before_mb": before_mb, "dropped": dropped,
    }))
}

/// The most memory that this process ever held.
fn peak_mb() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|l| l.split_whitespace().next()).ok_or("the system tells no VmHWM")?;
    Ok(kb.parse::<f64>()? * 1024.0 / 1e6)
}
