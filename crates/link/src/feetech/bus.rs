//! Requests and answers over a port: one owner, lost answers asked for again.

use std::time::{Duration, Instant};

use super::faults::Faults;
use super::packet::{EVERYBODY, Instruction, LAST_ID, MOST_PARAMS, OVERHEAD, PacketReader, encode};
use super::register::Register;
use crate::error::{LinkError, ids_text};
use crate::port::Port;

/// Time that one byte takes at 1 Mbaud.
const BYTE: Duration = Duration::from_micros(10);
/// Servos whose answers to one request fit a length byte each way.
const MOST_SERVOS: usize = 40;

/// How long, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// How long the bus may be silent before an answer counts as lost, beside the time that the
    /// bytes take. USB adapters hold bytes back for 1 ms, some for 16.
    pub answer_time: Duration,
    /// How often a lost or damaged answer is asked for again.
    pub retries: u32,
}

impl Default for BusSettings {
    fn default() -> Self {
        Self { answer_time: Duration::from_millis(4), retries: 1 }
    }
}

/// What happened on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Requests sent, without repetitions.
    pub requests: u64,
    /// Requests that were sent again because answers were missing.
    pub repeated: u64,
    /// Answers that never came.
    pub lost: u64,
    /// Whole answers that nobody had asked for: doubled, late, or of another servo.
    pub unexpected: u64,
    /// Bytes that belonged to no whole packet.
    pub damaged_bytes: u64,
}

/// What one servo answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whose it is.
    pub id: u8,
    /// What is wrong with it.
    pub faults: Faults,
    /// The bytes that were asked for.
    pub bytes: Vec<u8>,
    /// When the last of them was read.
    pub at: Instant,
}

/// A bus of servos behind a port.
#[derive(Debug)]
pub struct Bus<P> {
    port: P,
    settings: BusSettings,
    reader: PacketReader,
    out: Vec<u8>,
    counts: BusCounts,
    /// Something was asked for twice, or in vain: its answer may still come, and would be taken for
    /// that to another question.
    is_owed: bool,
}

