//! Checks of fields that several commands have. Owns no state.

use super::{Noun, Refusal};
use crate::limits;

/// A name: something to read, on one line, within bounds.
pub(super) fn name(field: &str, text: &str) -> Result<(), Refusal> {
    line(field, text, limits::NAME_BYTES)?;
    let clean = !text.trim().is_empty() && text.trim() == text;
    if clean { Ok(()) } else { Err(Refusal::field(field, "must not be empty or begin or end with a space")) }
}

/// A line of text within bounds, possibly empty.
pub(super) fn line(field: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.len() > most {
        return Err(Refusal::field(field, format!("has {} bytes; at most {most}", text.len())));
    }
    if text.chars().any(char::is_control) {
        return Err(Refusal::field(field, "must not have control characters"));
    }
    Ok(())
}

/// Where a process is reached: host:port.
pub(super) fn address(text: &str) -> Result<(), Refusal> {
    line("address", text, limits::ADDRESS_BYTES)?;
    let parts = text.rsplit_once(':');
    let good = parts.is_some_and(|(host, port)| {
        !host.is_empty()
            && !host.contains(char::is_whitespace)
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if good { Ok(()) } else { Err(Refusal::field("address", "must be host:port, for example 10.0.0.7:7700")) }
}

/// Whether something may be told again of who shows this certificate. What was bound to one stays bound to it; without
/// certificates nobody can be told from anybody, so then nothing is bound and nothing is let go.
pub(super) fn bound(
    what: Noun,
    id: impl ToString,
    known: Option<&str>,
    shown: Option<&str>,
) -> Result<(), Refusal> {
    if let Some(shown) = shown {
        line("certificate", shown, limits::CERTIFICATE_BYTES)?;
    }
    match (known, shown) {
        (Some(known), Some(shown)) if known != shown => {
            Err(Refusal::Bound { what, id: id.to_string(), certificate: known.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Sealed bytes within bounds.
pub(super) fn sealed(field: &str, bytes: &[u8]) -> Result<(), Refusal> {
    if (1..=limits::SEALED_BYTES).contains(&bytes.len()) {
        return Ok(());
    }
    Err(Refusal::field(field, format!("has {} bytes; from 1 to {}", bytes.len(), limits::SEALED_BYTES)))
}

/// A reason for a person: never refused, cut at its bound on a character.
pub(super) fn reason(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut end = line.len().min(limits::REASON_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].to_owned()
}
