//! A server with a toy loop behind it, and a WebSocket client that can misbehave.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use citrange_core::Picture;
use citrange_studio::wire::ServerBytes;
use citrange_studio::{
    AutopilotInfo, AutopilotStatus, CameraInfo, Sample, SceneInfo, ServeOptions, Server, Telemetry,
    serve,
};
use citrange_teleop::{DriverLock, Key, Order};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Speed of the toy's hand along x when forward is held, and along y when its autopilot works.
pub const SPEED_M_S: f64 = 1.0;

/// A loop that moves one number.
pub struct Rig {
    pub board: Arc<Telemetry>,
    pub driver_lock: Arc<DriverLock>,
    pub server: Server,
    last_moved: Arc<Mutex<Instant>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub fn rig() -> Rig {
    rig_with(ServeOptions::default())
}

pub fn rig_with(mut options: ServeOptions) -> Rig {
    options.listen.set_port(0);
    let camera = CameraInfo { name: "front".into(), width_px: 160, height_px: 120 };
    let stage = SceneInfo {
        scene: "toy".into(),
        bodies: vec!["hand".into()],
        cameras: vec![camera],
        autopilot: Some(AutopilotInfo {
            targets: vec!["apple".into(), "pear".into()],
            states: vec!["FLY"],
        }),
        ..SceneInfo::default()
    };
    let (board, driver_lock) =
        (Telemetry::new(stage), DriverLock::new(DriverLock::LONGEST_SILENCE));
    let server = serve(Arc::clone(&board), Arc::clone(&driver_lock), &options).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let last_moved = Arc::new(Mutex::new(Instant::now()));
    let thread = {
        let (board, driver_lock, stop) =
            (Arc::clone(&board), Arc::clone(&driver_lock), Arc::clone(&stop));
        let last_moved = Arc::clone(&last_moved);
        thread::spawn(move || drive(&board, &driver_lock, &last_moved, &stop))
    };
    Rig { board, driver_lock, server, last_moved, stop, thread: Some(thread) }
}

fn drive(
    board: &Telemetry,
    driver_lock: &DriverLock,
    last_moved: &Mutex<Instant>,
    stop: &AtomicBool,
) {
    let (mut x, mut y) = (0.0, 0.0);
    let mut last = Instant::now();
    let mut tick = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
        let now = Instant::now();
        let grip = driver_lock.grip(now);
        let request = driver_lock.request(now);
        let length_s = (now - last).as_secs_f64();
        let step = SPEED_M_S * grip.held.pushed()[0] * length_s;
        if step != 0.0 || request.is_some() {
            *last_moved.lock().unwrap() = now;
        }
        x += step;
        y += if request.is_some() { SPEED_M_S * length_s } else { 0.0 };
        last = now;
        tick += 1;
        board.write(|live| {
            live.bodies = vec![[x as f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]];
            live.hand_m = [x as f32, y as f32, 0.0];
            live.flight = Some(AutopilotStatus {
                flying: request.is_some(),
                target: request.map(|(_, request)| format!("{request:?}")),
                message: driver_lock.halted().map(|why| why.words().to_owned()).unwrap_or_default(),
                ..AutopilotStatus::default()
            });
            live.seq = grip.seq;
            live.brake = grip.brake;
            live.held = grip.held.keys().map(Key::name).collect();
            if tick.is_multiple_of(6) {
                live.picture_frame += 1;
                live.pictures = vec![Picture::ready(vec![(tick % 251) as u8; 160 * 120 * 3])];
            }
        });
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Rig {
    pub fn token(&self) -> String {
        self.server.link().split_once("token=").unwrap().1.to_owned()
    }

    pub fn host(&self) -> String {
        self.server.address().to_string()
    }

    pub fn x_m(&self) -> f64 {
        self.board.read(|live| f64::from(live.hand_m[0]))
    }

    pub fn y_m(&self) -> f64 {
        self.board.read(|live| f64::from(live.hand_m[1]))
    }

    /// What the autopilot is at.
    pub fn flight(&self) -> AutopilotStatus {
        self.board.read(|live| live.flight.clone()).unwrap()
    }

    /// How long after `since` the hand still moved; waits until it has come to rest.
    pub async fn moved_after(&self, since: Instant) -> Duration {
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(250)).await;
            let last = *self.last_moved.lock().unwrap();
            if last.elapsed() > Duration::from_millis(200) {
                return last.saturating_duration_since(since);
            }
        }
        panic!("it never stops");
    }

    pub fn orders(&self) -> Vec<Order> {
        std::iter::from_fn(|| self.driver_lock.next_order()).collect()
    }

    /// Opens a socket with everything as a browser sends it.
    pub async fn join(&self) -> Client {
        let mut client = self.try_join().await.unwrap();
        let hello = client.json("hello").await;
        assert_eq!(hello["stage"]["scene"], "toy");
        client
    }

