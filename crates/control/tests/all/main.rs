//! Integration tests of `control`, one binary. Apart: `request`, which must not wait for others.

mod common;
mod kinematics;
mod limiter;
mod safety;
mod seed;
mod settings;
mod so101;
mod ten_thousand;
mod twist;
