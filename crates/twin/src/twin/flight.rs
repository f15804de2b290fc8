//! The arm in motion: what was sent is proved, slowed, replaced, stopped, brought to its end.

use std::time::Instant;

use citrange_core::Notes;
use citrange_plan::Trajectory;

use super::Twin;
use crate::cause::Cause;
use crate::error::TwinError;
use crate::guard::Blocked;
use crate::settings::Unknown;
use crate::state::State;

/// Within this of its goal a joint is there, rad.
const THERE_RAD: f64 = 0.5 * std::f64::consts::PI / 180.0;
/// Changes of speed smaller than this are not worth a message to the driver.
const SAME_RATE: f64 = 0.02;
/// Ticks that a message to the driver takes at most before it has an effect.
const LEAD_TICKS: f64 = 2.0;

/// A motion that was sent.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) id: u64,
    /// As it is carried out, with everything that changed it since.
    pub(super) motion: Trajectory,
    /// Fraction of its planned speed that it was told to have.
    pub(super) rate: f64,
    /// Another way is being made: it leaves the motion at this time of it, from rest there.
    pub(super) seam: Option<Seam>,
    /// How far off the motion the arm was when it was proved.
    pub(super) proved_off_rad: f64,
}

/// Another way in the making.
#[derive(Clone, Debug)]
pub(super) struct Seam {
    pub(super) at_s: f64,
    pub(super) ready_ns: u64,
    pub(super) next: Option<Trajectory>,
}

impl Flight {
    pub(super) fn new(id: u64, motion: Trajectory) -> Self {
        Self { id, motion, rate: 1.0, seam: None, proved_off_rad: 0.0 }
    }
}

impl Twin {
    pub(super) fn moving(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let Some(now_s) = self.driver.time_s() else {
            self.go(State::Settling, Cause::MotionOver, notes);
            return Ok(());
        };
        if self.flight.as_ref().is_none_or(|flight| now_s >= flight.motion.duration_s()) {
            self.go(State::Settling, Cause::MotionOver, notes);
            return Ok(());
        }
        if let Some(why) = self.not_following(now_s) {
            return self.stop(why, notes);
        }
        if self.must_prove(now_s) {
            let began = Instant::now();
            if self.has_new_map {
                self.show_guard_the_map()?;
            }
            let blocked = self.prove(now_s)?;
            if self.has_new_map {
                self.timings.guard_s.push(began.elapsed().as_secs_f64());
            }
            if let Some(blocked) = blocked {
                let why = Cause::Blocked { in_s: blocked.in_s, what: blocked.what.clone() };
                if blocked.is_near {
                    return self.stop(why, notes);
                }
                if self.state() != State::Replanning {
                    return self.replan(now_s, &blocked, why, notes);
                }
            } else if self.state() == State::Replanning {
                // What was in the way is gone.
                if let Some(flight) = &mut self.flight {
                    flight.seam = None;
                }
                self.go(State::Moving, Cause::Clear, notes);
            }
        }
        if self.state() == State::Replanning {
            return self.join(now_s, notes);
        }
        self.adapt_speed(now_s, notes)
    }

    /// With every map, and as soon as the arm is farther off than what was proved.
    fn must_prove(&self, now_s: f64) -> bool {
        let Some(flight) = &self.flight else { return false };
        let lag_s = self.settings.guard.lag_s;
        let off = |time_s: f64| {
            let wanted = flight.motion.sample(time_s).positions;
            let off = wanted.iter().zip(self.mirror.pos()).map(|(w, m)| (w - m).abs());
            off.fold(0.0, f64::max)
        };
        let off_rad = (0..=4).map(|n| off(now_s - lag_s * f64::from(n) / 4.0));
        self.has_new_map || off_rad.fold(f64::INFINITY, f64::min) > flight.proved_off_rad
    }

    fn prove(&mut self, now_s: f64) -> Result<Option<Blocked>, TwinError> {
        let Some(flight) = &mut self.flight else { return Ok(None) };
        let lag_s = self.mirror.delay_s();
        let measured = self.mirror.pos().to_vec();
        let blocked = self.guard.prove(&flight.motion, now_s, &measured, lag_s)?;
        flight.proved_off_rad = self.settings.guard.off_rad.max(1.5 * flight.proved_off_rad);
        Ok(blocked)
    }

