//! Nodes of ours with each other and a master of ours; with the real ones: `peers/test_ros1.py`.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use citrange_ros::action::{ActionClient, ActionServer, Asked, GoalEnd, GoalEvent};
use citrange_ros::message::{
    FollowJointTrajectoryGoal, JointState, JointTrajectory, JointTrajectoryPoint, Message, Span,
    Status, Text, TriggerAnswer, error_code,
};
use citrange_ros::xmlrpc::Value;
use citrange_ros::{Format, Master, Node, NodeEvent, NodeSettings, RosError, SMALL_MESSAGE};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn node(master: &str, name: &str) -> Node {
    Node::start(NodeSettings::new(name, master, None).unwrap()).unwrap()
}

#[track_caller]
fn wait(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn state(position: f64) -> JointState {
    JointState { name: vec!["a".into()], position: vec![position], ..JointState::default() }
}

/// Positions of the joint states that are heard.
fn heard(node: &Node) -> (citrange_ros::Subscription, Arc<Mutex<Vec<f64>>>) {
    let all = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&all);
    let keep = move |state: JointState, _| kept.lock().unwrap().push(state.position[0]);
    (node.subscribe("/joint_states", SMALL_MESSAGE, keep).unwrap(), all)
}

#[test]
fn messages_go_from_node_to_node_whoever_comes_first() {
    let master = Master::start(HERE, 0).unwrap();
    let (robot, us) = (node(&master.uri(), "robot"), node(&master.uri(), "us"));
    let (topic, seen) = heard(&us);
    let publisher = robot.advertise::<JointState>("joint_states", 10, false).unwrap();
    wait("a connection", || topic.is_connected() && publisher.is_heard());
    (0..10).for_each(|i| publisher.publish(&state(f64::from(i))));
    wait("messages", || seen.lock().unwrap().len() == 10);
    assert_eq!(*seen.lock().unwrap(), (0..10).map(f64::from).collect::<Vec<_>>());
    // A latched one gives its last to whoever comes later.
    let latched = robot.advertise::<Text>("/mode", 1, true).unwrap();
    ["a", "b"].iter().for_each(|text| latched.publish(&Text((*text).to_owned())));
    let mode = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&mode);
    let keep = move |text: Text, _| *kept.lock().unwrap() = text.0;
    let _mode_topic = us.subscribe("/mode", SMALL_MESSAGE, keep).unwrap();
    wait("the latched message", || *mode.lock().unwrap() == "b");
    assert!(robot.advertise::<Text>("/mode", 1, true).is_err(), "twice");
    drop(robot);
    wait("the end of the connection", || !topic.is_connected());
}

#[test]
fn a_master_and_a_robot_that_come_back_are_found_again() {
    let master = Master::start(HERE, 0).unwrap();
    let uri = master.uri();
    let port = uri.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
    let us = node(&uri, "us");
    let (topic, seen) = heard(&us);
    let robot = node(&uri, "robot");
    let publisher = robot.advertise::<JointState>("/joint_states", 10, false).unwrap();
    wait("a connection", || topic.is_connected());
    drop(master);
    wait("the loss", || us.health().master_lost.is_some());
    assert!(us.events().contains(&NodeEvent::MasterLost));
    // Data goes on without a master.
    publisher.publish(&state(1.0));
    wait("data", || seen.lock().unwrap().contains(&1.0));
    drop((publisher, robot));
    wait("the robot's end", || !topic.is_connected());
    let _master = Master::start(HERE, port).unwrap();
    wait("the master", || us.health().master_lost.is_none());
    let robot = node(&uri, "robot");
    let publisher = robot.advertise::<JointState>("/joint_states", 10, false).unwrap();
    wait("the robot", || topic.is_connected() && publisher.is_heard());
    publisher.publish(&state(2.0));
    wait("data again", || seen.lock().unwrap().contains(&2.0));
    wait("the word of it", || us.events().contains(&NodeEvent::MasterBack));
}

#[test]
fn another_type_is_one_clear_error_and_no_storm() {
    let master = Master::start(HERE, 0).unwrap();
    let (robot, us) = (node(&master.uri(), "robot"), node(&master.uri(), "us"));
    let _publisher = robot.advertise::<Text>("/joint_states", 10, false).unwrap();
    let (topic, _) = heard(&us);
    wait("the refusal", || !topic.health().refused.is_empty());
    let refused = topic.health().refused[0].clone();
    assert!(refused.contains("std_msgs/String") && refused.contains(JointState::MD5), "{refused}");
    let tries = topic.health().reconnects;
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(topic.health().reconnects, tries);
}

#[test]
fn who_loses_its_name_goes_on_under_another() {
    let master = Master::start(HERE, 0).unwrap();
    let mut settings = NodeSettings::new("us", &master.uri(), None).unwrap();
    settings.name = "/us".into();
    let us = Node::start(settings.clone()).unwrap();
    let (topic, seen) = heard(&us);
    let other = Node::start(settings).unwrap();
    let _taken = heard(&other);
    wait("another name", || us.name() != "/us");
    assert!(us.events().iter().any(|event| matches!(event, NodeEvent::NameTaken { .. })));
    let robot = node(&master.uri(), "robot");
    let publisher = robot.advertise::<JointState>("/joint_states", 10, false).unwrap();
    wait("both", || publisher.subscribers().len() == 2 && topic.is_connected());
    publisher.publish(&state(3.0));
    wait("data", || seen.lock().unwrap().contains(&3.0));
}

