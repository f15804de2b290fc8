//! Writes an MCAP file for other programs to read: `make_recording FILE none|lz4|zstd`.
//!
//! 100 joint states at 125 Hz, three clouds and three transforms, values as `peers` expects them.

#![allow(clippy::print_stderr, reason = "a program for people and tests")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use citrange_cloud::{
    Cloud, Compression, JointState, McapSettings, McapWriter, MessageHeader, RosMessage,
    StampedTransform, TransformMessage, WireFormat, message_of, pack_xyz_rgb, ros2_definition,
};

const START_NS: u64 = 1_700_000_000_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, packing] = &words[..] else {
        return Err("make_recording FILE none|lz4|zstd".into());
    };
    let compression = match packing.as_str() {
        "none" => Compression::None,
        "lz4" => Compression::Lz4,
        _ => Compression::Zstd,
    };
    let settings = McapSettings { compression, chunk_bytes: 5000, ..McapSettings::default() };
    let mut writer = McapWriter::new(BufWriter::new(File::create(path)?), path, settings)?;
    let mut channels = Vec::new();
    for (topic, [package, name]) in [
        ("/joint_states", JointState::TYPE),
        ("/points", ["sensor_msgs", "PointCloud2"]),
        ("/tf", TransformMessage::TYPE),
    ] {
        let text = ros2_definition([package, name]).unwrap_or_default();
        let type_name = format!("{package}/msg/{name}");
        let schema = writer.add_schema(&type_name, "ros2msg", text.as_bytes())?;
        channels.push(writer.add_channel(topic, "cdr", schema)?);
    }
    for number in 0..100_u32 {
        let stamp_ns = START_NS + u64::from(number) * 8_000_000;
        let header = MessageHeader { seq: 0, stamp_ns, frame_id: "base".to_owned() };
        let state = JointState {
            header: header.clone(),
            name: vec!["a".to_owned(), "bc".to_owned()],
            position: vec![f64::from(number), 0.5],
            velocity: vec![-1.0, f64::NAN],
            effort: Vec::new(),
        };
        let time = [stamp_ns + 1000, stamp_ns];
        writer.write(channels[0], number, time, &state.encode(WireFormat::CDR))?;
        if number % 40 == 0 {
            let xyz_m = (0..12).map(|i| [i as f32, 0.5, number as f32]).collect();
            let cloud = Cloud::new(xyz_m, vec![[1, 2, 3]; 12], 4, stamp_ns)?;
            let data = pack_xyz_rgb(&cloud);
            let bytes = message_of(&cloud, "camera", &data).to_cdr(false);
            writer.write(channels[1], number, time, &bytes)?;
            let transform = TransformMessage(vec![StampedTransform {
                header,
                child_frame: "camera".to_owned(),
                translation_m: [1.0, 2.0, 3.0],
                rotation_xyzw: [0.0, 0.0, 0.6, 0.8],
            }]);
            writer.write(channels[2], number, time, &transform.encode(WireFormat::CDR))?;
        }
    }
    writer.finish()?;
    Ok(())
}
