//! A coder that is too slow for the loop.

mod common;

use std::collections::BTreeSet;

use citrange_core::tape::FrameRecord;
use citrange_core::{CameraImage, Observation, Picture, PicturePool, Rig as _, Tape as _, Want};
use citrange_tape::{Dataset, RecordSettings, Recorder, WhenFull};
use common::{header, settings, toy};

#[test]
fn a_full_queue_drops_pictures_and_keeps_rows_and_pictures_together() {
    const FRAMES: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut rig = toy();
    for camera in &mut rig.spec.cameras {
        (camera.width_px, camera.height_px) = (640, 480);
    }
    let images = BTreeSet::from(["wrist".to_owned()]);
    let (mut dataset, _) =
        Dataset::record(&root, &rig.spec, citrange_tape::Unit::Degrees, &images).unwrap();
    let mut header = header(&rig.spec, "wave");
    header.images = images;
    let place = dataset.recording_folder(&header.uid);
    let how = RecordSettings { queue_pictures: 1, when_full: WhenFull::Drop, ..settings() };
    let mut recorder = Recorder::begin(&place, header, &[], &how).unwrap();
    let mut seen = Observation::default();
    for tick in 0..FRAMES * 4 {
        if tick % 4 == 0 {
            rig.observe(Want::Joints, &mut seen).unwrap();
            let picture = Picture::ready(vec![(tick / 4) as u8; 640 * 480 * 3]);
            seen.images = vec![CameraImage::rgb(picture, 0); 2];
            let frame = FrameRecord { index: tick / 4, wall_ns: tick, seen: &seen, snapshot: None };
            recorder.frame(&frame).unwrap();
        }
        common::tick(&mut recorder, &mut rig, tick);
    }
    recorder.end(&citrange_core::Outcome::unjudged("script_end"), None).unwrap();
    let counted: Vec<usize> = recorder.dropped().map(|(_, n)| n).collect();
    let recording = recorder.finish().unwrap();
    let dropped = recording.dropped.clone();
    for (name, counted) in ["front", "wrist"].iter().zip(counted) {
        assert!(counted > 0 && dropped[*name].len() == counted, "{name}: {dropped:?}");
        assert!(dropped[*name][0] > 0 && dropped[*name].windows(2).all(|w| w[0] < w[1]));
    }
    let number = dataset.save(recording).unwrap();
    let (tape, _) = dataset.tape(number).unwrap().unwrap();
    assert_eq!(tape.end.unwrap().dropped, dropped);
    let video = dataset.lerobot.video_of(number, "observation.images.front").unwrap();
    let movie = citrange_video::mp4::Movie::open(&video.path).unwrap();
    assert_eq!(u64::from(movie.frame_count()), FRAMES);
    let rows = dataset.lerobot.read_episode(number).unwrap();
    let column = rows.column("observation.images.wrist");
    let Some(citrange_lerobot::Column::Png(pictures)) = column else { panic!("no pictures") };
    assert_eq!(pictures.len() as u64, FRAMES);
    let mut shade = 0;
    for (frame, bytes) in (0..FRAMES).zip(pictures) {
        if !dropped["wrist"].contains(&frame) {
            shade = frame as u8;
        }
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgb).unwrap();
        assert!(rgb.iter().all(|v| *v == shade), "frame {frame} shows {} not {shade}", rgb[0]);
    }
}

/// Records one frame of these pictures, which `draw` finishes while the coders wait.
fn record_one(
    pictures: Vec<Picture>,
    draw: impl FnOnce(),
) -> Result<citrange_tape::Recording, citrange_tape::TapeError> {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = toy();
    let mut header = header(&rig.spec, "wave");
    header.images = BTreeSet::from(["front".to_owned(), "wrist".to_owned()]);
    let mut recorder = Recorder::begin(folder.path(), header, &[], &settings()).unwrap();
    let mut seen = Observation::default();
    rig.observe(Want::Joints, &mut seen).unwrap();
    seen.images = pictures.into_iter().map(|p| CameraImage::rgb(p, 0)).collect();
    let frame = FrameRecord { index: 0, wall_ns: 0, seen: &seen, snapshot: None };
    recorder.frame(&frame).unwrap();
    // Nothing waited for the drawer so far.
    assert!(seen.pictures().any(|p| !p.is_ready()));
    (0..4).for_each(|index| common::tick(&mut recorder, &mut rig, index));
    recorder.end(&citrange_core::Outcome::unjudged("script_end"), None).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    draw();
    recorder.finish()
}

#[test]
fn coders_wait_for_pictures_that_are_drawn_later() {
    let rgb = vec![7; 64 * 48 * 3];
    let (late, mut undrawn) = PicturePool::default().order();
    let recording = record_one(vec![Picture::ready(rgb.clone()), late], || {
        undrawn.pixels_mut().extend_from_slice(&rgb);
        undrawn.finish();
    });
    assert_eq!(recording.unwrap().frames(), 1);
}

#[test]
fn a_picture_that_cannot_be_drawn_fails_the_recording() {
    let ready = || Picture::ready(vec![7; 64 * 48 * 3]);
    let (failed, undrawn) = PicturePool::default().order();
    let error = record_one(vec![ready(), failed], || undrawn.fail("no paint")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("camera wrist, frame 0") && text.contains("no paint"), "{text}");
    let (lost, undrawn) = PicturePool::default().order();
    let error = record_one(vec![lost, ready()], || drop(undrawn)).unwrap_err().to_string();
    assert!(error.contains("camera front, frame 0") && error.contains("never drawn"), "{error}");
}

#[test]
fn a_picture_left_out_is_counted_and_the_one_before_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = toy();
    let mut recorder =
        Recorder::begin(folder.path(), header(&rig.spec, "wave"), &[], &settings()).unwrap();
    let mut seen = Observation::default();
    for index in 0..4 {
        rig.observe(Want::Joints, &mut seen).unwrap();
        let picture = || match index {
            1 | 3 => Picture::left_out(),
            _ => Picture::ready(vec![40 * index as u8; 64 * 48 * 3]),
        };
        seen.images = vec![CameraImage::rgb(picture(), 0), CameraImage::rgb(picture(), 0)];
        recorder.frame(&FrameRecord { index, wall_ns: 0, seen: &seen, snapshot: None }).unwrap();
        (4 * index..4 * index + 4).for_each(|tick| common::tick(&mut recorder, &mut rig, tick));
    }
    recorder.end(&citrange_core::Outcome::unjudged("script_end"), None).unwrap();
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.frames(), 4);
    assert_eq!(recording.dropped["front"], [1, 3]);
    assert_eq!(recording.dropped["wrist"], [1, 3]);
}
