//! Bags and MCAP files: what is written comes back; cut and damaged ones give what is readable.

use std::io::Cursor;

use citrange_cloud::{
    Compression, JointState, McapSettings, McapWriter, MessageEncoding, Recording, RecordingKind,
    RecordingSummary,
};

use crate::recordings::{bag, joints, mcap, stamp};

/// Numbers of the joint states that are readable and right, and what is wrong with the rest.
fn read(bytes: &[u8]) -> (Vec<u32>, Vec<String>) {
    let (mut numbers, mut damage) = (Vec::new(), Vec::new());
    for message in Recording::from_reader("test", Cursor::new(bytes.to_vec())).unwrap() {
        match message {
            Ok(message) if message.channel.topic == "/joint_states" => {
                let state: JointState = message.decode().unwrap();
                let number = ((message.log_ns - stamp(0)) / 8_000_000) as u32;
                assert_eq!(state.position, joints(number).position);
                numbers.push(number);
            }
            Ok(other) => {
                assert_eq!(other.channel.encoding, MessageEncoding::Other("json".to_owned()));
                assert!(other.decode::<JointState>().is_err() && &*other.data == b"{}");
            }
            Err(error) => damage.push(error.to_string()),
        }
    }
    (numbers, damage)
}

fn whole(messages: u32) -> Vec<u32> {
    (0..messages).collect()
}

#[test]
fn what_is_recorded_comes_back() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        for chunk_bytes in [1, 3000, 1 << 20] {
            let bytes = mcap(57, compression, chunk_bytes);
            assert_eq!(read(&bytes), (whole(57), Vec::new()));
            let recording = Recording::from_reader("test", Cursor::new(bytes)).unwrap();
            assert_eq!(recording.kind(), RecordingKind::Mcap);
        }
    }
    for per_chunk in [0, 1, 10, 100] {
        assert_eq!(read(&bag(57, per_chunk)), (whole(57), Vec::new()));
    }
    let mut first = Recording::from_reader("test", Cursor::new(bag(1, 1))).unwrap();
    let message = first.next().unwrap().unwrap();
    assert!(message.channel.is_latching && message.channel.md5sum.is_some());
    assert_eq!((message.log_ns, message.publish_ns), (stamp(0), stamp(0)));
}

#[test]
fn files_cut_anywhere_give_their_beginning_and_say_so() {
    let chunk = 2000;
    let kinds = [
        ("bag", bag(30, 10)),
        ("bag without chunks", bag(30, 0)),
        ("mcap", mcap(30, Compression::None, chunk)),
        ("lz4", mcap(30, Compression::Lz4, chunk)),
        ("zstd", mcap(30, Compression::Zstd, chunk)),
    ];
    for (kind, bytes) in kinds {
        let mut most = 0;
        for length in (20..bytes.len()).step_by(37).chain([bytes.len() - 1, bytes.len()]) {
            let (numbers, damage) = read(&bytes[..length]);
            assert_eq!(numbers, whole(numbers.len() as u32), "{kind} {length}");
            assert!(numbers.len() >= most, "{kind} {length}: fewer than of a shorter one");
            most = numbers.len();
            // A bag may end after any record: nothing says how many there are.
            let may_be_whole = kind.starts_with("bag") || length == bytes.len();
            assert!(!damage.is_empty() || may_be_whole, "{kind} {length}");
            assert!(damage.iter().all(|text| text.contains("byte ")), "{damage:?}");
        }
        assert_eq!(most, 30, "{kind}");
    }
}

#[test]
fn a_damaged_chunk_costs_its_messages_only() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let bytes = mcap(400, compression, 4000);
        let good = read(&bytes).0;
        assert_eq!(good.len(), 400);
        let mut found = 0;
        // In the data of some chunk: MCAP has a checksum of each. The channels come before.
        for at in (bytes.len() / 3..2 * bytes.len() / 3).step_by(bytes.len() / 61) {
            let mut broken = bytes.clone();
            broken[at] ^= 0x55;
            let (numbers, damage) = read(&broken);
            assert!(numbers.iter().is_sorted(), "{compression:?} {at}");
            if !damage.is_empty() {
                found += 1;
                assert!(numbers.len() < 400 && !numbers.is_empty(), "{compression:?} {at}");
            }
        }
        assert!(found > 10, "{compression:?}: {found}");
    }
}

#[test]
fn what_is_no_recording_is_refused() {
    let open = |bytes: &'static [u8]| {
        Recording::from_reader("a.bag", Cursor::new(bytes)).unwrap_err().to_string()
    };
    assert!(open(b"#ROSBAG V1.2\n").contains("version 1.2"));
    assert!(open(b"PK\x03\x04").contains("begins with"));
    assert!(open(b"").contains("begins with"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    std::fs::write(&path, mcap(20, Compression::Zstd, 500)).unwrap();
    assert!(Recording::is_one(&path).unwrap());
    let summary = RecordingSummary::of(&path).unwrap();
    let told: Vec<(&str, u64)> =
        summary.topics.iter().map(|t| (t.topic.as_str(), t.messages)).collect();
    assert_eq!(told, [("/joint_states", 20), ("/other", 2)]);
    assert!((summary.topics[0].rate_hz() - 125.0).abs() < 1e-6 && summary.damage.is_empty());
}

#[test]
fn writers_refuse_what_would_make_a_bad_file() {
    let mut writer = McapWriter::new(Vec::new(), "a.mcap", McapSettings::default()).unwrap();
    assert!(writer.add_channel("/a", "cdr", 1).is_err());
    let channel = writer.add_channel("/a", "cdr", 0).unwrap();
    assert!(writer.write(channel + 1, 0, [0, 0], b"").is_err());
    assert!(writer.write(0, 0, [0, 0], b"").is_err());
    writer.write(channel, 0, [5, 5], b"x").unwrap();
    let bytes = writer.finish().unwrap();
    let all: Vec<_> = Recording::from_reader("a", Cursor::new(bytes)).unwrap().collect();
    assert!(all.len() == 1 && &*all[0].as_ref().unwrap().data == b"x");
}
