//! Replaying the chain from a known state: the proof that the rows are the ones that were appended.

use rusqlite::Connection;
use undercroft_crypto::{ChainState, Height};

use super::state::as_sql;
use super::table;
use crate::error::Result;
use crate::keyring::Keyring;
use crate::limits;

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
    let mut state = *from;
    loop {
        let rows = table::after(conn, as_sql(state.height), limits::PAGE_ROWS)?;
        if rows.is_empty() {
            return Ok(Replayed { gap: state.height < until, state });
        }
        for row in rows {
            if state.height == until {
                return Ok(Replayed { state, gap: true });
            }
            if row.n != as_sql(state.height) + 1 {
                return Ok(Replayed { state, gap: true });
            }
            state = keyring.step(&state, &row.label, &row.tag, row.at);
        }
    }
}
