//! XML-RPC, as far as ROS speaks it: values, calls and answers over one HTTP request each.

mod call;
mod http;
mod server;
mod value;
mod xml;

pub(crate) use call::connect;
pub use call::{Uri, call};
pub use server::{Handler, Server};
pub use value::{Call, Value, parse_answer, parse_call, write_answer, write_call};

/// Largest body in bytes. A master with thousands of topics stays far below.
pub(crate) const LARGEST_BODY: usize = 4 << 20;
