//! How long the recorder holds the control loop: two cameras of 640x480 at 30 Hz, 180 ticks a
//! second, in real time. `stall [SECONDS]` prints JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use citrange_core::rig::{CameraSpec, JointSpec};
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{
    CameraImage, Command, Commanded, Observation, Outcome, Picture, Rates, RigSpec, Snapshot,
    Tape as _,
};
use citrange_tape::{RecordSettings, Recorder, TapeHeader, Unit, new_uid, utc_now};
use serde_json::{Value, json};

const RATES: Rates = Rates { physics_hz: 360, control_hz: 180, frame_hz: 30 };
const SIZE: (u32, u32) = (640, 480);

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let secs: u64 = std::env::args().nth(1).map_or(Ok(60), |text| text.parse())?;
    let folder = std::env::temp_dir().join(new_uid());
    let camera = |name: &str| CameraSpec::rgb(name, SIZE.0, SIZE.1);
    let joint =
        |i| JointSpec { name: format!("j{i}"), is_slide: false, range: None, gripper: None };
    let mut rig = RigSpec::new("none", (0..6).map(joint).collect(), RATES);
    rig.cameras = vec![camera("front"), camera("wrist")];
    let begun = Instant::now();
    let mut recorder =
        Recorder::begin(&folder, header(rig), &[7; 200_000], &RecordSettings::default())?;
    let begin_ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut seen =
        Observation { joint_pos: vec![0.0; 6], joint_vel: vec![0.0; 6], ..Default::default() };
    let targets = vec![0.1; 6];
    let requested = Command::at(&targets);
    let commanded =
        Commanded { limited: targets.clone(), executed: targets.clone(), digests: vec![1, 2] };
    let snapshot = Snapshot {
        tool_version: "0".into(),
        engine: "none".into(),
        scene: "none".into(),
        model_hash: "0".into(),
        step: 0,
        fields: BTreeMap::from([("state".to_owned(), vec![0.5; 400])]),
    };
    let (mut frames, mut ticks) = (Vec::new(), Vec::new());
    let per_frame = u64::from(RATES.ticks_per_frame());
    let begun = Instant::now();
    for tick in 0..secs * u64::from(RATES.control_hz) {
        let due = Duration::from_secs_f64(tick as f64 / f64::from(RATES.control_hz));
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
        if tick % per_frame == 0 {
            let image = |tick| CameraImage::rgb(Picture::ready(picture(tick)), 0);
            seen.images = vec![image(tick), image(tick + 100)];
            let wall_ns = begun.elapsed().as_nanos() as u64;
            let (index, snapshot) = (tick / per_frame, Some(&snapshot));
            let before = Instant::now();
            recorder.frame(&FrameRecord { index, wall_ns, seen: &seen, snapshot })?;
            frames.push(before.elapsed());
        }
        let before = Instant::now();
        recorder.tick(&TickRecord {
            index: tick,
            at_ns: begun.elapsed().as_nanos() as u64,
            late: Duration::ZERO,
            seen: &seen,
            requested: &requested,
            commanded: &commanded,
        })?;
        ticks.push(before.elapsed());
    }
    let dropped: usize = recorder.dropped().map(|(_, n)| n).sum();
    recorder.end(&Outcome::unjudged("time_up"), None)?;
    recorder.discard()?;
    let report = json!({
        "seconds": secs, "begin_ms": begin_ms, "dropped_pictures": dropped,
        "frame_ms": spread(frames), "tick_ms": spread(ticks),
    });
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// A picture that moves.
fn picture(tick: u64) -> Vec<u8> {
    let shade = |x: u32, y: u32| ((u64::from(x) + tick) ^ (u64::from(y) / 3)) as u8;
    let rows = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
    rows.flat_map(|(x, y)| [shade(x, y), shade(x / 2, y), 90]).collect()
}

fn spread(mut all: Vec<Duration>) -> Value {
    all.sort();
    let at = |part: f64| {
        let index = ((all.len() as f64 * part) as usize).min(all.len().saturating_sub(1));
        all.get(index).map(|d| d.as_secs_f64() * 1e3)
    };
    json!({ "count": all.len(), "p50": at(0.5), "p99": at(0.99), "p99.9": at(0.999), "max": at(1.0) })
}

fn header(rig: RigSpec) -> TapeHeader {
    TapeHeader {
        uid: new_uid(),
        tool_version: "0".into(),
        engine: "none".into(),
        model_hash: "0".into(),
        began_utc: utc_now(),
        repeatable: false,
        features: Default::default(),
        depth: Default::default(),
        task: "measure".into(),
        pilot: "none".into(),
        seed: 0,
        episode: 0,
        rig,
        scene: None,
        robots: BTreeMap::new(),
        unit: Unit::Degrees,
        images: BTreeSet::new(),
        config: Value::Null,
        bodies: vec![],
        parent: None,
    }
}
