//! Networks of others: Stable-Baselines3's `.zip` and ONNX, read without Python, and ours written
//! as ONNX.
//!
//! | to change | look in |
//! |---|---|
//! | what an imported policy is, and its file | `foreign.rs` |
//! | Stable-Baselines3's files | `sb3.rs`; pickles, which are parsed and never run `pickle.rs` |
//! | ONNX: bytes `protobuf.rs`, graphs `onnx.rs`, writing `onnx_write.rs` |
//! | how inputs are made and what outputs mean | `mapping.rs` |

mod foreign;
mod mapping;
mod onnx;
mod onnx_write;
mod pickle;
mod protobuf;
mod sb3;

pub use foreign::ForeignPolicy;
pub use mapping::{Asked, MappedInput, Mapping, Outputs, Place, Quantity};
pub use onnx_write::to_onnx;
