//! What a connection is told: the newest of everything, never a queue of the old.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, close_code};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

use crate::connection::{Ending, Talk, lock};
use crate::feed;
use crate::painter::Pictures;
use crate::server::Shared;
use crate::wire::{self, MOST_PICTURE_HZ, ServerText};
use citrange_teleop::telemetry::{Phase, Watcher};

/// Longest that a message may take to be sent.
const LONGEST_SEND: Duration = Duration::from_secs(5);
/// The first message holds all meshes.
const LONGEST_HELLO: Duration = Duration::from_secs(60);
/// A server that stops does not wait longer than this for one page.
const LONGEST_GOODBYE: Duration = Duration::from_millis(400);
const PING_PERIOD: Duration = Duration::from_secs(2);
const LONGEST_WITHOUT_PONG: Duration = Duration::from_secs(6);
/// Sets of pictures under way to a page. More would fill the line's buffers, and states would
/// wait behind them.
const MOST_SETS: usize = 2;
/// A page that does not say what it has seen gets pictures this far apart.
const UNSEEN_PERIOD: Duration = Duration::from_secs(1);

/// How fast pictures go to one page.
pub(crate) struct Flow {
    period: Duration,
    sent: Option<Instant>,
    /// Frames of the sets under way.
    under_way: VecDeque<u64>,
    /// There while pictures are wanted.
    watching: Option<Watcher>,
}

impl Flow {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let mut flow =
            Self { period: Duration::ZERO, sent: None, under_way: VecDeque::new(), watching: None };
        flow.set_hz(shared, MOST_PICTURE_HZ);
        flow
    }

    /// Wants this many a second, 0 for none.
    pub(crate) fn set_hz(&mut self, shared: &Arc<Shared>, hz: f64) {
        if hz <= 0.0 {
            self.watching = None;
            return;
        }
        // A little less than the period, or the painter's own clock would halve the rate.
        self.period = Duration::try_from_secs_f64(0.9 / hz).unwrap_or(Duration::MAX);
        if self.watching.is_none() {
            self.watching = Some(shared.board.watch());
        }
    }

    /// The page has the set with this frame, and all before it.
    pub(crate) fn seen(&mut self, frame: u64) {
        if let Some(at) = self.under_way.iter().position(|sent| *sent == frame) {
            self.under_way.drain(..=at);
        }
    }

    fn is_open(&self) -> bool {
        let since = self.sent.map_or(Duration::MAX, |sent| sent.elapsed());
        let period = match self.under_way.len() {
            0..MOST_SETS => self.period,
            _ => self.period.max(UNSEEN_PERIOD),
        };
        self.watching.is_some() && since >= period
    }

    fn sent(&mut self, frame: u64) {
        self.sent = Some(Instant::now());
        self.under_way.push_back(frame);
        while self.under_way.len() > MOST_SETS {
            self.under_way.pop_front();
        }
    }
}

type Sink = SplitSink<WebSocket, Message>;

async fn send(sink: &mut Sink, message: Message, longest: Duration) -> Result<(), Ending> {
    match tokio::time::timeout(longest, sink.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Ending::new(close_code::NORMAL, "gone")),
        Err(_) => Err(Ending::new(close_code::POLICY, "the connection is too slow")),
    }
}

/// Tells one connection everything, until it ends.
pub(crate) async fn tell(
    sink: &mut Sink,
    shared: &Arc<Shared>,
    name: &str,
    talk: &Mutex<Talk>,
    answers: &mut mpsc::Receiver<String>,
) -> Ending {
    let Err(ending) = tell_all(sink, shared, name, talk, answers).await;
    ending
}

async fn tell_all(
    sink: &mut Sink,
    shared: &Arc<Shared>,
    name: &str,
    talk: &Mutex<Talk>,
    answers: &mut mpsc::Receiver<String>,
) -> Result<std::convert::Infallible, Ending> {
    let mut stop = shared.stop.subscribe();
    let mut states = shared.states.subscribe();
    let mut status = shared.status.subscribe();
    let mut pictures = shared.pictures.subscribe();
    let hello = Message::text(wire::hello(name, &shared.stage_json));
    send(sink, hello, LONGEST_HELLO).await?;
    lock(talk).heard = Instant::now();
    // Who comes first may be asked for what was shown before; who has seen none wants one now.
    status.mark_changed();
    pictures.mark_changed();
    let mut seen = Vec::new();
    let mut ping = tokio::time::interval(PING_PERIOD);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let open = lock(talk).flow.is_open();
        tokio::select! {
            biased;
            _ = stop.changed() => {
                return Err(last_words(sink, shared, name, talk).await);
            }
            Some(text) = answers.recv() => send(sink, Message::text(text), LONGEST_SEND).await?,
            _ = ping.tick() => {
                if lock(talk).heard.elapsed() >= LONGEST_WITHOUT_PONG {
                    return Err(Ending::new(close_code::POLICY, "no answer to pings"));
                }
                let now = shared.now_ms().to_le_bytes();
                send(sink, Message::Ping(now.to_vec().into()), LONGEST_SEND).await?;
            }
            Ok(()) = states.changed() => {
                let state = states.borrow_and_update().clone();
                send(sink, Message::Binary(state), LONGEST_SEND).await?;
            }
            Ok(()) = status.changed() => {
                let common = Arc::clone(&status.borrow_and_update());
                let text = status_text(&common, shared, name, talk);
                send(sink, Message::text(text), LONGEST_SEND).await?;
            }
            Ok(()) = pictures.changed(), if open => {
                let newest = Arc::clone(&pictures.borrow_and_update());
                tell_pictures(sink, &newest, &mut seen, talk).await?;
            }
        }
    }
}

fn status_text(common: &wire::Status, shared: &Shared, name: &str, talk: &Mutex<Talk>) -> String {
    // Asked now: the wheel may have been taken from its driver a moment ago.
    let you_drive = shared.driver_lock.driver().is_some_and(|driver| driver == name);
    ServerText::Status { common, you_drive, refused: lock(talk).refused }.to_json()
}

/// The newest status once more, so that a page knows how it ended, and why the connection ends.
async fn last_words(
    sink: &mut Sink,
    shared: &Arc<Shared>,
    name: &str,
    talk: &Mutex<Talk>,
) -> Ending {
    let (_, status) = feed::look(shared);
    let is_over = status.session.phase == Phase::Finished;
    let text = status_text(&status, shared, name, talk);
    if let Err(ending) = send(sink, Message::text(text), LONGEST_GOODBYE).await {
        return ending;
    }
    Ending::new(close_code::AWAY, if is_over { "the session is over" } else { "the server stops" })
}

/// Sends the pictures that this page has not seen.
async fn tell_pictures(
    sink: &mut Sink,
    newest: &Pictures,
    seen: &mut Vec<Option<u64>>,
    talk: &Mutex<Talk>,
) -> Result<(), Ending> {
    seen.resize(newest.cameras.len(), None);
    let mut last = None;
    for (picture, seen) in newest.cameras.iter().zip(seen) {
        let Some((frame, message)) = picture else { continue };
        if *seen == Some(*frame) {
            continue;
        }
        send(sink, Message::Binary(message.clone()), LONGEST_SEND).await?;
        *seen = Some(*frame);
        last = Some(*frame);
    }
    if let Some(frame) = last {
        lock(talk).flow.sent(frame);
    }
    Ok(())
}
