//! A harness for stories of the real binary: an installation in a folder of its own, commands in a clean environment,
//! their outcome, a server and its clients, a fleet, golden files, a repeatable source of chance, and the hunt for bytes.

mod binary;
mod engine;
mod files;
mod fleet;
mod golden;
mod hunt;
mod palace;
mod ran;
mod random;
mod served;

pub use binary::binary;
pub use engine::{concatenate, open, open_to_write};
pub use files::{contents, files};
pub use fleet::{ADMIN_TOKEN, Fleet};
pub use golden::{expect_golden, mask};
pub use hunt::{Leak, forms, hunt};
pub use palace::Palace;
pub use ran::Ran;
pub use random::Random;
pub use served::{Answered, Client, PATIENCE, Served};