    /// Why the arm does not follow, once it has not for long enough.
    fn not_following(&mut self, now_s: f64) -> Option<Cause> {
        let flight = self.flight.as_ref()?;
        let late_s = now_s - self.settings.guard.lag_s;
        let span = [flight.motion.sample(now_s), flight.motion.sample(late_s)];
        let off = self.mirror.pos().iter().enumerate().map(|(joint, at)| {
            let [a, b] = [span[0].positions[joint], span[1].positions[joint]];
            let off = if *at < a.min(b) { a.min(b) - at } else { (at - a.max(b)).max(0.0) };
            (joint, off)
        });
        let worst = off.fold((0, 0.0), |worst, this| if this.1 > worst.1 { this } else { worst });
        let guard = &self.settings.guard;
        if worst.1 <= guard.lost_rad {
            self.lost_since_ns = None;
            return None;
        }
        let since = *self.lost_since_ns.get_or_insert(self.now_ns);
        let for_s = self.now_ns.saturating_sub(since) as f64 * 1e-9;
        (for_s >= guard.lost_for_s).then(|| {
            let joint = self.mirror.names()[worst.0].clone();
            Cause::NotFollowing { joint, off_rad: worst.1 }
        })
    }

    /// How soon a change can take effect.
    fn lead_s(&self) -> f64 {
        let embedded = &self.settings.embedded;
        embedded.driver_latency_s + LEAD_TICKS / f64::from(embedded.joints_hz.max(1))
    }

    /// Comes to rest along the path that was proved.
    pub(super) fn stop(&mut self, why: Cause, notes: &mut Notes) -> Result<(), TwinError> {
        if let (Some(now_s), Some(flight)) = (self.driver.time_s(), &mut self.flight) {
            let from_s = now_s + {
                let embedded = &self.settings.embedded;
                embedded.driver_latency_s + LEAD_TICKS / f64::from(embedded.joints_hz.max(1))
            };
            flight.motion = flight.motion.stopped(from_s, self.guard.limits())?;
            (flight.rate, flight.seam) = (0.0, None);
            self.driver.replace(flight.id, &flight.motion);
            self.react(from_s - now_s);
        }
        if let Some(tally) = &mut self.goal {
            tally.stops += 1;
        }
        self.count(&why);
        self.go(State::Stopping, why, notes);
        Ok(())
    }

    /// Notes how long it took from a frame's time to a changed motion, where a frame was it.
    fn react(&mut self, lead_s: f64) {
        let delay_s = self.timings.frame_delay_s;
        if let Some(tally) = self.goal.as_mut().filter(|_| self.has_new_map) {
            tally.reactions_s.push(delay_s + lead_s);
        }
    }

    /// Looks for another way, which leaves this one late enough to be taken.
    fn replan(
        &mut self,
        now_s: f64,
        blocked: &Blocked,
        why: Cause,
        notes: &mut Notes,
    ) -> Result<(), TwinError> {
        let at_s = now_s + self.settings.guard.t_react_s;
        let Some(flight) = &self.flight else { return Ok(()) };
        let stopped = flight.motion.stopped(at_s, self.guard.limits())?;
        if stopped.duration_s() - now_s >= blocked.in_s {
            return self.stop(why, notes);
        }
        let start = stopped.goal().to_vec();
        let way = self.find(&start)?;
        let ready_ns = self.now_ns + (self.settings.embedded.plan_latency_s * 1e9) as u64;
        let next = way.and_then(|way| way.trajectory);
        let has_next = next.is_some();
        if let Some(flight) = &mut self.flight {
            flight.seam = Some(Seam { at_s, ready_ns, next });
        }
        self.count(&why);
        self.react(at_s - now_s);
        if has_next {
            self.go(State::Replanning, why, notes);
            return Ok(());
        }
        // No way around: on as far as is free would only be nearer to it.
        self.stop(why, notes)
    }

    /// Takes the other way as soon as it is there.
    fn join(&mut self, now_s: f64, notes: &mut Notes) -> Result<(), TwinError> {
        let lead_s = self.lead_s();
        let Some(flight) = &mut self.flight else { return Ok(()) };
        let Some(seam) = flight.seam.as_ref().filter(|seam| self.now_ns >= seam.ready_ns) else {
            return Ok(());
        };
        let late = Cause::TimeOver { limit_s: self.settings.limits.replan_s };
        let (at_s, next) = (seam.at_s, seam.next.clone());
        let Some(next) = next.filter(|_| at_s >= now_s + lead_s) else {
            return self.stop(late, notes);
        };
        let limits = self.guard.limits().to_vec();
        let joined = flight.motion.joined(at_s, &next, &limits, self.guard.collider());
        let Ok(joined) = joined else { return self.stop(late, notes) };
        let measured = self.mirror.pos().to_vec();
        let lag_s = self.mirror.delay_s();
        let blocked = self.guard.prove(&joined.trajectory, now_s, &measured, lag_s)?;
        if let Some(blocked) = blocked {
            let why = Cause::Blocked { in_s: blocked.in_s, what: blocked.what };
            return self.stop(why, notes);
        }
        flight.motion = joined.trajectory;
        (flight.seam, flight.rate) = (None, 1.0);
        self.driver.replace(flight.id, &flight.motion);
        if let Some(tally) = &mut self.goal {
            tally.replans += 1;
        }
        let why = Cause::Replanned { seam_s: joined.seam_s - now_s, stops: joined.stops };
        self.go(State::Moving, why, notes);
        Ok(())
    }

