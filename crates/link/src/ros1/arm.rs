//! The arm itself: joints of its topic, trajectories to its controller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use citrange_robot::Chain;
use citrange_ros::action::{ActionClient, GoalEnd, GoalEvent};
use citrange_ros::message::{
    FollowJointTrajectoryGoal, Header, JointState, JointTrajectory, JointTrajectoryPoint, Span,
    Time, error_code,
};
use citrange_ros::{
    Node, NodeEvent, NodeHealth, NodeSettings, SMALL_MESSAGE, Subscription, TopicHealth,
};

use super::joints::{JointCounts, Joints};
use super::robot_state::{Heard, RobotState};
use super::settings::Ros1Settings;
use super::stream::{StreamPart, StreamPoint, StreamSettings, TargetStream};
use crate::device::{ArmDevice, JointReading};
use crate::error::LinkError;

/// How long a person who asks for torque waits for a controller that is on its way.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// So many goals in a row may come too late.
const LATE_AT_MOST: u32 = 20;
/// How often what is missing is looked at again while waiting.
const LOOK: Duration = Duration::from_millis(20);

impl From<citrange_ros::RosError> for LinkError {
    fn from(error: citrange_ros::RosError) -> Self {
        Self::NotReady { why: error.to_string() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a stream as a goal that begins at a time of the driver's clock; at once for 0.
#[must_use]
pub fn goal_of(part: &StreamPart, names: &[String], begins: Time) -> FollowJointTrajectoryGoal {
    let point = |point: &StreamPoint| JointTrajectoryPoint {
        positions: point.pos.clone(),
        velocities: point.vel.clone(),
        accelerations: point.acc.clone(),
        effort: Vec::new(),
        time_from_start: Span::from_s(point.at_s - part.starts_s),
    };
    let trajectory = JointTrajectory {
        header: Header { stamp: begins, ..Header::default() },
        joint_names: names.to_vec(),
        points: part.points.iter().map(point).collect(),
    };
    FollowJointTrajectoryGoal { trajectory, ..FollowJointTrajectoryGoal::default() }
}

/// Everything that is connected; shared with whoever watches.
struct Connection {
    // Dropped in this order: topics before their node.
    client: ActionClient,
    states: Subscription,
    heard: Heard,
    joints: Arc<Mutex<Joints>>,
    node: Node,
}

/// What is known of a connection, for people.
pub struct Ros1Watch {
    connection: Arc<Connection>,
    told: Mutex<Vec<String>>,
}

impl std::fmt::Debug for Ros1Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ros1Watch").finish_non_exhaustive()
    }
}

impl Ros1Watch {
    /// Master and topics.
    #[must_use]
    pub fn node(&self) -> NodeHealth {
        self.connection.node.health()
    }

    /// The joints' topic.
    #[must_use]
    pub fn joint_states(&self) -> TopicHealth {
        self.connection.states.health()
    }

    /// What was wrong with joint states.
    #[must_use]
    pub fn joint_counts(&self) -> JointCounts {
        locked(&self.connection.joints).counts()
    }

    /// What the robot says of itself.
    #[must_use]
    pub fn robot(&self) -> RobotState {
        self.connection.heard.state()
    }

    /// Connections to the controller that are missing.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        self.connection.client.missing()
    }

    /// What happened since the link began, in words; the newest last.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        locked(&self.told).clone()
    }

    fn tell(&self, what: String) {
        let mut told = locked(&self.told);
        if told.len() >= 100 {
            told.remove(0);
        }
        told.push(what);
    }
}

/// An arm behind ROS 1.
pub struct Ros1Arm {
    watch: Arc<Ros1Watch>,
    stream: TargetStream,
    began: Instant,
    /// Our newest goal.
    goal: Option<String>,
    /// Goals in a row that came too late to be carried out.
    late: u32,
    /// Why nothing is sent until a person starts it again.
    fault: Option<String>,
    /// Somebody ended our node.
    ended: Option<String>,
    names: Vec<String>,
    action: String,
}

impl std::fmt::Debug for Ros1Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ros1Arm").field("action", &self.action).finish_non_exhaustive()
    }
}

