//! Making an arm of factory servos: ids one by one, then calibration as LeRobot does it.

use super::bus::Bus;
use super::calibration::{Calibration, MotorCalibration};
use super::register::{self, COUNTS};
use crate::error::{LinkError, ids_text};
use crate::port::Port;

/// Speeds that servos may be set to, in bits per second, in the order of their register.
pub const BAUDS: [u32; 8] = [1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400];
/// What a joint reads in the middle.
const MIDDLE: i32 = (COUNTS - 1) / 2;

/// Gives the only servo on the bus an id, and 1 Mbaud: one of another speed hears nothing more on
/// this bus, and is closed by [`lock`] on one of 1 Mbaud. It is looked for among `ids`. Answers the
/// id that it had.
///
/// # Errors
/// When no servo is there or more than one, or it does not take the id.
pub fn give_id<P: Port>(
    bus: &mut Bus<P>,
    ids: impl IntoIterator<Item = u8>,
    id: u8,
) -> Result<u8, LinkError> {
    let found = bus.scan(ids)?;
    let had = match found.as_slice() {
        [had] => *had,
        [] => {
            return Err(LinkError::NoAnswer { servos: "any servo".to_owned(), tries: 1 });
        }
        several => {
            let reason = "plug in one alone: two with the same id cannot be told apart";
            return Err(LinkError::bad(ids_text(several), reason));
        }
    };
    let model = bus.read(had, register::MODEL)?;
    if model != register::STS3215 {
        let reason = format!("its model is {model}; an STS3215 says {}", register::STS3215);
        return Err(LinkError::bad(ids_text(&[had]), reason));
    }
    bus.write(had, register::TORQUE_ENABLE, 0)?;
    bus.write(had, register::LOCK, 0)?;
    if had != id {
        // It answers with its old id or its new one; what counts is who is there afterwards.
        match bus.write(had, register::ID, i32::from(id)) {
            Ok(_) | Err(LinkError::NoAnswer { .. }) => {}
            Err(error) => return Err(error),
        }
        bus.ping(id)?;
    }
    if bus.read(id, register::BAUD)? == 0 {
        bus.write(id, register::LOCK, 1)?;
        return Ok(had);
    }
    // It answers at its old speed or its new one; who is there at the new one shows later.
    match bus.write(id, register::BAUD, 0) {
        Ok(_) | Err(LinkError::NoAnswer { .. }) => Ok(had),
        Err(error) => Err(error),
    }
}

/// Closes a servo again, after what is kept was written.
///
/// # Errors
/// When it does not answer.
pub fn lock<P: Port>(bus: &mut Bus<P>, id: u8) -> Result<(), LinkError> {
    bus.write(id, register::LOCK, 1).map(|_| ())
}

/// One motor while it is calibrated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Of its joint.
    pub name: String,
    /// On the bus.
    pub id: u8,
    /// Where it is now.
    pub count: i32,
    /// Lowest and highest so far.
    pub range: [i32; 2],
    /// Turns without end: its range is the whole turn, whatever is seen.
    pub turns_freely: bool,
    offset: i32,
}

impl Swept {
    /// Whether it was moved far enough to be a range: a twentieth of a turn.
    #[must_use]
    pub fn is_swept(&self) -> bool {
        self.turns_freely || self.range[1] - self.range[0] > COUNTS / 20
    }
}

/// Calibrates an arm that is moved by hand: first its middle pose, then all joints through their
/// ranges.
#[derive(Clone, Debug)]
pub struct Calibrator {
    motors: Vec<Swept>,
}

