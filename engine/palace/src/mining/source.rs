//! One file as a source: under which name, in which wing and room its drawers are filed.

use std::path::PathBuf;

use undercroft_text::names::check_name;

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
}
