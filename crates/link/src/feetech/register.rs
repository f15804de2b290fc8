//! Registers of the STS3215, with where their signs are.

/// A number in a servo's memory, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its first byte.
    pub address: u8,
    /// One or two.
    pub bytes: u8,
    /// The bit that says minus, the rest being the size; none where there are no signs.
    pub sign_bit: Option<u8>,
}

impl Register {
    const fn byte(address: u8) -> Self {
        Self { address, bytes: 1, sign_bit: None }
    }
    const fn word(address: u8) -> Self {
        Self { address, bytes: 2, sign_bit: None }
    }
    const fn signed(address: u8, bit: u8) -> Self {
        Self { address, bytes: 2, sign_bit: Some(bit) }
    }

    /// Whether it keeps its value without power (and wants [`LOCK`] to be open to be kept).
    #[must_use]
    pub fn is_kept(self) -> bool {
        self.address < TORQUE_ENABLE.address
    }

    /// The largest size of a number that it holds.
    #[must_use]
    pub fn most(self) -> i32 {
        match self.sign_bit {
            Some(bit) => (1 << bit) - 1,
            None => (1 << (8 * i32::from(self.bytes))) - 1,
        }
    }

    /// Its bytes (the first [`Register::bytes`] of the two); what does not fit is the nearest that
    /// does.
    #[must_use]
    pub fn encode(self, value: i32) -> [u8; 2] {
        let lowest = if self.sign_bit.is_some() { -self.most() } else { 0 };
        let value = value.clamp(lowest, self.most());
        let sign = self.sign_bit.filter(|_| value < 0).map_or(0, |bit| 1_u16 << bit);
        (value.unsigned_abs() as u16 | sign).to_le_bytes()
    }

    /// The number in its bytes; missing ones are 0.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> i32 {
        let mut word = [0; 2];
        for (to, from) in word.iter_mut().zip(bytes).take(usize::from(self.bytes)) {
            *to = *from;
        }
        let word = i32::from(u16::from_le_bytes(word));
        match self.sign_bit {
            Some(bit) if word >> bit & 1 == 1 => -(word & ((1 << bit) - 1)),
            Some(bit) => word & ((1 << bit) - 1),
            None => word,
        }
    }
}

/// Firmware, the number before the point and the one behind it.
pub const FIRMWARE: Register = Register::word(0);
/// 777 is an STS3215.
pub const MODEL: Register = Register::word(3);
/// The servo's id.
pub const ID: Register = Register::byte(5);
/// 0 is 1 Mbaud.
pub const BAUD: Register = Register::byte(6);
/// Pause before an answer, in 2 us.
pub const RETURN_DELAY: Register = Register::byte(7);
/// Lowest position that a goal may have.
pub const MIN_POSITION: Register = Register::word(9);
/// Highest position that a goal may have.
pub const MAX_POSITION: Register = Register::word(11);
/// Degrees Celsius at which torque is switched off.
pub const MAX_TEMPERATURE: Register = Register::byte(13);
/// Tenths of a volt above which it is a fault.
pub const MAX_VOLTAGE: Register = Register::byte(14);
/// Tenths of a volt below which it is a fault.
pub const MIN_VOLTAGE: Register = Register::byte(15);
/// Torque after power-up, in thousandths.
pub const MAX_TORQUE: Register = Register::word(16);
/// Bits of how it counts; bit 4: positions of several turns.
pub const PHASE: Register = Register::byte(18);
/// Proportional gain.
pub const P_GAIN: Register = Register::byte(21);
/// Derivative gain.
pub const D_GAIN: Register = Register::byte(22);
/// Integral gain.
pub const I_GAIN: Register = Register::byte(23);
/// Current above which it gives way.
pub const PROTECTION_CURRENT: Register = Register::word(28);
/// What is taken from the position that the magnet has.
pub const HOMING_OFFSET: Register = Register::signed(31, 11);
/// 0 is position.
pub const OPERATING_MODE: Register = Register::byte(33);
/// Percent of torque left while it gives way.
pub const PROTECTIVE_TORQUE: Register = Register::byte(34);
/// Time of overload before it gives way, in 10 ms.
pub const PROTECTION_TIME: Register = Register::byte(35);
/// Percent of torque that counts as overload.
pub const OVERLOAD_TORQUE: Register = Register::byte(36);
/// 1 holds, 0 is limp, 128 makes the present place the middle.
pub const TORQUE_ENABLE: Register = Register::byte(40);
/// Acceleration towards a goal, in 100 counts per second squared.
pub const ACCELERATION: Register = Register::byte(41);
/// Where to go.
pub const GOAL_POSITION: Register = Register::signed(42, 15);
/// How fast at most on the way.
pub const GOAL_VELOCITY: Register = Register::signed(46, 15);
/// Torque, in thousandths.
pub const TORQUE_LIMIT: Register = Register::word(48);
/// 0 lets what is kept be written for good.
pub const LOCK: Register = Register::byte(55);
/// Where it is.
pub const PRESENT_POSITION: Register = Register::signed(56, 15);
/// Counts per second.
pub const PRESENT_VELOCITY: Register = Register::signed(58, 15);
/// Thousandths of full drive.
pub const PRESENT_LOAD: Register = Register::signed(60, 10);
/// Tenths of a volt.
pub const PRESENT_VOLTAGE: Register = Register::byte(62);
/// Degrees Celsius.
pub const PRESENT_TEMPERATURE: Register = Register::byte(63);
/// Fault bits, as in answers.
pub const STATUS: Register = Register::byte(65);
/// Whether it is on its way.
pub const MOVING: Register = Register::byte(66);
/// Current, in 6.5 mA.
pub const PRESENT_CURRENT: Register = Register::signed(69, 15);
/// The most that [`ACCELERATION`] may be.
pub const MAX_ACCELERATION: Register = Register::byte(85);

/// Counts of one turn.
pub const COUNTS: i32 = 4096;
/// [`MODEL`] of the STS3215.
pub const STS3215: i32 = 777;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_a_bit_and_the_size_beside_it() {
        assert_eq!(HOMING_OFFSET.encode(-300), [0x2C, 0x09]);
        assert_eq!(HOMING_OFFSET.decode(&2348_u16.to_le_bytes()), -300);
        assert_eq!(PRESENT_POSITION.decode(&0x80C7_u16.to_le_bytes()), -199);
        assert_eq!(PRESENT_LOAD.decode(&0x0405_u16.to_le_bytes()), -5);
    }

    #[test]
    fn every_number_that_fits_comes_back() {
        for register in [HOMING_OFFSET, PRESENT_LOAD, GOAL_POSITION, MAX_POSITION, ID] {
            let most = register.most();
            let lowest = if register.sign_bit.is_some() { -most } else { 0 };
            for value in lowest..=most {
                assert_eq!(register.decode(&register.encode(value)), value, "{register:?}");
            }
            assert_eq!(register.decode(&register.encode(most + 1)), most);
            assert_eq!(register.decode(&register.encode(lowest - 1)), lowest);
        }
    }
}
