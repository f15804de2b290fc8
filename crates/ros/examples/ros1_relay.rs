//! Takes messages apart and puts them together again, for peers that compare bytes: everything that
//! comes on `/there/NAME` goes out on `/back/NAME`. First a line of JSON per type: what it is called,
//! its md5sum, its definition. Ends when stdin does.

#![allow(clippy::print_stdout, reason = "its product is a report")]

use std::io::Read as _;

use citrange_ros::message::{
    ActionFeedback, ActionGoal, ActionResult, Bool, CameraInfo, Clock, CompressedImage, Float64,
    GoalId, GoalStatusArray, Image, JointState, JointTrajectory, Message, Text, TfMessage,
    TriggerAnswer,
};
use citrange_ros::{Format, LARGE_MESSAGE, Node, NodeSettings, Subscription};

type Failure = Box<dyn std::error::Error>;

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn relay<M: Message + 'static>(node: &Node, name: &str) -> Result<Subscription, Failure> {
    let back = node.advertise::<M>(&format!("/back/{name}"), 100, false)?;
    println!(
        "{{\"name\": \"{name}\", \"type\": \"{}\", \"md5\": \"{}\", \"definition\": \"{}\"}}",
        M::TYPE,
        M::MD5,
        quoted(&M::definition())
    );
    let heard = move |message: M, _| back.publish_bytes(&message.to_bytes(Format::Ros1));
    Ok(node.subscribe(&format!("/there/{name}"), LARGE_MESSAGE, heard)?)
}

fn main() -> Result<(), Failure> {
    let node = Node::start(NodeSettings::from_environment("relay")?)?;
    let trigger = [TriggerAnswer::TYPE, TriggerAnswer::MD5];
    let answer = |_: &[u8]| {
        let answer = TriggerAnswer { success: true, message: "pressed".to_owned() };
        Ok(answer.to_bytes(Format::Ros1))
    };
    node.provide_service("/press", trigger, Box::new(answer))?;
    let _relays = [
        relay::<JointState>(&node, "joint_state")?,
        relay::<Image>(&node, "image")?,
        relay::<CompressedImage>(&node, "compressed")?,
        relay::<CameraInfo>(&node, "camera_info")?,
        relay::<TfMessage>(&node, "tf")?,
        relay::<Clock>(&node, "clock")?,
        relay::<Bool>(&node, "bool")?,
        relay::<Float64>(&node, "float64")?,
        relay::<Text>(&node, "string")?,
        relay::<JointTrajectory>(&node, "trajectory")?,
        relay::<GoalId>(&node, "goal_id")?,
        relay::<GoalStatusArray>(&node, "status")?,
        relay::<ActionGoal>(&node, "goal")?,
        relay::<ActionFeedback>(&node, "feedback")?,
        relay::<ActionResult>(&node, "result")?,
    ];
    println!("{{\"ready\": \"{}\"}}", node.name());
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest)?;
    Ok(())
}
