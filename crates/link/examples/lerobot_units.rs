//! What our link makes of every count of a calibrated arm, for comparison with LeRobot:
//! `lerobot_units CALIBRATION.json OUT.json` reads LeRobot's file, writes it again to OUT, and prints
//! for every motor all degrees, percents and 0-to-100s, and the counts that they go back to.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use citrange_link::feetech::{Calibration, register::COUNTS};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        return Err("usage: lerobot_units CALIBRATION.json OUT.json".into());
    };
    let calibration = Calibration::load(Path::new(from))?;
    calibration.save(Path::new(to))?;
    let mut out = std::io::stdout().lock();
    for (name, motor) in calibration.motors() {
        let counts = 0..COUNTS;
        let degrees: Vec<f64> = counts.clone().map(|count| motor.degrees(count)).collect();
        let percent: Vec<f64> = counts.clone().map(|count| motor.percent(count)).collect();
        let gripper: Vec<f64> = counts.map(|count| motor.gripper_percent(count)).collect();
        let line = json!({
            "motor": name,
            "degrees": degrees,
            "percent": percent,
            "gripper": gripper,
            "from_degrees": degrees.iter().map(|x| motor.count_at_degrees(*x)).collect::<Vec<_>>(),
            "from_percent": percent.iter().map(|x| motor.count_at_percent(*x)).collect::<Vec<_>>(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
