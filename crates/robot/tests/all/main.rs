//! Integration tests of `robot`, one binary.

mod common;
mod ik;
mod reach;
