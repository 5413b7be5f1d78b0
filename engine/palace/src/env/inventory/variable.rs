//! One row of the inventory, and the small words it is written in.
//!
//! Rows are built in constants with a chain of `const fn`, so that a table reads as a table.

use crate::env::finding::Complaint;

/// Which part of the program reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Whoever opens a vault: local commands and servers alike.
    Engine,
    /// The HTTP server alone.
    Server,
    /// The command line alone.
    Cli,
    /// The client of a language model.
    Llm,
    /// The client of a remote vector database.
    Index,
    /// Logs, traces and metrics.
    Telemetry,
    /// The control plane.
    Orchestrator,
}

impl Reader {
    /// The one-letter code that the book uses.
    #[must_use]
    pub fn code(self) -> char {
        match self {
            Self::Engine => 'E',
            Self::Server => 'H',
            Self::Cli => 'C',
            Self::Llm => 'L',
            Self::Index => 'X',
            Self::Telemetry => 'T',
            Self::Orchestrator => 'O',
        }
    }
}

/// What an unreadable value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It turns a protection on, pins an outward path or names a vector space: refuse.
    Protects,
    /// It tunes a safe default: warn and keep the default.
    Tunes,
}

/// How a value is validated before anything opens.
#[derive(Clone, Copy)]
pub enum Check {
    /// By this parser, which is the one that the resolver uses.
    Parsed(fn(&str) -> Result<(), Complaint>),
    /// Not here: a path, a name or a credential that only its consumer can judge.
    Opaque,
}

/// One environment variable.
#[derive(Clone, Copy)]
pub struct Variable {
    /// Full name.
    pub name: &'static str,
    /// Who reads it.
    pub reader: Reader,
    /// What an unreadable value means.
    pub class: Class,
    /// How it is validated.
    pub check: Check,
    /// Accepted values, for people.
    pub values: &'static str,
    /// What holds when it is not declared, for people.
    pub default: &'static str,
    /// One line on what it does.
    pub meaning: &'static str,
    /// The feature it belongs to, when that is not part of this version.
    pub unbuilt: Option<&'static str>,
    /// Secrets are never trimmed and never shown.
    pub secret: bool,
    /// Whether a blank value refuses instead of meaning "not declared".
    pub blank_refused: bool,
}

impl Variable {
    const fn new(name: &'static str, reader: Reader, class: Class, check: Check) -> Self {
        Self {
            name,
            reader,
            class,
            check,
            values: "",
            default: "unset",
            meaning: "",
            unbuilt: None,
            secret: false,
            blank_refused: false,
        }
    }

    /// A variable whose unreadable value refuses.
    pub(super) const fn protects(
        name: &'static str,
        reader: Reader,
        parse: fn(&str) -> Result<(), Complaint>,
    ) -> Self {
        Self::new(name, reader, Class::Protects, Check::Parsed(parse))
    }

    /// A variable whose unreadable value warns.
    pub(super) const fn tunes(
        name: &'static str,
        reader: Reader,
        parse: fn(&str) -> Result<(), Complaint>,
    ) -> Self {
        Self::new(name, reader, Class::Tunes, Check::Parsed(parse))
    }

    /// A variable that is passed on unparsed.
    pub(super) const fn opaque(name: &'static str, reader: Reader) -> Self {
        Self::new(name, reader, Class::Tunes, Check::Opaque)
    }

    pub(super) const fn values(mut self, values: &'static str) -> Self {
        self.values = values;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    pub(super) const fn means(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    pub(super) const fn unbuilt(mut self, feature: &'static str) -> Self {
        self.unbuilt = Some(feature);
        self
    }

    /// Never trimmed, never shown; blank refuses.
    pub(super) const fn secret(mut self) -> Self {
        self.secret = true;
        self.blank_refused = true;
        self
    }

    /// A credential that is optional: blank sends no header.
    pub(super) const fn credential(mut self) -> Self {
        self.secret = true;
        self
    }

    pub(super) const fn blank_refused(mut self) -> Self {
        self.blank_refused = true;
        self
    }

    pub(super) const fn protecting(mut self) -> Self {
        self.class = Class::Protects;
        self
    }

    /// Whether this version has the feature that the variable belongs to.
    #[must_use]
    pub const fn is_built(&self) -> bool {
        self.unbuilt.is_none()
    }

    /// Whether the pre-flight parses its value.
    #[must_use]
    pub const fn is_parsed(&self) -> bool {
        matches!(self.check, Check::Parsed(_))
    }
}

impl std::fmt::Debug for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variable")
            .field("name", &self.name)
            .field("class", &self.class)
            .finish_non_exhaustive()
    }
}