impl<P: Port> Bus<P> {
    /// Takes a port.
    pub fn new(port: P, settings: BusSettings) -> Self {
        let counts = BusCounts::default();
        let (reader, out) = (PacketReader::new(MOST_PARAMS), Vec::new());
        Self { port, settings, reader, out, counts, is_owed: false }
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> BusCounts {
        BusCounts { damaged_bytes: self.reader.skipped(), ..self.counts }
    }

    /// Other times and retries from here on: a slow start, a quick loop.
    pub fn set_settings(&mut self, settings: BusSettings) {
        self.settings = settings;
    }

    /// Whether a servo is there, and what is wrong with it.
    ///
    /// # Errors
    /// When it does not answer, or the port is gone.
    pub fn ping(&mut self, id: u8) -> Result<Faults, LinkError> {
        Ok(self.ask(id, Instruction::Ping, &[], 0)?.faults)
    }

    /// All servos that answer, one ping each: answers to a common one run into each other where
    /// two have the same id.
    ///
    /// # Errors
    /// When the port is gone.
    pub fn scan(&mut self, ids: impl IntoIterator<Item = u8>) -> Result<Vec<u8>, LinkError> {
        let mut found = Vec::new();
        for id in ids.into_iter().filter(|id| *id <= LAST_ID) {
            match self.ping(id) {
                Ok(_) => found.push(id),
                Err(LinkError::NoAnswer { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// A register of one servo.
    ///
    /// # Errors
    /// When it does not answer, or the port is gone.
    pub fn read(&mut self, id: u8, register: Register) -> Result<i32, LinkError> {
        let params = [register.address, register.bytes];
        let answer = self.ask(id, Instruction::Read, &params, usize::from(register.bytes))?;
        Ok(register.decode(&answer.bytes))
    }

    /// Sets a register of one servo, which says what is wrong with it.
    ///
    /// # Errors
    /// When it does not answer, or the port is gone.
    pub fn write(&mut self, id: u8, register: Register, value: i32) -> Result<Faults, LinkError> {
        let mut params = vec![register.address];
        params.extend(&register.encode(value)[..usize::from(register.bytes)]);
        Ok(self.ask(id, Instruction::Write, &params, 0)?.faults)
    }

    /// Reads `count` bytes from `address` on of several servos in one request. Who did not answer
    /// is asked again; who never did is missing in `answers`, which are in the order of `ids`.
    ///
    /// # Errors
    /// When the port is gone.
    pub fn sync_read(
        &mut self,
        ids: &[u8],
        address: u8,
        count: u8,
        answers: &mut Vec<Answer>,
    ) -> Result<(), LinkError> {
        answers.clear();
        for ids in ids.chunks(MOST_SERVOS) {
            let mut missing = ids.to_vec();
            self.counts.requests += 1;
            for again in 0..=self.settings.retries {
                self.counts.repeated += u64::from(again > 0);
                let mut params = vec![address, count];
                params.extend(&missing);
                self.send(EVERYBODY, Instruction::SyncRead, &params, count)?;
                self.collect(&mut missing, usize::from(count), answers)?;
                if missing.is_empty() {
                    break;
                }
                self.is_owed = true;
            }
            self.counts.lost += missing.len() as u64;
        }
        let place = |id: u8| ids.iter().position(|other| *other == id);
        answers.sort_by_key(|answer| place(answer.id));
        Ok(())
    }

    /// Sets the same register of several servos in one packet. Nobody answers: whether it was
    /// heard shows in what they do.
    ///
    /// # Errors
    /// When the port is gone.
    pub fn sync_write(
        &mut self,
        register: Register,
        values: &[(u8, i32)],
    ) -> Result<(), LinkError> {
        for values in values.chunks(MOST_SERVOS) {
            let mut params = vec![register.address, register.bytes];
            for (id, value) in values {
                params.push(*id);
                params.extend(&register.encode(*value)[..usize::from(register.bytes)]);
            }
            self.counts.requests += 1;
            self.send(EVERYBODY, Instruction::SyncWrite, &params, 0)?;
        }
        Ok(())
    }

    /// One servo is asked until it answers or the retries are used up.
    fn ask(
        &mut self,
        id: u8,
        instruction: Instruction,
        params: &[u8],
        count: usize,
    ) -> Result<Answer, LinkError> {
        let mut answers = Vec::new();
        self.settle()?;
        self.counts.requests += 1;
        for again in 0..=self.settings.retries {
            self.counts.repeated += u64::from(again > 0);
            self.is_owed |= again > 0;
            self.send(id, instruction, params, count as u8)?;
            self.collect(&mut vec![id], count, &mut answers)?;
            if let Some(answer) = answers.pop() {
                return Ok(answer);
            }
        }
        self.counts.lost += 1;
        self.is_owed = true;
        Err(LinkError::NoAnswer { servos: ids_text(&[id]), tries: self.settings.retries + 1 })
    }

    /// Lets answers come that nobody waits for any more.
    fn settle(&mut self) -> Result<(), LinkError> {
        if !std::mem::take(&mut self.is_owed) {
            return Ok(());
        }
        let end = Instant::now() + self.settings.answer_time;
        let mut bytes = [0; 512];
        while let Some(wait) = end.checked_duration_since(Instant::now()) {
            let length = self.port.receive(&mut bytes, wait).map_err(|cause| self.gone(cause))?;
            self.reader.push(&bytes[..length]);
            while self.reader.next_packet(false).is_some() {
                self.counts.unexpected += 1;
            }
        }
        Ok(())
    }

    /// What was still on its way belongs to no request any more.
    fn send(
        &mut self,
        id: u8,
        instruction: Instruction,
        params: &[u8],
        count: u8,
    ) -> Result<(), LinkError> {
        self.port.discard_input().map_err(|cause| self.gone(cause))?;
        self.reader.restart(usize::from(count));
        self.out.clear();
        encode(id, instruction as u8, params, &mut self.out);
        self.port.send(&self.out).map_err(|cause| self.gone(cause))
    }

    /// Hears answers of `missing` until none is, or the bus was silent for too long.
    fn collect(
        &mut self,
        missing: &mut Vec<u8>,
        count: usize,
        answers: &mut Vec<Answer>,
    ) -> Result<(), LinkError> {
        let on_the_wire = BYTE * (self.out.len() + missing.len() * (count + OVERHEAD)) as u32;
        let patience = on_the_wire + self.settings.answer_time;
        let mut until = Instant::now() + patience;
        // Noise that never ends is silence, too.
        let end = until + 3 * patience;
        let mut bytes = [0; 512];
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            let length = self.port.receive(&mut bytes, wait).map_err(|cause| self.gone(cause))?;
            let at = Instant::now();
            let is_silent = at >= end || (length == 0 && at >= until);
            self.reader.push(&bytes[..length]);
            while let Some(packet) = self.reader.next_packet(is_silent) {
                let asked = missing.iter().position(|id| *id == packet.id);
                let Some(place) = asked.filter(|_| packet.params.len() == count) else {
                    self.counts.unexpected += 1;
                    continue;
                };
                missing.remove(place);
                let faults = Faults(packet.code);
                answers.push(Answer { id: packet.id, faults, bytes: packet.params, at });
            }
            if missing.is_empty() || is_silent {
                return Ok(());
            }
            if length > 0 {
                until = until.max(at + self.settings.answer_time).min(end);
            }
        }
    }

    fn gone(&self, cause: std::io::Error) -> LinkError {
        LinkError::PortGone { port: self.port.name(), cause }
    }
}
