//! How goals stand, from what the server says and from what it does not say. Pure: time is given.

use std::fmt;
use std::time::{Duration, Instant};

use crate::message::{ActionResult, GoalStatusArray, Status};

/// How long a server may be silent before its goals are in doubt, and how long after a terminal
/// status (or after a goal vanished) its result may come.
const SILENCE: Duration = Duration::from_secs(1);
/// How long a goal may be on its way.
const HEARD_WITHIN: Duration = Duration::from_secs(2);
/// How much later than its trajectory and tolerance say a goal may end.
const SPARE_S: f64 = 1.0;
/// What controllers allow where the goal does not say.
const USUAL_GRACE_S: f64 = 0.6;

/// How a goal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalEnd {
    /// The arm is there.
    Succeeded,
    /// It was not begun.
    Rejected {
        /// One of [`crate::message::error_code`].
        code: i32,
        /// In the controller's words.
        text: String,
    },
    /// It was begun and failed.
    Aborted {
        /// One of [`crate::message::error_code`].
        code: i32,
        /// In the controller's words.
        text: String,
    },
    /// It ended because we cancelled it or sent another.
    Preempted,
    /// Another client's goal or cancel ended it.
    TakenOver,
    /// The server says how it ended, but its result never came.
    ResultLost {
        /// How, where it said so.
        status: Option<Status>,
    },
    /// The server never said that it heard of it.
    NeverHeard,
    /// The server closed its connections.
    ServerGone,
    /// It should have ended long ago.
    Late,
}

impl fmt::Display for GoalEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |f: &mut fmt::Formatter<'_>, word: &str, code: i32, text: &str| {
            let meaning = match code {
                -1 => "no valid goal, or the controller is not running",
                -2 => "joints are not the controller's",
                -3 => "it lies in the past",
                -4 => "the arm was too far from its path",
                -5 => "the arm did not come to the goal in time",
                _ => "without a known code",
            };
            match text.is_empty() {
                true => write!(f, "the controller {word} it: {meaning} ({code})"),
                false => write!(f, "the controller {word} it: {text} ({code}: {meaning})"),
            }
        };
        match self {
            Self::Succeeded => f.write_str("done"),
            Self::Rejected { code, text } => said(f, "refused", *code, text),
            Self::Aborted { code, text } => said(f, "gave up", *code, text),
            Self::Preempted => f.write_str("ended for another goal of ours"),
            Self::TakenOver => f.write_str("another client took the arm over"),
            Self::ResultLost { status: Some(status) } => {
                write!(f, "it ended ({status:?}), but its result was lost")
            }
            Self::ResultLost { status: None } => {
                f.write_str("the controller knows it no more, and its result was lost")
            }
            Self::NeverHeard => f.write_str("the controller never heard of it"),
            Self::ServerGone => f.write_str("the driver closed its connections"),
            Self::Late => f.write_str("it did not end in time"),
        }
    }
}

/// What happened to a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalEvent {
    /// The server carries it out.
    Accepted {
        /// Which.
        id: String,
    },
    /// The server has been silent for a second.
    Doubtful {
        /// Which.
        id: String,
    },
    /// It speaks again, and still has it.
    Sure {
        /// Which.
        id: String,
    },
    /// It is over.
    Finished {
        /// Which.
        id: String,
        /// How.
        end: GoalEnd,
    },
}

#[derive(Debug)]
struct Goal {
    id: String,
    sent_at: Instant,
    /// Seconds of its trajectory that must have passed at the arm's own speed, and those that it may
    /// take beyond.
    plan_s: f64,
    grace_s: f64,
    /// Seconds of its trajectory so far.
    progress_s: f64,
    progressed_at: Instant,
    /// It or one after it ended by our own will.
    is_given_up: bool,
    is_accepted: bool,
    is_doubtful: bool,
    was_listed: bool,
    missing_since: Option<Instant>,
    terminal: Option<(Status, Instant)>,
}

/// The goals of one client.
#[derive(Debug, Default)]
pub struct GoalTracker {
    goals: Vec<Goal>,
    events: Vec<GoalEvent>,
    status_at: Option<Instant>,
    /// Goals are listed when they change, not all the time.
    is_quiet: bool,
}

