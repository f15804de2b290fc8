//! `citrange rig list|check|setup|emulate`: what is connected, how good it is, and stand-ins.

mod emulate_ur;

use std::cell::Cell;
use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use citrange_emulate::{Assembly, EmulatedSo101, ORDERS, PositionLog};
use citrange_episodes::rig_check::check_rig;
use citrange_episodes::rig_setup::{Guide, SetupOptions, default_calibration, set_up, sweep_line};
use citrange_episodes::{EpisodesError, LinkChoice};
use citrange_link::camera::video_devices;
use citrange_link::feetech::Swept;
use citrange_link::{RigAddress, serial_ports};
use rustix::process::getppid;
use serde_json::{Value, json};

use crate::exit::{Context as _, Result, bad_input, failed};
use crate::output;
use crate::stop::catch_end;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the serial ports that an arm may be on.
    List(List),
    /// Look at a real arm for two seconds: voltages, temperatures, cycle, calibration. Nothing moves.
    Check(Check),
    /// Make a real arm ready: ids of its servos, calibration, with you moving it.
    Setup(Setup),
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
pub(crate) struct Check {
    /// The arm: so101:PORT or ros1:ROBOT.
    rig: RigAddress,
    /// Its calibration, LeRobot's file; looked for where LeRobot keeps it if not given.
    #[arg(long, value_name = "JSON")]
    calibration: Option<PathBuf>,
    /// A file about the arm: names of its topics, limits.
    #[arg(long, value_name = "YAML")]
    rig_file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Setup {
    /// The arm: so101:PORT.
    rig: RigAddress,
    /// Give the servos their ids first: factory servos, one after the other.
    #[arg(long)]
    ids: bool,
    /// Where the calibration goes, as LeRobot's file.
    #[arg(long, value_name = "JSON")]
    calibration: Option<PathBuf>,
    /// Replace a calibration that is there.
    #[arg(long)]
    overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Emulate {
    /// The arm.
    #[arg(value_parser = ["so101", "ur5e"])]
    arm: String,
    /// Scene whose first robot it is; block_box by default, ur5_cell for a ur5e.
    #[arg(long)]
    scene: Option<String>,
    #[command(flatten)]
    ros: emulate_ur::RosArgs,
    /// As it leaves the workbench: never calibrated.
    #[arg(long)]
    uncalibrated: bool,
    /// Write its calibration, as LeRobot's file, there.
    #[arg(long, value_name = "JSON")]
    calibration: Option<PathBuf>,
    /// Show its scene on this socket: pictures for --camera NAME=emulated:SOCKET, and where its
    /// things are for --things SOCKET.
    #[arg(long, value_name = "SOCKET")]
    socket: Option<PathBuf>,
    /// Note every position that is read there: nanoseconds of the monotonic clock, id, position.
    #[arg(long, value_name = "CSV")]
    log: Option<PathBuf>,
    /// End when stdin is closed, or whoever started this is gone: for tests and scripts.
    #[arg(long)]
    attached: bool,
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
        Command::Check(args) => check(args),
        Command::Setup(args) => setup(args),
        Command::Emulate(args) => emulate(args),
    }
}

fn list(args: &List) -> Result {
    let shown = |paths: Vec<PathBuf>| -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    };
    let (ports, cameras) = (shown(serial_ports()), shown(video_devices()));
    if args.json {
        return output::data(&json!({ "serial_ports": ports, "cameras": cameras }).to_string());
    }
    if !cameras.is_empty() {
        output::talk(&format!("cameras: {}", cameras.join(", ")));
    }
    if ports.is_empty() {
        output::talk("no serial port is there; citrange rig emulate so101 stands in for an arm");
    }
    output::lines(&ports)
}

fn check(args: &Check) -> Result {
    let file = args.rig_file.clone();
    let choice = LinkChoice { file, ..LinkChoice::new(args.rig.clone(), args.calibration.clone()) };
    super::doctor::tell(&check_rig(&choice)?, args.json)
}