#[test]
fn services_answer_and_say_why_not() {
    let master = Master::start(HERE, 0).unwrap();
    let (robot, us) = (node(&master.uri(), "robot"), node(&master.uri(), "us"));
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let handler = move |_: &[u8]| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(TriggerAnswer { success: true, message: "played".into() }.to_bytes(Format::Ros1)),
        _ => Err("the arm sleeps".to_owned()),
    };
    let kind = [TriggerAnswer::TYPE, TriggerAnswer::MD5];
    robot.provide_service("/dashboard/play", kind, Box::new(handler)).unwrap();
    let ask = |md5| us.call_service("dashboard/play", md5, &[], Duration::from_secs(2));
    let answer = TriggerAnswer::from_bytes(&ask("*").unwrap(), Format::Ros1).unwrap();
    assert_eq!(answer, TriggerAnswer { success: true, message: "played".into() });
    let error = ask(TriggerAnswer::MD5).unwrap_err().to_string();
    assert!(error.contains("the arm sleeps"), "{error}");
    assert!(ask("0123").unwrap_err().to_string().contains("md5sum 0123"));
    let none = us.call_service("/none", "*", &[], Duration::from_secs(2)).unwrap_err();
    assert!(matches!(none, RosError::Refused { .. }), "{none}");
    us.set_param("/use_sim_time", Value::Bool(true)).unwrap();
    assert_eq!(us.param("/use_sim_time").unwrap(), Some(Value::Bool(true)));
    assert_eq!(us.param("/other").unwrap(), None);
}

/// A publisher that says whatever it is told to.
fn liar(us: &Node, master: &str, says: Vec<u8>) -> (citrange_ros::Subscription, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            count.fetch_add(1, Ordering::Relaxed);
            let mut length = [0; 4];
            if stream.read_exact(&mut length).is_ok() {
                let mut header = vec![0; u32::from_le_bytes(length) as usize];
                let _read = stream.read_exact(&mut header);
                let _written = stream.write_all(&says);
            }
        }
    });
    let handler = move |_: &citrange_ros::xmlrpc::Call| {
        let place = [Value::text("TCPROS"), Value::text("127.0.0.1"), Value::Int(port.into())];
        Value::Array(vec![Value::Int(1), Value::text(""), Value::Array(place.to_vec())])
    };
    let server = citrange_ros::xmlrpc::Server::start(HERE, 0, Arc::new(handler)).unwrap();
    let api = format!("http://127.0.0.1:{}/", server.address().port());
    std::mem::forget(server);
    let params = ["/liar", "/joint_states", JointState::TYPE, &api].map(Value::text);
    citrange_ros::xmlrpc::call(&master.parse().unwrap(), "registerPublisher", &params).unwrap();
    let keep = |_: JointState, _| {};
    (us.subscribe("/joint_states", SMALL_MESSAGE, keep).unwrap(), connections)
}

#[test]
fn lies_close_their_connection_and_nothing_else() {
    let fields = citrange_ros::tcpros::Fields::new(&[
        ("callerid", "/liar"),
        ("md5sum", JointState::MD5),
        ("type", JointState::TYPE),
    ]);
    let after = |bytes: &[u8]| [fields.to_bytes(), bytes.to_vec()].concat();
    let cut = 100_u32.to_le_bytes();
    let unreadable = [8_u32.to_le_bytes().to_vec(), vec![255; 8]].concat();
    for (what, says) in [
        ("a header of 4 GiB", vec![255; 64]),
        ("a header that is none", vec![4, 0, 0, 0, 9, 9, 9, 9]),
        ("a message of 4 GiB", after(&[255; 64])),
        ("a message that is cut", after(&cut)),
        ("a message that is none", after(&unreadable)),
        ("nothing", Vec::new()),
    ] {
        let master = Master::start(HERE, 0).unwrap();
        let us = node(&master.uri(), "us");
        let (topic, connections) = liar(&us, &master.uri(), says);
        wait(what, || connections.load(Ordering::Relaxed) >= 2);
        let health = topic.health();
        assert!(health.last_error.is_some(), "{what}: {health:?}");
        assert_eq!(health.unreadable > 0, what == "a message that is none", "{what}");
        // Tried again with growing pauses, not in a storm; and others are heard beside it.
        let robot = node(&master.uri(), "robot");
        let publisher = robot.advertise::<JointState>("/joint_states", 10, false).unwrap();
        wait("the honest one", || publisher.is_heard());
        publisher.publish(&state(1.0));
        wait("its message", || topic.health().messages > health.messages);
        assert!(connections.load(Ordering::Relaxed) < 40, "{what}");
    }
}

