//! Integration tests of `space`, one binary. Apart: `no_alloc_*`, each with an allocator of its own.

#[path = "../support/bits.rs"]
mod bits;
mod body;
mod calibrate;
mod carve;
mod cell;
mod clearance;
mod depth_source;
mod drift;
mod field;
mod files;
mod front_isa;
#[path = "../support/fuzz.rs"]
mod fuzz;
mod fuzz_clouds;
#[path = "../support/fuzz_kinds.rs"]
mod fuzz_kinds;
mod layered;
mod map;
mod map_file;
mod outliers;
#[path = "../support/picture.rs"]
mod picture;
mod pipeline;
mod pointcloud2;
mod query;
mod readers;
mod robots;
mod sensor;
mod support;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod tracks;
