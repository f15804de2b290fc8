//! A person at the wheel of a running `citrange drive`, over its own socket: holds keys as a page
//! does, and lets go and presses anew when the arm had to brake.

#![allow(dead_code, unreachable_pub)] // every test file uses some of it

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use citrange_core::Event;
use citrange_studio::wire::ServerBytes;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect};

/// Far beyond what anything takes, on any machine.
const LONGEST: Duration = Duration::from_secs(120);

pub struct Wheel {
    pub child: Child,
    pub events: Receiver<Value>,
    link: String,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    seq: u64,
    /// Server time and when it came.
    echo: (f64, Instant),
    pub joints: Vec<f32>,
    pub targets: Vec<f32>,
    pub hand_m: [f32; 3],
    /// Seconds of simulation.
    pub time_s: f64,
    /// The last status.
    pub status: Value,
}

impl Wheel {
    pub fn start(folder: &Path, words: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
            .current_dir(folder)
            .args(["drive", "--json", "--listen", "127.0.0.1:0"])
            .args(words.split(' '))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, events) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    break;
                }
            }
        });
        let link = wait_for(&events, "serving")["link"].as_str().unwrap().to_owned();
        let socket = open(&link);
        let mut wheel = Self {
            child,
            events,
            link,
            socket,
            seq: 0,
            echo: (0.0, Instant::now()),
            joints: vec![],
            targets: vec![],
            hand_m: [0.0; 3],
            time_s: 0.0,
            status: Value::Null,
        };
        wheel.look();
        wheel.say(&json!({"type": "take"}));
        wheel
    }

    pub fn say(&mut self, message: &Value) {
        // A line that was cut is found out when something is to be read.
        let _cut = self.socket.send(Message::text(message.to_string()));
    }

    /// Takes in what is said until a state comes.
    pub fn look(&mut self) {
        loop {
            let message = self.socket.read().unwrap();
            if let Message::Text(text) = &message {
                let said: Value = serde_json::from_str(text).unwrap();
                if said["type"] == "status" {
                    self.status = said;
                }
            }
            if let Message::Binary(bytes) = message
                && let Some(ServerBytes::State { live, server_ms }) = ServerBytes::decode(&bytes)
                && !live.joint_pos.is_empty()
            {
                self.echo = (server_ms, Instant::now());
                (self.joints, self.targets, self.hand_m) =
                    (live.joint_pos, live.targets, live.hand_m);
                self.time_s = live.time_s;
                return;
            }
        }
    }

    fn stamped(&mut self, mut message: Value) -> Value {
        message["echo"] = self.echo.0.into();
        message["since"] = (self.echo.1.elapsed().as_secs_f64() * 1e3).into();
        message
    }

    /// Says once what is held.
    pub fn keys(&mut self, held: &[&str]) {
        self.seq += 1;
        let message = self.stamped(json!({"type": "keys", "seq": self.seq, "held": held}));
        self.say(&message);
    }

    /// Holds keys for so many seconds of simulation, and lets go. When the arm brakes meanwhile
    /// (a busy machine), lets go and presses anew, as a person would.
    pub fn drive(&mut self, held: &[&str], sim_seconds: f64) {
        let (from, begun) = (self.time_s, Instant::now());
        while self.time_s < from + sim_seconds {
            assert!(
                begun.elapsed() < LONGEST,
                "{held:?}: {} of {sim_seconds} s",
                self.time_s - from
            );
            let is_braked = self.status["brake"] == true;
            self.keys(if is_braked { &[] } else { held });
            self.look();
        }
        self.keys(&[]);
    }

    /// Holds keys for so many seconds of the wall, whatever becomes of it.
    pub fn insist(&mut self, held: &[&str], seconds: f64) {
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < seconds {
            self.keys(held);
            self.look();
        }
    }

    /// Looks until something is so, saying what is held.
    pub fn until(&mut self, held: &[&str], what: &str, is: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < LONGEST, "{what} never came: {}", self.status);
            self.keys(held);
            self.look();
        }
    }

    pub fn order(&mut self, order: &str) {
        let message = self.stamped(json!({"type": "order", "order": order}));
        self.say(&message);
    }

    /// Sends the autopilot to a target, by its number.
    pub fn fly(&mut self, target: u8) {
        let message = self.stamped(json!({"type": "fly", "target": target}));
        self.say(&message);
    }

    /// Cuts the line without a goodbye.
    pub fn cut(&mut self) {
        let MaybeTlsStream::Plain(stream) = self.socket.get_mut() else { panic!("plain") };
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Comes again on a new line and takes the wheel.
    pub fn come_again(&mut self) {
        self.socket = open(&self.link);
        (self.seq, self.status) = (0, Value::Null);
        let begun = Instant::now();
        while self.status["you_drive"] != true {
            assert!(begun.elapsed() < LONGEST, "the wheel is not given: {}", self.status);
            self.look();
            self.say(&json!({"type": "take"}));
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub fn wait_for(&self, event: &str) -> Value {
        wait_for(&self.events, event)
    }

    /// Its own end: exit code 0 and its last words.
    pub fn end(mut self) -> Value {
        let end = self.wait_for("end");
        assert!(self.child.wait().unwrap().success());
        end
    }
}

impl Drop for Wheel {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _nobody_asks = self.child.wait();
    }
}

fn open(link: &str) -> WebSocket<MaybeTlsStream<TcpStream>> {
    let (origin, query) = link.split_once("/?").unwrap();
    let mut request =
        format!("{}/ws?{query}", origin.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("Origin", origin.parse().unwrap());
    connect(request).unwrap().0
}

fn wait_for(events: &Receiver<Value>, wanted: &str) -> Value {
    let end = Instant::now() + LONGEST;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let event = events.recv_timeout(left).unwrap_or_else(|_| panic!("no {wanted} event"));
        if event["event"] == wanted {
            return event;
        }
    }
}

/// The targets of a tape beside the limits of its robot's description.
pub struct Motion {
    /// Highest speed, acceleration and jerk, as shares of the limits.
    pub most: [f64; 3],
    /// Longest time in which targets moved while nothing counted as held, beyond the first
    /// moments of an episode.
    pub unheld_s: f64,
    /// Time that the limits need from full speed to rest.
    pub stop_s: f64,
    pub stalls: usize,
    pub brakes: usize,
    pub seconds: f64,
}

/// Reads a tape's ticks as a stream of targets, by the limits of the robot's own description.
pub fn motion(root: &Path, episode: usize) -> Motion {
    let dataset = citrange_tape::Dataset::open(root).unwrap();
    let (tape, _) = dataset.tape(episode).unwrap().unwrap();
    let spec = &tape.header.rig;
    let hz = f64::from(spec.rates.control_hz);
    let limits = limits(&spec.robot, spec.joints.iter().map(|j| j.name.as_str()));
    let mut motion = Motion {
        most: [0.0; 3],
        unheld_s: 0.0,
        stop_s: limits.iter().map(|[v, a, j]| v / a + 2.0 * a / j).fold(0.0, f64::max),
        stalls: tape.events.iter().filter(|(_, e)| e.name() == "stall").count(),
        brakes: tape.events.iter().filter(|(_, e)| e.detail()["brake"] == true).count(),
        seconds: tape.ticks.len() as f64 / hz,
    };
    let keys: Vec<(u64, bool)> = tape
        .events
        .iter()
        .filter_map(|(tick, e)| match e {
            Event::Keys(keys) => Some((*tick, keys.sticks.iter().any(|s| *s != 0.0))),
            _ => None,
        })
        .collect();
    let first = &tape.ticks[0].limited;
    let still = vec![0.0; first.len()];
    let (mut pos, mut speed, mut acc) = (first.clone(), still.clone(), still);
    let mut let_go = 0.0_f64;
    for tick in &tape.ticks {
        let is_held = keys.iter().rfind(|(at, _)| *at <= tick.index).is_some_and(|(_, is)| *is);
        let time_s = tick.index as f64 / hz;
        if is_held {
            let_go = time_s;
        }
        for (j, limit) in limits.iter().enumerate() {
            let v = (tick.limited[j] - pos[j]) * hz;
            let a = (v - speed[j]) * hz;
            let shares = [v, a, (a - acc[j]) * hz];
            // Differences of the first ticks are not known: what was in force before is not.
            for (order, (is, limit)) in shares.into_iter().zip(limit).enumerate() {
                if tick.index > order as u64 {
                    motion.most[order] = motion.most[order].max(is.abs() / limit);
                }
            }
            // Taking over the arm's weight in the first moments is no motion of the arm.
            if v != 0.0 && !is_held && time_s > 1.0 {
                motion.unheld_s = motion.unheld_s.max(time_s - let_go.max(1.0));
            }
            (pos[j], speed[j], acc[j]) = (tick.limited[j], v, a);
        }
    }
    motion
}

/// Speed, acceleration and jerk of each joint, read from `models/<robot>/robot.yaml`; a jerk that
/// is not given is the acceleration in 0.1 s.
fn limits<'a>(robot: &str, joints: impl Iterator<Item = &'a str>) -> Vec<[f64; 3]> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(robot).join("robot.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let described: citrange_core::RobotDescription =
        citrange_core::yaml::from_yaml(&text, robot).unwrap();
    let of = |joint: &str| {
        let l = &described.joint_limits[joint];
        let speed = l.velocity_rad_s.or(l.velocity_m_s).unwrap();
        let acc = l.acceleration_rad_s2.or(l.acceleration_m_s2).unwrap();
        [speed, acc, l.jerk_rad_s3.or(l.jerk_m_s3).unwrap_or(acc / 0.1)]
    };
    joints.map(of).collect()
}
