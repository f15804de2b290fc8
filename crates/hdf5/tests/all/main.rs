//! Integration tests of `hdf5`, one binary. Apart: `damage`, which limits the memory of its process.

mod demo;
mod robomimic;
