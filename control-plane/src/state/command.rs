//! Everything that can be decided, and how a batch of it stands in the log.
//!
//! A command carries what applying it may not find out for itself: the time, random bits, sealed bytes. Variants and fields
//! are only ever appended, and what is new needs a higher version: `docs/control-plane.md` says how a fleet upgrades.

use serde::{Deserialize, Serialize};

use super::{
    ClusterCommand, JobCommand, KeyCommand, NodeCommand, ShardCommand, TenantCommand, VaultCommand,
    WitnessCommand,
};
use crate::{Error, limits};

/// The newest version of commands that this build knows.
pub const VERSION: u32 = 1;

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// About the cluster and the members of the control group.
    Cluster(ClusterCommand),
    /// About nodes.
    Node(NodeCommand),
    /// About the replicas of shards.
    Shard(ShardCommand),
    /// About where vaults are, and their key generations.
    Vault(VaultCommand),
    /// About tenants.
    Tenant(TenantCommand),
    /// About jobs.
    Job(JobCommand),
    /// About witnesses.
    Witness(WitnessCommand),
    /// About the keys of assertions.
    Key(KeyCommand),
}

impl Command {
    /// The version that every member must speak before this command may be decided.
    #[must_use]
    pub const fn needs(&self) -> u32 {
        // Every command of the first version needs the first version. A new variant gets an arm of its own.
        1
    }
}

/// Names one request of a caller, so that asking again is not doing again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Request {
    /// SHA-256 of the scope and the caller's key.
    pub id: [u8; 32],
    /// SHA-256 of what was asked. Another one under the same id is refused.
    pub digest: [u8; 32],
}

/// A command, and the request that it fulfils.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The caller's request, when it may be repeated.
    pub request: Option<Request>,
    /// What is decided.
    pub command: Command,
}

impl From<Command> for Step {
    fn from(command: Command) -> Self {
        Self { request: None, command }
    }
}

/// What one entry of the log holds: commands that are applied one after another, each on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Milliseconds since 1970 by the clock of who proposed it.
    pub at: u64,
    /// The commands.
    pub steps: Vec<Step>,
}

impl Batch {
    /// A batch of commands that answer no request.
    #[must_use]
    pub fn of(at: u64, commands: impl IntoIterator<Item = Command>) -> Self {
        Self { at, steps: commands.into_iter().map(Step::from).collect() }
    }

    /// The entry's bytes: the version that it needs as four bytes, little-endian, then the batch in postcard.
    ///
    /// # Errors
    /// [`Error::BatchTooLarge`].
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let needs = self.steps.iter().map(|step| step.command.needs()).max().unwrap_or(1);
        let head = needs.to_le_bytes().to_vec();
        let encoded = postcard::to_extend(self, head);
        let bytes = encoded.map_err(|error| unreadable(&error))?;
        if self.steps.len() > limits::BATCH_COMMANDS || bytes.len() > limits::BATCH_BYTES {
            return Err(Error::BatchTooLarge { commands: self.steps.len(), bytes: bytes.len() });
        }
        Ok(bytes)
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// [`Error::Version`] for one that a newer build wrote: it is never skipped. [`Error::Unreadable`] for damage.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let Some((head, body)) = bytes.split_first_chunk::<4>() else {
            return Err(Error::Unreadable { what: WHAT, problem: format!("it has {} bytes", bytes.len()) });
        };
        let needs = u32::from_le_bytes(*head);
        if needs == 0 || needs > VERSION {
            return Err(Error::Version { what: WHAT, found: needs, known: VERSION });
        }
        let (batch, rest) = postcard::take_from_bytes(body).map_err(|error| unreadable(&error))?;
        if !rest.is_empty() {
            return Err(Error::Unreadable { what: WHAT, problem: format!("{} bytes are left", rest.len()) });
        }
        Ok(batch)
    }
}

const WHAT: &str = "an entry of the control group's log";

fn unreadable(error: &postcard::Error) -> Error {
    Error::Unreadable { what: WHAT, problem: error.to_string() }
}
