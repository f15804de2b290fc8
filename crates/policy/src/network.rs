//! Small networks by hand: matrix products in lanes, layers forward and backward, Adam.

mod adam;
mod mlp;
mod product;

pub(crate) use adam::Adam;
pub use mlp::{Activation, Layer, Mlp, MlpScratch};
pub(crate) use mlp::{Backward, MlpGradient, Transposed, normal};
