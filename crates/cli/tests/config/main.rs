//! `citrange config`: settings say where they come from; files have schemas that are right.

#[path = "../common/mod.rs"]
mod common;
mod sample;
mod schemas;
mod show;
mod validator;
