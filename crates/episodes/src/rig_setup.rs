//! Making an arm of servos ready, with a person's hands: `citrange rig setup`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use citrange_link::feetech::{
    BAUDS, Bus, BusSettings, Calibration, Calibrator, Swept, give_id, lock,
};
use citrange_link::{BAUD, RigAddress, SerialPort, calibration_folders};
use citrange_robot::Robot;

use crate::error::{EpisodesError, Result, bad_input};

/// Answers are waited for without haste.
const PATIENT: BusSettings = BusSettings { answer_time: Duration::from_millis(50), retries: 2 };
/// A search asks many that are not there.
const SEARCHING: BusSettings = BusSettings { answer_time: Duration::from_millis(15), retries: 1 };
/// Servos leave the factory as 1; others were given something low.
const LIKELY_IDS: std::ops::RangeInclusive<u8> = 0..=30;
/// How often joints are looked at while they are moved.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The joint that turns without end.
const TURNS_FREELY: &str = "wrist_roll";

/// Who reads what is to be done, does it, and says so.
pub trait Guide {
    /// Says what is to be done, and waits until it is.
    ///
    /// # Errors
    /// When the person gives up.
    fn wait(&self, what: &str) -> Result<()>;

    /// Says what is to be done; [`Guide::is_done`] tells when it is.
    fn begin(&self, what: &str);

    /// Shows how far every joint was moved.
    fn show(&self, joints: &[Swept]);

    /// Whether it is done.
    ///
    /// # Errors
    /// When the person gives up.
    fn is_done(&self) -> Result<bool>;
}

/// What is to be set up.
#[derive(Clone, Debug)]
pub struct SetupOptions {
    /// Where the arm is.
    pub address: RigAddress,
    /// Give servos their ids first, one by one.
    pub ids: bool,
    /// Where the calibration goes; [`default_calibration`] where none is said.
    pub calibration: Option<PathBuf>,
}

/// Where a calibration goes when nothing is said.
#[must_use]
pub fn default_calibration() -> PathBuf {
    let folder = calibration_folders().into_iter().next().unwrap_or_default();
    folder.join("so101.json")
}

/// Gives ids where that is asked for, and calibrates; answers the file that was written.
///
/// # Errors
/// When a servo does not answer, a joint was not moved, or the person gives up. What was written
/// into servos until then stays; the file of before stays until the new one is whole.
pub fn set_up(options: &SetupOptions, guide: &dyn Guide) -> Result<(PathBuf, Calibration)> {
    let RigAddress::So101(port) = &options.address else {
        bad_input!("{} needs no setting up", options.address);
    };
    let robot = Robot::load("so101").map_err(|e| EpisodesError::Failed(e.to_string()))?;
    let joints: Vec<(&str, u8, bool)> = robot
        .joints()
        .iter()
        .zip(1..)
        .map(|(joint, id)| (joint.name.as_str(), id, joint.name == TURNS_FREELY))
        .collect();
    if options.ids {
        // The last first, as LeRobot does: its cable is the easiest to reach.
        for (name, id, _) in joints.iter().rev() {
            guide.wait(&format!("plug in the servo of {name} alone"))?;
            guide.begin(&found_words(&find_and_name(port, *id)?, name));
        }
        guide.wait("plug all servos together")?;
    }
    let mut bus = Bus::new(SerialPort::open(port, BAUD)?, PATIENT);
    let found = calibrate(&mut bus, &joints, guide)?;
    let file = options.calibration.clone().unwrap_or_else(default_calibration);
    found.save(&file)?;
    Ok((file, found))
}

/// Id and speed that a servo had.
struct Had {
    id: u8,
    baud: u32,
}

fn found_words(had: &Had, name: &str) -> String {
    format!("{name}: found as servo {} at {} baud; it is ready", had.id, had.baud)
}

/// Finds the only servo on a port at whatever speed it has, and gives it an id and 1 Mbaud.
fn find_and_name(port: &Path, id: u8) -> Result<Had> {
    for baud in BAUDS {
        let mut bus = Bus::new(SerialPort::open(port, baud)?, SEARCHING);
        if bus.scan(LIKELY_IDS)?.is_empty() {
            continue;
        }
        bus.set_settings(PATIENT);
        let had = Had { id: give_id(&mut bus, LIKELY_IDS, id)?, baud };
        drop(bus);
        let mut bus = Bus::new(SerialPort::open(port, BAUD)?, PATIENT);
        bus.ping(id)?;
        lock(&mut bus, id)?;
        return Ok(had);
    }
    bad_input!(
        "no servo answers at any speed: is its power on, and is it the only one on the cable?"
    )
}

fn calibrate(
    bus: &mut Bus<SerialPort>,
    joints: &[(&str, u8, bool)],
    guide: &dyn Guide,
) -> Result<Calibration> {
    guide.wait("hold the arm: its torque goes off now")?;
    let mut calibrator = Calibrator::begin(bus, joints)?;
    guide.wait("bring every joint to the middle of its range, the gripper half open")?;
    calibrator.middle(bus)?;
    guide.begin(&format!("move every joint but {TURNS_FREELY} from end to end, the gripper too"));
    loop {
        guide.show(calibrator.look(bus)?);
        // At least one look after the last movement.
        if guide.is_done()? {
            return Ok(calibrator.finish(bus)?);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A line about every joint, for people.
#[must_use]
pub fn sweep_line(joints: &[Swept]) -> String {
    let one = |joint: &Swept| {
        let mark = if joint.is_swept() { "" } else { " …" };
        format!("{} {}-{}{mark}", joint.name, joint.range[0], joint.range[1])
    };
    joints.iter().map(one).collect::<Vec<_>>().join("  ")
}
