//! The master: told what we hear, publish and provide; watched, and told again when it was away.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::health::NodeEvent;
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::service::Service;
use super::{Shared, WATCH, locked};
use crate::error::RosError;
use crate::settings::unique;
use crate::xmlrpc::{Uri, Value, call};

/// URIs in an answer; what is none is left out.
pub(super) fn uris(value: &Value) -> Vec<Uri> {
    let all = value.as_array().unwrap_or_default().iter();
    all.filter_map(|value| value.as_text()?.parse().ok()).collect()
}

impl Shared {
    fn me(&self) -> Value {
        Value::text(locked(&self.name).as_str())
    }

    fn own_api(&self) -> Value {
        Value::text(locked(&self.api).as_ref().map(Uri::to_string).unwrap_or_default())
    }

    fn own_rpc(&self) -> Value {
        let (host, port) = (&self.settings.host, *locked(&self.tcp_port));
        Value::text(format!("rosrpc://{host}:{port}"))
    }

    fn ask(&self, method: &str, params: &[Value]) -> Result<Value, RosError> {
        call(&self.settings.master, method, params)
    }

    /// Not registered now: as soon as the master is there.
    fn later(&self, result: &Result<Value, RosError>) {
        if result.is_err() {
            self.is_register_due.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn register_inlet(&self, inlet: &Arc<Inlet>) {
        let (topic, kind) = (Value::text(&inlet.topic), Value::text(inlet.type_name));
        let answer = self.ask("registerSubscriber", &[self.me(), topic, kind, self.own_api()]);
        self.later(&answer);
        if let Ok(publishers) = answer {
            // A master that has just begun knows few: those that are connected stay.
            inlet.hear_from(&uris(&publishers), false, self);
        }
    }

    pub(super) fn register_outlet(&self, outlet: &Outlet) {
        let (topic, kind) = (Value::text(&outlet.topic), Value::text(outlet.type_name));
        let answer = self.ask("registerPublisher", &[self.me(), topic, kind, self.own_api()]);
        self.later(&answer);
    }

    pub(super) fn register_service(&self, service: &Service) {
        let name = Value::text(&service.name);
        let params = [self.me(), name, self.own_rpc(), self.own_api()];
        let answer = self.ask("registerService", &params);
        self.later(&answer);
    }

    pub(super) fn unregister_inlet(&self, topic: &str) {
        let params = [self.me(), Value::text(topic), self.own_api()];
        let _master_may_be_gone = self.ask("unregisterSubscriber", &params);
    }

    pub(super) fn unregister_outlet(&self, topic: &str) {
        let params = [self.me(), Value::text(topic), self.own_api()];
        let _master_may_be_gone = self.ask("unregisterPublisher", &params);
    }

    pub(super) fn unregister_all(&self) {
        if locked(&self.health).master_lost.is_some() {
            return;
        }
        let mut topics: Vec<String> =
            locked(&self.inlets).iter().map(|inlet| inlet.topic.clone()).collect();
        topics.dedup();
        topics.iter().for_each(|topic| self.unregister_inlet(topic));
        let topics: Vec<String> = locked(&self.outlets).keys().cloned().collect();
        topics.iter().for_each(|topic| self.unregister_outlet(topic));
        let services: Vec<String> = locked(&self.services).keys().cloned().collect();
        for name in services {
            let params = [self.me(), Value::text(name), self.own_rpc()];
            let _master_may_be_gone = self.ask("unregisterService", &params);
        }
    }

    fn register_all(&self) {
        let outlets: Vec<_> = locked(&self.outlets).values().cloned().collect();
        outlets.iter().for_each(|outlet| self.register_outlet(outlet));
        let services: Vec<_> = locked(&self.services).values().cloned().collect();
        services.iter().for_each(|service| self.register_service(service));
        let inlets = locked(&self.inlets).clone();
        inlets.iter().for_each(|inlet| self.register_inlet(inlet));
    }

    pub(super) fn tell(&self, event: NodeEvent) {
        let mut events = locked(&self.events);
        // Nobody listens: the oldest are of no use.
        if events.len() >= 64 {
            events.remove(0);
        }
        events.push(event);
    }

    /// The thread that watches the master.
    pub(super) fn watch_master(&self) {
        let mut taken = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let names_taken = self.names_taken.load(Ordering::Relaxed);
            if names_taken != taken {
                taken = names_taken;
                let now = unique(&self.settings.name);
                locked(&self.name).clone_from(&now);
                self.is_register_due.store(true, Ordering::Relaxed);
                locked(&self.health).names_taken = taken;
                self.tell(NodeEvent::NameTaken { now });
            }
            self.look_at_master();
            let asleep = locked(&self.wake.0);
            let _woken = self.wake.1.wait_timeout(asleep, WATCH);
        }
    }

    fn look_at_master(&self) {
        let pid = match self.ask("getPid", &[self.me()]) {
            Ok(pid) => pid.as_int(),
            Err(error) => {
                let first = locked(&self.health).master_lost.replace(error.to_string()).is_none();
                if first {
                    self.tell(NodeEvent::MasterLost);
                }
                return;
            }
        };
        let is_back = {
            let mut health = locked(&self.health);
            let was_lost = health.master_lost.take().is_some();
            let is_another = health.master_pid != pid;
            health.master_pid = pid;
            was_lost || is_another
        };
        if is_back || self.is_register_due.swap(false, Ordering::Relaxed) {
            self.register_all();
            locked(&self.health).registered_again += 1;
        }
        if is_back {
            self.tell(NodeEvent::MasterBack);
        }
    }
}
