//! The records of a tape, as bytes.

use citrange_core::tape::{FrameRecord, TickRecord};

/// Kinds of records. Numbers are part of the format.
pub(crate) mod kind {
    /// JSON of the [`crate::TapeHeader`].
    pub(crate) const HEADER: u8 = 1;
    /// The compiled model, deflated.
    pub(crate) const MODEL: u8 = 2;
    /// JSON: names and lengths of the state's fields, for the states that follow.
    pub(crate) const LAYOUT: u8 = 3;
    /// A frame.
    pub(crate) const FRAME: u8 = 4;
    /// A control tick.
    pub(crate) const TICK: u8 = 5;
    /// JSON: tick and event.
    pub(crate) const EVENT: u8 = 6;
    /// The state in which the episode ended.
    pub(crate) const LAST: u8 = 7;
    /// JSON: outcome, dropped pictures.
    pub(crate) const END: u8 = 8;
    /// Where the wrist was at the frame before it.
    pub(crate) const WRIST: u8 = 9;
    /// Velocities that were asked for at the tick before it, where there were any.
    pub(crate) const VELOCITY: u8 = 10;
    /// When joints and cameras measured what the frame before it shows, by the rig's own clock.
    pub(crate) const TIMES: u8 = 11;
    /// Joint efforts at the frame before it, where the rig has them.
    pub(crate) const EFFORT: u8 = 12;
    /// In a camera's log: what a decoder needs (avcC), nothing for pictures as PNG.
    pub(crate) const CAMERA: u8 = 20;
    /// In a camera's log: a coded picture, first byte 1 for a key frame.
    pub(crate) const PICTURE: u8 = 21;
    /// In a log that lies beside a tape: JSON of what a reader needs.
    pub(crate) const BESIDE: u8 = 22;
}

/// A frame as read.
#[derive(Clone, Debug, PartialEq)]
pub struct TapedFrame {
    /// Frames since the episode began.
    pub index: u64,
    /// Physics step.
    pub step: u64,
    /// Monotonic wall time since the episode began.
    pub wall_ns: u64,
    /// Joint positions.
    pub joint_pos: Vec<f64>,
    /// Joint velocities.
    pub joint_vel: Vec<f64>,
    /// Position of the wrist in the world, where it was to be kept.
    pub wrist_pos_m: Option<[f64; 3]>,
    /// Joint efforts; empty where the rig had none.
    pub joint_effort: Vec<f64>,
    /// Times of measurement, where clocks were the rig's own.
    pub times: Option<SensorTimes>,
    /// The complete state's numbers, see [`crate::Episode::snapshot`].
    pub state: Vec<f64>,
    /// Which of the episode's layouts names them.
    pub layout: usize,
}

/// When things were measured, by the rig's clock, since the episode began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SensorTimes {
    /// The look as a whole.
    pub at_ns: u64,
    /// The joints.
    pub joints_at_ns: u64,
    /// Each recorded camera, and whether its picture is another than at the frame before.
    pub cameras: Vec<(u64, bool)>,
}

/// A tick as read.
#[derive(Clone, Debug, PartialEq)]
pub struct TapedTick {
    /// Ticks since the episode began.
    pub index: u64,
    /// What the pilot asked for.
    pub requested: Vec<f64>,
    /// Velocities it asked for; empty where it did not.
    pub requested_vel: Vec<f64>,
    /// What the rig's limits made of it.
    pub limited: Vec<f64>,
    /// What reached the actuators.
    pub executed: Vec<f64>,
    /// Digest of the state after each physics step.
    pub digests: Vec<u64>,
}

/// Names and lengths of a state's fields.
pub(crate) type Layout = Vec<(String, usize)>;