impl Ros1Arm {
    /// Connects, and waits until all joints are heard.
    ///
    /// # Errors
    /// When there is no master, or joints are missing: they are named.
    pub fn connect(
        chain: &Chain,
        settings: &Ros1Settings,
        cycle_hz: u32,
    ) -> Result<Self, LinkError> {
        let mut who = match &settings.master_uri {
            Some(uri) => NodeSettings::new("citrange", uri, settings.own_host.as_deref())?,
            None => NodeSettings::from_environment("citrange")?,
        };
        who.remap.clone_from(&settings.remap);
        let node = Node::start(who)?;
        let joints =
            Arc::new(Mutex::new(Joints::new(chain, &settings.joint_prefix, &settings.joint_names)));
        let kept = Arc::clone(&joints);
        let states =
            node.subscribe(&settings.joint_states, SMALL_MESSAGE, move |state: JointState, at| {
                locked(&kept).take(&state, at)
            })?;
        let heard = Heard::new(&node, &settings.robot)?;
        let client = ActionClient::new(&node, &settings.action)?;
        let names = locked(&joints).names().to_vec();
        let connection = Arc::new(Connection { client, states, heard, joints, node });
        let watch = Arc::new(Ros1Watch { connection, told: Mutex::default() });
        let stream = StreamSettings { delay_s: settings.delay_s, ..StreamSettings::default() };
        let own = Self {
            watch,
            stream: TargetStream::new(chain, cycle_hz, stream),
            began: Instant::now(),
            goal: None,
            late: 0,
            fault: None,
            ended: None,
            names,
            action: settings.action.clone(),
        };
        own.wait_for_joints(&settings.joint_states, settings.connect_s)?;
        Ok(own)
    }

    /// What is known of the connection.
    #[must_use]
    pub fn watch(&self) -> Arc<Ros1Watch> {
        Arc::clone(&self.watch)
    }

    fn connection(&self) -> &Connection {
        &self.watch.connection
    }

    fn wait_for_joints(&self, topic: &str, within_s: f64) -> Result<(), LinkError> {
        let end = Instant::now() + Duration::from_secs_f64(within_s.clamp(0.0, 600.0));
        loop {
            let (unheard, counts) = {
                let joints = locked(&self.connection().joints);
                let unheard: Vec<String> =
                    joints.unheard().into_iter().map(str::to_owned).collect();
                (unheard, joints.counts())
            };
            let health = self.connection().states.health();
            if unheard.is_empty() {
                return Ok(());
            }
            if let Some(refused) = health.refused.first() {
                return Err(LinkError::bad(topic, refused.clone()));
            }
            if Instant::now() > end {
                let why = match () {
                    () if health.publishers == 0 => {
                        "nobody publishes it: is the robot's driver running?".to_owned()
                    }
                    () if health.connected == 0 => format!(
                        "no publisher can be reached: {}",
                        health.last_error.unwrap_or_else(|| "it does not answer".to_owned())
                    ),
                    () if counts.messages == 0 => "it is silent".to_owned(),
                    () => format!("it never has {}", unheard.join(", ")),
                };
                return Err(LinkError::bad(topic, why));
            }
            std::thread::sleep(LOOK);
        }
    }

    fn now_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// What the node and the controller said since this was asked last.
    fn hear(&mut self) {
        for event in self.connection().node.events() {
            let what = match event {
                NodeEvent::MasterLost => {
                    "the ROS master does not answer; what is connected goes on".to_owned()
                }
                NodeEvent::MasterBack => "the ROS master is back".to_owned(),
                NodeEvent::NameTaken { now } => {
                    format!("another node took our name; we are {now} now")
                }
                NodeEvent::AskedToEnd { reason } => {
                    let why = format!("our node was asked to end: {reason}");
                    self.ended = Some(why.clone());
                    why
                }
            };
            self.watch.tell(what);
        }
        let scale = self.connection().heard.state().scale();
        for event in self.connection().client.events(scale) {
            match event {
                GoalEvent::Finished { id, end } if self.goal.as_ref() == Some(&id) => {
                    self.goal = None;
                    if self.is_late(&end) {
                        continue;
                    }
                    if !matches!(end, GoalEnd::Succeeded | GoalEnd::Preempted) {
                        self.fail(&end);
                    }
                }
                GoalEvent::Doubtful { .. } => {
                    self.watch.tell("the controller has been silent for 1 s".to_owned());
                }
                GoalEvent::Sure { .. } => self.watch.tell("the controller is back".to_owned()),
                GoalEvent::Accepted { id } if self.goal.as_ref() == Some(&id) => self.late = 0,
                GoalEvent::Finished { .. } | GoalEvent::Accepted { .. } => {}
            }
        }
    }

