//! The states of the state machine and the reasons for which it gives up: `core` has their names,
//! because tapes and reports know them too.

pub use citrange_core::event::{FailureReason as Reason, TaskState as State};
