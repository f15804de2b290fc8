//! Who we are among the nodes, and where the master is.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs as _};

use crate::error::RosError;
use crate::xmlrpc::Uri;

/// Where the master is if nobody says.
const MASTER: &str = "http://localhost:11311";

/// A node as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// `/name`, unique among all nodes.
    pub name: String,
    /// The master.
    pub master: Uri,
    /// The address of this machine that our own servers are bound to.
    pub ip: IpAddr,
    /// What others are told to reach it by.
    pub host: String,
    /// Other names for topics and services: from ours to the robot's.
    pub remap: BTreeMap<String, String>,
}

impl NodeSettings {
    /// As ROS_MASTER_URI, ROS_IP and ROS_HOSTNAME say, with a name that nobody else has. Without
    /// the latter two a master on this machine is needed: nothing is served on other addresses than
    /// those that somebody named.
    ///
    /// # Errors
    /// When one of them is none, or the address to be reached at is not said.
    pub fn from_environment(name: &str) -> Result<Self, RosError> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let uri = set("ROS_MASTER_URI").unwrap_or_else(|| MASTER.to_owned());
        let host = set("ROS_HOSTNAME").or_else(|| set("ROS_IP"));
        Self::new(name, &uri, host.as_deref())
    }

    /// With a master and the name or address that this machine is reached by.
    ///
    /// # Errors
    /// As [`NodeSettings::from_environment`].
    pub fn new(name: &str, master: &str, host: Option<&str>) -> Result<Self, RosError> {
        let master: Uri = master.trim().parse()?;
        let (ip, host) = match host {
            Some(host) => (address(host)?, host.to_owned()),
            None if address(&master.host)?.is_loopback() => {
                (IpAddr::V4(Ipv4Addr::LOCALHOST), Ipv4Addr::LOCALHOST.to_string())
            }
            None => {
                let reason = format!(
                    "the master is on {}: say by it which address of this machine the robot \
                     reaches",
                    master.host
                );
                return Err(RosError::bad("ROS_IP", reason));
            }
        };
        let name = unique(&global(name)?);
        Ok(Self { name, master, ip, host, remap: BTreeMap::new() })
    }

    /// A topic's or service's name as the robot knows it.
    ///
    /// # Errors
    /// When it is none.
    pub fn resolve(&self, name: &str) -> Result<String, RosError> {
        let own = global(name)?;
        match self.remap.get(&own).or_else(|| self.remap.get(own.trim_start_matches('/'))) {
            Some(other) => global(other),
            None => Ok(own),
        }
    }
}

fn address(host: &str) -> Result<IpAddr, RosError> {
    if let Ok(ip) = host.parse() {
        return Ok(ip);
    }
    let unknown = |reason: String| RosError::bad(host, reason);
    let mut all = (host, 0).to_socket_addrs().map_err(|e| unknown(e.to_string()))?;
    let first = all.next().ok_or_else(|| unknown("has no address".to_owned()))?;
    Ok(first.ip())
}

/// `/a/b` of `a/b`; letters, digits, `_` and `/` alone.
///
/// # Errors
/// When it is no name.
pub fn global(name: &str) -> Result<String, RosError> {
    let parts = name.strip_prefix('/').unwrap_or(name);
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if parts.split('/').all(is_part) {
        return Ok(format!("/{parts}"));
    }
    Err(RosError::bad(
        format!("\"{name}\""),
        "is no name of ROS: parts of letters, digits and _, each beginning with a letter, with / \
         between them",
    ))
}

/// A name that no other node has.
pub(crate) fn unique(name: &str) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ns = since.map_or(0, |since| since.as_nanos());
    format!("{name}_{}_{}", std::process::id(), ns % 1_000_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_global_and_checked() {
        assert_eq!(global("joint_states").unwrap(), "/joint_states");
        assert_eq!(global("/cam_1/depth").unwrap(), "/cam_1/depth");
        for name in ["", "/", "a//b", "1a", "a b", "a/~b", "a/"] {
            let error = global(name).unwrap_err().to_string();
            assert!(error.contains("no name of ROS"), "{name}: {error}");
        }
    }

    #[test]
    fn nothing_is_served_where_nobody_said() {
        let here = NodeSettings::new("a", "http://localhost:11311", None).unwrap();
        assert!(here.ip.is_loopback() && here.host == "127.0.0.1");
        let there = NodeSettings::new("a", "http://192.0.2.7:11311", None).unwrap_err();
        assert!(there.to_string().contains("ROS_IP"), "{there}");
        let said = NodeSettings::new("a", "http://192.0.2.7:11311", Some("192.0.2.8")).unwrap();
        assert_eq!(said.ip.to_string(), "192.0.2.8");
    }

    #[test]
    fn topics_are_renamed_by_a_table() {
        let mut settings = NodeSettings::new("a", "http://localhost:1", None).unwrap();
        settings.remap.insert("joint_states".into(), "/left/joint_states".into());
        assert_eq!(settings.resolve("/joint_states").unwrap(), "/left/joint_states");
        assert_eq!(settings.resolve("tf").unwrap(), "/tf");
    }
}
