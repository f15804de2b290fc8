//! Damages what goes over a network of ROS and gives it to its readers, until the time is up:
//! XML-RPC, headers of connections, messages of ROS 1 and of ROS 2 (CDR).
//!
//! `fuzz_ros [--seconds N] [--seed S] [--first CASE]`: exit code 1 if a reader panicked, with the
//! numbers of the cases. `--seconds 0 --first CASE` repeats one case.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its product is a report")]

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use citrange_core::rng::Rng;
use citrange_ros::Format;
use citrange_ros::message::{
    ActionFeedback, ActionGoal, ActionResult, CameraInfo, CompressedImage,
    FollowJointTrajectoryGoal, FollowJointTrajectoryResult, GoalId, GoalStatus, GoalStatusArray,
    Header, Image, JointState, JointTrajectory, JointTrajectoryPoint, Message, Span, Status,
    TfMessage, Time, TransformStamped,
};
use citrange_ros::tcpros::Fields;
use citrange_ros::xmlrpc::{Value, parse_answer, parse_call, write_answer, write_call};

/// What is read: its name, a sound example, and whether its reader takes bytes.
type Kind = (String, Vec<u8>, fn(&[u8]) -> bool);

fn header() -> Header {
    Header { seq: 7, stamp: Time { sec: 3, nanosec: 9 }, frame_id: "base".to_owned() }
}

fn both<M: Message>(kinds: &mut Vec<Kind>, message: &M) {
    for (format, name) in [(Format::Ros1, "ros1"), (Format::Cdr, "cdr")] {
        let read: fn(&[u8]) -> bool = match format {
            Format::Ros1 => |bytes| M::from_bytes(bytes, Format::Ros1).is_ok(),
            Format::Cdr => |bytes| M::from_bytes(bytes, Format::Cdr).is_ok(),
        };
        kinds.push((format!("{name} {}", M::TYPE), message.to_bytes(format), read));
    }
}

fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let names = || vec!["elbow".to_owned(), "wrist".to_owned()];
    let point = || JointTrajectoryPoint {
        positions: vec![1.0, 2.0],
        velocities: vec![0.5, 0.0],
        accelerations: vec![],
        effort: vec![],
        time_from_start: Span::from_s(1.5),
    };
    let id = || GoalId { stamp: Time { sec: 1, nanosec: 2 }, id: "goal-1".to_owned() };
    let status = || GoalStatus { goal_id: id(), status: Status::Active, text: "on".to_owned() };
    let trajectory = || JointTrajectory {
        header: header(),
        joint_names: names(),
        points: vec![point(), point()],
    };
    both(
        &mut kinds,
        &JointState {
            header: header(),
            name: names(),
            position: vec![1.0, 2.0],
            velocity: vec![0.0, 1.0],
            effort: vec![],
        },
    );
    both(
        &mut kinds,
        &Image {
            header: header(),
            height: 2,
            width: 3,
            encoding: "rgb8".to_owned(),
            is_bigendian: 0,
            step: 9,
            data: vec![5; 18],
        },
    );
    both(
        &mut kinds,
        &CompressedImage { header: header(), format: "jpeg".to_owned(), data: vec![1; 9] },
    );
    both(&mut kinds, &CameraInfo::pinhole(header(), [64, 48], [60.0, 60.0, 31.5, 23.5]));
    let transform = TransformStamped {
        header: header(),
        child_frame_id: "tool".to_owned(),
        translation: [1.0, 2.0, 3.0],
        rotation_xyzw: [0.0, 0.0, 0.0, 1.0],
    };
    both(&mut kinds, &TfMessage { transforms: vec![transform.clone(), transform] });
    both(&mut kinds, &trajectory());
    both(&mut kinds, &GoalStatusArray { header: header(), status_list: vec![status(), status()] });
    let goal = FollowJointTrajectoryGoal { trajectory: trajectory(), ..Default::default() };
    both(&mut kinds, &ActionGoal { header: header(), goal_id: id(), goal });
    let result = FollowJointTrajectoryResult { error_code: -4, error_string: "path".to_owned() };
    both(&mut kinds, &ActionResult { header: header(), status: status(), result });
    both(
        &mut kinds,
        &ActionFeedback {
            header: header(),
            status: status(),
            feedback: citrange_ros::message::FollowJointTrajectoryFeedback {
                header: header(),
                joint_names: names(),
                desired: point(),
                actual: point(),
                error: point(),
            },
        },
    );
    let fields = Fields::new(&[("callerid", "/a"), ("md5sum", "*"), ("topic", "/t")]);
    kinds.push(("header".into(), fields.to_bytes()[4..].to_vec(), |b| Fields::parse(b).is_ok()));
    let deep = Value::Struct(vec![
        ("a <b>".to_owned(), Value::Array(vec![Value::Int(-3), Value::Bool(true)])),
        ("c".to_owned(), Value::Double(1.5)),
    ]);
    let call = write_call("requestTopic", &[Value::text("/a & b"), deep.clone()]);
    kinds.push(("call".into(), call.into_bytes(), |bytes| {
        std::str::from_utf8(bytes).is_ok_and(|text| parse_call(text).is_ok())
    }));
    kinds.push(("answer".into(), write_answer(&deep).into_bytes(), |bytes| {
        std::str::from_utf8(bytes).is_ok_and(|text| parse_answer(text).is_ok())
    }));
    kinds
}

