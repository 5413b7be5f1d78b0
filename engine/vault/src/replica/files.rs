//! Commands of the log that make, place and remove a vault's folder. Each is repeatable: whatever a crash left, carrying it
//! out again leads to the same folder, and it counts only when files and names are durable.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use undercroft_crypto::{KeyGeneration, Level, MasterKey, SeedStream, VaultKeys, durable};

use super::checkpoint;
use super::generation::Generation;
use super::log_id::LogId;
use super::ownership::{self, Ownership};
use super::state::{self, State};
use super::verdict::{NoOp, Outcome, Suspect};
use crate::config::VaultOptions;
use crate::error::{Error, ErrorClass, Result};
use crate::storage::lock::UseLock;
use crate::vault::{Making, Vault, make_vault, roll_back};

/// Make a vault. Its keys come from a [`Generation`] that no log holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Create {
    /// The vault's name in its manifest.
    pub name: String,
    /// `sealed` or `hmac-only`.
    pub level: String,
    /// When, microseconds since the epoch.
    pub at: i64,
    /// Its first ownership.
    pub epoch: u64,
    /// Its first life, or the one after a forced restore.
    pub incarnation: u64,
    /// The number of its generation.
    pub generation: u32,
}

/// Put a staged copy in its place. It stays frozen until it is activated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopt {
    /// The move that brings it.
    pub move_id: u64,
    /// The ownership that it was frozen under.
    pub epoch: u64,
}

/// Remove a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropVault {
    /// The newest ownership that is removed: the vault's own, or the one that was given to its next owner.
    pub epoch: u64,
}

/// How the names of folders begin that hold no vault any more, or none yet.
const ASIDE: [&str; 2] = [".new-", ".gone-"];

/// Makes the vault in `dir`. Every copy that makes it from the same command and generation gets the same rows.
///
/// # Errors
/// An invalid name or level; a generation of another number; what the file system refuses.
pub fn create(
    command: &Create,
    dir: &Path,
    generation: &Generation,
    master: &MasterKey,
    options: &VaultOptions,
    log_id: LogId,
) -> Result<Outcome> {
    let level = Level::parse(&command.level)?;
    let number = KeyGeneration::from_u32(command.generation)?;
    if generation.number != number {
        return Err(Error::invalid("generation", "it is another one than the command names; fetch that one"));
    }
    if dir.exists() {
        return already(dir, master, options, log_id, &command.name, |held| {
            held.seal_id == generation.seal_id
        });
    }
    let keys = VaultKeys::derive(master, &generation.seal_id, number, &generation.salt);
    let stream = SeedStream::new(keys.nonce(), &generation.seed);
    let ownership = Ownership {
        epoch: command.epoch,
        incarnation: command.incarnation,
        frozen_for: None,
        archived_up_to: 0,
    };
    let making = Making {
        name: command.name.clone(),
        level,
        seal_id: generation.seal_id,
        generation: number,
        salt: generation.salt,
        created_at: command.at,
        log_id: Some(log_id.to_string()),
        entropy: &stream,
        stage: aside(dir, ASIDE[0])?,
    };
    make_vault(dir, &making, master, options, &|conn, mac| {
        ownership.store(conn, mac)?;
        ownership::store_applied(conn, mac, log_id)
    })?;
    state::read(dir, master, options).map(Outcome::Applied)
}

/// Puts the copy in `staged`, which was verified when it came, into its place.
///
/// # Errors
/// What the file system refuses; [`Error::VaultExists`] when another vault is in the place.
pub fn adopt(
    command: &Adopt,
    staged: &Path,
    dir: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    log_id: LogId,
) -> Result<Outcome> {
    if dir.exists() {
        let name = dir.display().to_string();
        return already(dir, master, options, log_id, &name, |_| true);
    }
    if !staged.exists() {
        return Ok(Outcome::Suspect(Suspect::Missing("the staged copy")));
    }
    let vault = state::open(staged, master, options.clone())?;
    let outcome = enter(&vault, command, log_id)?;
    drop(vault);
    if let Outcome::Applied(_) = outcome {
        fs::rename(staged, dir).map_err(Error::io("rename", staged))?;
        sync_parents(staged, dir)?;
    }
    Ok(outcome)
}

