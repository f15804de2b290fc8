//! Integration tests of `cloud`, one binary.

#[path = "../support/bits.rs"]
mod bits;
mod depth_source;
mod files;
#[path = "../support/fuzz.rs"]
mod fuzz;
mod fuzz_clouds;
#[path = "../support/fuzz_kinds.rs"]
mod fuzz_kinds;
#[path = "../support/picture.rs"]
mod picture;
mod pointcloud2;
mod recorded;
#[path = "../support/recordings.rs"]
mod recordings;
