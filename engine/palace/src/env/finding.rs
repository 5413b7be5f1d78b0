//! What reading one declaration came to: a value, and something to tell the person who declared it.
//!
//! Severity is decided here from the class of the variable and the kind of complaint, never by the parser: a parser says
//! what is wrong, the inventory says how much that matters.

use super::environment::Environment;
use super::inventory::{Check, Class, Reader, Variable};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Read and understood.
    Ok,
    /// Accepted without being parsed: its consumer decides.
    Seen,
    /// Not honoured; the default is kept.
    Warn,
    /// Nothing starts while this is declared.
    Refuse,
}

/// One line about one declared variable. The message never repeats the value of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The variable's full name.
    pub variable: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was understood, or what is wrong and how to put it right.
    pub message: String,
}

/// Why a value was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complaint {
    /// The value has no meaning for this variable: what is wrong and what would be right.
    Unreadable(String),
    /// The value is known, and asks for something that this version does not have.
    NotBuilt(String),
}

impl Complaint {
    /// A value that means nothing here.
    pub fn unreadable(message: impl Into<String>) -> Self {
        Self::Unreadable(message.into())
    }

    /// A feature that this version does not have. The wording is the one that scripts look for.
    #[must_use]
    pub fn not_built(feature: &str) -> Self {
        Self::NotBuilt(format!("not implemented: {feature} is not part of this version"))
    }

    fn into_message(self) -> String {
        match self {
            Self::Unreadable(message) | Self::NotBuilt(message) => message,
        }
    }
}

/// A resolved declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<T> {
    /// The value, when one was declared and accepted. `None` means the default.
    pub value: Option<T>,
    /// What to report; `None` when the variable is not declared.
    pub finding: Option<Finding>,
}

impl<T> Reading<T> {
    const UNSET: Self = Self { value: None, finding: None };

    /// The value, or the finding that stops the start.
    ///
    /// # Errors
    /// The finding, when its severity is [`Severity::Refuse`].
    pub fn accept(self) -> Result<Option<T>, Finding> {
        match self.finding {
            Some(finding) if finding.severity == Severity::Refuse => Err(finding),
            _ => Ok(self.value),
        }
    }
}

/// Reads `variable` from `environment` with `parse`: the path that every resolver and the pre-flight share.
///
/// Values are trimmed unless the variable is a secret. A blank value is an undeclared one, except where the inventory says
/// that blank is refused.
pub(super) fn read<T>(
    environment: &Environment,
    variable: &Variable,
    parse: impl FnOnce(&str) -> Result<T, Complaint>,
) -> Reading<T> {
    let Some(declared) = environment.text(variable.name) else { return Reading::UNSET };
    let Ok(text) = declared else {
        return refused(variable, Complaint::unreadable("the value is not UTF-8 text"));
    };
    if text.trim().is_empty() {
        if variable.blank_refused {
            let remedy = "declared but blank: give it a value or remove the declaration";
            return refused(variable, Complaint::unreadable(remedy));
        }
        return Reading::UNSET;
    }
    match parse(if variable.secret { text } else { text.trim() }) {
        Ok(value) => Reading { value: Some(value), finding: Some(accepted(variable)) },
        Err(complaint) => refused(variable, complaint),
    }
}

fn accepted(variable: &Variable) -> Finding {
    let (severity, message) = match (variable.check, variable.unbuilt) {
        (Check::Opaque, _) => {
            (Severity::Seen, "accepted as declared Opaque: its consumer validates it".to_owned())
        }
        (_, None) => (Severity::Ok, "understood".to_owned()),
        // A local command would have honoured it and cannot; a server that is not there is told apart by its reader.
        (_, Some(feature)) if variable.class == Class::Tunes && variable.reader == Reader::Engine => (
            Severity::Warn,
            format!("well-formed, but changes nothing: {feature} is not part of this version"),
        ),
        (_, Some(feature)) => {
            (Severity::Ok, format!("well-formed; for {feature}, which is not part of this version"))
        }
    };
    Finding { variable: variable.name.to_owned(), severity, message }
}

fn refused<T>(variable: &Variable, complaint: Complaint) -> Reading<T> {
    let severity = match variable.class {
        Class::Protects => Severity::Refuse,
        Class::Tunes => Severity::Warn,
    };
    let mut message = complaint.into_message();
    if severity == Severity::Warn {
        message.push_str(&format!("; the default is kept ({})", variable.default));
    }
    Reading { value: None, finding: Some(Finding { variable: variable.name.to_owned(), severity, message }) }
}
