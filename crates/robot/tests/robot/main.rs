//! Integration tests of `robot`, one binary.

mod body;
mod common;
mod ik;
mod reach;
mod robots;
