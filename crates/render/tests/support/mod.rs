//! What the tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses its own part")]

pub mod oracle;
pub mod random;
pub mod robot_scene;
