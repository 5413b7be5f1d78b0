//! Replaying the chain from a known state: the proof that the rows are the ones that were appended, and that the index over
//! their labels leads to each.

use rusqlite::Connection;
use undercroft_crypto::{ChainState, Height};

use super::state::as_sql;
use super::table::{self, AuditRow};
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;
use crate::storage::index_sum::EntryHash;

/// Where a replay ended.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// State after the last row that follows without a gap.
    pub(crate) state: ChainState,
    /// Whether rows are missing or numbered out of turn.
    pub(crate) gap: bool,
}

/// Replays every row after `from` that the connection's snapshot shows, up to and including `until`.
pub(crate) fn replay(
    conn: &Connection,
    keyring: &Keyring,
    from: &ChainState,
    until: Height,
) -> Result<Replayed> {
    each(conn, keyring, from, until, |_| Ok(()))
}

/// As [`replay`], for labels that are going to be looked up.
///
/// # Errors
/// [`Error::Damaged`] when the index over labels does not lead to exactly the rows that were replayed: the newest record
/// about a drawer could be one that a lookup does not see.
pub(crate) fn replay_indexed(
    conn: &Connection,
    keyring: &Keyring,
    from: &ChainState,
    until: Height,
) -> Result<Replayed> {
    if *from != ChainState::genesis() {
        return each(conn, keyring, from, until, |row| {
            if table::is_indexed(conn, row)? { Ok(()) } else { Err(off_index()) }
        });
    }
    let (hash, mut sum) = (EntryHash::new(keyring), 0u64);
    let replayed = each(conn, keyring, from, until, |row| {
        sum = sum.wrapping_add(hash.of(&[row.label.as_bytes(), &row.n.to_be_bytes()]).unwrap_or_default());
        Ok(())
    })?;
    if !replayed.gap && hash.scan(conn, table::LABEL_INDEX, 1)? != Some(sum) {
        return Err(off_index());
    }
    Ok(replayed)
}

fn off_index() -> Error {
    Error::Damaged(String::from(
        "the index audit_label of vault.db does not lead to the records that the audit chain holds, so the newest about a \
         drawer could be missed; see what else with: undercroft verify, and build it anew with: undercroft repair",
    ))
}

fn each(
    conn: &Connection,
    keyring: &Keyring,
    from: &ChainState,
    until: Height,
    mut seen: impl FnMut(&AuditRow<&[u8]>) -> Result<()>,
) -> Result<Replayed> {
    let (mut state, mut gap, mut failed) = (*from, false, None);
    loop {
        let last = table::each_after(conn, as_sql(state.height), limits::PAGE_ROWS, |n, row| {
            gap |= state.height == until || n != as_sql(state.height) + 1;
            if gap || failed.is_some() {
                return;
            }
            match row.and_then(|row| seen(&row).map(|()| row)) {
                Ok(row) => state = keyring.step(&state, &row.label, &row.tag, row.at),
                Err(error) => failed = Some(error),
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if gap || last.is_none() {
            return Ok(Replayed { gap: gap || state.height < until, state });
        }
    }
}
