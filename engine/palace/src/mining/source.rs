//! One file as a source: under which name, in which wing and room its drawers are filed.

use std::path::PathBuf;

use undercroft_text::names::check_name;
use undercroft_vault::{AddedBy, Vault};

use super::report::Skipped;
use super::walk;
use crate::error::Result;

/// Nothing is filed into it directly.
const REVIEW_WING: &str = "quarantine-pending";

/// The wing in its kept form, judged before any file is read: a wrong one would refuse every text one by one.
pub(super) fn checked_wing(wing: &str) -> Result<String> {
    let kept = check_name("wing", wing).map_err(undercroft_vault::Error::from)?;
    if kept == REVIEW_WING {
        let reason = format!("'{REVIEW_WING}' is reserved for texts under review; choose another");
        return Err(undercroft_vault::Error::InvalidField { field: "wing", reason }.into());
    }
    Ok(kept)
}

/// One file as a source.
pub(super) struct Source {
    /// Where it was read.
    pub(super) path: PathBuf,
    /// As it is recorded.
    pub(super) name: String,
    pub(super) wing: String,
    pub(super) room: String,
}

impl Source {
    pub(super) fn new(path: PathBuf, wing: &str) -> Self {
        let name = path.to_string_lossy().into_owned();
        let room = walk::room_of(&path);
        Self { path, name, wing: wing.to_owned(), room }
    }

    /// Why `surface` files nothing of the file: another one did into the same wing and room. Each counts the places of a
    /// source in its own way, and they would take each other's.
    ///
    /// # Errors
    /// What the vault says of a drawer that does not verify.
    pub(super) fn taken(&self, vault: &Vault, surface: AddedBy) -> Result<Option<Skipped>> {
        let surfaces = vault.surfaces_of(&self.name, &self.wing, &self.room)?;
        let Some((_, other)) = MINING.iter().find(|(by, _)| *by != surface && surfaces.contains(by)) else {
            return Ok(None);
        };
        let reason = format!(
            "wing '{}' room '{}' holds what '{other}' filed from it; file it into another wing with --wing, or remove that \
             first with 'drawer delete-by-source'. Nothing of the file was filed",
            self.wing, self.room
        );
        Ok(Some(Skipped { path: self.path.clone(), reason }))
    }
}

/// Surfaces that file from paths, by their commands.
const MINING: [(AddedBy, &str); 3] =
    [(AddedBy::Miner, "mine"), (AddedBy::ConvoMiner, "mine --mode convos"), (AddedBy::Sweeper, "sweep")];
