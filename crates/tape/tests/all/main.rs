//! Integration tests of `tape`, one binary. Apart: `queue`, which needs a coder of its own pace.

#[path = "../common/mod.rs"]
mod common;
mod crash;
mod dataset;
mod demo;
mod depth;
mod format;