pub(crate) fn frame_bytes(frame: &FrameRecord<'_>) -> Vec<u8> {
    let joints = frame.seen.joint_pos.len();
    let state: usize = frame.snapshot.iter().flat_map(|s| s.fields.values()).map(Vec::len).sum();
    let mut bytes = Vec::with_capacity(32 + 16 * joints + 8 * state);
    bytes.extend_from_slice(&frame.index.to_le_bytes());
    bytes.extend_from_slice(&frame.seen.step.to_le_bytes());
    bytes.extend_from_slice(&frame.wall_ns.to_le_bytes());
    bytes.extend_from_slice(&(joints as u32).to_le_bytes());
    put(&mut bytes, &frame.seen.joint_pos);
    put(&mut bytes, &frame.seen.joint_vel);
    for numbers in frame.snapshot.iter().flat_map(|s| s.fields.values()) {
        put(&mut bytes, numbers);
    }
    bytes
}

pub(crate) fn frame_of(bytes: &[u8], layout: usize) -> Option<TapedFrame> {
    let mut from = Cursor(bytes);
    let (index, step, wall_ns) = (from.u64()?, from.u64()?, from.u64()?);
    let joints = from.u32()? as usize;
    let (joint_pos, joint_vel) = (from.f64s(joints)?, from.f64s(joints)?);
    let state = from.f64s(from.0.len() / 8)?;
    let frame = TapedFrame {
        index,
        step,
        wall_ns,
        joint_pos,
        joint_vel,
        wrist_pos_m: None,
        joint_effort: Vec::new(),
        times: None,
        state,
        layout,
    };
    from.0.is_empty().then_some(frame)
}

/// The frame's index and where the wrist was.
pub(crate) fn wrist_bytes(frame: u64, wrist_pos_m: &[f64; 3]) -> Vec<u8> {
    let mut bytes = frame.to_le_bytes().to_vec();
    put(&mut bytes, wrist_pos_m);
    bytes
}

pub(crate) fn wrist_of(bytes: &[u8]) -> Option<(u64, [f64; 3])> {
    let mut from = Cursor(bytes);
    let (frame, pos) = (from.u64()?, from.f64s(3)?);
    Some((frame, pos.try_into().ok()?)).filter(|_| from.0.is_empty())
}

/// An index and numbers that belong to it: velocities of a tick, efforts of a frame.
pub(crate) fn indexed_bytes(index: u64, numbers: &[f64]) -> Vec<u8> {
    let mut bytes = index.to_le_bytes().to_vec();
    put(&mut bytes, numbers);
    bytes
}

pub(crate) fn indexed_of(bytes: &[u8]) -> Option<(u64, Vec<f64>)> {
    let mut from = Cursor(bytes);
    let (index, numbers) = (from.u64()?, from.f64s(from.0.len() / 8)?);
    from.0.is_empty().then_some((index, numbers))
}

pub(crate) fn times_bytes(frame: u64, times: &SensorTimes) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24 + 9 * times.cameras.len());
    for number in [frame, times.at_ns, times.joints_at_ns] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for (at_ns, fresh) in &times.cameras {
        bytes.extend_from_slice(&at_ns.to_le_bytes());
        bytes.push(u8::from(*fresh));
    }
    bytes
}

pub(crate) fn times_of(bytes: &[u8]) -> Option<(u64, SensorTimes)> {
    let mut from = Cursor(bytes);
    let (frame, at_ns, joints_at_ns) = (from.u64()?, from.u64()?, from.u64()?);
    let mut cameras = Vec::new();
    while !from.0.is_empty() {
        cameras.push((from.u64()?, from.take(1)?[0] != 0));
    }
    Some((frame, SensorTimes { at_ns, joints_at_ns, cameras }))
}