    pub async fn try_join(&self) -> Result<Client, Error> {
        let origin = format!("http://{}", self.host());
        self.knock(Some(&self.token()), None, Some(&origin)).await
    }

    /// Opens a socket with these, or without.
    pub async fn knock(
        &self,
        token: Option<&str>,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> Result<Client, Error> {
        let query = token.map(|token| format!("?token={token}")).unwrap_or_default();
        let mut request = format!("ws://{}/ws{query}", self.host()).into_client_request().unwrap();
        if let Some(host) = host {
            request.headers_mut().insert("host", host.parse().unwrap());
        }
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let (socket, _) = tokio_tungstenite::connect_async(request).await?;
        Ok(Client { socket, seq: 0, echo_ms: 0.0, arrived: Instant::now(), pictures: 0, states: 0 })
    }
}

pub struct Client {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub seq: u64,
    pub echo_ms: f64,
    pub arrived: Instant,
    pub pictures: u64,
    pub states: u64,
}

/// What arrived.
#[derive(Debug)]
pub enum Heard {
    State(Box<Sample>),
    Picture(u64),
    Text(Value),
    Closed(String),
}

impl Client {
    /// The next message; `None` when nothing comes for a second.
    pub async fn hear(&mut self) -> Option<Heard> {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(1), self.socket.next()).await;
            return Some(match next.ok()? {
                None | Some(Err(_)) => Heard::Closed(String::new()),
                Some(Ok(Message::Close(frame))) => {
                    Heard::Closed(frame.map(|frame| frame.reason.to_string()).unwrap_or_default())
                }
                Some(Ok(Message::Text(text))) => Heard::Text(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Binary(bytes))) => match ServerBytes::decode(&bytes).unwrap() {
                    ServerBytes::State { live, server_ms } => {
                        assert!(server_ms >= self.echo_ms);
                        (self.echo_ms, self.arrived) = (server_ms, Instant::now());
                        self.states += 1;
                        Heard::State(live)
                    }
                    ServerBytes::Picture { frame, jpeg, .. } => {
                        assert_eq!(jpeg[..2], [0xff, 0xd8]);
                        self.pictures += 1;
                        Heard::Picture(frame)
                    }
                },
                Some(Ok(_)) => continue,
            });
        }
    }

    /// The next text of this type.
    pub async fn json(&mut self, kind: &str) -> Value {
        for _ in 0..1000 {
            match self.hear().await {
                Some(Heard::Text(value)) if value["type"] == kind => return value,
                Some(Heard::Closed(why)) => panic!("closed while waiting for {kind}: {why}"),
                Some(_) => {}
                None => break,
            }
        }
        panic!("no {kind}");
    }

    /// The reason the server closes with.
    pub async fn closed(&mut self) -> String {
        for _ in 0..1000 {
            match self.hear().await {
                Some(Heard::Closed(why)) => return why,
                Some(_) => {}
                None => break,
            }
        }
        panic!("not closed");
    }

    /// Hears everything for a while.
    pub async fn listen(&mut self, time: Duration) {
        let end = tokio::time::sleep(time);
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => return,
                heard = self.hear() => {
                    if let Some(Heard::Closed(why)) = heard {
                        panic!("closed: {why}");
                    }
                }
            }
        }
    }

    pub async fn send(&mut self, value: &Value) {
        self.text(value.to_string()).await;
    }

    pub async fn text(&mut self, text: String) {
        // A server that has closed already is for the test to notice.
        let _ = self.socket.send(Message::text(text)).await;
    }

    /// Takes the wheel; whether it was given.
    pub async fn take(&mut self) -> Value {
        self.send(&json!({"type": "take"})).await;
        self.json("seat").await
    }

    pub fn stamp(&self) -> (f64, f64) {
        (self.echo_ms, self.arrived.elapsed().as_secs_f64() * 1e3)
    }

    pub async fn keys(&mut self, held: &[&str]) {
        let (echo, since) = self.stamp();
        self.keys_stamped(held, echo, since).await;
    }

    pub async fn keys_stamped(&mut self, held: &[&str], echo: f64, since: f64) {
        self.seq += 1;
        let message =
            json!({"type": "keys", "seq": self.seq, "echo": echo, "since": since, "held": held});
        self.send(&message).await;
    }

    pub async fn order(&mut self, order: &str) {
        let (echo, since) = self.stamp();
        self.send(&json!({"type": "order", "order": order, "echo": echo, "since": since})).await;
    }

    pub async fn fly(&mut self, target: Value) {
        let (echo, since) = self.stamp();
        self.send(&json!({"type": "fly", "target": target, "echo": echo, "since": since})).await;
    }

    /// Shows for a while that somebody is there, as the page does.
    pub async fn attend(&mut self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time {
            self.keys(&[]).await;
            self.listen(Duration::from_millis(40)).await;
        }
    }

    /// Holds forward for a while, as the page does.
    pub async fn push(&mut self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time {
            self.keys(&["forward"]).await;
            self.listen(Duration::from_millis(40)).await;
        }
    }
}
