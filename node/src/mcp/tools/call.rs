//! One call of one tool: its arguments and the vault it is about, and what the tool wants done.

use undercroft_vault::{Change, Outcome, Vault};

use crate::Error;
use crate::mcp::arguments::Arguments;
use crate::mcp::failure::Failure;
use crate::mcp::reply::Reply;

/// What a tool is given.
pub(in crate::mcp) struct Call<'a> {
    pub(in crate::mcp) vault: &'a Vault,
    pub(in crate::mcp) arguments: Arguments<'a>,
    /// Chain length from which the status says that the chain is long.
    pub(in crate::mcp) audit_ceiling: Option<u64>,
}

/// Makes the answer from what the change came to.
pub(in crate::mcp) type Finish = Box<dyn FnOnce(Outcome) -> Result<Reply, Failure> + Send>;

/// What a tool came to.
pub(in crate::mcp) enum Plan {
    /// It is done.
    Answer(Reply),
    /// This change is to be made first.
    Write(Change, Finish),
}

impl Plan {
    /// A change, and the answer that follows from its outcome.
    pub(super) fn write(
        change: Change,
        finish: impl FnOnce(Outcome) -> Result<Reply, Failure> + Send + 'static,
    ) -> Self {
        Self::Write(change, Box::new(finish))
    }
}

/// How a tool works.
#[derive(Clone, Copy)]
pub(in crate::mcp) enum Run {
    /// It reads and answers.
    Reads(fn(&Call<'_>) -> Result<Reply, Failure>),
    /// It may want a change made.
    Writes(fn(&Call<'_>) -> Result<Plan, Failure>),
}

impl Run {
    pub(in crate::mcp) fn start(self, call: &Call<'_>) -> Result<Plan, Failure> {
        match self {
            Self::Reads(run) => run(call).map(Plan::Answer),
            Self::Writes(run) => run(call),
        }
    }
}

/// A change answers with the outcome of its own kind; of anything else nobody knows what it means.
pub(super) fn unexpected(_: &Outcome) -> Failure {
    Error::Lost.into()
}
