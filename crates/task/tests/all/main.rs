//! Integration tests of `task`, one binary.

mod around;
mod judge_common;
mod judge_lies;
mod judge_lies_placed;
mod judge_memory;
mod judge_pickup;
mod lies;
mod matrix;
mod memory;
mod noise;
mod oranges;
mod panda;
mod randomised;
mod reasons;
mod settings;
mod spots;
mod things;
mod work;
