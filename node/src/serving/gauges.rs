//! What open vaults hold at one moment, for metrics: numbers by name of vault, no names of what is inside.

use super::cache::State;
use super::front::Serving;
use super::lanes::blocking;

/// One open vault at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// Its name.
    pub vault: String,
    /// Drawers.
    pub drawers: u64,
    /// Height of its audit chain.
    pub height: u64,
    /// Bytes of its database.
    pub bytes: u64,
}

impl Serving {
    /// The open vaults that nobody is opening or closing right now. Opens none, and leaves out one that cannot be counted.
    pub async fn gauges(&self) -> Vec<Gauge> {
        let entries = self.shared.cache.oldest_first();
        let measured = blocking(move || {
            Ok(entries
                .iter()
                .filter_map(|entry| match &*entry.state.try_read().ok()? {
                    State::Open(running) => Some(Gauge {
                        vault: entry.name.clone(),
                        drawers: running.vault.count().ok()?,
                        height: running.vault.height(),
                        bytes: running.vault.database_bytes(),
                    }),
                    State::Vacant | State::Gone => None,
                })
                .collect())
        });
        // What is lost is one look at the counters.
        measured.await.unwrap_or_default()
    }
}
