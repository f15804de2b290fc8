//! Everything that can go wrong on the bus of an arm in motion, one by one at random moments: each
//! ends as `docs/rig.md` says, in time, and no joint exceeds its limits, measured at its shaft.
//! `CITRANGE_FAULTS=20` has each of them so often.

use std::time::{Duration, Instant};

use citrange_core::Mode;
use citrange_core::rng::Rng;
use citrange_emulate::{Assembly, EmulatedSo101};
use citrange_link::feetech::{BusSettings, ServoArm, ServoSettings};
use citrange_link::{ArmDriver, ArmState, DriverSettings, LinkError, SerialPort};
use citrange_robot::{Chain, Robot};

/// What a busy machine may add to any time.
const SLACK: Duration = Duration::from_secs(2);
const STALE_S: f64 = 0.3;
const LOST_S: f64 = 1.0;
/// The servos' own overshoot beyond the speed of their targets.
const OVERSHOOT: f64 = 1.15;

/// What is ordered, what takes it back, and what it ends in.
struct Fault {
    orders: &'static [&'static str],
    undo: &'static [&'static str],
    ends: Ends,
}

enum Ends {
    /// It goes on as if nothing were.
    GoesOn,
    /// It holds or stops, goes on by itself or when a person starts it again; within a time, and
    /// with these words.
    Stops(f64, &'static str),
}

const FAULTS: [Fault; 15] = [
    Fault { orders: &["lose 1"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["lose 5"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["double 6"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["corrupt 2"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["cut 2"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["noise 40"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["late 2 25"], undo: &[], ends: Ends::GoesOn },
    Fault { orders: &["fault 6 32"], undo: &["fault 6 0"], ends: Ends::GoesOn },
    Fault {
        orders: &["gone 3"],
        undo: &["back 3"],
        ends: Ends::Stops(LOST_S, "no joints were heard"),
    },
    Fault { orders: &["limp 1"], undo: &["firm 1"], ends: Ends::Stops(3.0, "shoulder_pan") },
    Fault {
        orders: &["fault 2 1"],
        undo: &["fault 2 0"],
        ends: Ends::Stops(0.1, "shoulder_lift: voltage"),
    },
    Fault {
        orders: &["fault 4 4"],
        undo: &["fault 4 0"],
        ends: Ends::Stops(0.1, "wrist_flex: too hot"),
    },
    Fault {
        orders: &["fault 5 8"],
        undo: &["fault 5 0"],
        ends: Ends::Stops(0.1, "wrist_roll: too much current"),
    },
    Fault {
        orders: &["fault 3 32"],
        undo: &["fault 3 0"],
        ends: Ends::Stops(0.1, "elbow_flex: overloaded"),
    },
    Fault {
        orders: &["gone 1", "gone 2", "gone 3", "gone 4", "gone 5", "gone 6"],
        undo: &["back 1", "back 2", "back 3", "back 4", "back 5", "back 6"],
        ends: Ends::Stops(LOST_S, "no joints were heard"),
    },
];

fn chain() -> Chain {
    Robot::load("so101").unwrap().chain().clone()
}

/// An arm in motion, watched.
struct Moving {
    arm: EmulatedSo101,
    driver: ArmDriver,
    limits: Vec<f64>,
    home: Vec<f64>,
    begun: Instant,
    /// Highest speed of each shaft as a fraction of its limit.
    fastest: Vec<f64>,
    /// A joint that nobody can be asked about: its gear is stripped.
    limp: Option<usize>,
}

impl Moving {
    fn start() -> Self {
        let chain = chain();
        let arm = EmulatedSo101::spawn("orange_plate", Assembly::Calibrated).unwrap();
        let port = SerialPort::open(arm.bus().path(), 1_000_000).unwrap();
        let quick = BusSettings { answer_time: Duration::from_millis(30), retries: 2 };
        let servos = ServoSettings::default();
        let device = ServoArm::connect(port, &chain, arm.calibration(), quick, servos).unwrap();
        let mut settings = DriverSettings { cycle_hz: 100, release_s: 0.2, ..Default::default() };
        (settings.safety.stale_s, settings.safety.lost_s) = (STALE_S, LOST_S);
        settings.safety.command_timeout_s = 1.0;
        let never = || Err(LinkError::bad("port", "it is not looked for again"));
        let driver = ArmDriver::start(device, Box::new(never), &chain, settings).unwrap();
        let counts = 4095.0 / std::f64::consts::TAU;
        let limits = chain.joints.iter().map(|joint| joint.max_speed.unwrap() * counts).collect();
        let home = driver.state().reading.pos;
        let (begun, fastest) = (Instant::now(), vec![0.0; 6]);
        Self { arm, driver, limits, home, begun, fastest, limp: None }
    }

    /// Where it is sent at a moment: to and fro around where it began, clear of the table and of what
    /// stands there.
    fn step(&mut self) -> ArmState {
        let t = self.begun.elapsed().as_secs_f64();
        let sway = [0.6, 0.15, 0.15, 0.3, 0.6, 0.3];
        let joint = |(j, (home, sway)): (usize, (&f64, f64))| {
            let swing = (t * (2.2 - 0.2 * j as f64)).sin();
            // Shoulder and elbow only lift.
            home + sway * if j == 1 || j == 2 { swing - 1.0 } else { swing }
        };
        let targets: Vec<f64> = self.home.iter().zip(sway).enumerate().map(joint).collect();
        self.driver.send(&targets);
        std::thread::sleep(Duration::from_millis(8));
        let bus = self.arm.bus().bus();
        for (j, servo) in bus.servos.iter().enumerate().filter(|(j, _)| self.limp != Some(*j)) {
            // A gripper turns less than a joint for the same counts.
            if j != 5 {
                let share = servo.shaft().counts_s.abs() / self.limits[j];
                self.fastest[j] = self.fastest[j].max(share);
            }
        }
        drop(bus);
        self.driver.state()
    }

    fn for_a_while(&mut self, seconds: f64) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < end {
            self.step();
        }
    }

    fn until(&mut self, what: &str, within: Duration, is: impl Fn(&ArmState) -> bool) -> f64 {
        let begun = Instant::now();
        loop {
            let state = self.step();
            if is(&state) {
                return begun.elapsed().as_secs_f64();
            }
            assert!(begun.elapsed() < within, "{what}: {state:?}");
        }
    }

    fn engage(&mut self) {
        self.driver.engage();
        self.until("it moves", Duration::from_secs(30), |state| state.mode == Mode::Ready);
    }
}

#[test]
fn each_fault_ends_as_it_should_and_the_arm_keeps_its_limits() {
    let times: u64 = std::env::var("CITRANGE_FAULTS").map_or(1, |text| text.parse().unwrap());
    let mut rng = Rng::new(18);
    let mut arm = Moving::start();
    arm.engage();
    for round in 0..times {
        for fault in &FAULTS {
            let name = fault.orders.join(", ");
            arm.for_a_while(rng.uniform(0.05, 0.5));
            arm.limp = fault.orders[0].starts_with("limp").then_some(0);
            for order in fault.orders {
                arm.arm.order(order).unwrap();
            }
            match fault.ends {
                Ends::GoesOn => {
                    let end = Instant::now() + Duration::from_millis(600);
                    while Instant::now() < end {
                        let state = arm.step();
                        assert!(!matches!(state.mode, Mode::Stopped { .. }), "{name}: {state:?}");
                    }
                    arm.until(&name, SLACK, |state| state.mode == Mode::Ready);
                }
                Ends::Stops(within_s, words) => {
                    let within = Duration::from_secs_f64(within_s) + SLACK;
                    let is_stopped = |state: &ArmState| match &state.mode {
                        Mode::Stopped { why } => {
                            assert!(why.contains(words), "{name}: {why}");
                            true
                        }
                        _ => false,
                    };
                    let took_s = arm.until(&name, within, is_stopped);
                    println!("round {round}: {name}: stopped after {:.0} ms", took_s * 1e3);
                    arm.for_a_while(0.2);
                    assert!(is_stopped(&arm.driver.state()), "{name}: it goes on by itself");
                }
            }
            for order in fault.undo {
                arm.arm.order(order).unwrap();
            }
            if matches!(fault.ends, Ends::Stops(..)) {
                arm.for_a_while(0.1);
                arm.engage();
            }
            arm.limp = None;
        }
    }
    println!("fastest shafts, as fractions of their limits: {:.2?}", arm.fastest);
    assert!(arm.fastest.iter().all(|share| *share < OVERSHOOT), "{:?}", arm.fastest);
    assert!(arm.fastest[0] > 0.05, "it moved: {:?}", arm.fastest);
    let Moving { arm, driver, .. } = arm;
    drop(driver);
    let bus = arm.bus().bus();
    assert!(!bus.servos.iter().any(citrange_emulate::Servo::has_torque), "let go in the end");
}
