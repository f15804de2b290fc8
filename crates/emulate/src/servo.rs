//! One STS3215: what it remembers, and what it does with it.

use citrange_link::feetech::register::{
    ACCELERATION, BAUD, COUNTS, FIRMWARE, GOAL_POSITION, GOAL_VELOCITY, HOMING_OFFSET, ID, LOCK,
    MAX_ACCELERATION, MAX_POSITION, MAX_TEMPERATURE, MAX_TORQUE, MAX_VOLTAGE, MIN_POSITION,
    MIN_VOLTAGE, MODEL, MOVING, OVERLOAD_TORQUE, P_GAIN, PHASE, PRESENT_CURRENT, PRESENT_LOAD,
    PRESENT_POSITION, PRESENT_TEMPERATURE, PRESENT_VELOCITY, PRESENT_VOLTAGE, PROTECTION_TIME,
    PROTECTIVE_TORQUE, RETURN_DELAY, Register, STATUS, STS3215, TORQUE_ENABLE, TORQUE_LIMIT,
};
use citrange_link::feetech::{BAUDS, Faults, MotorCalibration};

const MEMORY: usize = 256;
/// Written to torque-enable: the present place becomes the middle.
const MIDDLE_HERE: i32 = 128;
const MIDDLE: i32 = 2048;
/// Phase bit: positions of several turns, not 0 to 4095.
const SEVERAL_TURNS: i32 = 1 << 4;
/// A goal further away than this is being travelled to.
const ARRIVED_COUNTS: f64 = 8.0;
/// No-load speed at 12 V: 0.222 s for 60 degrees.
pub const FASTEST_COUNTS_S: f64 = 3073.0;

/// What a servo's motor is to do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Where its shaft should be, in counts of its magnet; none without torque.
    pub goal_counts: Option<f64>,
    /// The most torque, as a fraction of what it has.
    pub torque: f64,
}

/// What its shaft does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shaft {
    /// Counts of its magnet; any number of turns.
    pub counts: f64,
    /// Counts per second.
    pub counts_s: f64,
    /// Torque as a fraction of what it has, with its sign.
    pub load: f64,
}

/// A servo.
#[derive(Clone, Debug)]
pub struct Servo {
    memory: [u8; MEMORY],
    /// What stays without power.
    kept: [u8; MEMORY],
    shaft: Shaft,
    /// Where the profile towards the goal is.
    setpoint: Option<(f64, f64)>,
    overloaded_s: f64,
    gives_way: bool,
    /// Faults that a test has switched on.
    forced: Faults,
    /// Its motor turns nothing: a gear is stripped.
    is_limp: bool,
    /// Where a hand holds its shaft while it has no torque.
    hand: Option<f64>,
}

impl Servo {
    /// As it leaves the factory but for its id, its shaft there.
    #[must_use]
    pub fn new(id: u8, counts: f64) -> Self {
        let mut servo = Self {
            memory: [0; MEMORY],
            kept: [0; MEMORY],
            shaft: Shaft { counts, ..Shaft::default() },
            setpoint: None,
            overloaded_s: 0.0,
            gives_way: false,
            forced: Faults::default(),
            is_limp: false,
            hand: None,
        };
        let factory = [
            (FIRMWARE, 3 | 10 << 8),
            (MODEL, STS3215),
            (ID, i32::from(id)),
            (BAUD, 0),
            (RETURN_DELAY, 250),
            (MAX_POSITION, COUNTS - 1),
            (MAX_TEMPERATURE, 70),
            (MAX_VOLTAGE, 140),
            (MIN_VOLTAGE, 40),
            (MAX_TORQUE, 1000),
            (PHASE, 12),
            (P_GAIN, 32),
            (PROTECTIVE_TORQUE, 20),
            (PROTECTION_TIME, 200),
            (OVERLOAD_TORQUE, 80),
            (TORQUE_LIMIT, 1000),
            (LOCK, 1),
            (PRESENT_VOLTAGE, 120),
            (PRESENT_TEMPERATURE, 30),
            (MAX_ACCELERATION, 254),
        ];
        for (register, value) in factory {
            servo.set(register, value);
        }
        servo.kept = servo.memory;
        servo.show();
        servo.set(GOAL_POSITION, servo.present());
        servo
    }

