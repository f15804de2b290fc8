//! Motions for arms: behind the verb `plan`.

pub(crate) mod bench;
mod film;
pub(crate) mod make;
mod setting;
mod text;
