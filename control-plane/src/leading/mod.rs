//! What the leader of the control group does by itself: it looks again and again at what should change, and proposes it.

mod group;
mod keys;
mod round;

pub(crate) use keys::mint;
pub use round::run;