impl Calibrator {
    /// Lets the arm go (hold it!) and forgets what the servos had. Joints are given with their ids
    /// and whether they turn without end.
    ///
    /// # Errors
    /// When a servo does not answer.
    pub fn begin<P: Port>(
        bus: &mut Bus<P>,
        joints: &[(&str, u8, bool)],
    ) -> Result<Self, LinkError> {
        for (_, id, _) in joints {
            bus.ping(*id)?;
        }
        let mut motors = Vec::new();
        for (name, id, turns_freely) in joints {
            bus.write(*id, register::TORQUE_ENABLE, 0)?;
            bus.write(*id, register::LOCK, 0)?;
            bus.write(*id, register::OPERATING_MODE, 0)?;
            bus.write(*id, register::HOMING_OFFSET, 0)?;
            bus.write(*id, register::MIN_POSITION, 0)?;
            bus.write(*id, register::MAX_POSITION, COUNTS - 1)?;
            let (name, turns_freely) = ((*name).to_owned(), *turns_freely);
            motors.push(Swept { name, id: *id, count: 0, range: [0, 0], turns_freely, offset: 0 });
        }
        let mut own = Self { motors };
        own.look(bus)?;
        Ok(own)
    }

    /// The arm is in its middle pose: every joint reads 2047 there from now on.
    ///
    /// # Errors
    /// When a servo does not answer, or a joint's middle is where its magnet's count jumps.
    pub fn middle<P: Port>(&mut self, bus: &mut Bus<P>) -> Result<(), LinkError> {
        let most = register::HOMING_OFFSET.most();
        for motor in &mut self.motors {
            // From 0 again: the middle may be set twice.
            bus.write(motor.id, register::HOMING_OFFSET, 0)?;
            let offset = bus.read(motor.id, register::PRESENT_POSITION)? - MIDDLE;
            if offset.abs() > most {
                let reason = "its magnet's count jumps from 4095 to 0 in the middle pose: take its \
                              horn off, turn it by half a turn, put it on again";
                return Err(LinkError::bad(format!("{} (servo {})", motor.name, motor.id), reason));
            }
            bus.write(motor.id, register::HOMING_OFFSET, offset)?;
            motor.offset = offset;
            let count = bus.read(motor.id, register::PRESENT_POSITION)?;
            (motor.count, motor.range) = (count, [count; 2]);
        }
        Ok(())
    }

    /// Looks where the joints are, while somebody moves them; a joint that is not heard this time
    /// keeps what it had.
    ///
    /// # Errors
    /// When the port is gone.
    pub fn look<P: Port>(&mut self, bus: &mut Bus<P>) -> Result<&[Swept], LinkError> {
        let ids: Vec<u8> = self.motors.iter().map(|motor| motor.id).collect();
        let (position, mut answers) = (register::PRESENT_POSITION, Vec::new());
        bus.sync_read(&ids, position.address, position.bytes, &mut answers)?;
        for motor in &mut self.motors {
            if let Some(answer) = answers.iter().find(|answer| answer.id == motor.id) {
                motor.count = position.decode(&answer.bytes);
                motor.range[0] = motor.range[0].min(motor.count);
                motor.range[1] = motor.range[1].max(motor.count);
            }
        }
        Ok(&self.motors)
    }

    /// Writes what was found into the servos, for good, and answers it for the file.
    ///
    /// # Errors
    /// Names joints that were not moved through their ranges; when a servo does not take it.
    pub fn finish<P: Port>(&self, bus: &mut Bus<P>) -> Result<Calibration, LinkError> {
        let still: Vec<&str> = self
            .motors
            .iter()
            .filter(|motor| !motor.is_swept())
            .map(|motor| motor.name.as_str())
            .collect();
        if !still.is_empty() {
            let reason = "was not moved through its range; move it from end to end";
            return Err(LinkError::bad(still.join(", "), reason));
        }
        let motors = self.motors.iter().map(|motor| {
            let [range_min, range_max] =
                if motor.turns_freely { [0, COUNTS - 1] } else { motor.range };
            let (id, homing_offset) = (motor.id, motor.offset);
            let found = MotorCalibration { id, drive_mode: 0, homing_offset, range_min, range_max };
            (motor.name.clone(), found)
        });
        let found = Calibration::new(motors.collect())?;
        super::ServoArm::write_calibration(bus, &found)?;
        for (_, motor) in found.motors() {
            bus.write(motor.id, register::LOCK, 1)?;
        }
        Ok(found)
    }
}
