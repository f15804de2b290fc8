//! From pictures to a file and back: every frame is there, in its place, and looks as it did.

use std::path::{Path, PathBuf};

use citrange_video::mp4::{self, Movie, SampleInfo};
use citrange_video::{Decoder, Encoder, EncoderSettings, MoviePart, VideoError, can_join, join};
use tempfile::TempDir;

use crate::pictures;

const SIZE: [u32; 2] = [320, 256];

fn picture(number: u32) -> Vec<u8> {
    let [width, height] = SIZE.map(|n| n as usize);
    let mut rgb = pictures::draw(pictures::View::Wrist, width, height, number as f32 / 30.0);
    pictures::paint_number(&mut rgb, width, height, number as u16);
    rgb
}

/// Encodes numbers `first..first+count` into a file.
fn film(path: &Path, settings: EncoderSettings, first: u32, count: u32) {
    let [width, height] = SIZE;
    let mut encoder = Encoder::new(width, height, settings).unwrap();
    let samples: Vec<(Vec<u8>, bool)> = (first..first + count)
        .map(|number| {
            let sample = encoder.encode(&picture(number)).unwrap();
            (sample.data.to_vec(), sample.key)
        })
        .collect();
    let infos: Vec<SampleInfo> = samples
        .iter()
        .map(|(data, key)| SampleInfo { size: data.len() as u32, key: *key })
        .collect();
    let format = mp4::avc_format(width, height, settings.fps, encoder.avc_config().unwrap());
    mp4::write(path, &format, &infos, |i, buffer| {
        buffer.extend_from_slice(&samples[i].0);
        Ok(())
    })
    .unwrap();
}

/// The painted numbers of a film, in order; each picture must look like the one it was.
fn numbers(path: &Path, least_db: f64) -> Vec<u32> {
    let movie = Movie::open(path).unwrap();
    let mut decoder = Decoder::new(movie.avc_config().unwrap()).unwrap();
    let (mut data, mut rgb) = (vec![], vec![]);
    let [width, height] = SIZE;
    (0..movie.frame_count())
        .map(|frame| {
            movie.read_sample(movie.sample_of_frame(frame).unwrap(), &mut data).unwrap();
            assert_eq!(decoder.decode(&data, &mut rgb).unwrap(), (width, height));
            let number = pictures::read_number(&rgb, width as usize, height as usize);
            let number = u32::from(number.unwrap_or_else(|| panic!("frame {frame}")));
            let likeness = pictures::psnr(&picture(number), &rgb);
            assert!(likeness > least_db, "frame {frame}: {likeness:.1} dB");
            number
        })
        .collect()
}

fn keys(path: &Path) -> Vec<usize> {
    let movie = Movie::open(path).unwrap();
    movie.samples.iter().enumerate().filter(|(_, s)| s.key).map(|(i, _)| i).collect()
}

fn folder_with(films: &[(&str, EncoderSettings, u32, u32)]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = films
        .iter()
        .map(|&(name, settings, first, count)| {
            let path = folder.path().join(name);
            film(&path, settings, first, count);
            path
        })
        .collect();
    (folder, paths)
}

#[test]
fn every_frame_comes_back() {
    let settings = EncoderSettings::default();
    let (_folder, paths) = folder_with(&[("a.mp4", settings, 100, 23)]);
    assert_eq!(numbers(&paths[0], 36.0), (100..123).collect::<Vec<_>>());
    assert_eq!(keys(&paths[0]), [0, 5, 10, 15, 20]);
    let movie = Movie::open(&paths[0]).unwrap();
    assert_eq!((movie.codec.as_str(), movie.timescale), ("h264", 30 * 512));
    assert_eq!((movie.format.width, movie.format.height, movie.format.fps), (320, 256, 30));
    let times: Vec<i64> = movie.samples.iter().map(|s| s.pts).collect();
    assert_eq!(times, (0..23).map(|k| 512 * k).collect::<Vec<_>>());
    movie.is_constant_rate(30).unwrap();
    let error = movie.is_constant_rate(25).unwrap_err().to_string();
    assert!(error.contains("frame 1 is at 0.033333 s") && error.contains("0.040000"), "{error}");
    assert!(matches!(
        movie.read_sample(23, &mut vec![]),
        Err(VideoError::NoSample { index: 23, count: 23, .. })
    ));
}

#[test]
fn rates_and_key_distances_are_kept() {
    for (fps, gop) in [(1, 1), (24, 2), (60, 7), (144, 30_000)] {
        let settings = EncoderSettings { fps, gop, ..EncoderSettings::default() };
        let (_folder, paths) = folder_with(&[("a.mp4", settings, 0, 9)]);
        assert_eq!(numbers(&paths[0], 36.0).len(), 9);
        assert_eq!(keys(&paths[0]), (0..9).step_by(gop as usize).collect::<Vec<_>>());
        let movie = Movie::open(&paths[0]).unwrap();
        assert_eq!(movie.format.fps, fps);
        movie.is_constant_rate(fps).unwrap();
    }
}