impl GoalTracker {
    /// Of a server that lists its goals only when they change (ROS 2): its silence says nothing.
    #[must_use]
    pub fn without_heartbeat() -> Self {
        Self { is_quiet: true, ..Self::default() }
    }

    /// The server answered that it has a goal.
    pub fn accepted(&mut self, id: &str) {
        if let Some(goal) = self.goals.iter_mut().find(|goal| goal.id == id) {
            goal.was_listed = true;
            if !goal.is_accepted {
                goal.is_accepted = true;
                self.events.push(GoalEvent::Accepted { id: id.to_owned() });
            }
        }
    }

    /// A goal goes out whose trajectory takes so long, with so much time to spare. Those before it
    /// end for it.
    pub fn sent(&mut self, id: &str, plan_s: f64, grace_s: f64, now: Instant) {
        self.goals.iter_mut().for_each(|goal| goal.is_given_up = true);
        self.goals.push(Goal {
            id: id.to_owned(),
            sent_at: now,
            plan_s,
            // Not said is the controller's own.
            grace_s: if grace_s > 0.0 { grace_s } else { USUAL_GRACE_S } + SPARE_S,
            progress_s: 0.0,
            progressed_at: now,
            is_given_up: false,
            is_accepted: false,
            is_doubtful: false,
            was_listed: false,
            missing_since: None,
            terminal: None,
        });
    }

    /// A cancel goes out: of one goal, or of all.
    pub fn cancelled(&mut self, id: Option<&str>) {
        let meant = self.goals.iter_mut().filter(|goal| id.is_none_or(|id| goal.id == id));
        meant.for_each(|goal| goal.is_given_up = true);
    }

