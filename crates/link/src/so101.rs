//! An SO-101 on its port: which calibration it has, and everything from the port to a driven arm.

use std::path::{Path, PathBuf};
use std::time::Duration;

use citrange_robot::Chain;
use serde::{Deserialize, Serialize};

use crate::device::ArmDevice as _;
use crate::driver::{ArmDriver, DriverSettings};
use crate::error::LinkError;
use crate::feetech::{BusSettings, Calibration, ServoArm, ServoSettings};
use crate::leader::Leader;
use crate::port::SerialPort;

/// Speed of the bus, in bits per second.
pub const BAUD: u32 = 1_000_000;

/// How an SO-101 is connected and driven.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct So101Settings {
    /// LeRobot's calibration file; found by [`find_calibration`] where none is said.
    pub calibration: Option<PathBuf>,
    /// Gains and limits in the servos.
    pub servos: ServoSettings,
    /// Cycles, limits, how it is let go.
    pub driver: DriverSettings,
    /// How long answers are waited for within a cycle, and how often they are asked for again.
    #[serde(skip)]
    pub bus: BusSettings,
}

/// Time over which a leader that somebody left with torque is let go.
const LET_GO: Duration = Duration::from_millis(1500);

/// Connects to an arm with this chain, and begins to read it.
///
/// # Errors
/// When the port, the calibration or a servo is not as it should be; with what helps.
pub fn open_so101(
    port: &Path,
    chain: &Chain,
    settings: &So101Settings,
) -> Result<ArmDriver, LinkError> {
    let file = match &settings.calibration {
        Some(file) => file.clone(),
        None => find_calibration(&calibration_folders())?,
    };
    let calibration = Calibration::load(&file)?;
    let (port, chain_of, servos) = (port.to_owned(), chain.clone(), settings.servos.clone());
    let bus = settings.bus;
    let connect = move || {
        let port = SerialPort::open(&port, BAUD)?;
        ServoArm::connect(port, &chain_of, &calibration, bus, servos.clone())
    };
    let arm = connect()?;
    ArmDriver::start(arm, Box::new(connect), chain, settings.driver.clone())
}

/// Connects to a leader arm with this chain: it is read, and never held. One that somebody left with
/// torque is let go slowly.
///
/// # Errors
/// As [`open_so101`].
pub fn open_leader(
    port: &Path,
    chain: &Chain,
    settings: &So101Settings,
) -> Result<Leader, LinkError> {
    let file = match &settings.calibration {
        Some(file) => file.clone(),
        None => find_calibration(&leader_calibration_folders())?,
    };
    let calibration = Calibration::load(&file)?;
    let (port, chain_of, servos) = (port.to_owned(), chain.clone(), settings.servos.clone());
    let bus = settings.bus;
    let connect = move || {
        let port = SerialPort::open(&port, BAUD)?;
        let mut arm = ServoArm::connect(port, &chain_of, &calibration, bus, servos.clone())?;
        if arm.has_torque()? {
            arm.release(LET_GO)?;
        }
        Ok(arm)
    };
    let arm = connect()?;
    // It was never held: there is nothing to let go of in the end.
    let settings = DriverSettings { hold_at_end: true, ..settings.driver.clone() };
    Ok(Leader::new(ArmDriver::start(arm, Box::new(connect), chain, settings)?, chain))
}

/// Where calibrations of followers are kept: ours, then LeRobot's.
#[must_use]
pub fn calibration_folders() -> Vec<PathBuf> {
    folders("so101", "robots", ["so_follower", "so101_follower"])
}

/// Where those of leaders are kept: ours, then LeRobot's.
#[must_use]
pub fn leader_calibration_folders() -> Vec<PathBuf> {
    folders("so101_leader", "teleoperators", ["so_leader", "so101_leader"])
}

fn folders(ours: &str, kind: &str, theirs: [&str; 2]) -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = PathBuf::from(set("HOME").unwrap_or_default());
    let config = set("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let hub = set("HF_HOME").map_or_else(|| home.join(".cache/huggingface"), PathBuf::from);
    let lerobot = set("HF_LEROBOT_HOME").map_or_else(|| hub.join("lerobot"), PathBuf::from);
    let lerobot =
        set("HF_LEROBOT_CALIBRATION").map_or_else(|| lerobot.join("calibration"), PathBuf::from);
    let [first, second] = theirs.map(|name| lerobot.join(kind).join(name));
    vec![config.join("citrange").join(ours), first, second]
}

/// The only calibration that is there.
///
/// # Errors
/// When there is none, or more than one to choose from.
pub fn find_calibration(folders: &[PathBuf]) -> Result<PathBuf, LinkError> {
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
        files.sort();
        found.append(&mut files);
    }
    let names = |paths: &[PathBuf]| {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    };
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(LinkError::bad(
            "calibration",
            format!(
                "there is none in {}: say --calibration FILE, or calibrate the arm first",
                names(folders)
            ),
        )),
        several => Err(LinkError::bad(
            "calibration",
            format!("say which by --calibration: {}", names(several)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_calibration_is_found_and_several_are_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("ours"), folder.path().join("theirs")];
        let none = find_calibration(&folders).unwrap_err().to_string();
        assert!(none.contains("there is none in") && none.contains("theirs"), "{none}");
        for (number, folder) in folders.iter().enumerate() {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("notes.txt"), "").unwrap();
            std::fs::write(folder.join(format!("arm{number}.json")), "{}").unwrap();
            if number == 0 {
                assert_eq!(find_calibration(&folders).unwrap(), folder.join("arm0.json"));
            }
        }
        let several = find_calibration(&folders).unwrap_err().to_string();
        assert!(several.contains("arm0.json") && several.contains("arm1.json"), "{several}");
    }
}
