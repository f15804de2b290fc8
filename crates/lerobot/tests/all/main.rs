//! Integration tests of `lerobot`, one binary.

mod check;
mod damage;
mod edit;
#[path = "../support/synthetic.rs"]
mod synthetic;
mod write_read;
