//! Clouds on disk and what the cell says about them: behind the verb `space`.

pub(crate) mod calibrate;
mod given;
mod picture;
mod robot;
pub(crate) mod run;
mod save;
pub(crate) mod simulate;
pub(crate) mod view;