    /// Goals that are not over.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.goals.iter().map(|goal| goal.id.as_str())
    }

    /// The server says how its goals stand.
    pub fn heard_status(&mut self, all: &GoalStatusArray, now: Instant) {
        self.status_at = Some(now);
        let mut over = Vec::new();
        for goal in &mut self.goals {
            let found = all.status_list.iter().find(|status| status.goal_id.id == goal.id);
            if goal.is_doubtful {
                goal.is_doubtful = false;
                self.events.push(GoalEvent::Sure { id: goal.id.clone() });
            }
            let Some(found) = found else {
                if goal.was_listed && !self.is_quiet {
                    goal.missing_since.get_or_insert(now);
                }
                continue;
            };
            (goal.was_listed, goal.missing_since) = (true, None);
            let is_begun = !matches!(found.status, Status::Rejected | Status::Recalled);
            if !goal.is_accepted && is_begun && found.status != Status::Pending {
                goal.is_accepted = true;
                self.events.push(GoalEvent::Accepted { id: goal.id.clone() });
            }
            if found.status.is_terminal() {
                let (status, at) = *goal.terminal.get_or_insert((found.status, now));
                // Its result says more, and comes at the same time, if it comes.
                if now.saturating_duration_since(at) > SILENCE {
                    over.push((goal.id.clone(), GoalEnd::ResultLost { status: Some(status) }));
                }
            }
        }
        over.into_iter().for_each(|(id, end)| self.finish(&id, end));
    }

    /// The server says how a goal ended.
    pub fn heard_result(&mut self, result: &ActionResult) {
        let id = &result.status.goal_id.id;
        let Some(goal) = self.goals.iter().find(|goal| goal.id == *id) else { return };
        let text = match result.result.error_string.is_empty() {
            true => result.status.text.clone(),
            false => result.result.error_string.clone(),
        };
        let code = result.result.error_code;
        let end = match result.status.status {
            Status::Succeeded => GoalEnd::Succeeded,
            Status::Rejected => GoalEnd::Rejected { code, text },
            Status::Preempted | Status::Recalled if goal.is_given_up => GoalEnd::Preempted,
            Status::Preempted | Status::Recalled => GoalEnd::TakenOver,
            // A server that can do no other aborts what it does not begin.
            Status::Aborted if !goal.is_accepted && code < 0 && code > -4 => {
                GoalEnd::Rejected { code, text }
            }
            _ => GoalEnd::Aborted { code, text },
        };
        self.finish(&id.clone(), end);
    }

    /// Time passes; the arm's clock runs at `scale` of ours (a speed slider, 0 when paused).
    pub fn look(&mut self, now: Instant, scale: f64, is_connected: bool) {
        let mut over = Vec::new();
        // There goals are sent again when they are not answered.
        let heard_within = if self.is_quiet { 2 * HEARD_WITHIN } else { HEARD_WITHIN };
        let is_silent = |since: Instant| self.status_at.unwrap_or(since).max(since) + SILENCE < now;
        for goal in &mut self.goals {
            let passed = now.saturating_duration_since(goal.progressed_at).as_secs_f64();
            goal.progressed_at = now;
            goal.progress_s += if goal.progress_s < goal.plan_s { passed * scale } else { passed };
            if !self.is_quiet && !goal.is_doubtful && is_silent(goal.sent_at) {
                goal.is_doubtful = true;
                self.events.push(GoalEvent::Doubtful { id: goal.id.clone() });
            }
            let since = |at: Option<Instant>| at.is_some_and(|at| at + SILENCE < now);
            let end = match goal.terminal {
                _ if !is_connected => Some(GoalEnd::ServerGone),
                Some((status, at)) if since(Some(at)) => {
                    Some(GoalEnd::ResultLost { status: Some(status) })
                }
                None if since(goal.missing_since) => Some(GoalEnd::ResultLost { status: None }),
                None if !goal.was_listed
                    && !goal.is_doubtful
                    && goal.sent_at + heard_within < now =>
                {
                    Some(GoalEnd::NeverHeard)
                }
                None if goal.progress_s > goal.plan_s + goal.grace_s => Some(GoalEnd::Late),
                _ => None,
            };
            over.extend(end.map(|end| (goal.id.clone(), end)));
        }
        over.into_iter().for_each(|(id, end)| self.finish(&id, end));
    }

    fn finish(&mut self, id: &str, end: GoalEnd) {
        self.goals.retain(|goal| goal.id != id);
        self.events.push(GoalEvent::Finished { id: id.to_owned(), end });
    }

    /// What happened since this was asked last.
    pub fn events(&mut self) -> Vec<GoalEvent> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{FollowJointTrajectoryResult, GoalId, GoalStatus, Header};

    fn status(id: &str, status: Status) -> GoalStatus {
        let goal_id = GoalId { id: id.to_owned(), ..GoalId::default() };
        GoalStatus { goal_id, status, text: String::new() }
    }

    fn listed(all: &[(&str, Status)]) -> GoalStatusArray {
        let status_list = all.iter().map(|(id, s)| status(id, *s)).collect();
        GoalStatusArray { header: Header::default(), status_list }
    }

    fn result(id: &str, is: Status, code: i32) -> ActionResult {
        let result = FollowJointTrajectoryResult { error_code: code, error_string: "why".into() };
        ActionResult { header: Header::default(), status: status(id, is), result }
    }

    fn ends(tracker: &mut GoalTracker) -> Vec<GoalEnd> {
        let over = |event| match event {
            GoalEvent::Finished { end, .. } => Some(end),
            _ => None,
        };
        tracker.events().into_iter().filter_map(over).collect()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_goal_is_accepted_and_done() {
        let (mut tracker, now) = (GoalTracker::default(), Instant::now());
        tracker.sent("a", 1.0, 0.6, now);
        tracker.heard_status(&listed(&[("b", Status::Active)]), now + ms(1));
        tracker.heard_status(&listed(&[("a", Status::Active)]), now + ms(2));
        tracker.heard_result(&result("b", Status::Aborted, -4));
        assert_eq!(tracker.events(), [GoalEvent::Accepted { id: "a".into() }]);
        tracker.heard_result(&result("a", Status::Succeeded, 0));
        assert_eq!(ends(&mut tracker), [GoalEnd::Succeeded]);
        assert_eq!(tracker.open().count(), 0);
    }

    #[test]
    fn ends_are_told_apart() {
        for (is, code, we_cancel, end) in [
            (Status::Rejected, -1, false, GoalEnd::Rejected { code: -1, text: "why".into() }),
            (Status::Aborted, -2, false, GoalEnd::Rejected { code: -2, text: "why".into() }),
            (Status::Aborted, -4, false, GoalEnd::Aborted { code: -4, text: "why".into() }),
            (Status::Preempted, 0, true, GoalEnd::Preempted),
            (Status::Preempted, 0, false, GoalEnd::TakenOver),
        ] {
            let mut tracker = GoalTracker::default();
            tracker.sent("a", 1.0, 0.6, Instant::now());
            if we_cancel {
                tracker.cancelled(None);
            }
            tracker.heard_result(&result("a", is, code));
            assert_eq!(ends(&mut tracker), [end]);
        }
    }

    #[test]
    fn a_lost_result_ends_a_goal_after_a_second() {
        let (mut tracker, now) = (GoalTracker::default(), Instant::now());
        tracker.sent("a", 0.5, 0.6, now);
        tracker.heard_status(&listed(&[("a", Status::Active)]), now);
        tracker.heard_status(&listed(&[("a", Status::Succeeded)]), now + ms(700));
        tracker.look(now + ms(1600), 1.0, true);
        assert_eq!(ends(&mut tracker), []);
        tracker.look(now + ms(1750), 1.0, true);
        assert_eq!(ends(&mut tracker), [GoalEnd::ResultLost { status: Some(Status::Succeeded) }]);
    }

    #[test]
    fn what_vanishes_or_was_never_heard_of_ends_too() {
        let (mut tracker, now) = (GoalTracker::default(), Instant::now());
        tracker.sent("a", 60.0, 0.6, now);
        tracker.heard_status(&listed(&[("a", Status::Active)]), now + ms(100));
        for at in (200..1500).step_by(200) {
            tracker.heard_status(&listed(&[]), now + ms(at));
            tracker.look(now + ms(at), 1.0, true);
        }
        assert_eq!(ends(&mut tracker), [GoalEnd::ResultLost { status: None }]);
        tracker.sent("b", 60.0, 0.6, now);
        for at in (0..2500).step_by(200) {
            tracker.heard_status(&listed(&[]), now + ms(at));
            tracker.look(now + ms(at), 1.0, true);
        }
        assert_eq!(ends(&mut tracker), [GoalEnd::NeverHeard]);
    }

    #[test]
    fn silence_is_doubt_and_a_slider_at_a_third_is_no_delay() {
        let (mut tracker, now) = (GoalTracker::default(), Instant::now());
        tracker.sent("a", 1.0, 0.6, now);
        tracker.heard_status(&listed(&[("a", Status::Active)]), now);
        tracker.look(now + ms(1100), 0.3, true);
        let doubt = GoalEvent::Doubtful { id: "a".into() };
        assert_eq!(tracker.events(), [GoalEvent::Accepted { id: "a".into() }, doubt]);
        tracker.heard_status(&listed(&[("a", Status::Active)]), now + ms(1200));
        assert_eq!(tracker.events(), [GoalEvent::Sure { id: "a".into() }]);
        for at in (1300..20_000).step_by(100) {
            tracker.heard_status(&listed(&[("a", Status::Active)]), now + ms(at));
            tracker.look(now + ms(at), 0.3, true);
            let late = ends(&mut tracker);
            // 1 s at 0.3 of the speed is 3.3 s, and 1.6 s to spare.
            assert_eq!(late.is_empty(), at <= 4900, "{at}");
            if !late.is_empty() {
                assert_eq!(late, [GoalEnd::Late]);
                return;
            }
        }
        panic!("it never ended");
    }

    #[test]
    fn a_driver_that_hangs_up_ends_its_goals_at_once() {
        let (mut tracker, now) = (GoalTracker::default(), Instant::now());
        tracker.sent("a", 1.0, 0.6, now);
        tracker.look(now + ms(20), 1.0, false);
        assert_eq!(ends(&mut tracker), [GoalEnd::ServerGone]);
    }
}
