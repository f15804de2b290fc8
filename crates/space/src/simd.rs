//! Which vector instructions the processor has.

pub use citrange_cloud::Isa;
