//! Integration tests of `control`, one binary. Apart: `request`, which must not wait for others.

mod common;
mod ik;
mod kinematics;
mod limiter;
mod reach;
mod safety;
mod seed;
mod settings;
mod so101;
mod ten_thousand;
mod twist;
