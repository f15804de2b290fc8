//! Packets of the bus: `FF FF id length code parameters… checksum`, requests and answers alike.

/// The id that every servo listens to.
pub const EVERYBODY: u8 = 0xFE;
/// The highest id of a servo.
pub const LAST_ID: u8 = 0xFD;
/// Bytes of a packet without its parameters.
pub const OVERHEAD: usize = 6;
/// The most parameters that a packet's length byte can say.
pub const MOST_PARAMS: usize = 250;

const HEADER: [u8; 2] = [0xFF, 0xFF];

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Instruction {
    /// Is somebody there?
    Ping = 1,
    /// Registers of one servo.
    Read = 2,
    /// Registers of one servo are set; it answers.
    Write = 3,
    /// The same registers of several, each of which answers in turn.
    SyncRead = 0x82,
    /// The same registers of several are set; nobody answers.
    SyncWrite = 0x83,
}

/// A packet as it came: a request (`code` is its instruction) or an answer (`code` has its fault
/// bits).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Of the servo that is meant, or that answers.
    pub id: u8,
    /// [`Instruction`], or [`Faults`](super::Faults) of an answer.
    pub code: u8,
    /// What follows.
    pub params: Vec<u8>,
}

/// Appends a packet. Parameters beyond [`MOST_PARAMS`] have no place in one.
pub fn encode(id: u8, code: u8, params: &[u8], out: &mut Vec<u8>) {
    debug_assert!(params.len() <= MOST_PARAMS, "{} parameters", params.len());
    let start = out.len();
    out.extend(HEADER);
    out.extend([id, (params.len() + 2) as u8, code]);
    out.extend(params);
    out.push(checksum(&out[start + HEADER.len()..]));
}

fn checksum(bytes: &[u8]) -> u8 {
    !bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte))
}

/// Finds packets in what comes over a wire. What is no packet is skipped byte by byte, so that a
/// damaged one does not take the next one with it (but for a damaged length whose sum fits by
/// chance, one in 256).
#[derive(Clone, Debug)]
pub struct PacketReader {
    bytes: Vec<u8>,
    most_params: usize,
    skipped: u64,
}

impl PacketReader {
    /// A reader of packets of at most so many parameters: the fewer, the sooner a damaged length
    /// is seen.
    #[must_use]
    pub fn new(most_params: usize) -> Self {
        Self { bytes: Vec::new(), most_params: most_params.min(MOST_PARAMS), skipped: 0 }
    }

    /// Takes what came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Forgets what came, and expects packets of at most so many parameters.
    pub fn restart(&mut self, most_params: usize) {
        self.bytes.clear();
        self.most_params = most_params.min(MOST_PARAMS);
    }

    /// Bytes that belonged to no packet, so far.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next whole packet, if it is there. When nothing more will come (`is_silent`), half a
    /// packet is no reason to wait: a whole one may stand behind it.
    pub fn next_packet(&mut self, is_silent: bool) -> Option<Packet> {
        let mut at = 0;
        let found = loop {
            match self.look(at) {
                Look::Whole(packet, length) => {
                    at += length;
                    break Some(packet);
                }
                Look::Half if !is_silent || self.bytes.len() <= at => break None,
                Look::Half | Look::Nothing => {
                    at += 1;
                    self.skipped += 1;
                }
            }
        };
        self.bytes.drain(..at);
        found
    }

    fn look(&self, at: usize) -> Look {
        let bytes = &self.bytes[at..];
        let starts = bytes.iter().zip(HEADER).all(|(byte, wanted)| *byte == wanted);
        let id = bytes.get(2).copied().unwrap_or(0);
        let length = usize::from(bytes.get(3).copied().unwrap_or(2));
        if !starts || id > EVERYBODY || !(2..=self.most_params + 2).contains(&length) {
            return Look::Nothing;
        }
        if bytes.len() < 4 || bytes.len() < length + 4 {
            return Look::Half;
        }
        let (body, sum) = (&bytes[2..length + 3], bytes[length + 3]);
        if checksum(body) != sum {
            return Look::Nothing;
        }
        Look::Whole(Packet { id, code: body[2], params: body[3..].to_vec() }, length + 4)
    }
}

enum Look {
    Whole(Packet, usize),
    Half,
    Nothing,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packets(reader: &mut PacketReader, is_silent: bool) -> Vec<Packet> {
        std::iter::from_fn(|| reader.next_packet(is_silent)).collect()
    }

    #[test]
    fn a_ping_is_the_bytes_of_the_manual() {
        let mut out = Vec::new();
        encode(1, Instruction::Ping as u8, &[], &mut out);
        assert_eq!(out, [0xFF, 0xFF, 0x01, 0x02, 0x01, 0xFB]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_pieces_of_any_size(
            sent in prop::collection::vec((0..=LAST_ID, any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)), 0..6),
            noise in prop::collection::vec(0..=0xFE_u8, 0..5),
            piece in 1_usize..9,
        ) {
            // Noise without FF cannot begin a packet; it is skipped and counted.
            let mut wire = noise.clone();
            for (id, code, params) in &sent {
                encode(*id, *code, params, &mut wire);
            }
            let mut reader = PacketReader::new(MOST_PARAMS);
            let mut heard = Vec::new();
            for bytes in wire.chunks(piece) {
                reader.push(bytes);
                heard.extend(packets(&mut reader, false));
            }
            let sent: Vec<Packet> =
                sent.into_iter().map(|(id, code, params)| Packet { id, code, params }).collect();
            prop_assert_eq!(heard, sent);
            prop_assert_eq!(reader.skipped(), noise.len() as u64);
        }

        #[test]
        fn a_damaged_packet_does_not_take_the_next_one_with_it(
            params in prop::collection::vec(0..=0xFE_u8, 2..8), at in 2_usize..8, bit in 0..8,
        ) {
            let mut wire = Vec::new();
            encode(3, 0, &params, &mut wire);
            let at = at.min(wire.len() - 1);
            wire[at] ^= 1_u8 << bit;
            encode(4, 0, &[7, 8], &mut wire);
            let mut reader = PacketReader::new(20);
            reader.push(&wire);
            let heard = packets(&mut reader, true);
            // One wrong length in 256 has a sum that fits.
            prop_assume!(heard.iter().all(|packet| packet.id == 4));
            prop_assert_eq!(heard.last(), Some(&Packet { id: 4, code: 0, params: vec![7, 8] }));
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = PacketReader::new(30);
            reader.push(&bytes);
            let heard = packets(&mut reader, true);
            let used: usize = heard.iter().map(|packet| packet.params.len() + OVERHEAD).sum();
            prop_assert_eq!(used as u64 + reader.skipped(), bytes.len() as u64);
        }
    }
}