    /// A hand holds its shaft there while it has no torque, or lets go.
    pub fn hold_by_hand(&mut self, counts: Option<f64>) {
        self.hand = counts;
    }

    /// Its motor turns nothing, whatever it is told; or it does again.
    pub fn set_limp(&mut self, is_limp: bool) {
        self.is_limp = is_limp;
    }

    /// Whether it hears what is said at a speed. Servos of 1 Mbaud take what comes.
    #[must_use]
    pub fn hears(&self, baud: Option<u32>) -> bool {
        let own = BAUDS.get(usize::from(self.memory[usize::from(BAUD.address)])).copied();
        own == Some(BAUDS[0]) || baud.is_none() || own == baud
    }

    /// As if it had been calibrated, for good.
    pub fn calibrate(&mut self, motor: &MotorCalibration) {
        self.set(HOMING_OFFSET, motor.homing_offset);
        self.set(MIN_POSITION, motor.range_min);
        self.set(MAX_POSITION, motor.range_max);
        self.kept = self.memory;
        self.show();
        self.set(GOAL_POSITION, self.present());
    }

    /// A number that it remembers.
    #[must_use]
    pub fn get(&self, register: Register) -> i32 {
        register.decode(&self.memory[usize::from(register.address)..])
    }

    /// Its id on the bus.
    #[must_use]
    pub fn id(&self) -> u8 {
        self.memory[usize::from(ID.address)]
    }

    /// What its shaft does.
    #[must_use]
    pub fn shaft(&self) -> Shaft {
        self.shaft
    }

    /// Faults from here on, whatever it measures; none switches that off.
    pub fn force_faults(&mut self, faults: Faults) {
        self.forced = faults;
        self.show();
    }

    /// Temperature and voltage, as a test wants them.
    pub fn set_supply(&mut self, degrees: i32, tenths_of_volt: i32) {
        self.set(PRESENT_TEMPERATURE, degrees);
        self.set(PRESENT_VOLTAGE, tenths_of_volt);
        self.show();
    }

    /// Power off and on: what was not written for good is gone, and so is torque.
    pub fn power_cycle(&mut self) {
        let kept = self.kept;
        let shaft = self.shaft;
        let (degrees, volts) = (self.get(PRESENT_TEMPERATURE), self.get(PRESENT_VOLTAGE));
        let (hand, is_limp) = (self.hand, self.is_limp);
        *self = Self { memory: kept, kept, hand, is_limp, ..Self::new(self.id(), shaft.counts) };
        self.shaft = shaft;
        self.set(LOCK, 1);
        self.set(TORQUE_ENABLE, 0);
        let most = self.get(MAX_TORQUE);
        self.set(TORQUE_LIMIT, most);
        self.set_supply(degrees, volts);
        self.set(GOAL_POSITION, self.present());
    }

    /// What is wrong with it.
    #[must_use]
    pub fn faults(&self) -> Faults {
        let mut faults = self.forced;
        let volts = self.get(PRESENT_VOLTAGE);
        if !(self.get(MIN_VOLTAGE)..=self.get(MAX_VOLTAGE)).contains(&volts) {
            faults = faults | Faults::VOLTAGE;
        }
        if self.get(PRESENT_TEMPERATURE) > self.get(MAX_TEMPERATURE) {
            faults = faults | Faults::TEMPERATURE;
        }
        if self.gives_way {
            faults = faults | Faults::OVERLOAD;
        }
        faults
    }

    /// Bytes of its memory; beyond its end there are zeros.
    pub fn read(&self, address: u8, count: u8) -> impl Iterator<Item = u8> {
        let from = usize::from(address);
        (from..from + usize::from(count)).map(|at| self.memory.get(at).copied().unwrap_or(0))
    }