/// Notes in a staged copy which log it follows from now on.
fn enter(vault: &Vault, command: &Adopt, log_id: LogId) -> Result<Outcome> {
    let conn = vault.replicating()?.lock()?;
    let state = State::load(&conn, vault.keyring())?;
    // A crash between noting this and the renaming.
    if !state.applied.reached(&log_id) {
        if state.ownership.epoch != command.epoch || state.ownership.frozen_for != Some(command.move_id) {
            return Ok(Outcome::NoOp(NoOp::OtherMove));
        }
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let noted = ownership::store_applied(&conn, vault.keyring().mac(), log_id)
            .and_then(|()| Ok(conn.execute_batch("COMMIT")?));
        roll_back(&conn);
        noted?;
    }
    checkpoint::settle(vault, &conn).map(Outcome::Applied)
}

/// Removes the vault in `dir`, which nobody may have open.
///
/// # Errors
/// [`Error::InUse`] while somebody has it open; what the file system refuses.
pub fn drop_vault(
    command: &DropVault,
    dir: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    log_id: LogId,
) -> Result<Outcome> {
    if !dir.exists() {
        return Ok(Outcome::NoOp(NoOp::HeldAlready));
    }
    match held(dir, master, options)? {
        Ok(state) if state.applied.reached(&log_id) => return Ok(Outcome::NoOp(NoOp::HeldAlready)),
        Ok(state) if command.epoch < state.ownership.epoch => return Ok(Outcome::NoOp(NoOp::OldEpoch)),
        // The others let go of theirs: one that cannot be read is no reason to keep it.
        Ok(_) | Err(_) => {}
    }
    let gone = aside(dir, ASIDE[1])?;
    {
        let _alone = UseLock::alone(dir, &dir.display().to_string())?;
        fs::rename(dir, &gone).map_err(Error::io("rename", dir))?;
    }
    sync_parents(dir, &gone)?;
    fs::remove_dir_all(&gone).map_err(Error::io("remove", &gone))?;
    sync_parents(dir, &gone)?;
    Ok(Outcome::Gone)
}

/// Where the copy in the folder stands, or why it is suspect.
fn held(dir: &Path, master: &MasterKey, options: &VaultOptions) -> Result<Result<State, Suspect>> {
    match state::read(dir, master, options) {
        Ok(state) => Ok(Ok(state)),
        Err(error) if error.class() == ErrorClass::Integrity => Ok(Err(Suspect::Rows(error.finding()))),
        Err(error) => Err(error),
    }
}

/// What to say of an entry that would make a folder which is there: that it did, or whose it is instead.
fn already(
    dir: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    log_id: LogId,
    name: &str,
    is_its: impl FnOnce(&State) -> bool,
) -> Result<Outcome> {
    match held(dir, master, options)? {
        Ok(state) if state.applied.reached(&log_id) && is_its(&state) => Ok(Outcome::NoOp(NoOp::HeldAlready)),
        Ok(_) => Err(Error::VaultExists(name.to_owned())),
        Err(suspect) => Ok(Outcome::Suspect(suspect)),
    }
}

/// Removes what crashes left beside the vaults in `parent`: folders that were no vault yet, or are none any more. To be called
/// before entries are applied there.
///
/// # Errors
/// What the file system refuses.
pub fn sweep(parent: &Path) -> Result<()> {
    for entry in fs::read_dir(parent).map_err(Error::io("read", parent))? {
        let path = entry.map_err(Error::io("read", parent))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if ASIDE.iter().any(|prefix| name.starts_with(prefix)) {
            fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
    }
    durable::sync_dir(parent).map_err(Error::io("sync", parent))
}

/// A place beside `dir` for what is not, or no longer, the vault of that name; what a crash left there is removed.
pub(super) fn aside(dir: &Path, prefix: &str) -> Result<PathBuf> {
    let name = dir.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Error::invalid("folder", "it has no name that is text"))?;
    let path = dir.with_file_name(format!("{prefix}{name}"));
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
        _ => Ok(path),
    }
}

/// Makes a renaming durable on both sides.
pub(super) fn sync_parents(one: &Path, other: &Path) -> Result<()> {
    for path in [one, other] {
        let parent = path.parent().unwrap_or(Path::new("."));
        durable::sync_dir(parent).map_err(Error::io("sync", parent))?;
    }
    Ok(())
}
