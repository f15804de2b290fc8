//! The bus: requests in, answers out, with what can go wrong between.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use citrange_link::feetech::packet::{
    EVERYBODY, Instruction, MOST_PARAMS, Packet, PacketReader, encode,
};

use citrange_link::emulated::monotonic_ns;
use citrange_link::feetech::register::PRESENT_POSITION;

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
    /// What is said to so many requests comes late …
    pub late: u32,
    /// … by this.
    pub late_by: Duration,
}

/// Every position that was read, in a file: `nanoseconds of the monotonic clock,id,position`.
#[derive(Clone, Debug)]
pub struct PositionLog(Arc<Mutex<BufWriter<File>>>);

impl PositionLog {
    /// A new file.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(BufWriter::new(File::create(path)?)))))
    }

    fn note(&self, id: u8, position: i32) {
        if let Ok(mut file) = self.0.lock() {
            let _a_full_disk_is_seen_by_who_reads_it =
                writeln!(file, "{},{id},{position}", monotonic_ns());
        }
    }
}

/// Servos on a wire.
#[derive(Clone, Debug)]
pub struct ServoBus {
    /// The servos.
    pub servos: Vec<Servo>,
    /// What goes wrong.
    pub faults: WireFaults,
    /// Time that one byte takes on the wire, either way; 10 us at 1 Mbaud.
    pub byte_time: Duration,
    /// Where positions are noted when they are read.
    pub log: Option<PositionLog>,
    /// Speed of the port in bits per second, where it is known: servos of another do not hear.
    pub baud: Option<u32>,
    reader: PacketReader,
    heard: u64,
}

impl ServoBus {
    /// A bus of these.
    #[must_use]
    pub fn new(servos: Vec<Servo>) -> Self {
        let reader = PacketReader::new(MOST_PARAMS);
        let (faults, byte_time) = (WireFaults::default(), Duration::from_micros(10));
        Self { servos, faults, byte_time, log: None, baud: None, reader, heard: 0 }
    }

    /// Requests that were heard.
    #[must_use]
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// How long an answer of so many bytes to so many takes, and what is late is late.
    pub(crate) fn time_on_wire(&mut self, bytes: usize, answered: bool) -> Duration {
        let wire = self.byte_time * bytes as u32;
        let is_late = answered && happens(&mut self.faults.late);
        if is_late { wire + self.faults.late_by } else { wire }
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
        let meant =
            ids.filter(|own| (id == EVERYBODY || *own == id) && !self.faults.gone.contains(own));
        let hears = |own: &u8| {
            let servo = self.servos.iter().find(|servo| servo.id() == *own);
            servo.is_some_and(|servo| servo.hears(self.baud))
        };
        meant.filter(hears).collect()
    }

    fn say_memory(&mut self, id: u8, address: u8, count: u8, out: &mut Vec<u8>) {
        let bytes: Vec<u8> =
            self.servo(id).map_or_else(Vec::new, |servo| servo.read(address, count).collect());
        let read = usize::from(address)..usize::from(address) + usize::from(count);
        if read.contains(&usize::from(PRESENT_POSITION.address))
            && let (Some(log), Some(present)) =
                (self.log.clone(), self.servo(id).map(|s| s.present()))
        {
            log.note(id, present);
        }
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
