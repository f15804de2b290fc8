//! A running `citrange drive --json` and pages in front of it.
#![allow(dead_code, unreachable_pub)] // every test file uses some of it

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use citrange_studio::wire::ServerBytes;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, connect};

/// Longest that anything may take on a busy machine.
pub const LONGEST: Duration = Duration::from_secs(120);

/// A running drive.
pub struct Running {
    pub child: Child,
    events: Receiver<Value>,
    pub serving: Value,
}

impl Running {
    pub fn start(folder: &Path, words: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_citrange"))
            .current_dir(folder)
            .args(["drive", "--json"])
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
        let mut running = Self { child, events, serving: Value::Null };
        running.serving = running.wait_for("serving");
        running
    }

    pub fn link(&self) -> &str {
        self.serving["link"].as_str().unwrap()
    }

    /// The next event of this kind; others are passed over.
    pub fn wait_for(&self, wanted: &str) -> Value {
        let end = Instant::now() + LONGEST;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let event =
                self.events.recv_timeout(left).unwrap_or_else(|_| panic!("no {wanted} event"));
            if event["event"] == wanted {
                return event;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _nobody_asks = self.child.wait();
    }
}

/// One page.
pub struct Page {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    pub hello: Value,
    /// Server time and when it came.
    echo: (f64, Instant),
    seq: u64,
    pub joints: Vec<f32>,
    pub targets: Vec<f32>,
    pub hand_m: [f32; 3],
    /// Seconds of simulation.
    pub time_s: f64,
    /// The last status.
    pub status: Value,
}

impl Page {
    pub fn open(link: &str) -> Self {
        Self::try_open(link).unwrap()
    }

    pub fn try_open(link: &str) -> Result<Self, Error> {
        let mut page = Self {
            socket: socket(link)?,
            hello: Value::Null,
            echo: (0.0, Instant::now()),
            seq: 0,
            joints: vec![],
            targets: vec![],
            hand_m: [0.0; 3],
            time_s: 0.0,
            status: Value::Null,
        };
        page.hello = page.text("hello");
        page.look();
        Ok(page)
    }

    pub fn say(&mut self, message: &Value) {
        // A line that was cut is found out when something is to be read.
        let _cut = self.socket.send(Message::text(message.to_string()));
    }

    /// The next message; texts are answered, states and the last status are taken in.
    fn hear(&mut self) -> Option<Value> {
        match self.socket.read().ok()? {
            Message::Text(text) => {
                let said: Value = serde_json::from_str(&text).unwrap();
                if said["type"] == "status" {
                    self.status = said.clone();
                }
                Some(said)
            }
            Message::Binary(bytes) => {
                if let Some(ServerBytes::State { live, server_ms }) = ServerBytes::decode(&bytes) {
                    self.echo = (server_ms, Instant::now());
                    let joints = live.joint_pos.len();
                    (self.joints, self.targets) = (live.joint_pos, live.targets);
                    (self.time_s, self.hand_m) = (live.time_s, live.hand_m);
                    return Some(json!({"type": "state", "joints": joints}));
                }
                Some(Value::Null)
            }
            _ => Some(Value::Null),
        }
    }

    /// The next text of this type.
    pub fn text(&mut self, kind: &str) -> Value {
        let end = Instant::now() + LONGEST;
        while Instant::now() < end {
            let said = self.hear().unwrap_or_else(|| panic!("closed while waiting for {kind}"));
            if said["type"] == kind {
                return said;
            }
        }
        panic!("no {kind}");
    }

    /// Takes in what is said until a state comes.
    pub fn look(&mut self) {
        while self.text("state")["joints"] == 0 {}
    }

    /// Cuts the line without a goodbye.
    pub fn cut(&mut self) {
        let MaybeTlsStream::Plain(stream) = self.socket.get_mut() else { panic!("plain") };
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Waits for a status that is as wanted; meanwhile holds these keys, as a page does.
    pub fn until(&mut self, held: &[&str], wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LONGEST;
        let mut last = Value::Null;
        while Instant::now() < end {
            if !held.is_empty() {
                self.keys(held);
            }
            let said = self.hear().expect("closed");
            if said["type"] == "status" {
                if wanted(&said) {
                    return said;
                }
                last = said;
            }
        }
        panic!("it never came to that: {last}");
    }

    /// Everything until the connection ends; answers the last status, also if it came before.
    pub fn last_status(&mut self) -> Value {
        while self.hear().is_some() {}
        self.status.clone()
    }

    pub fn take(&mut self) {
        self.say(&json!({"type": "take"}));
        let seat = self.text("seat");
        assert_eq!(seat["driving"], true, "{seat}");
    }

    pub fn cameras(&mut self, hz: u32) {
        self.say(&json!({"type": "cameras", "hz": hz}));
    }

    /// Says it with the time that the page knows.
    pub fn say_now(&mut self, mut message: Value) {
        message["echo"] = self.echo.0.into();
        message["since"] = (self.echo.1.elapsed().as_secs_f64() * 1e3).into();
        self.say(&message);
    }

    /// Says once what is held.
    pub fn keys(&mut self, held: &[&str]) {
        self.seq += 1;
        self.say_now(json!({"type": "keys", "seq": self.seq, "held": held}));
    }

    /// Gives an order; on a busy machine it may be too old on arrival, and is given again until
    /// the session's phase has changed as wanted.
    pub fn order(&mut self, order: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..5 {
            self.look();
            self.say_now(json!({"type": "order", "order": order}));
            let end = Instant::now() + Duration::from_secs(30);
            while Instant::now() < end {
                let Some(said) = self.hear() else { return Value::Null };
                if said["type"] == "status" && wanted(&said["session"]) {
                    return said;
                }
                if said["type"] == "error" && said["message"].to_string().contains("too slow") {
                    break;
                }
            }
        }
        panic!("{order} has no effect");
    }
}

/// The socket behind a link, as a page opens it.
pub fn socket(link: &str) -> Result<WebSocket<MaybeTlsStream<TcpStream>>, Error> {
    let (origin, query) = link.split_once("/?").unwrap();
    let mut request =
        format!("{}/ws?{query}", origin.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("Origin", origin.parse().unwrap());
    let (mut socket, _) = connect(request)?;
    let MaybeTlsStream::Plain(stream) = socket.get_mut() else { panic!("plain") };
    stream.set_read_timeout(Some(LONGEST)).unwrap();
    Ok(socket)
}

/// One request over a connection of its own, the whole answer.
pub fn ask(host: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(LONGEST)).unwrap();
    let request = format!("{head}\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Host and path of a link.
pub fn parts(link: &str) -> (&str, &str) {
    let (host, path) = link.strip_prefix("http://").unwrap().split_once('/').unwrap();
    (host, path)
}
