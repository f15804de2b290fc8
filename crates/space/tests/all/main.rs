//! Integration tests of `space`, one binary. Apart: `no_alloc_*`, each with an allocator of its own.

mod carve;
mod cell;
mod clearance;
mod clearing;
mod field;
mod front_isa;
mod layered;
mod map;
mod map_file;
mod mapper;
mod outliers;
mod pipeline;
mod pixels;
mod query;
mod readers;
#[path = "../../../robot/tests/robot/robots.rs"]
mod robots;
mod support;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod tracks;
