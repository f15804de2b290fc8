//! One connection: what it may say, and what follows from it.
//!
//! The driver's ticket lives in [`listen`]: when the connection ends, however it ends, the ticket
//! is dropped and the arm brakes.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use citrange_teleop::{Order, Ticket};
use futures_util::stream::SplitStream;
use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::age::{AgeGate, OLDEST_KEYS_MS, OLDEST_ORDER_MS};
use crate::outbox::{self, Flow};
use crate::protocol::{Aim, ClientMessage, Stamp};
use crate::request::request;
use crate::server::{Counted, Shared};
use crate::wire::{Refused, ServerText};

/// Most messages in a second.
const MOST_PER_SECOND: u32 = 200;
/// Bad messages after which a connection is closed.
const MOST_BAD: u64 = 50;
/// Bad messages that are answered.
const ANSWERED: u64 = 5;
/// Answers that may wait.
const MOST_ANSWERS: usize = 16;
/// How long an ended connection gets to take the reason.
const GOODBYE: Duration = Duration::from_secs(1);

/// Why a connection ends.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) code: u16,
    pub(crate) reason: Cow<'static, str>,
}

impl Ending {
    pub(crate) fn new(code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: reason.into() }
    }
}

/// What the two directions of a connection tell each other.
pub(crate) struct Talk {
    pub(crate) refused: Refused,
    pub(crate) heard: Instant,
    pub(crate) flow: Flow,
}

/// Locks it; nothing done under the lock can leave it half done.
pub(crate) fn lock(talk: &Mutex<Talk>) -> MutexGuard<'_, Talk> {
    talk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one connection until it ends.
pub(crate) async fn run(socket: WebSocket, shared: Arc<Shared>, place: Counted) {
    let number = shared.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let name = format!("viewer {number}");
    let (mut sink, mut stream) = socket.split();
    let (answers, mut waiting) = mpsc::channel(MOST_ANSWERS);
    let talk = Mutex::new(Talk {
        refused: Refused::default(),
        heard: Instant::now(),
        flow: Flow::new(&shared),
    });
    let mut ear = Ear {
        name: &name,
        shared: &shared,
        talk: &talk,
        answers,
        ticket: None,
        age: AgeGate::new(),
        second: Instant::now(),
        in_second: 0,
    };
    let ending = tokio::select! {
        ending = listen(&mut stream, &mut ear) => ending,
        ending = outbox::tell(&mut sink, &shared, &name, &talk, &mut waiting) => ending,
    };
    // Nothing may keep the wheel while goodbyes are said.
    drop(ear);
    drop(talk);
    let reason = ending.reason.as_ref().into();
    let close = Message::Close(Some(CloseFrame { code: ending.code, reason }));
    let goodbye = async {
        while let Ok(text) = waiting.try_recv() {
            if sink.send(Message::text(text)).await.is_err() {
                return;
            }
        }
        if sink.send(close).await.is_ok() {
            // Closing on unread bytes would lose the reason on its way.
            while let Some(Ok(_)) = stream.next().await {}
        }
    };
    // Whether it was heard does not matter any more.
    let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    drop(place);
}

/// Hears one connection.
struct Ear<'a> {
    name: &'a str,
    shared: &'a Arc<Shared>,
    talk: &'a Mutex<Talk>,
    answers: mpsc::Sender<String>,
    ticket: Option<Ticket>,
    age: AgeGate,
    second: Instant,
    in_second: u32,
}

async fn listen(stream: &mut SplitStream<WebSocket>, ear: &mut Ear<'_>) -> Ending {
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => return Ending::new(close_code::SIZE, error.to_string()),
        };
        let heard = match message {
            _ if ear.is_flooded() => {
                let reason = format!("more than {MOST_PER_SECOND} messages in a second");
                return Ending::new(close_code::POLICY, reason);
            }
            Message::Text(text) => match ClientMessage::parse(&text) {
                Ok(message) => ear.follow(message),
                Err(why) => ear.complain(why),
            },
            Message::Binary(_) => ear.complain("binary messages are not understood".into()),
            Message::Pong(bytes) => ear.pong(&bytes),
            Message::Ping(_) => None,
            Message::Close(_) => break,
        };
        if let Some(ending) = heard {
            return ending;
        }
    }
    Ending::new(close_code::NORMAL, "bye")
}

