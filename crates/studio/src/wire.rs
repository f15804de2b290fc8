//! What the server says to pages.
//!
//! JSON texts: `hello` once (with the table of keys), `status` on change and 5 times a second, `seat` as the answer to
//! `take` and `leave`, `error` for a message that made no sense. Binary messages, little endian:
//!
//! | state: at | type | what |
//! |---|---|---|
//! | 0 | u8 | 1 |
//! | 1 | u8 | 0 |
//! | 2, 4, 6 | u16 | number of bodies, joint positions, targets |
//! | 8 | u64 | moment: the same number means nothing new |
//! | 16 | f64 | server time in ms, to be sent back as `echo` |
//! | 24 | f64 | seconds of simulation |
//! | 32 | u64 | number of the driver's last message that reached the loop |
//! | 40 | u64 | late ticks |
//! | 48 | 3 f32 | hand in m |
//! | 60, 64, 68 | f32 | tilt in rad, loop rate in Hz, latest tick in ms |
//! | 72 | f32 | 7 per body (x, y, z, w, x, y, z), joint positions, targets |
//!
//! | picture: at | type | what |
//! |---|---|---|
//! | 0 | u8 | 2 |
//! | 1 | u8 | 0 |
//! | 2 | u16 | camera |
//! | 4 | u32 | 0 |
//! | 8 | u64 | frame |
//! | 16 | bytes | JPEG |

use citrange_teleop::KEY_TABLE;
use serde::Serialize;

use citrange_teleop::telemetry::{AutopilotStatus, LeaderStatus, Sample, Session};

/// Most pictures per second and camera.
pub const MOST_PICTURE_HZ: f64 = 15.0;

const STATE: u8 = 1;
const PICTURE: u8 = 2;
const STATE_HEAD_BYTES: usize = 72;
const PICTURE_HEAD_BYTES: usize = 16;

