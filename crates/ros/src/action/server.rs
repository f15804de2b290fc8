//! The side that carries goals out, for stand-ins of robots.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::error::RosError;
use crate::message::{
    ActionFeedback, ActionGoal, ActionResult, FollowJointTrajectoryFeedback,
    FollowJointTrajectoryGoal, FollowJointTrajectoryResult, GoalId, GoalStatus, GoalStatusArray,
    Header, Status, Time,
};
use crate::node::{LARGE_MESSAGE, Node, Publisher, SMALL_MESSAGE, Subscription, locked};

/// How often all goals are listed.
const EVERY: Duration = Duration::from_millis(200);
/// How long an ended goal is listed.
const KEPT: Duration = Duration::from_secs(5);

/// What clients ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// To carry this out.
    Goal {
        /// Its name.
        id: GoalId,
        /// What.
        goal: FollowJointTrajectoryGoal,
    },
    /// To end this.
    Cancel {
        /// Which.
        id: GoalId,
    },
}

#[derive(Clone, Debug)]
struct Kept {
    status: GoalStatus,
    ended: Option<Instant>,
}

/// The server of one action; its owner decides what becomes of goals.
#[derive(Debug)]
pub struct ActionServer {
    status: Publisher,
    feedback: Publisher,
    result: Publisher,
    asked: Arc<Mutex<Vec<ActionGoal>>>,
    cancels: Arc<Mutex<Vec<GoalId>>>,
    goals: Vec<Kept>,
    listed_at: Option<Instant>,
    /// Results are not told: a fault to switch on.
    pub is_mute: bool,
    _subscriptions: [Subscription; 2],
}

impl ActionServer {
    /// Of the action of that name.
    ///
    /// # Errors
    /// When the name is none, or this node serves it already.
    pub fn new(node: &Node, action: &str) -> Result<Self, RosError> {
        let topic = |name: &str| format!("{action}/{name}");
        let asked: Arc<Mutex<Vec<ActionGoal>>> = Arc::default();
        let cancels: Arc<Mutex<Vec<GoalId>>> = Arc::default();
        let (goals, ends) = (Arc::clone(&asked), Arc::clone(&cancels));
        let goal = node.subscribe(&topic("goal"), LARGE_MESSAGE, move |goal: ActionGoal, _| {
            locked(&goals).push(goal);
        })?;
        let cancel = node.subscribe(&topic("cancel"), SMALL_MESSAGE, move |id: GoalId, _| {
            locked(&ends).push(id);
        })?;
        Ok(Self {
            status: node.advertise::<GoalStatusArray>(&topic("status"), 10, false)?,
            feedback: node.advertise::<ActionFeedback>(&topic("feedback"), 10, false)?,
            result: node.advertise::<ActionResult>(&topic("result"), 10, false)?,
            asked,
            cancels,
            goals: Vec::new(),
            listed_at: None,
            is_mute: false,
            _subscriptions: [goal, cancel],
        })
    }

    /// What clients asked for since this was asked last.
    pub fn asked(&mut self) -> Vec<Asked> {
        let mut all = Vec::new();
        for goal in std::mem::take(&mut *locked(&self.asked)) {
            if self.goals.iter().any(|kept| kept.status.goal_id.id == goal.goal_id.id) {
                continue;
            }
            let mut id = goal.goal_id;
            if id.stamp == Time::default() {
                id.stamp = Time::now();
            }
            let status = Status::Pending;
            let status = GoalStatus { goal_id: id.clone(), status, text: String::new() };
            self.goals.push(Kept { status, ended: None });
            all.push(Asked::Goal { id, goal: goal.goal });
        }
        for cancel in std::mem::take(&mut *locked(&self.cancels)) {
            let is_for_all = cancel == GoalId::default();
            for kept in self.goals.iter().filter(|kept| kept.ended.is_none()) {
                let id = &kept.status.goal_id;
                let is_before = cancel.stamp != Time::default() && id.stamp <= cancel.stamp;
                if is_for_all || is_before || id.id == cancel.id {
                    all.push(Asked::Cancel { id: id.clone() });
                }
            }
        }
        all
    }

    /// A goal is being carried out.
    pub fn accept(&mut self, id: &GoalId) {
        self.set(id, Status::Active, "");
        self.list();
    }

    fn set(&mut self, id: &GoalId, status: Status, text: &str) -> Option<GoalStatus> {
        let kept = self.goals.iter_mut().find(|kept| kept.status.goal_id == *id)?;
        (kept.status.status, kept.status.text) = (status, text.to_owned());
        if status.is_terminal() {
            kept.ended = Some(Instant::now());
        }
        Some(kept.status.clone())
    }

    /// A goal ended.
    pub fn finish(&mut self, id: &GoalId, status: Status, error_code: i32, text: &str) {
        let Some(status) = self.set(id, status, text) else { return };
        let result = FollowJointTrajectoryResult { error_code, error_string: text.to_owned() };
        if !self.is_mute {
            self.result.publish(&ActionResult { header: Header::now(""), status, result });
        }
        self.list();
    }

    /// A goal is getting on.
    pub fn tell(&self, id: &GoalId, feedback: FollowJointTrajectoryFeedback) {
        let kept = self.goals.iter().find(|kept| kept.status.goal_id == *id);
        if let Some(kept) = kept.filter(|_| self.feedback.is_heard()) {
            let (header, status) = (Header::now(""), kept.status.clone());
            self.feedback.publish(&ActionFeedback { header, status, feedback });
        }
    }

    /// Lists all goals five times a second; to be called often.
    pub fn look(&mut self) {
        let is_due = self.listed_at.is_none_or(|at| at.elapsed() >= EVERY);
        if is_due {
            self.goals.retain(|kept| kept.ended.is_none_or(|at| at.elapsed() < KEPT));
            self.list();
        }
    }

    fn list(&mut self) {
        self.listed_at = Some(Instant::now());
        let status_list = self.goals.iter().map(|kept| kept.status.clone()).collect();
        self.status.publish(&GoalStatusArray { header: Header::now(""), status_list });
    }
}
