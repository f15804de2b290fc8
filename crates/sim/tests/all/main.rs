//! Integration tests of `sim`, one binary. Apart: `gl` (OpenGL is chosen once per process), `scenes`
//! (no engine message in the whole process).

mod arm;
mod bad_input;
mod cells;
mod chain;
#[path = "../common/mod.rs"]
mod common;
mod controller;
mod depth_pilot;
mod depth_sensor;
mod draw;
mod engine;
mod foreign;
mod oracle;
mod rig;
mod shapes;
mod snapshot;
mod state;
mod variation;
mod velocity;
