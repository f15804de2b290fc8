//! The bus: requests in, answers out, with what can go wrong between.

use citrange_link::feetech::packet::{
    EVERYBODY, Instruction, MOST_PARAMS, Packet, PacketReader, encode,
};

use crate::servo::Servo;

/// What happens to answers on their way; each counts down to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireFaults {
    /// So many answers are lost.
    pub lose: u32,
    /// A bit of so many is changed.
    pub corrupt: u32,
    /// So many come twice.
    pub double: u32,
    /// So many are cut short.
    pub cut: u32,
    /// So many bytes of noise come before the next answer.
    pub noise: u32,
    /// Servos that do not hear and do not answer.
    pub gone: Vec<u8>,
}

/// Servos on a wire.
#[derive(Clone, Debug)]
pub struct ServoBus {
    /// The servos.
    pub servos: Vec<Servo>,
    /// What goes wrong.
    pub faults: WireFaults,
    reader: PacketReader,
    heard: u64,
}

impl ServoBus {
    /// A bus of these.
    #[must_use]
    pub fn new(servos: Vec<Servo>) -> Self {
        let reader = PacketReader::new(MOST_PARAMS);
        Self { servos, faults: WireFaults::default(), reader, heard: 0 }
    }

    /// Requests that were heard.
    #[must_use]
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// A servo by its id.
    pub fn servo(&mut self, id: u8) -> Option<&mut Servo> {
        self.servos.iter_mut().find(|servo| servo.id() == id)
    }

    /// Takes bytes from the wire and appends what comes back.
    pub fn hear(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.reader.push(bytes);
        while let Some(packet) = self.reader.next_packet(false) {
            self.heard += 1;
            self.answer(&packet, out);
        }
    }

    fn answer(&mut self, packet: &Packet, out: &mut Vec<u8>) {
        let Packet { id, code, params } = packet;
        let known = [
            Instruction::Ping,
            Instruction::Read,
            Instruction::Write,
            Instruction::SyncRead,
            Instruction::SyncWrite,
        ];
        let known = known.into_iter().find(|known| *known as u8 == *code);
        match (known, params.as_slice()) {
            (Some(Instruction::Ping), _) => {
                for id in self.meant(*id) {
                    self.say(id, &[], out);
                }
            }
            (Some(Instruction::Read), [address, count, ..]) => {
                for id in self.meant(*id) {
                    self.say_memory(id, *address, *count, out);
                }
            }
            (Some(Instruction::Write), [address, bytes @ ..]) => {
                for meant in self.meant(*id) {
                    if let Some(servo) = self.servo(meant) {
                        servo.write(*address, bytes);
                    }
                    if *id != EVERYBODY {
                        self.say(meant, &[], out);
                    }
                }
            }
            (Some(Instruction::SyncRead), [address, count, ids @ ..]) => {
                for id in ids {
                    for id in self.meant(*id) {
                        self.say_memory(id, *address, *count, out);
                    }
                }
            }
            (Some(Instruction::SyncWrite), [address, count, entries @ ..]) => {
                for entry in entries.chunks_exact(usize::from(*count) + 1) {
                    for id in self.meant(entry[0]) {
                        if let Some(servo) = self.servo(id) {
                            servo.write(*address, &entry[1..]);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The servos that are meant and there.
    fn meant(&self, id: u8) -> Vec<u8> {
        let ids = self.servos.iter().map(Servo::id);
        ids.filter(|own| (id == EVERYBODY || *own == id) && !self.faults.gone.contains(own))
            .collect()
    }

    fn say_memory(&mut self, id: u8, address: u8, count: u8, out: &mut Vec<u8>) {
        let bytes: Vec<u8> =
            self.servo(id).map_or_else(Vec::new, |servo| servo.read(address, count).collect());
        self.say(id, &bytes, out);
    }

    fn say(&mut self, id: u8, params: &[u8], out: &mut Vec<u8>) {
        let faults = self.servo(id).map_or(0, |servo| servo.faults().0);
        let mut answer = Vec::new();
        encode(id, faults, &params[..params.len().min(MOST_PARAMS)], &mut answer);
        let wire = &mut self.faults;
        out.extend(std::iter::repeat_n(0x55, wire.noise as usize));
        wire.noise = 0;
        if happens(&mut wire.lose) {
            return;
        }
        if happens(&mut wire.corrupt) {
            let at = answer.len() - 1;
            answer[at] ^= 1;
        }
        if happens(&mut wire.cut) {
            answer.truncate(answer.len() / 2);
        }
        out.extend(&answer);
        if happens(&mut wire.double) {
            out.extend(&answer);
        }
    }
}

/// Counts down; whether there was something to count.
fn happens(left: &mut u32) -> bool {
    let happens = *left > 0;
    *left = left.saturating_sub(1);
    happens
}
