//! Labels of audit records, as `history` shows them. On disk stands a blind form and a sealed one.

use std::fmt;
use std::str::FromStr;

use crate::drawers::DrawerId;

/// What an audit record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Label {
    /// A drawer was written: its id.
    Written(DrawerId),
    /// A drawer was destroyed: `del/<id>`.
    Destroyed(DrawerId),
    /// The engine changed stored forms: `migrate/<kind>`.
    Migrated(&'static str),
    /// Nothing but remembered outcomes changed, in a cluster, where no two states of a vault may share a head.
    Outcomes,
}

/// The kinds of [`Label::Migrated`] that this version writes.
pub(crate) const REPAIR: &str = "repair";

const OUTCOMES: &str = "ledger/outcomes";

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(id) => write!(f, "{id}"),
            Self::Destroyed(id) => write!(f, "del/{id}"),
            Self::Migrated(kind) => write!(f, "migrate/{kind}"),
            Self::Outcomes => f.write_str(OUTCOMES),
        }
    }
}

/// A text that is no label of this version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownLabel;

impl FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(text: &str) -> Result<Self, UnknownLabel> {
        if let Some(rest) = text.strip_prefix("del/") {
            return rest.parse().map(Self::Destroyed).map_err(|_| UnknownLabel);
        }
        match text {
            "migrate/repair" => return Ok(Self::Migrated(REPAIR)),
            OUTCOMES => return Ok(Self::Outcomes),
            _ => {}
        }
        text.parse().map(Self::Written).map_err(|_| UnknownLabel)
    }
}
