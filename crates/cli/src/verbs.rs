//! One file per verb.

pub(crate) mod collect;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod drive;
pub(crate) mod eval;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rig;
pub(crate) mod robot;
pub(crate) mod scene;
pub(crate) mod setup;
pub(crate) mod sim;
pub(crate) mod space;
pub(crate) mod train;
pub(crate) mod twin;