/// A state message. More than 65,535 bodies or joints are cut off.
#[must_use]
pub fn encode_state(live: &Sample, server_ms: f64) -> Vec<u8> {
    let most = usize::from(u16::MAX);
    let bodies = &live.bodies[..live.bodies.len().min(most)];
    let positions = &live.joint_pos[..live.joint_pos.len().min(most)];
    let targets = &live.targets[..live.targets.len().min(most)];
    let floats = 7 * bodies.len() + positions.len() + targets.len();
    let mut bytes = Vec::with_capacity(STATE_HEAD_BYTES + 4 * floats);
    bytes.extend_from_slice(&[STATE, 0]);
    for count in [bodies.len(), positions.len(), targets.len()] {
        bytes.extend_from_slice(&(count as u16).to_le_bytes());
    }
    bytes.extend_from_slice(&live.moment.to_le_bytes());
    bytes.extend_from_slice(&server_ms.to_le_bytes());
    bytes.extend_from_slice(&live.time_s.to_le_bytes());
    bytes.extend_from_slice(&live.seq.to_le_bytes());
    bytes.extend_from_slice(&live.late_ticks.to_le_bytes());
    let [x, y, z] = live.hand_m;
    let head = [x, y, z, live.tilt_rad, live.loop_hz, live.worst_late_ms];
    for value in head.iter().chain(bodies.iter().flatten()).chain(positions).chain(targets) {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// A picture message.
#[must_use]
pub fn encode_picture(camera: u16, frame: u64, jpeg: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PICTURE_HEAD_BYTES + jpeg.len());
    bytes.extend_from_slice(&[PICTURE, 0]);
    bytes.extend_from_slice(&camera.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&frame.to_le_bytes());
    bytes.extend_from_slice(jpeg);
    bytes
}

/// A binary message, read back: what a page does, for tests and other programs.
#[derive(Clone, Debug)]
pub enum ServerBytes {
    /// A state; only the fields that are sent are filled.
    State {
        /// What it shows.
        live: Box<Sample>,
        /// Server time in ms.
        server_ms: f64,
    },
    /// A picture.
    Picture {
        /// Camera.
        camera: u16,
        /// Frame.
        frame: u64,
        /// JPEG.
        jpeg: Vec<u8>,
    },
}

impl ServerBytes {
    /// Reads a binary message; `None` when it is none of ours or has another length.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match *bytes.first()? {
            STATE => decode_state(bytes),
            PICTURE => Some(Self::Picture {
                camera: u16::from_le_bytes(take(bytes, 2)?),
                frame: u64::from_le_bytes(take(bytes, 8)?),
                jpeg: bytes.get(PICTURE_HEAD_BYTES..)?.to_vec(),
            }),
            _ => None,
        }
    }
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn decode_state(bytes: &[u8]) -> Option<ServerBytes> {
    let count = |at| Some(usize::from(u16::from_le_bytes(take(bytes, at)?)));
    let (bodies, positions, targets) = (count(2)?, count(4)?, count(6)?);
    if bytes.len() != STATE_HEAD_BYTES + 4 * (7 * bodies + positions + targets) {
        return None;
    }
    let float = |at| Some(f32::from_le_bytes(take(bytes, at)?));
    let floats: Vec<f32> = bytes[STATE_HEAD_BYTES..]
        .chunks_exact(4)
        .map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    let (poses, joints) = floats.split_at(7 * bodies);
    let (joint_pos, targets) = joints.split_at(positions);
    let live = Sample {
        moment: u64::from_le_bytes(take(bytes, 8)?),
        time_s: f64::from_le_bytes(take(bytes, 24)?),
        seq: u64::from_le_bytes(take(bytes, 32)?),
        late_ticks: u64::from_le_bytes(take(bytes, 40)?),
        hand_m: [float(48)?, float(52)?, float(56)?],
        tilt_rad: float(60)?,
        loop_hz: float(64)?,
        worst_late_ms: float(68)?,
        bodies: poses.chunks_exact(7).filter_map(|pose| pose.first_chunk().copied()).collect(),
        joint_pos: joint_pos.to_vec(),
        targets: targets.to_vec(),
        ..Sample::default()
    };
    let server_ms = f64::from_le_bytes(take(bytes, 16)?);
    Some(ServerBytes::State { live: Box::new(live), server_ms })
}

/// The part of a status that is the same for everybody.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Status {
    pub(crate) session: Session,
    pub(crate) flight: Option<AutopilotStatus>,
    pub(crate) held: Vec<&'static str>,
    pub(crate) brake: bool,
    /// How often the loop stalled; the arm braked and keys have to be let go.
    pub(crate) stalls: u64,
    pub(crate) limited_by: Vec<String>,
    /// How far the arm is from its leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) leader: Option<LeaderStatus>,
    /// What is wrong with the arm or its cameras.
    pub(crate) troubles: Vec<String>,
    pub(crate) driver: Option<String>,
    /// Who stopped the arm; nobody has taken the wheel since.
    pub(crate) stopped_by: Option<String>,
    pub(crate) viewers: usize,
}

impl Status {
    /// Whether more than the time and the count of pictures has changed.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let still = |status: &Self| {
            let session = status.session.without_counters();
            Self { session, ..status.clone() }
        };
        still(self) != still(other)
    }
}

/// Texts from the server.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ServerText<'a> {
    Status {
        #[serde(flatten)]
        common: &'a Status,
        you_drive: bool,
        refused: Refused,
    },
    #[serde(rename = "seat")]
    DriverLock {
        driving: bool,
        driver: Option<String>,
        message: String,
    },
    Error {
        message: String,
    },
}

/// Messages of one connection that were not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Refused {
    /// Made no sense.
    pub(crate) bad: u64,
    /// Were under way for too long.
    pub(crate) old: u64,
    /// Came from somebody who does not drive.
    pub(crate) not_driving: u64,
}

