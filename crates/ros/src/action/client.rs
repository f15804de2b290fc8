//! The side that sends goals.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::tracker::{GoalEvent, GoalTracker};
use crate::error::RosError;
use crate::message::{
    ActionFeedback, ActionGoal, ActionResult, FollowJointTrajectoryFeedback,
    FollowJointTrajectoryGoal, GoalId, GoalStatusArray, Header, Time,
};
use crate::node::{LARGE_MESSAGE, Node, Publisher, SMALL_MESSAGE, Subscription, locked};

/// Goals that a slow connection may hold.
const DEPTH: usize = 10;

type Newest = Arc<Mutex<Option<(FollowJointTrajectoryFeedback, Instant)>>>;

/// Sends goals to one controller and knows how they stand.
#[derive(Debug)]
pub struct ActionClient {
    goal: Publisher,
    cancel: Publisher,
    status: Subscription,
    feedback: Subscription,
    result: Subscription,
    tracker: Arc<Mutex<GoalTracker>>,
    newest: Newest,
    name: String,
    number: AtomicU64,
}

impl ActionClient {
    /// Of the action of that name: `/scaled_pos_joint_traj_controller/follow_joint_trajectory`.
    ///
    /// # Errors
    /// When the name is none, or this node has a client of it already.
    pub fn new(node: &Node, action: &str) -> Result<Self, RosError> {
        let topic = |name: &str| format!("{action}/{name}");
        let tracker = Arc::new(Mutex::new(GoalTracker::default()));
        let newest = Newest::default();
        let (on_status, on_result) = (Arc::clone(&tracker), Arc::clone(&tracker));
        let on_feedback = Arc::clone(&newest);
        let status =
            node.subscribe(&topic("status"), SMALL_MESSAGE, move |status: GoalStatusArray, at| {
                locked(&on_status).heard_status(&status, at)
            })?;
        let result =
            node.subscribe(&topic("result"), SMALL_MESSAGE, move |result: ActionResult, _| {
                locked(&on_result).heard_result(&result)
            })?;
        let feedback = node.subscribe(
            &topic("feedback"),
            LARGE_MESSAGE,
            move |feedback: ActionFeedback, at| {
                *locked(&on_feedback) = Some((feedback.feedback, at));
            },
        )?;
        Ok(Self {
            goal: node.advertise::<ActionGoal>(&topic("goal"), DEPTH, false)?,
            cancel: node.advertise::<GoalId>(&topic("cancel"), DEPTH, false)?,
            status,
            feedback,
            result,
            tracker,
            newest,
            name: node.name(),
            number: AtomicU64::new(0),
        })
    }

    /// Which of the five connections are missing; goals and results are sure to arrive when none
    /// is.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let connected = [
            self.goal.is_heard(),
            self.cancel.is_heard(),
            self.status.is_connected(),
            self.feedback.is_connected(),
            self.result.is_connected(),
        ];
        let missing = super::TOPICS.into_iter().zip(connected).filter(|(_, is)| !is);
        missing.map(|(name, _)| name).collect()
    }

    /// Sends a goal whose trajectory takes so many seconds; the one before ends for it. Answers its
    /// name.
    pub fn send(&self, goal: FollowJointTrajectoryGoal, plan_s: f64) -> String {
        let stamp = Time::now();
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{number}-{}.{:09}", self.name, stamp.sec, stamp.nanosec);
        let grace_s = goal.goal_time_tolerance.s().max(0.0);
        locked(&self.tracker).sent(&id, plan_s, grace_s, Instant::now());
        let goal_id = GoalId { stamp, id: id.clone() };
        let header = Header { seq: number as u32, stamp, frame_id: String::new() };
        self.goal.publish(&ActionGoal { header, goal_id, goal });
        id
    }

    /// Cancels one goal, or all of this controller, whoever sent them.
    pub fn cancel(&self, id: Option<&str>) {
        locked(&self.tracker).cancelled(id);
        let id = id.unwrap_or_default().to_owned();
        self.cancel.publish(&GoalId { stamp: Time::default(), id });
    }

    /// What happened since this was asked last; the arm's clock runs at `scale` of ours.
    #[must_use]
    pub fn events(&self, scale: f64) -> Vec<GoalEvent> {
        let is_connected = self.missing().is_empty();
        let mut tracker = locked(&self.tracker);
        tracker.look(Instant::now(), scale, is_connected);
        tracker.events()
    }

    /// Whether a goal is not over.
    #[must_use]
    pub fn is_open(&self) -> bool {
        locked(&self.tracker).open().next().is_some()
    }

    /// The newest feedback, of whoever's goal.
    #[must_use]
    pub fn feedback(&self) -> Option<(FollowJointTrajectoryFeedback, Instant)> {
        locked(&self.newest).clone()
    }
}
