//! `citrange rig list|emulate`: what is connected, and stand-ins for what is not.

use std::io::BufRead as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use citrange_emulate::{Assembly, EmulatedSo101, ORDERS};
use citrange_link::serial_ports;
use serde_json::json;

use crate::exit::{Context as _, Result, bad_input, failed};
use crate::output;
use crate::stop::catch_stop;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the serial ports that an arm may be on.
    List(List),
    /// Stand in for an arm: a bus of servos on a pseudo-terminal, the simulated arm behind them.
    Emulate(Emulate),
}

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Emulate {
    /// The arm.
    #[arg(value_parser = ["so101"])]
    arm: String,
    /// Scene whose first robot it is.
    #[arg(long, default_value = "block_box")]
    scene: String,
    /// As it leaves the workbench: never calibrated.
    #[arg(long)]
    uncalibrated: bool,
    /// Write its calibration, as LeRobot's file, there.
    #[arg(long, value_name = "JSON")]
    calibration: Option<std::path::PathBuf>,
    /// Print JSON: an object when it is ready, then one per order.
    #[arg(long)]
    json: bool,
}

impl Command {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(self, Self::Emulate(_))
    }
}

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::List(args) => list(args),
        Command::Emulate(args) => emulate(args),
    }
}

fn list(args: &List) -> Result {
    let ports: Vec<String> = serial_ports().iter().map(|path| path.display().to_string()).collect();
    if args.json {
        return output::data(&json!({ "serial_ports": ports }).to_string());
    }
    if ports.is_empty() {
        output::talk("no serial port is there; citrange rig emulate so101 stands in for an arm");
    }
    output::lines(&ports)
}

fn emulate(args: &Emulate) -> Result {
    let stop = catch_stop()?;
    let assembly = if args.uncalibrated { Assembly::Uncalibrated } else { Assembly::Calibrated };
    let arm = EmulatedSo101::spawn(&args.scene, assembly)
        .map_err(|error| bad_input(error.to_string()))?;
    if let Some(path) = &args.calibration {
        arm.calibration().save(path)?;
    }
    let port = arm.bus().path().display().to_string();
    if args.json {
        output::data(&json!({ "event": "ready", "port": port }).to_string())?;
    } else {
        output::data(&port)?;
        output::talk(&format!("orders, a line each: {ORDERS}. Ctrl-C ends it."));
    }
    let (send, orders) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("orders".into())
        .spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        })
        .map_err(|error| failed(error.to_string()))
        .context(|| "no thread for orders".to_owned())?;
    while !stop.load(Ordering::Relaxed) {
        // A closed stdin orders nothing more; the arm stays until it is stopped.
        let Ok(line) = orders.recv_timeout(Duration::from_millis(100)) else { continue };
        let told = match arm.order(&line) {
            Ok(told) => json!({ "event": "order", "order": line, "arm": told }),
            Err(reason) => json!({ "event": "refused", "order": line, "reason": reason }),
        };
        match (args.json, told["reason"].as_str()) {
            (true, _) => output::data(&told.to_string())?,
            (false, Some(reason)) => output::talk(reason),
            (false, None) => output::data(&told["arm"].to_string())?,
        }
    }
    Ok(())
}
