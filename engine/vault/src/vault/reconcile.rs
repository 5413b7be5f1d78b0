//! What the manifest's anchor, and what this handle has seen, say about the chain in the database. Decides; writes
//! nothing.

use std::sync::atomic::Ordering;

use rusqlite::Connection;
use undercroft_crypto::{Anchor, ChainState};

use super::Vault;
use crate::audit;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::storage::snapshot::Snapshot;

/// What opening found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// The anchor names the committed head.
    Current,
    /// The anchor lagged by so many records, as after a crash; the chain continues it.
    Behind(u64),
}

/// Compares anchor and chain.
///
/// Equal is current. An earlier head of this chain is a lag, proved by replaying what came after it. Anything else is a
/// verdict: when the whole chain does not replay it is broken, when it does it is another history than the anchored one.
pub(super) fn reconcile(
    conn: &Connection,
    keyring: &Keyring,
    name: &str,
    anchor: &Anchor,
    state: &ChainState,
) -> Result<Recovery> {
    if anchor.height == state.height && anchor.head == state.head {
        return Ok(Recovery::Current);
    }
    if anchor.height < state.height {
        // The digest at the anchor is not known; only heads matter here.
        let from = ChainState { height: anchor.height, head: anchor.head, ..ChainState::genesis() };
        let replayed = audit::replay(conn, keyring, &from, state.height)?;
        if !replayed.gap && replayed.state.head == state.head {
            return Ok(Recovery::Behind(state.height.get() - anchor.height.get()));
        }
    }
    let whole = audit::replay(conn, keyring, &ChainState::genesis(), state.height)?;
    if whole.gap || whole.state != *state {
        return Err(Error::ChainBroken { height: whole.state.height.get() });
    }
    Err(Error::RolledBack {
        name: name.to_owned(),
        anchored: anchor.height.get(),
        found: if anchor.height > state.height {
            format!("ends at {}", state.height.get())
        } else {
            String::from("has another history")
        },
    })
}

impl Vault {
    /// The chain that `conn` shows must be the one that this handle had seen before, or continue it: other processes
    /// append, nobody rewrites. `seen` is read before the transaction of `conn` begins, or it could be the later one.
    pub(crate) fn check_extends(
        &self,
        conn: &Connection,
        seen: &ChainState,
        found: &ChainState,
    ) -> Result<()> {
        if found == seen {
            return Ok(());
        }
        if found.height > seen.height {
            let replayed = audit::replay(conn, &self.keyring, seen, found.height)?;
            if !replayed.gap && replayed.state == *found {
                self.saw(found);
                return Ok(());
            }
        }
        Err(Error::RolledBack {
            name: self.name(),
            anchored: seen.height.get(),
            found: format!("another history, of {} record(s)", found.height.get()),
        })
    }

    /// Height of the audit chain as this handle last saw it committed. What other processes append counts from the next
    /// read or write on. Asks nobody: it costs no access to the database.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.seen.lock().height.get()
    }

    /// The chain as this handle last saw it committed.
    pub(crate) fn seen(&self) -> ChainState {
        *self.seen.lock()
    }

    /// Notes a committed state, unless a later one is known.
    pub(super) fn saw(&self, state: &ChainState) {
        let mut seen = self.seen.lock();
        if state.height > seen.height {
            *seen = *state;
        }
    }

    /// Proves the labels that the connection's snapshot shows, before anything is decided from them: audit rows have no
    /// tag of their own, so one that was removed or changed shows only in a replay, and one that the index does not lead
    /// to only in a comparison. The whole chain is replayed once a handle, and from there on what was committed since.
    pub(crate) fn prove(&self, conn: &Connection, state: &ChainState) -> Result<()> {
        let proved = self.proved.load(Ordering::Acquire);
        let from = if proved { *self.seen.lock() } else { ChainState::genesis() };
        // An earlier height is that of a snapshot begun before this handle's last commit.
        if proved && (state.height < from.height || *state == from) {
            return Ok(());
        }
        let replayed = audit::replay_indexed(conn, &self.keyring, &from, state.height)?;
        if replayed.gap || replayed.state != *state {
            return Err(Error::ChainBroken { height: replayed.state.height.get() });
        }
        self.saw(state);
        self.proved.store(true, Ordering::Release);
        Ok(())
    }

    /// A snapshot whose labels are proved: what every read that returns something starts from.
    pub(super) fn reading(&self) -> Result<Snapshot<'_>> {
        let snapshot = self.readers.snapshot()?;
        snapshot.with(|conn| self.prove(conn, &audit::state::load(conn, &self.keyring)?))?;
        Ok(snapshot)
    }
}