    /// Writes into its memory, and does what that means.
    pub fn write(&mut self, address: u8, bytes: &[u8]) {
        let had_torque = self.has_torque();
        let may_keep = self.get(LOCK) == 0;
        for (at, byte) in (usize::from(address)..MEMORY).zip(bytes) {
            self.memory[at] = *byte;
            if may_keep && at < usize::from(TORQUE_ENABLE.address) {
                self.kept[at] = *byte;
            }
        }
        if self.get(TORQUE_ENABLE) == MIDDLE_HERE {
            let offset = self.shaft.counts.round() as i32 - MIDDLE;
            self.set(HOMING_OFFSET, offset);
            self.kept.copy_from_slice(&self.memory);
            self.set(TORQUE_ENABLE, i32::from(had_torque));
        }
        self.show();
        if self.has_torque() && !had_torque {
            // It holds where it is, and tries again after an overload.
            let wrote_goal = (address..).zip(bytes).any(|(at, _)| at == GOAL_POSITION.address);
            if !wrote_goal {
                self.set(GOAL_POSITION, self.present());
            }
            (self.gives_way, self.overloaded_s) = (false, 0.0);
            self.show();
        }
    }

    /// What its motor is to do for the next `dt_s`.
    pub fn drive(&mut self, dt_s: f64) -> Drive {
        let is_off = !self.has_torque() || self.faults().has(Faults::TEMPERATURE);
        if is_off {
            self.setpoint = None;
            let torque = if self.hand.is_some() { 1.0 } else { 0.0 };
            return Drive { goal_counts: self.hand, torque };
        }
        let [low, high] = [MIN_POSITION, MAX_POSITION].map(|register| self.get(register));
        let goal = self.get(GOAL_POSITION);
        let goal = if low < high { goal.clamp(low, high) } else { goal };
        // The nearest turn of the magnet that shows this position.
        let turn = f64::from(COUNTS);
        let shown = f64::from(goal + self.get(HOMING_OFFSET));
        let turns = ((self.shaft.counts - shown) / turn).round();
        let goal = shown + if self.counts_turns() { 0.0 } else { turns * turn };
        let (at, speed) = self.setpoint.unwrap_or((self.shaft.counts, 0.0));
        let fastest = match self.get(GOAL_VELOCITY).abs() {
            0 => FASTEST_COUNTS_S,
            most => f64::from(most).min(FASTEST_COUNTS_S),
        };
        let acceleration = match self.get(ACCELERATION) {
            0 => 25_400.0,
            most => f64::from(most) * 100.0,
        };
        // Slow enough to stop at the goal.
        let away = goal - at;
        let wanted = away.signum() * (2.0 * acceleration * away.abs()).sqrt().min(fastest);
        let change = (wanted - speed).clamp(-acceleration * dt_s, acceleration * dt_s);
        let step = (speed + change) * dt_s;
        let (at, speed) =
            if step.abs() >= away.abs() { (goal, 0.0) } else { (at + step, speed + change) };
        self.setpoint = Some((at, speed));
        let limit = f64::from(self.get(TORQUE_LIMIT)) / 1000.0;
        let protective = f64::from(self.get(PROTECTIVE_TORQUE)) / 100.0;
        let torque = if self.gives_way { limit.min(protective) } else { limit };
        if self.is_limp {
            return Drive { goal_counts: None, torque: 0.0 };
        }
        Drive { goal_counts: Some(at), torque }
    }

    /// What came of it.
    pub fn moved(&mut self, shaft: Shaft, dt_s: f64) {
        self.shaft = shaft;
        let overload = f64::from(self.get(OVERLOAD_TORQUE)) / 100.0;
        let is_over = self.has_torque() && overload > 0.0 && shaft.load.abs() >= overload;
        self.overloaded_s = if is_over { self.overloaded_s + dt_s } else { 0.0 };
        self.gives_way |= self.overloaded_s > f64::from(self.get(PROTECTION_TIME)) * 0.01;
        self.show();
    }

    /// Whether it holds.
    #[must_use]
    pub fn has_torque(&self) -> bool {
        self.get(TORQUE_ENABLE) == 1
    }

    /// What it says where it is.
    #[must_use]
    pub fn present(&self) -> i32 {
        self.get(PRESENT_POSITION)
    }

    fn counts_turns(&self) -> bool {
        self.get(PHASE) & SEVERAL_TURNS != 0
    }

    fn set(&mut self, register: Register, value: i32) {
        let bytes = register.encode(value);
        let at = usize::from(register.address);
        let count = usize::from(register.bytes);
        self.memory[at..at + count].copy_from_slice(&bytes[..count]);
    }

