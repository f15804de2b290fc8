//! Pictures for the recording benchmark: an arm puts oranges onto the plate.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use citrange_core::script::{Move, Script};
use citrange_core::tape::FrameRecord;
use citrange_core::{BoxError, Outcome, Rig as _, RunSettings, Snapshot, Tape, run as run_episode};
use serde_json::{Value, json};

use crate::args::Args;
use crate::served::{CAMERAS, sim_rig};

/// Pan, lift, elbow and wrist in radians, tool straight down, for each orange of episode 0: over
/// it, around it, over the plate, low over the plate.
const ORANGES: [[[f64; 4]; 4]; 3] = [
    [
        [-0.458, 0.4877, -0.7359, 1.819],
        [-0.458, 0.4815, -0.1707, 1.26],
        [0.636, 0.344, -0.5142, 1.741],
        [0.636, 0.3422, -0.1012, 1.3298],
    ],
    [
        [-0.6988, -0.3314, 0.3036, 1.5986],
        [-0.6988, -0.1885, 0.7321, 1.0272],
        [0.6943, -0.3679, 0.3368, 1.6019],
        [0.6943, -0.2998, 0.6886, 1.1821],
    ],
    [
        [-1.0144, 0.3374, -0.5043, 1.7377],
        [-1.0144, 0.3829, -0.0166, 1.2045],
        [0.9808, 0.2097, -0.3216, 1.6827],
        [0.9808, 0.2356, 0.0531, 1.2821],
    ],
];
const ROLL_RAD: f64 = -std::f64::consts::FRAC_PI_2;
const OPEN_RAD: f64 = 0.86;
const CLOSED_RAD: f64 = 0.16;
/// The moves of one orange: which pose, which jaw, seconds.
const MOVES: [(usize, f64, f64); 8] = [
    (0, OPEN_RAD, 0.9),
    (1, OPEN_RAD, 0.6),
    (1, CLOSED_RAD, 0.5),
    (0, CLOSED_RAD, 0.6),
    (2, CLOSED_RAD, 1.0),
    (3, CLOSED_RAD, 0.5),
    (3, OPEN_RAD, 0.4),
    (2, OPEN_RAD, 0.5),
];

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let out = args.required_folder("out")?;
    let count = args.number("count", 421)?;
    let mut rig = sim_rig()?;
    let control_hz = f64::from(rig.spec().rates.control_hz);
    let mut moves = Vec::new();
    for poses in ORANGES {
        for (pose, jaw, takes_s) in MOVES {
            let mut joints = poses[pose].to_vec();
            joints.extend([ROLL_RAD, jaw]);
            moves.push(Move { joints, ticks: (takes_s * control_hz) as u64, phase: "orange" });
        }
    }
    // Then it stays where it is, as long as pictures are wanted.
    moves.extend(moves.last().cloned().map(|last| Move { ticks: u64::MAX / 2, ..last }));
    let paths = CAMERAS.map(|name| out.join(format!("{name}.rgb")));
    let files = paths.iter().map(|path| Ok(BufWriter::new(File::create(path)?)));
    let mut raw = Raw(files.collect::<Result<_, std::io::Error>>()?);
    let settings =
        RunSettings { max_frames: Some(count as u64), pictures: true, ..RunSettings::default() };
    let mut script = Script::new(moves);
    run_episode(&mut script, &mut rig, &mut raw, &settings)?;
    Ok(json!({ "front": paths[0], "wrist": paths[1], "count": count }))
}

/// A tape that keeps the bare pictures.
struct Raw(Vec<BufWriter<File>>);

impl Tape for Raw {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        for (file, picture) in self.0.iter_mut().zip(frame.seen.pictures()) {
            file.write_all(picture.pixels()?)?;
        }
        Ok(())
    }

    fn end(&mut self, _: &Outcome, _: Option<&Snapshot>) -> Result<(), BoxError> {
        for file in &mut self.0 {
            file.flush()?;
        }
        Ok(())
    }
}
