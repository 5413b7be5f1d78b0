//! The agent protocol (MCP): one vault, shown to an agent as tools.
//!
//! `protocol` takes one message and gives at most one reply, whatever carried it; `stdio` and `http` carry. `tools` is the
//! inventory, `fence` stands in front of every call. A call that writes stops at the change that it wants made: whoever
//! carries decides how that is done. Nothing here opens a vault, keeps a session or reads the environment.

mod arguments;
mod failure;
mod fence;
pub mod http;
mod limits;
mod message;
mod protocol;
mod render;
mod reply;
mod stdio;
mod step;
mod strict;
pub mod tools;
mod version;

pub use failure::Failure;
pub use message::Message;
pub use protocol::{Answer, Posture, Server};
pub use stdio::serve_stdio;
pub use step::{Pending, Step};
pub use version::VERSIONS;

#[cfg(test)]
mod answers_test;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod http_test;
#[cfg(test)]
mod protocol_test;
#[cfg(test)]
mod tools_test;
