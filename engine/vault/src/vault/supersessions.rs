//! Supersession links and what their receipts say today.

use serde::Serialize;

use super::Vault;
use crate::drawers::{LinkVerdict, SupersessionCounts, SupersessionLink, table};
use crate::error::{Error, Result};
use crate::limits;

/// Every link of a vault.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Supersessions {
    /// No receipt is false.
    pub ok: bool,
    /// The links, in filing order.
    pub supersessions: Vec<SupersessionLink>,
    /// Counts by verdict.
    pub summary: SupersessionCounts,
}

impl Vault {
    /// Lists every supersession link with its verdict.
    ///
    /// # Errors
    /// An integrity error when a linking drawer fails its check.
    pub fn supersessions(&self) -> Result<Supersessions> {
        let snapshot = self.reading()?;
        let mut links = Vec::new();
        let mut after = 0;
        loop {
            let page = snapshot.with(|conn| {
                let rows = table::superseding(conn, after, limits::PAGE_ROWS)?;
                let last = rows.last().map(|row| row.seq);
                let links = rows.into_iter().map(|row| self.judge(conn, row)).collect::<Result<Vec<_>>>()?;
                Ok((last, links))
            })?;
            links.extend(page.1.into_iter().flatten());
            match page.0 {
                Some(last) => after = last,
                None => break,
            }
        }
        let mut summary = SupersessionCounts::default();
        for link in &links {
            summary.count(link.verdict);
        }
        Ok(Supersessions { ok: summary.tampered == 0, supersessions: links, summary })
    }

    fn judge(&self, conn: &rusqlite::Connection, row: table::DrawerRow) -> Result<Option<SupersessionLink>> {
        let newer = self.open_row(conn, row)?;
        let Some(older) = newer.stored.meta.supersedes else { return Ok(None) };
        let verdict = match &newer.stored.receipt {
            None => LinkVerdict::Unreceipted,
            Some(receipt) => {
                let target = match table::by_rid(conn, &self.keyring.record_id(&older))? {
                    Some(row) => Some(self.open_row(conn, row)?.text),
                    None => match self.why_absent(conn, older)? {
                        Error::NoDrawer(_) => None,
                        removed => return Err(removed),
                    },
                };
                receipt.judge(
                    self.keyring.mac(),
                    &newer.stored.id,
                    &older,
                    target.as_deref().map(str::as_bytes),
                )
            }
        };
        Ok(Some(SupersessionLink { drawer_id: newer.stored.id, supersedes: older, verdict }))
    }
}
