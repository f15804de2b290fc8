//! The encoder's promises, one by one.

use citrange_video::{Decoder, Encoder, EncoderSettings, VideoError};

use crate::pictures;

fn draw(number: u32) -> Vec<u8> {
    // Large surfaces: at edges, colour at half size costs more than the encoder does.
    pictures::draw(pictures::View::Wrist, 320, 256, number as f32 / 10.0)
}

#[test]
fn sizes_and_settings_out_of_range_are_named() {
    for (width, height) in [(15, 16), (16, 14), (17, 32), (32, 0), (3842, 16), (2162, 2162)] {
        let error = Encoder::new(width, height, EncoderSettings::default()).unwrap_err();
        assert!(error.to_string().contains(&format!("{width}x{height}")), "{error}");
    }
    let good = EncoderSettings::default();
    for (bad, name) in [
        (EncoderSettings { fps: 0, ..good }, "fps is 0"),
        (EncoderSettings { qp: 11, ..good }, "qp is 11"),
        (EncoderSettings { qp: 52, ..good }, "qp is 52"),
        (EncoderSettings { gop: 0, ..good }, "gop is 0"),
    ] {
        let error = Encoder::new(64, 64, bad).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    let mut encoder = Encoder::new(320, 256, good).unwrap();
    let error = encoder.encode(&[0; 5]).unwrap_err().to_string();
    assert!(error.contains("5 bytes") && error.contains("245760"), "{error}");
    assert!(matches!(encoder.repeat(), Err(VideoError::NothingToRepeat)));
}

#[test]
fn the_extreme_sizes_are_encoded_and_decoded() {
    for (width, height) in [(16, 16), (18, 46), (2160, 3840), (3840, 16)] {
        let mut encoder = Encoder::new(width, height, EncoderSettings::default()).unwrap();
        let rgb: Vec<u8> = (0..width * height).flat_map(|i| [(i / 97) as u8, 90, 200]).collect();
        let sample = encoder.encode(&rgb).unwrap().data.to_vec();
        let mut decoder = Decoder::new(encoder.avc_config().unwrap()).unwrap();
        let mut back = vec![];
        assert_eq!(decoder.decode(&sample, &mut back).unwrap(), (width, height));
        assert_eq!(back.len(), rgb.len());
    }
}

#[test]
fn key_frames_are_counted_from_the_restart() {
    let mut encoder =
        Encoder::new(320, 256, EncoderSettings { gop: 3, ..EncoderSettings::default() }).unwrap();
    let mut keys = vec![];
    let restart_before = [5, 6, 11];
    for number in 0..16 {
        if restart_before.contains(&number) {
            encoder.restart();
        }
        let sample = encoder.encode(&draw(number)).unwrap();
        assert!(!sample.data.is_empty());
        if sample.key {
            keys.push(number);
        }
    }
    assert_eq!(keys, [0, 3, 5, 6, 9, 11, 14]);
}

#[test]
fn a_restarted_run_decodes_on_its_own() {
    let mut encoder =
        Encoder::new(320, 256, EncoderSettings { gop: 100, ..EncoderSettings::default() }).unwrap();
    for number in 0..4 {
        encoder.encode(&draw(number)).unwrap();
    }
    encoder.restart();
    let mut decoder = Decoder::new(encoder.avc_config().unwrap()).unwrap();
    let mut back = vec![];
    for number in 4..8 {
        let sample = encoder.encode(&draw(number)).unwrap().data.to_vec();
        decoder.decode(&sample, &mut back).unwrap();
        let likeness = pictures::psnr(&draw(number), &back);
        assert!(likeness > 36.0, "{likeness:.1} dB");
    }
}

#[test]
fn a_repeated_picture_is_the_same_and_small() {
    let mut encoder = Encoder::new(320, 256, EncoderSettings::default()).unwrap();
    let first = encoder.encode(&draw(1)).unwrap().data.to_vec();
    let mut decoder = Decoder::new(encoder.avc_config().unwrap()).unwrap();
    let mut back = vec![];
    decoder.decode(&first, &mut back).unwrap();
    for count in 1..=10 {
        let sample = encoder.repeat().unwrap();
        assert_eq!(sample.key, count % 5 == 0);
        let data = sample.data.to_vec();
        assert!(count % 5 == 0 || data.len() * 4 < first.len(), "{count}: {}", data.len());
        decoder.decode(&data, &mut back).unwrap();
        let likeness = pictures::psnr(&draw(1), &back);
        assert!(likeness > 36.0, "{likeness:.1} dB");
    }
}

#[test]
fn noise_and_jumps_never_skip_a_frame() {
    let mut encoder = Encoder::new(320, 240, EncoderSettings::default()).unwrap();
    let mut rng = citrange_core::rng::Rng::new(1);
    for number in 0..12 {
        let rgb: Vec<u8> = (0..320 * 240 * 3)
            .map(|_| {
                let noise = rng.next_u64() as u8;
                if number % 2 == 0 { noise } else { 255 * (number % 4 / 2) as u8 }
            })
            .collect();
        assert!(!encoder.encode(&rgb).unwrap().data.is_empty());
    }
}

#[test]
fn lower_qp_is_larger_and_better() {
    let run = |qp| {
        let mut encoder =
            Encoder::new(320, 256, EncoderSettings { qp, ..EncoderSettings::default() }).unwrap();
        let sample = encoder.encode(&draw(0)).unwrap().data.to_vec();
        let mut back = vec![];
        let mut decoder = Decoder::new(encoder.avc_config().unwrap()).unwrap();
        decoder.decode(&sample, &mut back).unwrap();
        (sample.len(), pictures::psnr(&draw(0), &back))
    };
    let runs: Vec<_> = [12, 22, 32, 42, 51].map(run).into();
    for pair in runs.windows(2) {
        assert!(pair[0].0 > pair[1].0 && pair[0].1 > pair[1].1, "{runs:?}");
    }
}

#[test]
fn encoders_go_to_other_threads_and_give_the_same_bytes() {
    let run = || {
        let mut encoder = Encoder::new(320, 256, EncoderSettings::default()).unwrap();
        let mut bytes = vec![];
        for number in 0..6 {
            bytes.extend_from_slice(encoder.encode(&draw(number)).unwrap().data);
        }
        bytes
    };
    let mut moved = Encoder::new(320, 256, EncoderSettings::default()).unwrap();
    let elsewhere = std::thread::spawn(move || {
        let mut bytes = vec![];
        for number in 0..6 {
            bytes.extend_from_slice(moved.encode(&draw(number)).unwrap().data);
        }
        bytes
    });
    assert_eq!(run(), elsewhere.join().unwrap());
}

#[test]
fn damaged_samples_are_an_answer_and_the_next_key_frame_works() {
    let mut encoder =
        Encoder::new(320, 256, EncoderSettings { gop: 1, ..EncoderSettings::default() }).unwrap();
    let good = encoder.encode(&draw(0)).unwrap().data.to_vec();
    let mut decoder = Decoder::new(encoder.avc_config().unwrap()).unwrap();
    let mut back = vec![];
    assert!(decoder.decode(&[], &mut back).is_err());
    assert!(decoder.decode(&good[..3], &mut back).is_err());
    assert!(decoder.decode(&[0, 0, 0, 200, 1], &mut back).is_err());
    decoder.decode(&good, &mut back).unwrap();
    let likeness = pictures::psnr(&draw(0), &back);
    assert!(likeness > 36.0, "{likeness:.1} dB");
}
