//! Integration tests of `calibrate`, one binary.

mod calibrate;
mod drift;