    /// Brings what it shows up to date.
    fn show(&mut self) {
        let shown = self.shaft.counts.round() as i32 - self.get(HOMING_OFFSET);
        let shown = if self.counts_turns() { shown } else { shown.rem_euclid(COUNTS) };
        self.set(PRESENT_POSITION, shown);
        self.set(PRESENT_VELOCITY, self.shaft.counts_s.round() as i32);
        self.set(PRESENT_LOAD, (self.shaft.load * 1000.0).round() as i32);
        // 2.7 A at stall, in 6.5 mA.
        self.set(PRESENT_CURRENT, (self.shaft.load.abs() * 2700.0 / 6.5).round() as i32);
        let is_away = self.has_torque()
            && f64::from((self.get(GOAL_POSITION) - shown).abs()) > ARRIVED_COUNTS
            && self.shaft.counts_s.abs() > 1.0;
        self.set(MOVING, i32::from(is_away));
        let faults = self.faults();
        self.set(STATUS, i32::from(faults.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(servo: &mut Servo, seconds: f64) -> f64 {
        let dt_s = 0.002;
        let mut fastest = 0.0_f64;
        for _ in 0..(seconds / dt_s) as usize {
            let drive = servo.drive(dt_s);
            let counts = drive.goal_counts.unwrap_or(servo.shaft().counts);
            let counts_s = (counts - servo.shaft().counts) / dt_s;
            fastest = fastest.max(counts_s.abs());
            servo.moved(Shaft { counts, counts_s, load: 0.0 }, dt_s);
        }
        fastest
    }

    fn write(servo: &mut Servo, register: Register, value: i32) {
        let bytes = register.encode(value);
        servo.write(register.address, &bytes[..usize::from(register.bytes)]);
    }

    #[test]
    fn without_torque_nothing_moves_and_with_it_it_holds_where_it_is() {
        let mut servo = Servo::new(1, 1234.0);
        write(&mut servo, GOAL_POSITION, 3000);
        run(&mut servo, 0.5);
        assert_eq!(servo.present(), 1234);
        write(&mut servo, TORQUE_ENABLE, 1);
        run(&mut servo, 0.5);
        assert_eq!(servo.present(), 1234);
    }

    #[test]
    fn it_goes_to_its_goal_within_speed_and_limits() {
        let mut servo = Servo::new(1, 1000.0);
        write(&mut servo, MAX_POSITION, 2500);
        write(&mut servo, TORQUE_ENABLE, 1);
        write(&mut servo, GOAL_VELOCITY, 800);
        write(&mut servo, GOAL_POSITION, 3000);
        let fastest = run(&mut servo, 4.0);
        assert_eq!(servo.present(), 2500, "no further than its limit");
        assert!((700.0..=801.0).contains(&fastest), "{fastest}");
        assert_eq!(servo.get(MOVING), 0);
    }

    #[test]
    fn the_middle_is_set_and_what_is_locked_is_lost_without_power() {
        let mut servo = Servo::new(1, 3210.0);
        write(&mut servo, TORQUE_ENABLE, MIDDLE_HERE);
        assert_eq!((servo.present(), servo.get(HOMING_OFFSET)), (2048, 1162));
        write(&mut servo, P_GAIN, 16);
        servo.power_cycle();
        assert_eq!((servo.get(P_GAIN), servo.present()), (32, 2048), "it was locked");
        write(&mut servo, LOCK, 0);
        write(&mut servo, P_GAIN, 16);
        servo.power_cycle();
        assert_eq!((servo.get(P_GAIN), servo.has_torque()), (16, false));
    }

    #[test]
    fn an_overload_gives_way_until_torque_is_switched() {
        let mut servo = Servo::new(1, 1000.0);
        write(&mut servo, TORQUE_ENABLE, 1);
        let stuck = Shaft { counts: 1000.0, counts_s: 0.0, load: 0.95 };
        for _ in 0..3000 {
            servo.drive(0.001);
            servo.moved(stuck, 0.001);
        }
        assert!(servo.faults().has(Faults::OVERLOAD));
        assert!((servo.drive(0.001).torque - 0.2).abs() < 1e-9);
        write(&mut servo, TORQUE_ENABLE, 0);
        write(&mut servo, TORQUE_ENABLE, 1);
        assert!(servo.faults().is_empty());
    }
}
