//! Integration tests of `video`, one binary.

mod damage;
mod encoder;
mod film;
#[path = "../../examples/common/pictures.rs"]
#[allow(dead_code, reason = "shared with the examples")]
mod pictures;