/// Words that matter to a reader of XML, and numbers that matter to all.
const WORDS: [&[u8]; 12] = [
    b"<value>",
    b"</value>",
    b"<array><data>",
    b"<struct>",
    b"<member>",
    b"&lt;",
    b"&#x110000;",
    b"<!--",
    b"<?",
    b"</",
    &[255; 4],
    &[0; 8],
];

fn damaged(sound: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(7) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
            2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            3 => {
                let word = WORDS[rng.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            4 if at + 4 <= bytes.len() => {
                let edge = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, rng.next_u64() as u32];
                bytes[at..at + 4].copy_from_slice(&edge[rng.below(edge.len())].to_le_bytes());
            }
            5 => {
                let until = (at + rng.below(64)).min(bytes.len());
                let again: Vec<u8> = bytes[at..until].to_vec();
                bytes.splice(at..at, again);
            }
            _ if at < bytes.len() => {
                bytes.remove(at);
            }
            _ => {}
        }
    }
    bytes
}

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut first) = (10, 1, 0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|n| n.parse::<u64>().ok());
        match (word.as_str(), number) {
            ("--seconds", Some(number)) => seconds = number,
            ("--seed", Some(number)) => seed = number,
            ("--first", Some(number)) => first = number,
            _ => {
                eprintln!("fuzz_ros [--seconds N] [--seed S] [--first CASE], not {word}");
                return ExitCode::from(2);
            }
        }
    }
    let kinds = kinds();
    let mut counts = vec![[0_u64; 2]; kinds.len()];
    let mut findings = Vec::new();
    for (name, sound, read) in &kinds {
        if !read(sound) {
            println!("{name}: its sound example is refused");
            return ExitCode::FAILURE;
        }
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut case = first;
    loop {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
        let kind = rng.below(kinds.len());
        let (_, sound, read) = &kinds[kind];
        let bytes = damaged(sound, &mut rng);
        let read = *read;
        match catch_unwind(move || read(&bytes)) {
            Ok(taken) => counts[kind][usize::from(!taken)] += 1,
            Err(_) => findings.push(case),
        }
        case += 1;
        if Instant::now() >= end {
            break;
        }
    }
    println!("seed {seed}: {} cases in {seconds} s", case - first);
    for ((name, ..), [taken, refused]) in kinds.iter().zip(&counts) {
        println!("{name:>50}: {taken} accepted, {refused} refused");
    }
    println!("findings: {findings:?}");
    ExitCode::from(u8::from(!findings.is_empty()))
}