    /// As fast as what is known allows.
    fn adapt_speed(&mut self, now_s: f64, notes: &mut Notes) -> Result<(), TwinError> {
        let (share, why) = self.allowed_share(now_s)?;
        let lead_s = self.lead_s();
        let Some(flight) = &mut self.flight else { return Ok(()) };
        if share <= 0.0 {
            return self.stop(why.unwrap_or(Cause::Clear), notes);
        }
        if (share - flight.rate).abs() > SAME_RATE {
            let is_slower = share < flight.rate;
            let from_s = now_s + lead_s;
            flight.motion = flight.motion.at_rate(from_s, share, self.guard.limits())?;
            flight.rate = share;
            self.driver.replace(flight.id, &flight.motion);
            if is_slower {
                self.react(lead_s);
            }
        }
        match (self.state(), why) {
            (State::Moving, Some(why)) => {
                self.count(&why);
                self.go(State::Slowing, why, notes);
            }
            (State::Slowing, None) => self.go(State::Moving, Cause::Clear, notes),
            _ => {}
        }
        Ok(())
    }

    /// Fraction of the planned speed that is allowed now, and why it is not all of it.
    fn allowed_share(&mut self, now_s: f64) -> Result<(f64, Option<Cause>), TwinError> {
        let guard = &self.settings.guard;
        let mut share = (1.0, None);
        let mut at_most = |most: f64, why: Cause| {
            if most < share.0 {
                share = (most, Some(why));
            }
        };
        let (age_s, camera) = self.eyes.age_s(self.now_ns);
        if age_s > guard.map_slow_s {
            let most = if age_s > guard.map_stop_s { 0.0 } else { guard.slow_share };
            at_most(most, Cause::MapOld { age_s, camera: camera.to_owned() });
        }
        if let Some([distance_m, speed_m_s]) = self.guard.nearest_moving(self.mirror.pos())? {
            let rows = guard.separation.iter().filter(|row| distance_m < row.nearer_m);
            let most = rows.map(|row| row.share).fold(1.0, f64::min);
            at_most(most, Cause::MovingThing { distance_m, speed_m_s });
        }
        if let Some(flight) = self.flight.as_ref().filter(|_| guard.see_again_s < 60.0) {
            let (is_static, unknown) = (self.settings.static_map, self.settings.unknown);
            let is_static = is_static || unknown == Unknown::Free;
            let cells =
                self.guard.unseen_ahead(&flight.motion, now_s, self.now_ns, is_static, unknown)?;
            if cells > 0 {
                at_most(guard.slow_share, Cause::UnknownAhead { cells });
            }
        }
        if self.eyes.suspect() {
            let camera = "a camera".to_owned();
            at_most(guard.slow_share, Cause::CameraMoved { camera, shift_m: None });
        }
        Ok(share)
    }

    pub(super) fn stopping(&mut self, notes: &mut Notes) {
        let is_over = match (self.driver.time_s(), &self.flight) {
            (Some(now_s), Some(flight)) => now_s >= flight.motion.duration_s(),
            _ => true,
        };
        // Where joints are silent the driver's word is all that there is.
        let is_silent = self.mirror.age_s(self.now_ns) > self.settings.guard.joints_stop_s;
        if is_over && (self.is_at_rest() || is_silent) {
            let why = self.machine.why().clone();
            self.flight = None;
            self.driver.cancel();
            self.go(State::Holding, why, notes);
        }
    }

    /// How far the farthest joint is from the end of the motion.
    pub(super) fn off_goal_rad(&self) -> f64 {
        let Some(flight) = &self.flight else { return 0.0 };
        let off = flight.motion.goal().iter().zip(self.mirror.pos());
        off.map(|(goal, at)| (goal - at).abs()).fold(0.0, f64::max)
    }

    pub(super) fn settling(&mut self, notes: &mut Notes) {
        let off_rad = self.off_goal_rad();
        if off_rad <= THERE_RAD && self.is_at_rest() {
            self.flight = None;
            self.land(&Cause::Reached { off_rad }, true);
            self.go(State::Ready, Cause::Reached { off_rad }, notes);
        }
    }
}
