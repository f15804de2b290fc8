//! The records of a tape, as bytes.

use citrange_core::tape::{FrameRecord, TickRecord};

/// Kinds of records. Numbers are part of the format.
pub(crate) mod kind {
    /// JSON of the [`crate::Header`].
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
    /// In a camera's log: what a decoder needs (avcC), nothing for pictures as PNG.
    pub(crate) const CAMERA: u8 = 20;
    /// In a camera's log: a coded picture, first byte 1 for a key frame.
    pub(crate) const PICTURE: u8 = 21;
}

/// A frame as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
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
    /// The complete state's numbers, see [`crate::Episode::snapshot`].
    pub state: Vec<f64>,
    /// Which of the episode's layouts names them.
    pub layout: usize,
}

/// A tick as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Ticks since the episode began.
    pub index: u64,
    /// What the pilot asked for.
    pub requested: Vec<f64>,
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

pub(crate) fn frame_of(bytes: &[u8], layout: usize) -> Option<Frame> {
    let mut from = Cursor(bytes);
    let (index, step, wall_ns) = (from.u64()?, from.u64()?, from.u64()?);
    let joints = from.u32()? as usize;
    let (joint_pos, joint_vel) = (from.f64s(joints)?, from.f64s(joints)?);
    let state = from.f64s(from.0.len() / 8)?;
    let wrist_pos_m = None;
    let frame = Frame { index, step, wall_ns, joint_pos, joint_vel, wrist_pos_m, state, layout };
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

pub(crate) fn tick_bytes(tick: &TickRecord<'_>) -> Vec<u8> {
    let commanded = tick.commanded;
    let (requested, limited) = (tick.requested, &commanded.limited);
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

pub(crate) fn tick_of(bytes: &[u8]) -> Option<Tick> {
    let mut from = Cursor(bytes);
    let index = from.u64()?;
    let flags = from.take(1)?[0];
    let mut count = || Some(usize::from(u16::from_le_bytes(from.take(2)?.try_into().ok()?)));
    let (joints, actuators, digests) = (count()?, count()?, count()?);
    let requested = from.f64s(joints)?;
    let limited = if flags & 1 == 0 { from.f64s(joints)? } else { requested.clone() };
    let executed = if flags & 2 == 0 { from.f64s(actuators)? } else { limited.clone() };
    let digests = (0..digests).map(|_| from.u64()).collect::<Option<_>>()?;
    from.0.is_empty().then_some(Tick { index, requested, limited, executed, digests })
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
    use citrange_core::{Commanded, Observation};
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
            let bytes = tick_bytes(&TickRecord { index, requested: &requested, commanded: &commanded });
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