pub(crate) fn tick_bytes(tick: &TickRecord<'_>) -> Vec<u8> {
    let commanded = tick.commanded;
    let (requested, limited) = (&tick.requested.pos, &commanded.limited);
    // Mostly nothing was limited and the servos got what the joints were told.
    let plain = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
    };
    let same_limited = plain(requested, limited);
    let same_executed = plain(limited, &commanded.executed);
    let mut bytes = Vec::with_capacity(32 + 8 * (3 * requested.len() + commanded.digests.len()));
    bytes.extend_from_slice(&tick.index.to_le_bytes());
    bytes.push(u8::from(same_limited) | u8::from(same_executed) << 1);
    bytes.extend_from_slice(&(requested.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&(commanded.executed.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&(commanded.digests.len() as u16).to_le_bytes());
    put(&mut bytes, requested);
    if !same_limited {
        put(&mut bytes, limited);
    }
    if !same_executed {
        put(&mut bytes, &commanded.executed);
    }
    for digest in &commanded.digests {
        bytes.extend_from_slice(&digest.to_le_bytes());
    }
    bytes
}

pub(crate) fn tick_of(bytes: &[u8]) -> Option<TapedTick> {
    let mut from = Cursor(bytes);
    let index = from.u64()?;
    let flags = from.take(1)?[0];
    let mut count = || Some(usize::from(u16::from_le_bytes(from.take(2)?.try_into().ok()?)));
    let (joints, actuators, digests) = (count()?, count()?, count()?);
    let requested = from.f64s(joints)?;
    let limited = if flags & 1 == 0 { from.f64s(joints)? } else { requested.clone() };
    let executed = if flags & 2 == 0 { from.f64s(actuators)? } else { limited.clone() };
    let digests = (0..digests).map(|_| from.u64()).collect::<Option<_>>()?;
    let requested_vel = Vec::new();
    let tick = TapedTick { index, requested, requested_vel, limited, executed, digests };
    from.0.is_empty().then_some(tick)
}

pub(crate) fn put(bytes: &mut Vec<u8>, numbers: &[f64]) {
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

pub(crate) fn numbers(bytes: &[u8]) -> Vec<f64> {
    let word = |c: &[u8]| f64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]);
    bytes.chunks_exact(8).map(word).collect()
}

/// The index with which the bytes of a frame or tick begin.
pub(crate) fn index_of(bytes: &[u8]) -> Option<u64> {
    Cursor(bytes).u64()
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn f64s(&mut self, count: usize) -> Option<Vec<f64>> {
        Some(numbers(self.take(count.checked_mul(8)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::{Command, Commanded, Observation};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_come_back_bit_for_bit(
            requested in proptest::collection::vec(any::<f64>(), 0..9),
            clamp: bool, more: bool, digests in proptest::collection::vec(any::<u64>(), 0..5),
            index: u64, cut in 0usize..400,
        ) {
            let limited: Vec<f64> = if clamp { requested.iter().map(|v| v.clamp(-1.0, 1.0)).collect() } else { requested.clone() };
            let mut executed = limited.clone();
            if more { executed.push(7.0); }
            let commanded = Commanded { limited, executed, digests };
            let (seen, requested) = (Observation::default(), Command::at(&requested));
            let (late, at_ns) = (std::time::Duration::ZERO, 0);
            let bytes = tick_bytes(&TickRecord { index, at_ns, late, seen: &seen, requested: &requested, commanded: &commanded });
            let requested = requested.pos;
            let tick = tick_of(&bytes).unwrap();
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(tick.index, index);
            prop_assert_eq!(bits(&tick.requested), bits(&requested));
            prop_assert_eq!(bits(&tick.limited), bits(&commanded.limited));
            prop_assert_eq!(bits(&tick.executed), bits(&commanded.executed));
            prop_assert_eq!(&tick.digests, &commanded.digests);
            if cut < bytes.len() { prop_assert!(tick_of(&bytes[..cut]).is_none()); }
        }

        #[test]
        fn frames_come_back_bit_for_bit(
            joints in proptest::collection::vec(any::<f64>(), 0..9), index: u64, step: u64, wall_ns: u64,
        ) {
            let seen = Observation { step, joint_pos: joints.clone(), joint_vel: joints.clone(), ..Observation::default() };
            let bytes = frame_bytes(&FrameRecord { index, wall_ns, seen: &seen, snapshot: None });
            let frame = frame_of(&bytes, 3).unwrap();
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!((frame.index, frame.step, frame.wall_ns, frame.layout), (index, step, wall_ns, 3));
            prop_assert_eq!(bits(&frame.joint_pos), bits(&joints));
            prop_assert_eq!(bits(&frame.joint_vel), bits(&joints));
            prop_assert!(frame.state.is_empty());
            prop_assert!(frame_of(&bytes[..bytes.len() - 1], 0).is_none());
        }
    }
}
