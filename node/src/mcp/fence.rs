//! What stands in front of every call: the read-only gate, then the quarantine fence.
//!
//! Both fail closed: a tool that is not known to read is refused by the gate, and a drawer whose place cannot be read
//! stops the call. Neither decides what a tool does.

use std::collections::HashSet;

use serde_json::{Map, Value};
use undercroft_vault::limits::MAX_LIST;
use undercroft_vault::{DrawerId, Error, Vault};

use super::failure::{Failure, echo};
use super::protocol::Posture;
use super::tools::{Class, Tool};

/// The wing of texts that await the operator's ruling. No agent reads it, writes to it or names it.
pub(super) const REVIEW_WING: &str = "quarantine-pending";

/// Lets a call pass or says why not.
pub(super) fn admit(
    posture: Posture,
    name: &str,
    tool: Option<&Tool>,
    given: &Map<String, Value>,
    vault: &Vault,
) -> Result<(), Failure> {
    if posture == Posture::ReadOnly && tool.is_none_or(|tool| tool.class != Class::Read) {
        return Err(Failure::denied(format!("server is read-only: {} is not allowed", echo(name))));
    }
    given.iter().try_for_each(|(name, value)| check(name, value, vault))
}

/// Refuses a value that names the review wing, however deep it lies, and an id that leads into it.
fn check(name: &str, value: &Value, vault: &Vault) -> Result<(), Failure> {
    match value {
        // Names are trimmed before they are used, so a padded one means the same wing.
        Value::String(text) if text.trim() == REVIEW_WING => Err(Failure::denied(format!(
            "'{REVIEW_WING}' is the operator's: nothing is read from it or written to it here; texts under review are \
             ruled on with: undercroft admission"
        ))),
        Value::String(text) if names_a_drawer(name) => check_id(text, vault),
        Value::Array(items) => items.iter().try_for_each(|item| check(name, item, vault)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| check(name, value, vault)),
        _ => Ok(()),
    }
}

fn names_a_drawer(argument: &str) -> bool {
    argument == "id" || argument.ends_with("_id") || argument == "supersedes"
}

fn check_id(text: &str, vault: &Vault) -> Result<(), Failure> {
    // What is no id at all leads nowhere; the tool says so.
    let Ok(id) = text.parse::<DrawerId>() else { return Ok(()) };
    match vault.get(id) {
        Ok(drawer) if is_pending(&drawer.meta.wing) => Err(Failure::denied(format!(
            "drawer {id} awaits the operator's ruling; it is ruled on with: undercroft admission"
        ))),
        Ok(_) | Err(Error::NoDrawer(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a wing is the one under review.
pub(super) fn is_pending(wing: &str) -> bool {
    wing.trim() == REVIEW_WING
}

/// Every drawer under review, as it is asked in the history.
pub(super) fn pending(vault: &Vault) -> Result<HashSet<String>, Failure> {
    let mut found = HashSet::new();
    loop {
        let page = vault.list(Some(REVIEW_WING), None, MAX_LIST, found.len())?;
        let full = page.len() == MAX_LIST;
        found.extend(page.into_iter().map(|drawer| drawer.id.to_string()));
        if !full {
            return Ok(found);
        }
    }
}
