//! Who filed a drawer and what it is declared to be: closed vocabularies and caller claims.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The surface through which a drawer arrived; stamped by that surface, never taken from a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AddedBy {
    /// The command line.
    Cli,
    /// The agent protocol.
    Mcp,
    /// The HTTP surface.
    Rest,
    /// `mine` in files mode.
    Miner,
    /// `mine` in convos mode.
    ConvoMiner,
    /// `sweep`.
    Sweeper,
    /// An import.
    Import,
    /// Distilled facts.
    Distill,
}

impl AddedBy {
    /// The word that stands for it everywhere.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Miner => "miner",
            Self::ConvoMiner => "convo-miner",
            Self::Sweeper => "sweeper",
            Self::Import => "import",
            Self::Distill => "distill",
        }
    }
}

/// What kind of statement a drawer is declared to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Asks something.
    Question,
    /// States a preference.
    Preference,
    /// Records a decision.
    Decision,
    /// Records an event.
    Event,
    /// Describes how something is done.
    Procedure,
    /// States something.
    Statement,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Question, Self::Preference, Self::Decision, Self::Event, Self::Procedure, Self::Statement];

    /// The word that stands for it everywhere.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Event => "event",
            Self::Procedure => "procedure",
            Self::Statement => "statement",
        }
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|k| k.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid("kind", format!("'{text}' is not a kind; use one of {known}"))
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Provenance that the caller claims and nobody checks: shown as claims, never used to authorise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// The agent that says it wrote this.
    pub agent: Option<String>,
    /// The channel it came through.
    pub channel: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
}
