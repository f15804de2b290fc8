//! The words every Citrange crate speaks: names, poses, rates, scenes, State.
pub mod names;
pub mod pose;
pub mod rates;
pub mod rng;
pub mod yaml;