#[test]
fn whole_films_and_cuts_at_key_frames_are_copied() {
    let settings = EncoderSettings::default();
    let (folder, paths) = folder_with(&[("a.mp4", settings, 0, 12), ("b.mp4", settings, 50, 7)]);
    let out = folder.path().join("out.mp4");
    let parts = [
        MoviePart { path: &paths[0], from: 5, to: 12 },
        MoviePart { path: &paths[1], from: 0, to: 7 },
        MoviePart { path: &paths[0], from: 0, to: 3 },
    ];
    let report = join(&parts, &out).unwrap();
    assert_eq!((report.copied, report.reencoded), (17, 0));
    let expected: Vec<u32> = (5..12).chain(50..57).chain(0..3).collect();
    assert_eq!(numbers(&out, 36.0), expected);
    // Byte for byte.
    let (from, to) = (Movie::open(&paths[1]).unwrap(), Movie::open(&out).unwrap());
    let (mut a, mut b) = (vec![], vec![]);
    for i in 0..7 {
        from.read_sample(i, &mut a).unwrap();
        to.read_sample(7 + i, &mut b).unwrap();
        assert_eq!(a, b, "sample {i}");
    }
    to.is_constant_rate(30).unwrap();
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn cuts_between_key_frames_encode_only_what_they_must() {
    let settings = EncoderSettings { gop: 4, qp: 18, ..EncoderSettings::default() };
    let (folder, paths) = folder_with(&[("a.mp4", settings, 0, 14), ("b.mp4", settings, 50, 7)]);
    let out = folder.path().join("out.mp4");
    for (from, to, again) in
        [(1, 14, 3), (2, 14, 2), (3, 14, 1), (4, 14, 0), (5, 7, 2), (13, 14, 1)]
    {
        let parts = [
            MoviePart { path: &paths[1], from: 0, to: 5 },
            MoviePart { path: &paths[0], from, to },
            MoviePart { path: &paths[1], from: 0, to: 2 },
        ];
        let report = join(&parts, &out).unwrap();
        assert_eq!(
            (report.reencoded, report.copied),
            (again, to - from - again + 7),
            "{from}..{to}"
        );
        let expected: Vec<u32> = (50..55).chain(from..to).chain(50..52).collect();
        assert_eq!(numbers(&out, 36.0), expected);
        assert!(keys(&out).contains(&5), "a part begins with a key frame");
    }
}

#[test]
fn films_that_differ_are_told_apart() {
    let settings = EncoderSettings::default();
    let (folder, paths) = folder_with(&[
        ("a.mp4", settings, 0, 3),
        ("b.mp4", EncoderSettings { fps: 25, ..settings }, 0, 3),
        ("c.mp4", EncoderSettings { qp: 30, gop: 2, ..settings }, 0, 3),
    ]);
    let [a, b, c] = [0, 1, 2].map(|i| Movie::open(&paths[i]).unwrap());
    can_join(&a, &c).unwrap();
    let error = can_join(&a, &b).unwrap_err().to_string();
    assert!(error.contains("30 and 25 frames per second") && error.contains("b.mp4"), "{error}");
    let out = folder.path().join("out.mp4");
    let part = |path, from, to| MoviePart { path, from, to };
    assert!(join(&[part(&paths[0], 0, 3), part(&paths[1], 0, 3)], &out).is_err());
    let error = join(&[part(&paths[0], 2, 9)], &out).unwrap_err().to_string();
    assert!(error.contains("2..9") && error.contains("3 frames"), "{error}");
    assert!(matches!(join(&[part(&paths[0], 2, 2)], &out), Err(VideoError::NoRange { .. })));
    assert!(matches!(join(&[], &out), Err(VideoError::NoParts(_))));
    assert!(!out.exists());
}

#[test]
fn a_film_can_be_cut_in_place() {
    let (_folder, paths) = folder_with(&[("a.mp4", EncoderSettings::default(), 0, 12)]);
    join(&[MoviePart { path: &paths[0], from: 3, to: 11 }], &paths[0]).unwrap();
    assert_eq!(numbers(&paths[0], 36.0), (3..11).collect::<Vec<_>>());
}

#[test]
fn what_is_written_must_be_what_was_announced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let format = mp4::avc_format(16, 16, 30, &[1]);
    let info = SampleInfo { size: 3, key: true };
    let error = mp4::write(&path, &format, &[info], |_, buffer| {
        buffer.extend([1, 2]);
        Ok(())
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("sample 0") && error.contains('3') && error.contains('2'), "{error}");
    let no_key = SampleInfo { key: false, ..info };
    assert!(mp4::write(&path, &format, &[no_key], |_, _| Ok(())).is_err());
    assert!(mp4::write(&path, &format, &[], |_, _| Ok(())).is_err());
}
