//! What a question about a dataset is answered with: for machines and for people.

use serde_json::Value;

/// An answer in both ways; whoever asked shows one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// For machines: one object.
    pub json: Value,
    /// For people: what was asked for.
    pub lines: Vec<String>,
    /// For people: what is worth knowing beside it.
    pub remarks: Vec<String>,
}
