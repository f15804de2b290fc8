//! Sends goals to a trajectory controller as stdin says, for peers: `goal SECONDS`, `nan`, `names`,
//! `cancel`, a line each. What happens comes out as lines `EVENT SECONDS_SINCE_THE_LAST_ORDER`.

#![allow(clippy::print_stdout, reason = "its product is a report")]

use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use citrange_ros::action::{ActionClient, GoalEvent};
use citrange_ros::message::{
    Float64, FollowJointTrajectoryGoal, JointState, JointTrajectory, JointTrajectoryPoint, Span,
};
use citrange_ros::{Node, NodeEvent, NodeSettings, SMALL_MESSAGE};

const JOINTS: [&str; 6] = [
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
];

/// From rest to rest, by a cubic: to a place that is always the same.
fn goal(seconds: f64, first: f64, joints: &[&str]) -> FollowJointTrajectoryGoal {
    let degrees = [first, -45.0, -90.0, -135.0, 90.0, 20.0_f64];
    let point = JointTrajectoryPoint {
        positions: degrees.iter().map(|degrees| degrees.to_radians()).collect(),
        velocities: vec![0.0; 6],
        time_from_start: Span::from_s(seconds),
        ..JointTrajectoryPoint::default()
    };
    let trajectory = JointTrajectory {
        joint_names: joints.iter().map(|joint| (*joint).to_owned()).collect(),
        points: vec![point],
        ..JointTrajectory::default()
    };
    FollowJointTrajectoryGoal { trajectory, ..FollowJointTrajectoryGoal::default() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = Node::start(NodeSettings::from_environment("goals")?)?;
    let action = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "/scaled_pos_joint_traj_controller/follow_joint_trajectory".to_owned());
    let states = node.subscribe("/joint_states", SMALL_MESSAGE, |_: JointState, _| {})?;
    // In percent.
    let scale = Arc::new(AtomicU32::new(100));
    let slider = Arc::clone(&scale);
    let _scale =
        node.subscribe("/speed_scaling_factor", SMALL_MESSAGE, move |is: Float64, _| {
            slider.store((is.0 * 100.0) as u32, Ordering::Relaxed);
        })?;
    let client = ActionClient::new(&node, &action)?;
    let (send, orders) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let (mut ordered, mut was_ready, mut last, mut heard) =
        (Instant::now(), false, None::<String>, false);
    loop {
        let order = match orders.recv_timeout(Duration::from_millis(5)) {
            Ok(order) => order,
            Err(RecvTimeoutError::Timeout) => String::new(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let words: Vec<&str> = order.split_whitespace().collect();
        if !words.is_empty() {
            ordered = Instant::now();
        }
        match words.as_slice() {
            ["goal", seconds] => {
                last = Some(client.send(goal(seconds.parse()?, -170.0, &JOINTS), seconds.parse()?))
            }
            ["nan"] => last = Some(client.send(goal(0.5, f64::NAN, &JOINTS), 0.5)),
            ["names"] => {
                last = Some(client.send(goal(0.5, -170.0, &["a", "b", "c", "d", "e", "f"]), 0.5))
            }
            ["cancel"] => client.cancel(last.as_deref()),
            _ => {}
        }
        let passed = ordered.elapsed().as_secs_f64();
        let is_ready = client.missing().is_empty();
        if is_ready != was_ready {
            println!("{} {passed:.3}", if is_ready { "ready" } else { "unready" });
            was_ready = is_ready;
        }
        let hears = states.health().age.is_some_and(|age| age < Duration::from_millis(100));
        if hears != heard {
            println!("{} {passed:.3}", if hears { "joints" } else { "silence" });
            heard = hears;
        }
        for event in node.events() {
            match event {
                NodeEvent::MasterLost => println!("master_lost {passed:.3}"),
                NodeEvent::MasterBack => println!("master_back {passed:.3}"),
                NodeEvent::NameTaken { now } => println!("name_taken {passed:.3} {now}"),
                NodeEvent::AskedToEnd { reason } => println!("asked_to_end {passed:.3} {reason}"),
            }
        }
        for event in client.events(f64::from(scale.load(Ordering::Relaxed)) / 100.0) {
            match event {
                GoalEvent::Accepted { .. } => println!("accepted {passed:.3}"),
                GoalEvent::Doubtful { .. } => println!("doubtful {passed:.3}"),
                GoalEvent::Sure { .. } => println!("sure {passed:.3}"),
                GoalEvent::Finished { end, .. } => println!("finished {passed:.3} {end:?}"),
            }
        }
    }
}
