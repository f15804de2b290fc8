//! Looks at the board 30 times a second, once for all viewers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use tokio::time::{Instant, MissedTickBehavior};

use crate::server::Shared;
use crate::wire::{self, Status};

const STATE_HZ: f64 = 30.0;
const STATUS_PERIOD: Duration = Duration::from_millis(200);

/// Publishes states and status for as long as it is polled. Connections take the newest of each
/// when they are ready for it; nothing piles up for those who are slow.
pub(crate) async fn feed(shared: &Arc<Shared>) {
    let mut tick = tokio::time::interval(Duration::from_secs_f64(1.0 / STATE_HZ));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut last_status = Instant::now();
    loop {
        tick.tick().await;
        if shared.viewers.load(Ordering::Acquire) == 0 {
            continue;
        }
        let (state, status) = look(shared);
        shared.states.send_replace(Bytes::from(state));
        let differs = status.differs(&shared.status.borrow());
        if differs || last_status.elapsed() >= STATUS_PERIOD {
            last_status = Instant::now();
            shared.status.send_replace(Arc::new(status));
        }
    }
}

/// What the board shows now: a state message, and the status as all see it.
pub(crate) fn look(shared: &Shared) -> (Vec<u8>, Status) {
    let (driver, stopped_by) = (shared.driver_lock.driver(), shared.driver_lock.stopped_by());
    let viewers = shared.viewers.load(Ordering::Acquire);
    let now_ms = shared.now_ms();
    shared.board.read(|live| {
        let status = Status {
            session: live.session.clone(),
            flight: live.flight.clone(),
            held: live.held.clone(),
            brake: live.brake,
            stalls: live.stalls,
            limited_by: live.limited_by.clone(),
            leader: live.leader.clone(),
            troubles: live.troubles.clone(),
            driver,
            stopped_by,
            viewers,
        };
        (wire::encode_state(live, now_ms), status)
    })
}
