//! Makes, joins and describes films from the command line, for tests with other programs.
//!
//! ```text
//! make_movie film OUT WIDTH HEIGHT FPS GOP FIRST COUNT   frames with numbers FIRST.. painted
//! make_movie join OUT PATH:FROM:TO ...                   prints copied and reencoded frames
//! make_movie info PATH                                   one line about the film, one per sample
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is read by tests")]

use std::path::Path;
use std::process::ExitCode;

use citrange_video::mp4::{self, Movie, SampleInfo};
use citrange_video::{Encoder, EncoderSettings, MoviePart, VideoError, join};

#[path = "common/pictures.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod pictures;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["film", out, ref numbers @ ..] => match numbers_of(numbers) {
            Some([width, height, fps, gop, first, count]) => {
                let settings = EncoderSettings { fps, gop, ..EncoderSettings::default() };
                film(Path::new(out), [width, height], settings, first..first + count)
            }
            None => return usage(),
        },
        ["join", out, ref parts @ ..] => match parts.iter().map(|part| part_of(part)).collect() {
            Some(parts) => joined(Path::new(out), parts),
            None => return usage(),
        },
        ["info", path] => info(Path::new(path)),
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("film OUT WIDTH HEIGHT FPS GOP FIRST COUNT | join OUT PATH:FROM:TO ... | info PATH");
    ExitCode::from(2)
}

fn numbers_of(args: &[&str]) -> Option<[u32; 6]> {
    let numbers: Option<Vec<u32>> = args.iter().map(|arg| arg.parse().ok()).collect();
    numbers?.try_into().ok()
}

fn part_of(arg: &str) -> Option<MoviePart<'_>> {
    let (rest, to) = arg.rsplit_once(':')?;
    let (path, from) = rest.rsplit_once(':')?;
    Some(MoviePart { path: Path::new(path), from: from.parse().ok()?, to: to.parse().ok()? })
}

fn film(
    out: &Path,
    [width, height]: [u32; 2],
    settings: EncoderSettings,
    numbers: std::ops::Range<u32>,
) -> Result<(), VideoError> {
    let mut encoder = Encoder::new(width, height, settings)?;
    let (mut infos, mut samples) = (Vec::new(), Vec::new());
    for number in numbers {
        let (w, h) = (width as usize, height as usize);
        let secs = number as f32 / settings.fps as f32;
        let mut rgb = pictures::draw(pictures::View::Wrist, w, h, secs);
        pictures::paint_number(&mut rgb, w, h, number as u16);
        let sample = encoder.encode(&rgb)?;
        infos.push(SampleInfo { size: sample.data.len() as u32, key: sample.key });
        samples.push(sample.data.to_vec());
    }
    let config = encoder.avc_config().unwrap_or_default();
    let format = mp4::avc_format(width, height, settings.fps, config);
    mp4::write(out, &format, &infos, |i, buffer| {
        buffer.extend_from_slice(&samples[i]);
        Ok(())
    })
}

fn joined(out: &Path, parts: Vec<MoviePart<'_>>) -> Result<(), VideoError> {
    let report = join(&parts, out)?;
    println!("{} {}", report.copied, report.reencoded);
    Ok(())
}

fn info(path: &Path) -> Result<(), VideoError> {
    let movie = Movie::open(path)?;
    let mp4::Format { width, height, fps, .. } = movie.format;
    let steady = movie.is_constant_rate(fps).is_ok();
    println!("{} {width} {height} {fps} {} {steady}", movie.codec, movie.timescale);
    for sample in &movie.samples {
        println!("{} {} {} {}", sample.offset, sample.size, sample.key, sample.pts);
    }
    Ok(())
}
