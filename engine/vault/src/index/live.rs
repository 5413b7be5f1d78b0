//! The index as it lives beside an open vault: loaded when first needed, published to after each commit, caught up
//! when another process wrote, kept on disk when it changed enough.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use undercroft_crypto::ChainState;
use undercroft_search::Index;

use super::{build, image};
use crate::audit;
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::lock;
use crate::storage::snapshot::Snapshot;
use crate::vault::{Committed, IndexChange, Vault};

/// The slot for the index; empty until a search needs it.
#[derive(Default)]
pub(crate) struct LiveIndex {
    slot: RwLock<Option<Current>>,
    /// Height of the last commit that destroyed something and that the slot did not follow: the image on disk may still
    /// hold it.
    unfollowed_removal: AtomicU64,
}

/// An index and the chain state that it reflects.
pub(crate) struct Current {
    pub(crate) index: Index,
    pub(crate) chain: ChainState,
    /// Records followed since the image on disk was written.
    since_image: u64,
    /// Something was removed since: the image still holds it.
    removed_since_image: bool,
    has_image: bool,
}

impl Current {
    fn apply(&mut self, changes: Vec<IndexChange>) -> Result<()> {
        for change in changes {
            match change {
                IndexChange::Put { meta, analysed: Some(analysed), vector } => {
                    super::file(&mut self.index, meta, analysed, vector)?;
                }
                IndexChange::Put { .. } | IndexChange::Unread => {}
                IndexChange::Remove(key) => self.removed_since_image |= self.index.remove(&key),
            }
        }
        Ok(())
    }
}

/// A loaded index, held against publishing while a search uses it.
pub(crate) type Held<'a> = parking_lot::MappedRwLockReadGuard<'a, Current>;

impl LiveIndex {
    pub(crate) fn is_loaded(&self) -> bool {
        self.slot.read().is_some()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slot.read().as_ref().map_or(0, |current| current.index.memory_bytes())
    }

    /// Drops the index from memory.
    pub(crate) fn unload(&self) {
        *self.slot.write() = None;
    }

    /// Follows a commit of this process. An index at another state than the commit's base catches up later.
    pub(crate) fn publish(&self, committed: Committed) {
        let mut slot = self.slot.write();
        let removes = committed.changes.iter().any(|change| matches!(change, IndexChange::Remove(_)));
        let removed_at = if removes { committed.chain.height.get() } else { 0 };
        let Some(current) = slot.as_mut() else {
            self.unfollowed_removal.fetch_max(removed_at, Ordering::Relaxed);
            return;
        };
        let complete = !committed
            .changes
            .iter()
            .any(|change| matches!(change, IndexChange::Put { analysed: None, .. } | IndexChange::Unread));
        if current.chain != committed.base || !complete {
            self.unfollowed_removal.fetch_max(removed_at, Ordering::Relaxed);
            return;
        }
        if current.apply(committed.changes).is_err() {
            // What is left is an index of no state: the next search builds one, and reports what is in its way.
            *slot = None;
            return;
        }
        current.since_image += committed.chain.height.get() - committed.base.height.get();
        current.chain = committed.chain;
    }

