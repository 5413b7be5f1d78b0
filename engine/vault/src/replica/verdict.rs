//! What became of an entry on a copy. Every copy that holds the same entries comes to the same verdict, but for
//! [`Outcome::Suspect`], which says that this copy is not like the others.

use std::fmt;

use super::state::State;

/// What became of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out.
    Applied(State),
    /// The vault was removed.
    Gone,
    /// It changes nothing, on any copy.
    NoOp(NoOp),
    /// This copy cannot be brought to where the entry leads: stop serving it and replace it.
    Suspect(Suspect),
    /// The command is known and not carried out by this version, on any copy.
    NotAvailable(&'static str),
}

/// Why an entry was not carried out; what is left of an [`Outcome`] without the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    NoOp(NoOp),
    Suspect(Suspect),
    NotAvailable(&'static str),
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoOp(reason) => Self::NoOp(reason),
            Refusal::Suspect(reason) => Self::Suspect(reason),
            Refusal::NotAvailable(what) => Self::NotAvailable(what),
        }
    }
}

/// Why an entry changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOp {
    /// The copy holds it already.
    HeldAlready,
    /// It begins at an earlier head of this chain: it lost a race when the leader changed.
    OlderHead,
    /// Its writer believed in an earlier ownership.
    OldEpoch,
    /// It belongs to an earlier life of the vault.
    OldIncarnation,
    /// It is sealed under keys from before a rotation.
    OldGeneration,
    /// The vault takes no writes.
    Frozen,
    /// The vault is not frozen for the move that the command names.
    OtherMove,
    /// There is nothing to do.
    NothingToDo,
}

/// Why a copy is suspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suspect {
    /// The segment is another vault's.
    OtherVault,
    /// The entry belongs to a later life, ownership or generation than this copy knows of.
    Missed(&'static str),
    /// The segment begins at a height that this copy has not reached.
    BaseAhead {
        /// Height of the copy.
        height: u64,
        /// Height at which the segment begins.
        base: u64,
    },
    /// The segment begins at a head that is not in this copy's chain.
    OtherHistory,
    /// The segment does not open, or holds no changes of the kind that a writer makes.
    Malformed(String),
    /// A row is not as the segment remembers it.
    Conflict(&'static str),
    /// The changes contradict the audit records that come with them.
    Unproved(&'static str),
    /// Rows of this copy fail their check.
    Rows(String),
    /// The copy that the command needs is not here.
    Missing(&'static str),
}

impl fmt::Display for NoOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeldAlready => "the copy holds the entry already",
            Self::OlderHead => "another write came first",
            Self::OldEpoch => "the vault has changed its owner",
            Self::OldIncarnation => "the vault has begun another life",
            Self::OldGeneration => "the vault's keys were rotated",
            Self::Frozen => "the vault takes no writes",
            Self::OtherMove => "the vault is not frozen for this move",
            Self::NothingToDo => "there is nothing to do",
        })
    }
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherVault => f.write_str("the segment is another vault's"),
            Self::Missed(what) => write!(f, "the entry is of a later {what} than this copy knows of"),
            Self::BaseAhead { height, base } => {
                write!(f, "the copy has {height} record(s), and the segment begins behind {base}")
            }
            Self::OtherHistory => {
                f.write_str("the segment begins at a head that is not in this copy's chain")
            }
            Self::Malformed(how) => write!(f, "the segment is malformed: {how}"),
            Self::Conflict(table) => write!(f, "a row of {table} is not as the segment remembers it"),
            Self::Unproved(how) => write!(f, "the segment's changes are not proved by its records: {how}"),
            Self::Rows(finding) => write!(f, "the copy's own rows fail their check: {finding}"),
            Self::Missing(what) => write!(f, "{what} is not here"),
        }
    }
}
