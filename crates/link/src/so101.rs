//! An SO-101 on its port: which calibration it has, and everything from the port to a driven arm.

use std::path::{Path, PathBuf};

use citrange_robot::Chain;
use serde::{Deserialize, Serialize};

use crate::driver::{ArmDriver, DriverSettings};
use crate::error::LinkError;
use crate::feetech::{BusSettings, Calibration, ServoArm, ServoSettings};
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
}

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
    let connect = move || {
        let port = SerialPort::open(&port, BAUD)?;
        ServoArm::connect(port, &chain_of, &calibration, BusSettings::default(), servos.clone())
    };
    let arm = connect()?;
    ArmDriver::start(arm, Box::new(connect), chain, settings.driver.clone())
}

/// Where calibrations of followers are kept: ours, then LeRobot's.
#[must_use]
pub fn calibration_folders() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = PathBuf::from(set("HOME").unwrap_or_default());
    let config = set("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let hub = set("HF_HOME").map_or_else(|| home.join(".cache/huggingface"), PathBuf::from);
    let lerobot = set("HF_LEROBOT_HOME").map_or_else(|| hub.join("lerobot"), PathBuf::from);
    let lerobot =
        set("HF_LEROBOT_CALIBRATION").map_or_else(|| lerobot.join("calibration"), PathBuf::from);
    let of = |name: &str| lerobot.join("robots").join(name);
    vec![config.join("citrange/so101"), of("so_follower"), of("so101_follower")]
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
