//! A coder that is too slow for the loop.

mod common;

use std::collections::BTreeSet;

use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Commanded, Observation, Picture, Rig as _, Tape as _};
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
    let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
    for tick in 0..FRAMES * 4 {
        if tick % 4 == 0 {
            rig.observe(false, &mut seen).unwrap();
            seen.pictures = vec![Picture::ready(vec![(tick / 4) as u8; 640 * 480 * 3]); 2];
            let frame = FrameRecord { index: tick / 4, wall_ns: tick, seen: &seen, snapshot: None };
            recorder.frame(&frame).unwrap();
        }
        rig.act(&[0.5, 0.1], &mut commanded).unwrap();
        let tick = TickRecord { index: tick, requested: &[0.5, 0.1], commanded: &commanded };
        recorder.tick(&tick).unwrap();
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
