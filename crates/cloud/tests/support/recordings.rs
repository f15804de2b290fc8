//! Recordings made here: bags and MCAP files with a few messages.

use std::collections::BTreeMap;

use citrange_cloud::{
    Compression, JointState, McapSettings, McapWriter, MessageHeader, RosMessage as _, WireFormat,
    ros2_definition,
};

/// A message of the test's own, about 200 bytes.
pub(crate) fn joints(number: u32) -> JointState {
    JointState {
        header: MessageHeader { seq: 0, stamp_ns: stamp(number), frame_id: "base".to_owned() },
        name: (0..6).map(|j| format!("joint_{j}")).collect(),
        position: (0..6).map(|j| f64::from(number) + 0.1 * f64::from(j)).collect(),
        velocity: vec![f64::NAN; 6],
        effort: Vec::new(),
    }
}

pub(crate) fn stamp(number: u32) -> u64 {
    1_700_000_000_000_000_000 + u64::from(number) * 8_000_000
}

/// An MCAP file of so many messages on `/joint_states`, every tenth one also on `/other`.
pub(crate) fn mcap(messages: u32, compression: Compression, chunk_bytes: usize) -> Vec<u8> {
    let settings = McapSettings { compression, chunk_bytes, ..McapSettings::default() };
    let mut writer = McapWriter::new(Vec::new(), "test", settings).unwrap();
    let text = ros2_definition(JointState::TYPE).unwrap();
    let schema =
        writer.add_schema("sensor_msgs/msg/JointState", "ros2msg", text.as_bytes()).unwrap();
    let states = writer.add_channel("/joint_states", "cdr", schema).unwrap();
    let other = writer.add_channel("/other", "json", 0).unwrap();
    let values = BTreeMap::from([("arm".to_owned(), "ur5e".to_owned())]);
    writer.add_metadata("robot", &values).unwrap();
    for number in 0..messages {
        let time = [stamp(number) + 1000, stamp(number)];
        let bytes = joints(number).encode(WireFormat::CDR);
        writer.write(states, number, time, &bytes).unwrap();
        if number % 10 == 0 {
            writer.write(other, number, time, b"{}").unwrap();
        }
    }
    writer.finish().unwrap()
}

/// The same as a bag of ROS 1, with so many messages in a chunk (0: no chunks).
pub(crate) fn bag(messages: u32, per_chunk: u32) -> Vec<u8> {
    let fields = |fields: &[(&str, &[u8])]| {
        let mut bytes = Vec::new();
        for (name, value) in fields {
            bytes.extend(((name.len() + 1 + value.len()) as u32).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.push(b'=');
            bytes.extend(*value);
        }
        bytes
    };
    let record = |header: Vec<u8>, data: &[u8]| {
        let sizes = [header.len() as u32, data.len() as u32].map(u32::to_le_bytes);
        [&sizes[0], &header[..], &sizes[1], data].concat()
    };
    let connection = record(
        fields(&[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/joint_states")]),
        &fields(&[
            ("topic", b"/joint_states"),
            ("type", b"sensor_msgs/JointState"),
            ("md5sum", JointState::ROS1_MD5.as_bytes()),
            ("message_definition", b"string[] name"),
            ("latching", b"1"),
        ]),
    );
    let message = |number: u32| {
        let at = stamp(number);
        let time = [(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32].map(u32::to_le_bytes);
        let header = fields(&[("op", &[2]), ("conn", &[0; 4]), ("time", time.as_flattened())]);
        record(header, &joints(number).encode(WireFormat::Ros1))
    };
    let mut file = b"#ROSBAG V2.0\n".to_vec();
    let head = [("op", &[3][..]), ("index_pos", &[0; 8]), ("conn_count", &[1, 0, 0, 0])];
    file.extend(record(fields(&head), &[b' '; 100]));
    if per_chunk == 0 {
        file.extend(&connection);
        (0..messages).for_each(|number| file.extend(message(number)));
        return file;
    }
    for first in (0..messages).step_by(per_chunk as usize) {
        let mut chunk = if first == 0 { connection.clone() } else { Vec::new() };
        (first..messages.min(first + per_chunk)).for_each(|number| chunk.extend(message(number)));
        let size = (chunk.len() as u32).to_le_bytes();
        let header = fields(&[("op", &[5]), ("compression", b"none"), ("size", &size)]);
        file.extend(record(header, &chunk));
        // An index, which nobody needs.
        file.extend(record(fields(&[("op", &[4]), ("conn", &[0; 4])]), &[0; 12]));
    }
    file
}
