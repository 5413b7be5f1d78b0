//! LoCoMo as a measurement of retrieval: reading the data set, rendering it into drawers, and scoring a searcher.
//! It holds no data and no index: the data set is a file that the caller names, the searcher is handed in.
//!
//! Protocol: one searcher a conversation. A session is rendered as lines `SPEAKER said, "text"`, one a turn, and
//! filed in a room of its own, cut by the default chunker or (to see what the cut costs) one drawer a turn. A
//! question counts when it names evidence. It is a session hit when a session with evidence is among the first
//! ten distinct sessions found. It is a turn hit when every turn of its evidence lies whole inside one of the
//! first ten drawers; there a question counts when one piece of its evidence names a turn that exists.

mod parse;
mod render;
mod report;
mod score;

pub use parse::{Conversation, DataError, Evidence, Question, Session, Turn, parse, read};
pub use render::{Unit, drawers, line, room};
pub use report::{Report, Row};
pub use score::{Searcher, run};

#[cfg(test)]
mod locomo_test;
