//! A master of our own, for stand-ins and tests on machines without ROS: names of nodes, who
//! publishes and hears what, services, parameters.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::error::RosError;
use crate::node::locked;
use crate::xmlrpc::{Call, Server, Uri, Value, call};

/// Who it is: name of a node and where it is called.
type Who = (String, String);

#[derive(Default)]
struct Names {
    publishers: BTreeMap<String, Vec<Who>>,
    subscribers: BTreeMap<String, Vec<Who>>,
    /// With where it is connected to.
    services: BTreeMap<String, (Who, String)>,
    types: BTreeMap<String, String>,
    nodes: BTreeMap<String, String>,
    params: BTreeMap<String, Value>,
}

/// A master; ends when it is dropped.
#[derive(Debug)]
pub struct Master {
    server: Server,
}

impl Master {
    /// On a port of an address; on a free one for 0.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start(ip: IpAddr, port: u16) -> Result<Self, RosError> {
        let names = Mutex::new(Names::default());
        let answer = move |call: &Call| answer(&names, call);
        Ok(Self { server: Server::start(ip, port, Arc::new(answer))? })
    }

    /// What ROS_MASTER_URI is to be.
    #[must_use]
    pub fn uri(&self) -> String {
        let address = self.server.address();
        Uri { host: address.ip().to_string(), port: address.port() }.to_string()
    }
}

fn told(code: i32, text: &str, value: Value) -> Value {
    Value::Array(vec![Value::Int(code), Value::text(text), value])
}

fn texts<'a>(all: impl Iterator<Item = &'a String>) -> Value {
    Value::Array(all.map(Value::text).collect())
}

fn answer(names: &Mutex<Names>, call: &Call) -> Value {
    let text = |at: usize| call.params.get(at).and_then(Value::as_text).unwrap_or_default();
    let owned = |at: usize| text(at).to_owned();
    let mut names = locked(names);
    match call.method.as_str() {
        "getPid" => told(1, "", Value::Int(i32::try_from(std::process::id()).unwrap_or(0))),
        "registerSubscriber" => {
            names.comes(text(0), text(3));
            names.types.entry(owned(1)).or_insert_with(|| owned(2));
            register(names.subscribers.entry(owned(1)).or_default(), (owned(0), owned(3)));
            let publishers = names.publishers.get(text(1)).into_iter().flatten();
            told(1, "", texts(publishers.map(|(_, api)| api)))
        }
        "registerPublisher" => {
            names.comes(text(0), text(3));
            names.types.insert(owned(1), owned(2));
            register(names.publishers.entry(owned(1)).or_default(), (owned(0), owned(3)));
            names.tell_subscribers(text(1));
            let subscribers = names.subscribers.get(text(1)).into_iter().flatten();
            told(1, "", texts(subscribers.map(|(_, api)| api)))
        }
        "unregisterSubscriber" => {
            let left = leave(names.subscribers.get_mut(text(1)), text(2));
            told(1, "", Value::Int(left))
        }
        "unregisterPublisher" => {
            let left = leave(names.publishers.get_mut(text(1)), text(2));
            names.tell_subscribers(text(1));
            told(1, "", Value::Int(left))
        }
        "registerService" => {
            names.comes(text(0), text(3));
            names.services.insert(owned(1), ((owned(0), owned(3)), owned(2)));
            told(1, "", Value::Int(1))
        }
        "unregisterService" => {
            let is_theirs = names.services.get(text(1)).is_some_and(|(_, at)| at == text(2));
            if is_theirs {
                names.services.remove(text(1));
            }
            told(1, "", Value::Int(i32::from(is_theirs)))
        }
        "lookupService" => match names.services.get(text(1)) {
            Some((_, at)) => told(1, "", Value::text(at)),
            None => told(-1, "no provider", Value::text("")),
        },
        "lookupNode" => match names.nodes.get(text(1)) {
            Some(api) => told(1, "", Value::text(api)),
            None => told(-1, &format!("unknown node [{}]", text(1)), Value::text("")),
        },
        "getParam" => match names.params.get(text(1)) {
            Some(value) => told(1, "", value.clone()),
            None => told(-1, &format!("Parameter [{}] is not set", text(1)), Value::Int(0)),
        },
        "hasParam" => told(1, text(1), Value::Bool(names.params.contains_key(text(1)))),
        "setParam" => {
            let value = call.params.get(2).cloned().unwrap_or(Value::Int(0));
            names.params.insert(owned(1), value);
            told(1, "", Value::Int(0))
        }
        "deleteParam" => {
            let code = i32::from(names.params.remove(text(1)).is_some());
            told(code, "", Value::Int(0))
        }
        "getSystemState" => told(1, "", names.state()),
        "getTopicTypes" | "getPublishedTopics" => {
            let pair = |(topic, kind): (&String, &String)| {
                Value::Array(vec![Value::text(topic), Value::text(kind)])
            };
            told(1, "", Value::Array(names.types.iter().map(pair).collect()))
        }
        other => told(-1, &format!("no method {other}"), Value::Int(0)),
    }
}

fn register(all: &mut Vec<Who>, who: Who) {
    if !all.contains(&who) {
        all.push(who);
    }
}

/// How many of one place left.
fn leave(all: Option<&mut Vec<Who>>, api: &str) -> i32 {
    let Some(all) = all else { return 0 };
    let before = all.len();
    all.retain(|(_, other)| other != api);
    i32::try_from(before - all.len()).unwrap_or(i32::MAX)
}

impl Names {
    /// A node under a name; whoever had it before is told to leave.
    fn comes(&mut self, name: &str, api: &str) {
        let before = self.nodes.insert(name.to_owned(), api.to_owned());
        let Some(before) = before.filter(|before| before != api) else { return };
        for all in self.publishers.values_mut().chain(self.subscribers.values_mut()) {
            leave(Some(all), &before);
        }
        self.services.retain(|_, ((_, place), _)| *place != before);
        let reason = format!("[{name}] Reason: new node registered with same name");
        tell(before, "shutdown", vec![Value::text("/master"), Value::text(reason)]);
    }

    fn tell_subscribers(&self, topic: &str) {
        let publishers = self.publishers.get(topic).into_iter().flatten();
        let publishers = texts(publishers.map(|(_, api)| api));
        for (_, api) in self.subscribers.get(topic).into_iter().flatten() {
            let params = vec![Value::text("/master"), Value::text(topic), publishers.clone()];
            tell(api.clone(), "publisherUpdate", params);
        }
    }

    fn state(&self) -> Value {
        let listed = |all: &BTreeMap<String, Vec<Who>>| {
            let row = |(topic, who): (&String, &Vec<Who>)| {
                let nodes = texts(who.iter().map(|(name, _)| name));
                Value::Array(vec![Value::text(topic), nodes])
            };
            Value::Array(all.iter().filter(|(_, who)| !who.is_empty()).map(row).collect())
        };
        let service = |(name, ((node, _), _)): (&String, &(Who, String))| {
            Value::Array(vec![Value::text(name), Value::Array(vec![Value::text(node)])])
        };
        let services = Value::Array(self.services.iter().map(service).collect());
        Value::Array(vec![listed(&self.publishers), listed(&self.subscribers), services])
    }
}

/// Tells a node, in a thread of its own: nobody waits for one that hangs.
fn tell(api: String, method: &'static str, params: Vec<Value>) {
    let told = std::thread::Builder::new().name("ros tell".into()).spawn(move || {
        if let Ok(uri) = api.parse::<Uri>() {
            let _it_may_be_gone = call(&uri, method, &params);
        }
    });
    drop(told);
}
