//! Damages what comes over a servo bus and from cameras, and gives it to its readers, until the time
//! is up: packets, calibration files, JPEGs, heads of a stand-in's pictures, cameras as people write
//! them.
//!
//! `fuzz_bus [--seconds N] [--seed S]`: counts at the end; exit code 1 if a reader panicked, with the
//! seed and the numbers of the cases. The panic's own message was printed when it happened.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its product is a report")]

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use citrange_link::camera::{CameraChoice, CameraMode, PixelFormat, decode_rgb8};
use citrange_link::emulated::PictureHead;
use citrange_link::feetech::packet::{MOST_PARAMS, PacketReader, encode};
use citrange_link::feetech::{Calibration, register};

const SIDE: u16 = 48;

/// Readers, each with a valid input to be damaged; true where it was accepted.
type Kind = (&'static str, fn(&mut Rng) -> Vec<u8>, fn(&[u8]) -> bool);

const KINDS: [Kind; 6] = [
    ("packets", packets, read_packets),
    ("numbers", packets, read_numbers),
    (
        "calibration",
        |_| CALIBRATION.as_bytes().to_vec(),
        |bytes| Calibration::from_json(&String::from_utf8_lossy(bytes)).is_ok(),
    ),
    ("jpeg", jpeg, |bytes| decode(PixelFormat::Mjpeg, bytes)),
    (
        "yuyv",
        |_| vec![128; usize::from(SIDE) * usize::from(SIDE) * 2],
        |bytes| decode(PixelFormat::Yuyv, bytes),
    ),
    ("words", words, |bytes| {
        let head = bytes.first_chunk().and_then(PictureHead::decode);
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.parse::<CameraChoice>().is_ok() || head.is_some()
    }),
];

const CALIBRATION: &str = r#"{"shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": -20,
    "range_min": 750, "range_max": 3450}}"#;

fn packets(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + rng.below(4) {
        let params: Vec<u8> = (0..rng.below(20)).map(|_| rng.next_u64() as u8).collect();
        encode(rng.below(254) as u8, rng.next_u64() as u8, &params, &mut bytes);
    }
    bytes
}

fn read_packets(bytes: &[u8]) -> bool {
    let mut reader = PacketReader::new(MOST_PARAMS);
    let mut found = 0_usize;
    // As a wire gives them: in pieces.
    for piece in bytes.chunks(7) {
        reader.push(piece);
        found += std::iter::from_fn(|| reader.next_packet(false)).count();
    }
    found += std::iter::from_fn(|| reader.next_packet(true)).count();
    found > 0
}

fn read_numbers(bytes: &[u8]) -> bool {
    let all = [register::PRESENT_POSITION, register::HOMING_OFFSET, register::PRESENT_LOAD];
    all.iter().any(|register| register.decode(bytes) != 0)
}

fn jpeg(rng: &mut Rng) -> Vec<u8> {
    let pixels = usize::from(SIDE) * usize::from(SIDE);
    let rgb: Vec<u8> = (0..3 * pixels).map(|at| (at % 251) as u8 ^ rng.below(8) as u8).collect();
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, 80);
    let coded = encoder.encode(&rgb, SIDE, SIDE, jpeg_encoder::ColorType::Rgb);
    coded.map(|()| bytes).unwrap_or_default()
}

fn decode(format: PixelFormat, bytes: &[u8]) -> bool {
    let side = u32::from(SIDE);
    let mode = CameraMode { format, width_px: side, height_px: side, hz: 30.0 };
    let mut rgb = Vec::new();
    decode_rgb8(mode, bytes, &mut rgb).is_ok()
}

fn words(rng: &mut Rng) -> Vec<u8> {
    match rng.below(2) {
        0 => b"front=emulated:/tmp/arm.sock:top@640x480@30".to_vec(),
        _ => {
            let format = PixelFormat::Mjpeg;
            PictureHead { format, bytes: 100, at_ns: rng.next_u64() }.encode().to_vec()
        }
    }
}

/// Changes, cuts, doubles and inserts; sometimes nothing.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.below(6) {
        let at = rng.below(bytes.len().max(1));
        match rng.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), rng.next_u64() as u8),
            2 => bytes.extend_from_within(at.min(bytes.len())..),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 0xFF, 0x7F, rng.next_u64() as u8][rng.below(4)];
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let (mut seconds, mut seed) = (10, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|n| n.parse::<u64>().ok());
        match (word.as_str(), number) {
            ("--seconds", Some(number)) => seconds = number,
            ("--seed", Some(number)) => seed = number,
            _ => {
                eprintln!("fuzz_bus [--seconds N] [--seed S], not {word}");
                return ExitCode::from(2);
            }
        }
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut case, mut findings) = (0_u64, Vec::new());
    let (mut accepted, mut refused) = ([0_u64; KINDS.len()], [0_u64; KINDS.len()]);
    while Instant::now() < end {
        let mut rng = Rng::for_episode(seed, case, "fuzz_bus");
        let at = case as usize % KINDS.len();
        let (_, make, read) = KINDS[at];
        let mut bytes = make(&mut rng);
        damage(&mut rng, &mut bytes);
        match catch_unwind(|| read(&bytes)) {
            Ok(true) => accepted[at] += 1,
            Ok(false) => refused[at] += 1,
            Err(_) => findings.push(case),
        }
        case += 1;
    }
    println!("seed {seed}: {case} cases in {seconds} s");
    for (at, (name, ..)) in KINDS.iter().enumerate() {
        println!("{name:>12}: {} accepted, {} refused", accepted[at], refused[at]);
    }
    println!("findings: {findings:?}");
    ExitCode::from(u8::from(!findings.is_empty()))
}
