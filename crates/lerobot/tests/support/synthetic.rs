//! Small datasets for tests: 48x32 pictures, two cameras, three episodes.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use citrange_lerobot::{Column, Dataset, Feature, ImageStats, Info, NewEpisode, NewVideo};
use citrange_video::mp4::{self, SampleInfo};
use citrange_video::{Encoder, EncoderSettings};

pub const FPS: u32 = 30;
pub const SIZE: (usize, usize) = (48, 32);
pub const CAMERAS: [&str; 2] = ["observation.images.front", "observation.images.wrist"];
pub const LENGTHS: [usize; 3] = [20, 26, 17];
pub const JOINTS: [&str; 3] = ["pan.pos", "lift.pos", "gripper.pos"];

pub fn info() -> Info {
    let mut features = vec![
        ("observation.state".to_string(), Feature::vector(&JOINTS)),
        ("action".to_string(), Feature::vector(&JOINTS)),
    ];
    for camera in CAMERAS {
        features.push((camera.into(), Feature::video(SIZE.1, SIZE.0, FPS, "h264")));
    }
    Info::new(Some("so101"), FPS, features)
}

/// Joint values of a frame: smooth, and different in every episode.
pub fn state(episode: usize, frame: usize) -> [f32; 3] {
    let t = frame as f32 * 0.11 + episode as f32;
    [t.sin(), (0.7 * t).cos(), 0.2 * (1.3 * t).sin()]
}

/// A bright bar that moves, over a colour of the episode and camera.
pub fn picture(episode: usize, camera: usize, frame: usize) -> Vec<u8> {
    let (w, h) = SIZE;
    let mut rgb = vec![0u8; w * h * 3];
    for (at, pixel) in rgb.chunks_exact_mut(3).enumerate() {
        let (x, y) = (at % w, at / w);
        let bar = (x + w - (frame * 2) % w) % w < 6;
        let base = [40 * camera as u8 + 60, 50 * (episode % 5) as u8 + 20, (3 * y) as u8];
        pixel.copy_from_slice(if bar { &[240, 240, 200] } else { &base });
    }
    rgb
}

/// An mp4 of pictures and their statistics.
pub fn film(
    path: &Path,
    frames: usize,
    gop: u32,
    picture: impl Fn(usize) -> Vec<u8>,
) -> ImageStats {
    let (w, h) = (SIZE.0 as u32, SIZE.1 as u32);
    let mut encoder = Encoder::new(w, h, EncoderSettings { fps: FPS, qp: 22, gop }).unwrap();
    let (mut samples, mut bytes, mut stats) = (Vec::new(), Vec::new(), ImageStats::new());
    for frame in 0..frames {
        let rgb = picture(frame);
        stats.add_rgb(&rgb, SIZE.0, SIZE.1);
        let sample = encoder.encode(&rgb).unwrap();
        samples.push(SampleInfo { size: sample.data.len() as u32, key: sample.key });
        bytes.push(sample.data.to_vec());
    }
    let format = mp4::avc_format(w, h, FPS, encoder.avc_config().unwrap());
    mp4::write(path, &format, &samples, |i, buffer| {
        buffer.extend_from_slice(&bytes[i]);
        Ok(())
    })
    .unwrap();
    stats
}

pub fn columns(episode: usize, frames: usize) -> Vec<(String, Column)> {
    let values =
        |shift: usize| Column::F32((0..frames).flat_map(|f| state(episode, f + shift)).collect());
    vec![("observation.state".into(), values(0)), ("action".into(), values(1))]
}

/// An episode ready to save; its videos lie in `scratch`.
pub fn episode(scratch: &Path, number: usize, frames: usize) -> NewEpisode {
    std::fs::create_dir_all(scratch).unwrap();
    let videos = CAMERAS.iter().enumerate().map(|(camera, key)| {
        let path = scratch.join(format!("{number}-{camera}.mp4"));
        let stats = film(&path, frames, 5, |f| picture(number, camera, f));
        NewVideo { key: (*key).into(), path, stats }
    });
    NewEpisode {
        task: if number.is_multiple_of(2) { "pick the orange".into() } else { "go home".into() },
        length: frames,
        columns: columns(number, frames),
        videos: videos.collect(),
        ..NewEpisode::default()
    }
}

/// Makes the dataset of three episodes in `dir/set`.
pub fn dataset(dir: &Path) -> Dataset {
    make(&dir.join("set"), &dir.join("scratch"), &LENGTHS)
}

pub fn make(root: &Path, scratch: &Path, lengths: &[usize]) -> Dataset {
    let mut dataset = Dataset::open_or_create(root, info()).unwrap();
    for length in lengths {
        let number = dataset.episodes().len();
        dataset.append(episode(scratch, number, *length)).unwrap();
    }
    dataset
}

/// Every file of a folder with its bytes, without the lock.
pub fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with("commit.lock") {
                out.push((path.strip_prefix(root).unwrap().into(), std::fs::read(&path).unwrap()));
            }
        }
    }
    out.sort();
    out
}

/// A second copy of a dataset to break.
pub fn copy(from: &Path, to: &Path) {
    for (name, bytes) in contents(from) {
        let path = to.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
