//! The words every Citrange crate speaks: names, poses, rates, scenes, State.
