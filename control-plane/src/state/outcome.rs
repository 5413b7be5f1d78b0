//! What became of a command: what it made, or why it was refused. An outcome is the same on every member.

use serde::{Deserialize, Serialize};
use undercroft_proto::{
    Epoch, ErrorClass, Incarnation, JobId, MemberId, MoveId, NodeId, ShardId, TenantId, VaultId,
};

/// The result of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It was done, and there is nothing to name.
    Done,
    /// The member that it was about.
    Member(MemberId),
    /// The node that it was about.
    Node(NodeId),
    /// The tenant that it was about, with its vault and that vault's shard.
    Tenant {
        /// The tenant.
        tenant: TenantId,
        /// Its vault.
        vault: VaultId,
        /// Where the vault is.
        shard: ShardId,
    },
    /// The change of a shard's replicas that began.
    Change(u64),
    /// The move that began.
    Move(MoveId),
    /// The ownership epoch that a decision gave.
    Epoch(Epoch),
    /// The life that a vault began.
    Incarnation(Incarnation),
    /// The job that it was about.
    Job(JobId),
    /// Witnesses that were kept, and vaults whose witness contradicts an earlier one.
    Witnessed {
        /// How many were kept.
        kept: u32,
        /// The vaults in contradiction.
        conflicting: Vec<VaultId>,
    },
    /// The command was refused and changed nothing.
    Refused(Refusal),
    /// The number of the key that it was about.
    AssertionKey(u32),
}

impl Outcome {
    /// The refusal, if it is one.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// Why a command was refused. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing was decided yet.
    #[error("this cluster is not initialised; do it with: undercroft cluster init")]
    NotInitialised,
    /// It can be done once only.
    #[error("this cluster is initialised already; nothing was changed")]
    Initialised,
    /// A command that some member does not know yet.
    #[error(
        "this needs version {needs} and some member of the control group speaks {format}; upgrade every member first"
    )]
    TooNew {
        /// The version that the command needs.
        needs: u32,
        /// The lowest version spoken.
        format: u32,
    },
    /// A process that is older than what the fleet has decided in.
    #[error(
        "it speaks version {speaks} and the fleet decides in {format}; start the newer version of undercroft"
    )]
    TooOld {
        /// The version that it speaks.
        speaks: u32,
        /// The version of the fleet.
        format: u32,
    },
    /// There is nothing of that id.
    #[error("there is no {what} {id}")]
    NoSuch {
        /// "node", "shard", …
        what: Noun,
        /// Its id.
        id: String,
    },
    /// A name that is taken.
    #[error("{what} '{name}' exists already; choose another name")]
    Exists {
        /// What has the name.
        what: Noun,
        /// The name.
        name: String,
    },
    /// A field that cannot be.
    #[error("field '{field}' {problem}")]
    Field {
        /// The field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something is under way that must end first.
    #[error("{what} {id} is busy: {doing}; wait for its end or abort it")]
    Busy {
        /// What is busy.
        what: Noun,
        /// Its id.
        id: String,
        /// What is under way.
        doing: String,
    },
    /// What was decided upon is not so any more.
    #[error("{what} {id} has changed: {now}; look again, then decide")]
    Stale {
        /// What has changed.
        what: Noun,
        /// Its id.
        id: String,
        /// What is so now.
        now: String,
    },
    /// It still holds something.
    #[error("{what} {id} still holds {holds}; {remedy}")]
    InUse {
        /// What is in use.
        what: Noun,
        /// Its id.
        id: String,
        /// What it holds.
        holds: String,
        /// What to do.
        remedy: String,
    },
    /// A bound is reached.
    #[error("there are {most} {what}s already, which is the most; remove one first")]
    Full {
        /// Of what.
        what: Noun,
        /// The bound.
        most: u64,
    },
    /// No shard can take a vault.
    #[error("no shard has replicas yet; start nodes and wait until they are live: undercroft node list")]
    NoShard,
    /// The request's key was used for something else.
    #[error("this idempotency key was used for another request within a day; use a fresh key")]
    RequestReused,
    /// A token that is in use. It cannot happen by chance.
    #[error("this token is in use; mint another one")]
    TokenInUse,
    /// A name or id that belongs to the holder of another certificate.
    #[error(
        "{what} {id} is bound to the certificate {certificate}; use that one, or remove the {what} first and come back anew"
    )]
    Bound {
        /// What is bound.
        what: Noun,
        /// Its id.
        id: String,
        /// The URI in the certificate that it is bound to.
        certificate: String,
    },
}

impl Refusal {
    /// What the caller should make of it.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Field { .. } => ErrorClass::Invalid,
            Self::NoSuch { .. } => ErrorClass::NotFound,
            Self::NotInitialised | Self::NoShard | Self::TooNew { .. } => ErrorClass::Unavailable,
            Self::TooOld { .. } | Self::Bound { .. } => ErrorClass::Denied,
            Self::Initialised
            | Self::Exists { .. }
            | Self::Busy { .. }
            | Self::Stale { .. }
            | Self::InUse { .. }
            | Self::Full { .. }
            | Self::RequestReused
            | Self::TokenInUse => ErrorClass::Conflict,
        }
    }

    pub(super) fn no_such(what: Noun, id: impl ToString) -> Self {
        Self::NoSuch { what, id: id.to_string() }
    }

    pub(super) fn field(field: &str, problem: impl Into<String>) -> Self {
        Self::Field { field: field.to_owned(), problem: problem.into() }
    }
}

/// The kinds of thing that commands are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Noun {
    Member,
    Node,
    Shard,
    Vault,
    Tenant,
    Job,
    Change,
    Move,
    Credential,
    Generation,
    Learner,
    AssertionKey,
}

impl std::fmt::Display for Noun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Member => "member",
            Self::Node => "node",
            Self::Shard => "shard",
            Self::Vault => "vault",
            Self::Tenant => "tenant",
            Self::Job => "job",
            Self::Change => "change",
            Self::Move => "move",
            Self::Credential => "credential",
            Self::Generation => "generation",
            Self::Learner => "learner",
            Self::AssertionKey => "assertion key",
        })
    }
}