#[test]
fn garbage_at_our_servers_closes_a_connection_and_no_more() {
    let master = Master::start(HERE, 0).unwrap();
    let (robot, us) = (node(&master.uri(), "robot"), node(&master.uri(), "us"));
    let publisher = robot.advertise::<JointState>("/joint_states", 10, false).unwrap();
    let (topic, seen) = heard(&us);
    wait("a connection", || topic.is_connected() && publisher.is_heard());
    let ports = robot_ports(&master.uri(), &robot.name());
    for garbage in [
        vec![255; 4096],
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nContent-Length: 20\r\n\r\n<value><value><value>".to_vec(),
        b"GET /\r\n\r\n".to_vec(),
        vec![0; 4],
    ] {
        for port in &ports {
            let mut stream = TcpStream::connect((HERE, *port)).unwrap();
            let _refused = stream.write_all(&garbage);
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let _closed = stream.read_to_end(&mut rest);
        }
    }
    publisher.publish(&state(5.0));
    wait("data", || seen.lock().unwrap().contains(&5.0));
}

/// Where a node is called, and where its topics are.
fn robot_ports(master: &str, name: &str) -> Vec<u16> {
    let ask = |uri: &str, method: &str, params: &[Value]| {
        citrange_ros::xmlrpc::call(&uri.parse().unwrap(), method, params).unwrap()
    };
    let api = ask(master, "lookupNode", &[Value::text("/t"), Value::text(name)]);
    let api = api.as_text().unwrap().to_owned();
    let protocols = Value::Array(vec![Value::Array(vec![Value::text("TCPROS")])]);
    let topic = [Value::text("/t"), Value::text("/joint_states"), protocols];
    let place = ask(&api, "requestTopic", &topic);
    let port = place.as_array().unwrap()[2].as_int().unwrap();
    let own: citrange_ros::xmlrpc::Uri = api.parse().unwrap();
    vec![own.port, u16::try_from(port).unwrap()]
}

fn goal(seconds: f64) -> FollowJointTrajectoryGoal {
    let time_from_start = Span::from_s(seconds);
    let point =
        JointTrajectoryPoint { positions: vec![1.0], time_from_start, ..Default::default() };
    let trajectory = JointTrajectory {
        joint_names: vec!["a".into()],
        points: vec![point],
        ..JointTrajectory::default()
    };
    FollowJointTrajectoryGoal { trajectory, ..FollowJointTrajectoryGoal::default() }
}

#[test]
fn goals_end_in_every_way_there_is() {
    let master = Master::start(HERE, 0).unwrap();
    let (robot, us) = (node(&master.uri(), "robot"), node(&master.uri(), "us"));
    let mut server = ActionServer::new(&robot, "/arm/follow").unwrap();
    let client = ActionClient::new(&us, "/arm/follow").unwrap();
    let other_node = node(&master.uri(), "other");
    let other = ActionClient::new(&other_node, "/arm/follow").unwrap();
    wait("all connections", || client.missing().is_empty() && other.missing().is_empty());
    let mut running = None;
    let mut run = |client: &ActionClient, until: &dyn Fn(&GoalEnd) -> bool| {
        let mut end = None;
        wait("an end", || {
            for asked in server.asked() {
                match asked {
                    Asked::Goal { id, goal }
                        if goal.trajectory.points[0].time_from_start.s() < 0.0 =>
                    {
                        server.finish(&id, Status::Rejected, error_code::INVALID_GOAL, "no");
                    }
                    Asked::Goal { id, .. } => {
                        if let Some(old) = running.replace(id.clone()) {
                            server.finish(&old, Status::Preempted, 0, "taken over");
                        }
                        server.accept(&id);
                    }
                    Asked::Cancel { id } => {
                        running.take();
                        server.finish(&id, Status::Preempted, 0, "cancelled");
                    }
                }
            }
            server.look();
            for event in client.events(1.0) {
                match event {
                    GoalEvent::Finished { end: how, .. } => end = Some(how),
                    GoalEvent::Accepted { id } if id.contains("us") && until(&GoalEnd::Late) => {
                        client.cancel(Some(&id));
                    }
                    _ => {}
                }
            }
            end.is_some()
        });
        end.unwrap()
    };
    client.send(goal(-1.0), 0.0);
    let rejected = run(&client, &|_| false);
    assert_eq!(rejected, GoalEnd::Rejected { code: -1, text: "no".into() });
    client.send(goal(1.0), 1.0);
    assert_eq!(run(&client, &|_| true), GoalEnd::Preempted, "cancelled when it was accepted");
    client.send(goal(1.0), 1.0);
    client.send(goal(1.0), 1.0);
    assert_eq!(run(&client, &|_| false), GoalEnd::Preempted, "by our own second");
    other.send(goal(1.0), 1.0);
    assert_eq!(run(&client, &|_| false), GoalEnd::TakenOver);
    drop((server, robot));
    client.send(goal(1.0), 1.0);
    wait("the end of the server", || {
        client.events(1.0).iter().any(
            |event| matches!(event, GoalEvent::Finished { end, .. } if *end == GoalEnd::ServerGone),
        )
    });
}