impl Ear<'_> {
    fn is_flooded(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.in_second) = (Instant::now(), 0);
        }
        self.in_second += 1;
        self.in_second > MOST_PER_SECOND
    }

    fn answer(&self, text: &ServerText<'_>) {
        // When many answers wait already, this one is not what is missing.
        let _ = self.answers.try_send(text.to_json());
    }

    fn complain(&mut self, why: String) -> Option<Ending> {
        let count = {
            let bad = &mut lock(self.talk).refused.bad;
            *bad += 1;
            *bad
        };
        if count <= ANSWERED {
            self.answer(&ServerText::Error { message: format!("message not understood: {why}") });
        }
        (count >= MOST_BAD)
            .then(|| Ending::new(close_code::POLICY, format!("{count} messages made no sense")))
    }

    fn pong(&mut self, bytes: &[u8]) -> Option<Ending> {
        let Ok(sent) = bytes.try_into().map(f64::from_le_bytes) else {
            return self.complain("a pong to no ping of ours".into());
        };
        let round = self.shared.now_ms() - sent;
        if !round.is_finite() || round < 0.0 {
            return self.complain("a pong to no ping of ours".into());
        }
        self.age.learn(round);
        lock(self.talk).heard = Instant::now();
        None
    }

    fn follow(&mut self, message: ClientMessage) -> Option<Ending> {
        // Somebody may have stopped the arm: then the wheel has to be taken anew.
        if self.ticket.as_ref().is_some_and(|ticket| !ticket.drives()) {
            self.ticket = None;
        }
        match message {
            ClientMessage::Take => self.take(),
            ClientMessage::Leave => self.leave(),
            // For everybody who has the token, and never too late.
            ClientMessage::Stop => self.shared.driver_lock.stop_all(self.name),
            ClientMessage::Keys { seq, stamp, held } => {
                let age = self.age.age_ms(stamp, self.shared.now_ms());
                let Some(ticket) = &self.ticket else {
                    self.not_driving();
                    return None;
                };
                if age.is_some_and(|age| age <= OLDEST_KEYS_MS) {
                    ticket.hold(held, seq);
                } else if held.is_nothing() {
                    // Letting go is never too late, but does not show that somebody is there.
                    ticket.let_go(seq);
                } else {
                    lock(self.talk).refused.old += 1;
                }
            }
            ClientMessage::Order { order, stamp } => {
                let age = self.age.age_ms(stamp, self.shared.now_ms());
                let Some(ticket) = &self.ticket else {
                    self.not_driving();
                    return None;
                };
                if order == Order::Stop || age.is_some_and(|age| age <= OLDEST_ORDER_MS) {
                    ticket.order(order);
                } else {
                    self.too_slow();
                }
            }
            ClientMessage::Fly { aim, stamp } => self.fly(&aim, stamp),
            ClientMessage::Halt { why } => match &self.ticket {
                // Stopping is never too late.
                Some(ticket) => ticket.halt(why),
                None => self.not_driving(),
            },
            ClientMessage::Cameras { hz } => lock(self.talk).flow.set_hz(self.shared, hz),
            ClientMessage::Seen { frame } => lock(self.talk).flow.seen(frame),
        }
        None
    }

    /// Sends the autopilot, if this is the driver, now, and there is such a target.
    fn fly(&mut self, aim: &Aim, stamp: Stamp) {
        let age = self.age.age_ms(stamp, self.shared.now_ms());
        let Some(ticket) = &self.ticket else {
            self.not_driving();
            return;
        };
        // It moves the arm: as fresh as a key.
        if age.is_none_or(|age| age > OLDEST_KEYS_MS) {
            self.too_slow();
            return;
        }
        let sent = request(aim, self.shared.board.stage.autopilot.as_ref())
            .and_then(|request| ticket.send(request).map_err(|busy| busy.to_string()));
        if let Err(message) = sent {
            self.answer(&ServerText::Error { message });
        }
    }

    fn too_slow(&mut self) {
        lock(self.talk).refused.old += 1;
        let message = "the connection was too slow for that; press it again".into();
        self.answer(&ServerText::Error { message });
    }

    fn not_driving(&mut self) {
        let count = {
            let count = &mut lock(self.talk).refused.not_driving;
            *count += 1;
            *count
        };
        if count <= ANSWERED {
            let message = "you are not driving: take the wheel first".into();
            self.answer(&ServerText::Error { message });
        }
    }

    fn take(&mut self) {
        let mut message = "you drive".to_owned();
        if self.ticket.is_none() {
            match self.shared.driver_lock.take(self.name) {
                Ok(ticket) => self.ticket = Some(ticket),
                Err(taken) => message = taken.to_string(),
            }
        }
        self.tell_seat(message);
    }

    fn leave(&mut self) {
        self.ticket = None;
        self.tell_seat("you do not drive any more".into());
    }

    fn tell_seat(&self, message: String) {
        let driving = self.ticket.is_some();
        self.answer(&ServerText::DriverLock {
            driving,
            driver: self.shared.driver_lock.driver(),
            message,
        });
    }
}
