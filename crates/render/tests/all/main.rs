//! Integration tests of `render`, one binary.

mod determinism;
mod errors;
mod exactness;
mod looks;
mod shadows;
#[path = "../support/mod.rs"]
mod support;
