//! Why a tool call failed, as the agent reads it.
//!
//! There is one kind of failure for the agent: a result that is marked as an error and says what to do. The class is for
//! the process around it.

use std::borrow::Cow;

use undercroft_palace::ErrorClass;
use undercroft_vault::Error as VaultError;

use super::limits::ECHO_CHARS;
use crate::told;

/// A tool call that did not succeed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    class: ErrorClass,
    message: String,
    error: Option<crate::Error>,
}

impl Failure {
    /// Something asked for in a way that cannot be answered.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { class: ErrorClass::Invalid, message: message.into(), error: None }
    }

    /// Something that a fence refuses.
    pub(super) fn denied(message: impl Into<String>) -> Self {
        Self { class: ErrorClass::Denied, message: message.into(), error: None }
    }

    /// An argument with a value that it does not take.
    pub(super) fn argument(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::invalid(format!("invalid argument {}: {reason}", echo(name)))
    }

    /// The class of the failure.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The error below it, when it is one of this crate and not a refusal of this surface.
    #[must_use]
    pub fn error(&self) -> Option<&crate::Error> {
        self.error.as_ref()
    }

    /// Whether the log should know: a defect or a lack of the machine, of which the agent learns no details, or a verdict on
    /// stored bytes.
    #[must_use]
    pub(super) fn is_for_the_log(&self) -> bool {
        matches!(self.class, ErrorClass::Internal | ErrorClass::Integrity)
            || self.error.as_ref().is_some_and(told::is_of_the_machine)
    }

    /// What the agent reads.
    #[must_use]
    pub(super) fn for_agent(&self) -> Cow<'_, str> {
        match &self.error {
            Some(error) if self.class != ErrorClass::Invalid => told::to_client(error).into(),
            _ if self.class == ErrorClass::Internal => told::DEFECT.into(),
            _ => self.message.as_str().into(),
        }
    }
}

impl From<VaultError> for Failure {
    fn from(error: VaultError) -> Self {
        crate::Error::from(error).into()
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        let message = match &error {
            crate::Error::Vault(inner) => message(inner),
            other => other.to_string(),
        };
        Self { class: error.class(), message, error: Some(error) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self {
            class: ErrorClass::Internal,
            message: format!("cannot write the result: {error}"),
            error: None,
        }
    }
}

/// The engine's message, naming a field as this surface does.
fn message(error: &VaultError) -> String {
    match error {
        VaultError::InvalidField { field: "text", reason } => format!("invalid content: {reason}"),
        other => other.to_string(),
    }
}

/// A caller's word as a message repeats it: short, on one line.
#[must_use]
pub(super) fn echo(word: &str) -> String {
    let mut shown: String = word.chars().take(ECHO_CHARS).flat_map(char::escape_debug).collect();
    if word.chars().nth(ECHO_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_tells_the_agent_nothing_of_the_machine() {
        let source = std::io::Error::other("no");
        let error = VaultError::Io { action: "read", path: "/secret/place".into(), source };
        let failure = Failure::from(error);
        assert!(failure.to_string().contains("/secret/place"));
        assert!(!failure.for_agent().contains("place"));
        assert_eq!(failure.class(), ErrorClass::Internal);
    }

    #[test]
    fn the_engines_field_is_named_as_the_argument_that_it_is() {
        let error = VaultError::InvalidField { field: "text", reason: "it is empty".to_owned() };
        assert_eq!(Failure::from(error).to_string(), "invalid content: it is empty");
        let error = crate::Error::from(VaultError::InvalidField { field: "wing", reason: "no".to_owned() });
        assert_eq!(Failure::from(error).to_string(), "invalid wing: no");
    }

    #[test]
    fn a_callers_word_is_repeated_short_and_on_one_line() {
        assert_eq!(echo("a\nb"), "a\\nb");
        assert!(echo(&"x".repeat(1_000)).chars().count() <= ECHO_CHARS + 1);
    }
}
