//! Counts about a vault, in the shape that every surface shows.

use serde::Serialize;

use super::Vault;
use crate::audit;
use crate::drawers::table;
use crate::error::Result;

/// A wing and how many drawers it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WingCount {
    /// Its name.
    pub wing: String,
    /// Drawers in it.
    pub count: u64,
}

/// Counts of the knowledge graph; all zero while this version keeps none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GraphStats {
    /// Entities.
    pub entities: u64,
    /// Facts.
    pub triples: u64,
    /// Facts that hold.
    pub active: u64,
    /// Facts that ended.
    pub closed: u64,
}

/// Counts about a vault.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stats {
    /// The vault's name.
    pub id: String,
    /// Drawers, those under review included.
    pub records: u64,
    /// The same number, under its older name.
    pub drawers: u64,
    /// Drawers under review.
    pub quarantined: u64,
    /// `sealed` or `hmac-only`.
    pub level: &'static str,
    /// Whether vectors come from outside.
    pub external: bool,
    /// Height of the audit chain, under its older name.
    pub writes: u64,
    /// Height of the audit chain.
    pub chain_records: u64,
    /// Head of the audit chain, hex.
    pub chain_head: String,
    /// Wings by name, without the review wing.
    pub wings: Vec<WingCount>,
    /// Rooms, without those of the review wing.
    pub rooms: u64,
    /// Knowledge graph.
    pub kg: GraphStats,
    /// Tunnels.
    pub tunnels: u64,
    /// Bytes of the database file and its log.
    pub db_bytes: u64,
    /// Whether this handle can write.
    pub read_only: bool,
    /// What opening left as it was, or healed.
    pub unhealed: Vec<String>,
}

impl Vault {
    /// Drawers, those under review included: a count of rows, of which none is opened.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count(&self) -> Result<u64> {
        self.readers.snapshot()?.with(table::count)
    }

    /// Bytes of the database file and its log.
    #[must_use]
    pub fn database_bytes(&self) -> u64 {
        ["vault.db", "vault.db-wal"]
            .iter()
            .filter_map(|file| std::fs::metadata(self.dir.join(file)).ok())
            .map(|data| data.len())
            .sum()
    }

    /// Counts the vault.
    ///
    /// # Errors
    /// An integrity error when state or names fail their checks.
    pub fn stats(&self) -> Result<Stats> {
        let snapshot = self.reading()?;
        let (records, taxonomy, chain) = snapshot.with(|conn| {
            Ok((table::count(conn)?, self.taxonomy_of(conn)?, audit::state::load(conn, &self.keyring)?))
        })?;
        let wings: Vec<WingCount> = taxonomy
            .wings
            .iter()
            .map(|wing| WingCount {
                wing: wing.wing.clone(),
                count: wing.rooms.iter().map(|room| room.count).sum(),
            })
            .collect();
        let shown: u64 = wings.iter().map(|wing| wing.count).sum();
        Ok(Stats {
            id: self.name(),
            records,
            drawers: records,
            quarantined: records.saturating_sub(shown),
            level: self.level().as_str(),
            external: false,
            writes: chain.height.get(),
            chain_records: chain.height.get(),
            chain_head: chain.head.to_hex(),
            rooms: taxonomy.wings.iter().map(|wing| wing.rooms.len() as u64).sum(),
            wings,
            kg: GraphStats::default(),
            tunnels: 0,
            db_bytes: self.database_bytes(),
            read_only: self.is_read_only(),
            unhealed: self.unhealed.clone(),
        })
    }
}