    /// A goal that lay in the past when it came: the driver was away for a moment. The stream begins
    /// anew from where the arm stands, unless that never ends.
    fn is_late(&mut self, end: &GoalEnd) -> bool {
        let was_late =
            matches!(end, GoalEnd::Rejected { code: error_code::OLD_HEADER_TIMESTAMP, .. });
        self.late = if was_late { self.late + 1 } else { 0 };
        if !was_late || self.late > LATE_AT_MOST {
            return false;
        }
        let mut reading = JointReading::new(self.names.len());
        locked(&self.connection().joints).read(Instant::now(), &mut reading);
        self.stream.begin_at(&reading.pos);
        self.watch.tell("a goal came too late to the controller".to_owned());
        true
    }

    fn fail(&mut self, end: &GoalEnd) {
        // Why a controller refuses, the robot itself knows best.
        let robot = self.connection().heard.state().why_not();
        let why = match robot {
            Some(robot) => format!("{end}: {robot}"),
            None => end.to_string(),
        };
        self.watch.tell(why.clone());
        self.fault.get_or_insert(why);
        // Old controllers go on after a violated tolerance.
        if matches!(end, GoalEnd::Aborted { .. }) {
            self.connection().client.cancel(None);
        }
    }

    fn send(&mut self, part: &StreamPart) {
        let starts = self.began + Duration::from_secs_f64(part.starts_s.max(0.0));
        // In the driver's own time, so that one trajectory goes over into the next without a seam;
        // at once where its clock says nothing.
        let stamp = locked(&self.connection().joints).driver_time(starts).unwrap_or_default();
        let goal = goal_of(part, &self.names, stamp);
        self.goal = Some(self.connection().client.send(goal, part.duration_s() + 0.1));
    }

    /// Why the arm cannot be moved now.
    fn why_not(&self) -> Option<String> {
        let missing = self.connection().client.missing();
        let controller = (!missing.is_empty()).then(|| {
            format!(
                "no controller serves {} ({} not connected): is it loaded and started?",
                self.action,
                missing.join(", ")
            )
        });
        self.ended.clone().or(controller).or_else(|| self.connection().heard.state().why_not())
    }
}

impl ArmDevice for Ros1Arm {
    fn read(&mut self, reading: &mut JointReading) -> Result<(), LinkError> {
        self.hear();
        locked(&self.connection().joints).read(Instant::now(), reading);
        Ok(())
    }

    fn write(&mut self, targets: &[f64]) -> Result<(), LinkError> {
        if let Some(why) = &self.fault {
            return Err(LinkError::NotReady { why: why.clone() });
        }
        let now_s = self.now_s();
        if !self.stream.push(now_s, targets) {
            // Targets came to where the arm is, because something blocks it: it presses no longer.
            self.connection().client.cancel(self.goal.as_deref());
        }
        let scale = self.connection().heard.state().scale();
        if let Some(part) = self.stream.due(now_s, scale) {
            self.send(&part);
        }
        Ok(())
    }

    fn hold(&mut self) -> Result<(), LinkError> {
        let end = Instant::now() + READY_WITHIN;
        while let Some(why) = self.why_not() {
            if Instant::now() > end {
                return Err(LinkError::NotReady { why });
            }
            std::thread::sleep(LOOK);
        }
        self.hear();
        self.fault = None;
        self.goal = None;
        self.stream.forget();
        Ok(())
    }

    /// The robot holds by itself: our goal ends, wherever it is.
    fn release(&mut self, _over: Duration) -> Result<(), LinkError> {
        if let Some(goal) = self.goal.take() {
            self.connection().client.cancel(Some(&goal));
            // The cancel is on its way before the connection closes.
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}
