//! What others may ask a node over XML-RPC.

use std::sync::Weak;
use std::sync::atomic::Ordering;

use super::health::NodeEvent;
use super::registration::uris;
use super::{Shared, locked};
use crate::xmlrpc::{Call, Uri, Value};

fn answer_with(code: i32, text: &str, value: Value) -> Value {
    Value::Array(vec![Value::Int(code), Value::text(text), value])
}

fn topics(pairs: impl Iterator<Item = (String, &'static str)>) -> Value {
    let pair = |(topic, kind): (String, &'static str)| {
        Value::Array(vec![Value::text(topic), Value::text(kind)])
    };
    Value::Array(pairs.map(pair).collect())
}

/// Answers a call.
pub(super) fn answer(shared: &Weak<Shared>, call: &Call) -> Value {
    let Some(shared) = shared.upgrade() else {
        return answer_with(-1, "the node leaves", Value::Int(0));
    };
    let text = |at: usize| call.params.get(at).and_then(Value::as_text).unwrap_or_default();
    match call.method.as_str() {
        "publisherUpdate" => {
            let publishers = call.params.get(2).map(uris).unwrap_or_default();
            let inlets = locked(&shared.inlets).clone();
            for inlet in inlets.iter().filter(|inlet| inlet.topic == text(1)) {
                inlet.hear_from(&publishers, true, &shared);
            }
            answer_with(1, "", Value::Int(0))
        }
        "requestTopic" => request_topic(&shared, text(1)),
        "getPid" => {
            let pid = i32::try_from(std::process::id()).unwrap_or(0);
            answer_with(1, "", Value::Int(pid))
        }
        "getMasterUri" => answer_with(1, "", Value::text(shared.settings.master.to_string())),
        "getSubscriptions" => {
            let inlets = locked(&shared.inlets).clone();
            let all = inlets.iter().map(|inlet| (inlet.topic.clone(), inlet.type_name));
            answer_with(1, "", topics(all))
        }
        "getPublications" => {
            let outlets = locked(&shared.outlets);
            let all = outlets.values().map(|outlet| (outlet.topic.clone(), outlet.type_name));
            answer_with(1, "", topics(all))
        }
        "getBusInfo" => answer_with(1, "", bus_info(&shared)),
        "getBusStats" => {
            let none = || Value::Array(Vec::new());
            answer_with(1, "", Value::Array(vec![none(), none(), none()]))
        }
        "paramUpdate" => answer_with(1, "", Value::Int(0)),
        "shutdown" => {
            let reason = text(1);
            if reason.contains("new node registered with same name") {
                shared.names_taken.fetch_add(1, Ordering::Relaxed);
                shared.wake.1.notify_all();
            } else {
                shared.tell(NodeEvent::AskedToEnd { reason: reason.to_owned() });
                locked(&shared.inlets).iter().for_each(|inlet| inlet.close());
            }
            answer_with(1, "", Value::Int(0))
        }
        other => answer_with(-1, &format!("no method {other}"), Value::Int(0)),
    }
}

fn request_topic(shared: &Shared, topic: &str) -> Value {
    if !locked(&shared.outlets).contains_key(topic) {
        return answer_with(0, &format!("{topic} is not published here"), Value::Int(0));
    }
    let port = i32::from(*locked(&shared.tcp_port));
    let host = Value::text(shared.settings.host.as_str());
    answer_with(1, "", Value::Array(vec![Value::text("TCPROS"), host, Value::Int(port)]))
}

/// Who is connected to whom: `[number, other side, direction, transport, topic, connected]`.
fn bus_info(shared: &Shared) -> Value {
    let mut all = Vec::new();
    let mut row = |other: String, direction: &str, topic: &str| {
        let number = i32::try_from(all.len()).unwrap_or(i32::MAX);
        all.push(Value::Array(vec![
            Value::Int(number),
            Value::text(other),
            Value::text(direction),
            Value::text("TCPROS"),
            Value::text(topic),
            Value::Bool(true),
        ]));
    };
    for inlet in locked(&shared.inlets).iter() {
        let connected: Vec<Uri> = inlet.connected();
        connected.iter().for_each(|uri| row(uri.to_string(), "i", &inlet.topic));
    }
    for outlet in locked(&shared.outlets).values() {
        outlet.subscribers().into_iter().for_each(|name| row(name, "o", &outlet.topic));
    }
    Value::Array(all)
}