    /// The index, at or past the state that is committed now, and a snapshot taken while it is held.
    pub(crate) fn current<'a>(&'a self, vault: &'a Vault) -> Result<(Held<'a>, Snapshot<'a>)> {
        loop {
            let slot = self.slot.read();
            let snapshot = vault.readers().snapshot()?;
            let state = snapshot.with(|conn| {
                let state = audit::state::load(conn, vault.keyring())?;
                vault.prove(conn, &state).map(|()| state)
            })?;
            if slot.as_ref().is_none_or(|current| current.chain != state) {
                // Released before advancing: that needs the lock for itself.
                drop(slot);
            } else if let Ok(held) = RwLockReadGuard::try_map(slot, Option::as_ref) {
                return Ok((held, snapshot));
            }
            drop(snapshot);
            self.advance(vault)?;
        }
    }

    /// Loads the index, or brings it to what is committed now.
    fn advance(&self, vault: &Vault) -> Result<()> {
        // Only one thread builds; readers of the old state go on until it is swapped in.
        let slot = self.slot.upgradable_read();
        let snapshot = vault.readers().snapshot()?;
        let state = snapshot.with(|conn| audit::state::load(conn, vault.keyring()))?;
        match slot.as_ref() {
            Some(current) if current.chain == state => Ok(()),
            Some(current) if extends(vault, &snapshot, &current.chain, &state)? => {
                let mut slot = RwLockUpgradableReadGuard::upgrade(slot);
                follow(vault, &snapshot, &mut slot, &state)
            }
            _ => {
                let loaded = load(vault, &snapshot, &state)?;
                *RwLockUpgradableReadGuard::upgrade(slot) = Some(loaded);
                Ok(())
            }
        }
    }

    /// Writes the image when the index changed enough since the last one.
    pub(crate) fn persist_if_due(&self, vault: &Vault) -> Result<()> {
        let mut slot = self.slot.write();
        let followed = slot.as_ref().map_or(0, |current| current.chain.height.get());
        if self.unfollowed_removal.swap(0, Ordering::Relaxed) > followed {
            // An image written now could hold it still: the next opening that searches makes a new one.
            return image::remove(vault.dir());
        }
        let Some(current) = slot.as_mut() else { return Ok(()) };
        let documents = current.index.len() as u64;
        let stale = current.since_image >= limits::IMAGE_STALE_RECORDS.max(documents / 10);
        let missing = !current.has_image && documents >= limits::IMAGE_STALE_RECORDS;
        let forgets = current.has_image && current.removed_since_image;
        if !(stale || missing || forgets) {
            return Ok(());
        }
        // Another process writes one just now: it is as good as this one.
        let Some(_lock) = lock::try_lock_image(vault.dir())? else { return Ok(()) };
        let embedder = vault.options().embedder.name();
        image::write(vault.dir(), vault.keyring(), embedder, &current.chain, &current.index)?;
        current.since_image = 0;
        current.removed_since_image = false;
        current.has_image = true;
        Ok(())
    }
}

/// Whether `state` is a later state of the chain that passed through `from`.
fn extends(vault: &Vault, snapshot: &Snapshot<'_>, from: &ChainState, state: &ChainState) -> Result<bool> {
    if from.height > state.height {
        return Ok(false);
    }
    let replayed = snapshot.with(|conn| audit::replay(conn, vault.keyring(), from, state.height))?;
    Ok(!replayed.gap && replayed.state == *state)
}

fn follow(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    slot: &mut RwLockWriteGuard<'_, Option<Current>>,
    state: &ChainState,
) -> Result<()> {
    let Some(current) = slot.as_mut() else { return Ok(()) };
    let from = current.chain;
    let followed =
        snapshot.with(|conn| build::catch_up(vault.keyring(), conn, &mut current.index, &from, state.height));
    match followed {
        Ok(done) => {
            current.since_image += done.records;
            current.removed_since_image |= done.removed;
            current.chain = *state;
            Ok(())
        }
        Err(error) => {
            // Half of the changes may be in: what is left is not an index of any state.
            **slot = None;
            Err(error)
        }
    }
}

/// From the image when there is one of this chain, else from the rows.
fn load(vault: &Vault, snapshot: &Snapshot<'_>, state: &ChainState) -> Result<Current> {
    if let Some(current) = load_image(vault, snapshot, state)? {
        return Ok(current);
    }
    let dimension = vault.options().embedder.dimension();
    let index = build::build(vault.keyring(), snapshot, dimension)?;
    let has_image = image::path(vault.dir()).exists();
    // An image that could not be used is replaced even if little changed.
    Ok(Current { index, chain: *state, since_image: 0, removed_since_image: has_image, has_image })
}

fn load_image(vault: &Vault, snapshot: &Snapshot<'_>, state: &ChainState) -> Result<Option<Current>> {
    let embedder = vault.options().embedder.name();
    let loaded = match image::read(vault.dir(), vault.keyring(), embedder) {
        Ok(Some(loaded)) => loaded,
        // An image that does not open is no evidence of anything: it is rebuilt.
        Ok(None) | Err(Error::Image(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let dimension = vault.options().embedder.dimension();
    if loaded.index.dimension() != dimension || !extends(vault, snapshot, &loaded.chain, state)? {
        return Ok(None);
    }
    let mut index = loaded.index;
    let done = snapshot
        .with(|conn| build::catch_up(vault.keyring(), conn, &mut index, &loaded.chain, state.height))?;
    Ok(Some(Current {
        index,
        chain: *state,
        since_image: done.records,
        removed_since_image: done.removed,
        has_image: true,
    }))
}