impl ServerText<'_> {
    pub(crate) fn to_json(&self) -> String {
        // Plain structs of numbers and strings always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The first text of a connection.
pub(crate) fn hello(you: &str, stage_json: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    // Plain rows of words always have a JSON form.
    let keys = serde_json::to_string(&KEY_TABLE).unwrap_or_default();
    format!(
        r#"{{"type":"hello","version":"{version}","you":"{you}","keys":{keys},"stage":{stage_json}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        Sample {
            moment: 9,
            time_s: 1.0 / 3.0,
            bodies: vec![[1.0, 2.0, 3.0, 1.0, 0.0, -0.0, 0.0], [0.5; 7]],
            joint_pos: vec![0.1, 0.2, 0.3],
            targets: vec![0.15, 0.25],
            hand_m: [0.3, -0.2, 0.1],
            tilt_rad: 0.7,
            seq: 1 << 40,
            loop_hz: 49.9,
            late_ticks: 3,
            worst_late_ms: 1.5,
            ..Sample::default()
        }
    }

    #[test]
    fn a_state_comes_back() {
        let bytes = encode_state(&sample(), 1234.5);
        assert_eq!(bytes.len(), 72 + 4 * (14 + 3 + 2));
        let Some(ServerBytes::State { live, server_ms }) = ServerBytes::decode(&bytes) else {
            panic!("no state")
        };
        assert_eq!(server_ms, 1234.5);
        assert_eq!(format!("{live:?}"), format!("{:?}", sample()));
        // Places that pages rely on.
        assert_eq!(bytes[..8], [1, 0, 2, 0, 3, 0, 2, 0]);
        assert_eq!(bytes[16..24], 1234.5_f64.to_le_bytes());
        assert_eq!(bytes[72..76], 1.0_f32.to_le_bytes());
    }

    #[test]
    fn a_picture_comes_back() {
        let bytes = encode_picture(3, 77, &[1, 2, 3]);
        let Some(ServerBytes::Picture { camera, frame, jpeg }) = ServerBytes::decode(&bytes) else {
            panic!("no picture")
        };
        assert_eq!((camera, frame, jpeg.as_slice()), (3, 77, &[1, 2, 3][..]));
    }

    #[test]
    fn damaged_bytes_are_no_state() {
        let good = encode_state(&sample(), 1.0);
        for length in 0..good.len() {
            assert!(ServerBytes::decode(&good[..length]).is_none(), "{length}");
        }
        let mut rng = citrange_core::rng::Rng::new(1);
        for _ in 0..10_000 {
            let mut bytes = good.clone();
            for _ in 0..3 {
                let at = rng.below(bytes.len());
                bytes[at] ^= rng.next_u64() as u8;
            }
            if let Some(ServerBytes::State { live, .. }) = ServerBytes::decode(&bytes) {
                let floats = 7 * live.bodies.len() + live.joint_pos.len() + live.targets.len();
                assert_eq!(floats, 19);
            }
        }
    }

    #[test]
    fn time_alone_is_no_change() {
        let mut now = Status::default();
        now.session.seconds = 3.0;
        assert!(!now.differs(&Status::default()));
        now.brake = true;
        assert!(now.differs(&Status::default()));
    }

    #[test]
    fn texts_are_as_the_page_reads_them() {
        let status = Status { driver: Some("viewer 1".into()), ..Status::default() };
        let text =
            ServerText::Status { common: &status, you_drive: true, refused: Refused::default() };
        let json: serde_json::Value = serde_json::from_str(&text.to_json()).unwrap();
        assert_eq!(
            (json["type"].as_str(), json["driver"].as_str()),
            (Some("status"), Some("viewer 1"))
        );
        assert_eq!(
            (json["session"]["phase"].as_str(), json["refused"]["old"].as_u64()),
            (Some("starting"), Some(0))
        );
        let json: serde_json::Value = serde_json::from_str(&hello("viewer 2", "{}")).unwrap();
        assert_eq!(
            (json["type"].as_str(), json["you"].as_str()),
            (Some("hello"), Some("viewer 2"))
        );
        assert_eq!(json["keys"].as_array().unwrap().len(), KEY_TABLE.len());
    }
}
