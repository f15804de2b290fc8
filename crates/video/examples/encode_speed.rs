//! How long encoding takes, how large it is and how good: a table over key frame distance and QP.
//!
//! `cargo run --release -p citrange-video --example encode_speed [FRAMES]`
#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use std::time::Duration;

use citrange_video::{Decoder, Encoder, EncoderSettings, VideoError};
use rustix::time::{ClockId, clock_gettime};

#[path = "common/pictures.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod pictures;

const SIZE: [usize; 2] = [640, 480];

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn main() -> Result<(), VideoError> {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(150);
    let [width, height] = SIZE;
    println!("{width}x{height}, {count} frames, one thread; PSNR of rgb");
    println!("| view | gop | qp | CPU ms/frame | bytes/frame | PSNR dB |");
    println!("|---|---|---|---|---|---|");
    for view in [pictures::View::Front, pictures::View::Wrist] {
        let frames: Vec<_> =
            (0..count).map(|i| pictures::draw(view, width, height, i as f32 / 30.0)).collect();
        let picks = |gop, qp| EncoderSettings { gop, qp, ..EncoderSettings::default() };
        for settings in [2, 5, 10, 15].map(|gop| [20, 22, 24, 26].map(|qp| picks(gop, qp))).concat()
        {
            let row = measure(&frames, settings)?;
            let EncoderSettings { gop, qp, .. } = settings;
            println!("| {view:?} | {gop} | {qp} | {:.2} | {:.0} | {:.1} |", row[0], row[1], row[2]);
        }
        let row = repeat(&frames)?;
        println!("| {view:?} | 5 | 22, repeated | {:.2} | {:.0} | |", row[0], row[1]);
    }
    Ok(())
}

/// Milliseconds, bytes, dB. The quickest of three runs: others use the machine too.
fn measure(frames: &[Vec<u8>], settings: EncoderSettings) -> Result<[f64; 3], VideoError> {
    let count = frames.len() as f64;
    let [width, height] = SIZE.map(|n| n as u32);
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let mut encoder = Encoder::new(width, height, settings)?;
        encoder.encode(&frames[0])?;
        encoder.restart();
        let start = cpu();
        for rgb in frames {
            encoder.encode(rgb)?;
        }
        best = best.min(cpu() - start);
    }
    let mut encoder = Encoder::new(width, height, settings)?;
    let mut decoder = None;
    let (mut bytes, mut likeness, mut back) = (0, 0.0, Vec::new());
    for rgb in frames {
        let sample = encoder.encode(rgb)?.data.to_vec();
        bytes += sample.len();
        if decoder.is_none() {
            decoder = Some(Decoder::new(encoder.avc_config().unwrap_or_default())?);
        }
        if let Some(decoder) = &mut decoder {
            decoder.decode(&sample, &mut back)?;
        }
        likeness += pictures::psnr(rgb, &back);
    }
    Ok([best.as_secs_f64() * 1e3 / count, bytes as f64 / count, likeness / count])
}

/// Milliseconds and bytes of pictures that did not change.
fn repeat(frames: &[Vec<u8>]) -> Result<[f64; 2], VideoError> {
    let [width, height] = SIZE.map(|n| n as u32);
    let mut encoder = Encoder::new(width, height, EncoderSettings::default())?;
    encoder.encode(&frames[0])?;
    let start = cpu();
    let mut bytes = 0;
    for _ in frames {
        bytes += encoder.repeat()?.data.len();
    }
    let count = frames.len() as f64;
    Ok([(cpu() - start).as_secs_f64() * 1e3 / count, bytes as f64 / count])
}