fn setup(args: &Setup) -> Result {
    let file = args.calibration.clone().unwrap_or_else(default_calibration);
    if file.exists() && !args.overwrite {
        let text = format!("{} is there already; --overwrite replaces it", file.display());
        return Err(bad_input(text));
    }
    let person = Person { stop: catch_end()?, lines: typed_lines()?, shown: Cell::default() };
    let options =
        SetupOptions { address: args.rig.clone(), ids: args.ids, calibration: Some(file) };
    let (file, calibration) = set_up(&options, &person)?;
    let file = file.display().to_string();
    if args.json {
        let told = json!({ "calibration": file, "motors": calibration });
        return output::data(&told.to_string());
    }
    output::data(&file)
}

/// Somebody at the terminal.
struct Person {
    stop: &'static AtomicBool,
    lines: Receiver<String>,
    shown: Cell<u32>,
}

impl Person {
    fn has_pressed_enter(&self) -> Result<bool, EpisodesError> {
        match self.lines.try_recv() {
            _ if self.stop.load(Ordering::Relaxed) => Err(EpisodesError::Interrupted),
            Ok(_) => Ok(true),
            Err(TryRecvError::Empty) => Ok(false),
            Err(TryRecvError::Disconnected) => {
                Err(EpisodesError::Usage("setting up needs somebody who presses Enter".into()))
            }
        }
    }
}

impl Guide for Person {
    fn wait(&self, what: &str) -> Result<(), EpisodesError> {
        output::talk(&format!("{what}, then press Enter"));
        while !self.has_pressed_enter()? {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn begin(&self, what: &str) {
        output::talk(&format!("{what}, then press Enter"));
    }

    fn show(&self, joints: &[Swept]) {
        // Once a second is enough to read.
        let looks = self.shown.get();
        self.shown.set(looks + 1);
        if looks.is_multiple_of(50) {
            output::talk(&sweep_line(joints));
        }
    }

    fn is_done(&self) -> Result<bool, EpisodesError> {
        self.has_pressed_enter()
    }
}

/// Lines as they are typed; closed when stdin is.
fn typed_lines() -> Result<Receiver<String>> {
    let (send, lines) = channel();
    std::thread::Builder::new()
        .name("stdin".into())
        .spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        })
        .map_err(|error| failed(error.to_string()))
        .context(|| "no thread for stdin".to_owned())?;
    Ok(lines)
}

fn emulate(args: &Emulate) -> Result {
    if args.arm == "ur5e" {
        return emulate_ur::emulate(args);
    }
    let stop = catch_end()?;
    args.ros.refuse()?;
    let assembly = if args.uncalibrated { Assembly::Uncalibrated } else { Assembly::Calibrated };
    let scene = args.scene.as_deref().unwrap_or("block_box");
    let arm = EmulatedSo101::spawn_seen(scene, assembly, args.socket.as_deref())
        .map_err(|error| bad_input(error.to_string()))?;
    if let Some(path) = &args.log {
        let log = PositionLog::create(path);
        arm.bus().bus().log = Some(log.map_err(|e| bad_input(format!("{}: {e}", path.display())))?);
    }
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
    carry_out(&|line| arm.order(line), args, stop)
}

/// Does what is ordered, a line each, until it is stopped.
fn carry_out(
    order: &dyn Fn(&str) -> std::result::Result<Value, String>,
    args: &Emulate,
    stop: &AtomicBool,
) -> Result {
    let parent = args.attached.then(getppid).flatten();
    let orders = typed_lines()?;
    // Whoever dies is not a parent any more.
    while !stop.load(Ordering::Relaxed) && (parent.is_none() || getppid() == parent) {
        let line = match orders.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) if args.attached => break,
            // A closed stdin orders nothing more; the arm stays until it is stopped.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        let told = match order(&line) {
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
