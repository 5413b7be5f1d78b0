//! Checks of what a caller asks to keep, before anything is embedded or opened. One function a field.

use undercroft_text::dates::check_content_date;
use undercroft_text::names::check_name;

use crate::drawers::{NewDrawer, Origin};
use crate::error::{Error, Result};
use crate::limits;

/// The reserved wing of texts that await a ruling; nothing is filed into it directly.
pub(crate) const REVIEW_WING: &str = "quarantine-pending";

/// Checks every field and puts names into their kept form.
pub(crate) fn drawer(new: &mut NewDrawer) -> Result<()> {
    new.wing = wing(&new.wing)?;
    new.room = name("room", &new.room)?;
    text(&new.text)?;
    if let Some(date) = &new.content_date {
        check_content_date(date).map_err(|e| {
            // The message names the field already.
            Error::invalid("content_date", e.to_string().trim_start_matches("invalid content_date: "))
        })?;
    }
    if let Some(origin) = &new.origin {
        source(origin)?;
    }
    for (field, claim) in [
        ("agent", &mut new.claims.agent),
        ("channel", &mut new.claims.channel),
        ("session", &mut new.claims.session),
    ] {
        if let Some(value) = claim {
            *value = name(field, value)?;
        }
    }
    Ok(())
}

/// A text that can be kept: something to read, and not too much of it.
pub(crate) fn text(text: &str) -> Result<()> {
    if text.len() > limits::MAX_TEXT_BYTES {
        let reason = format!(
            "{} bytes is over the limit of {} bytes a drawer; split it, or file it with: undercroft mine",
            text.len(),
            limits::MAX_TEXT_BYTES
        );
        return Err(Error::invalid("text", reason));
    }
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        return Err(Error::invalid("text", "it holds nothing to read; give the words to keep"));
    }
    Ok(())
}

pub(crate) fn name(field: &'static str, value: &str) -> Result<String> {
    Ok(check_name(field, value)?)
}

fn wing(value: &str) -> Result<String> {
    let wing = name("wing", value)?;
    if wing == REVIEW_WING {
        return Err(Error::invalid(
            "wing",
            format!("'{REVIEW_WING}' is reserved for texts under review; choose another"),
        ));
    }
    Ok(wing)
}

fn source(origin: &Origin) -> Result<()> {
    let source = origin.source.as_str();
    if source.is_empty() || source.len() > limits::MAX_SOURCE_BYTES {
        return Err(Error::invalid(
            "source_file",
            format!("it must be 1 to {} bytes long", limits::MAX_SOURCE_BYTES),
        ));
    }
    // The recipe of ids uses this word for drawers that have no source.
    if source == "(direct)" {
        return Err(Error::invalid(
            "source_file",
            "'(direct)' stands for drawers without a source; name the file",
        ));
    }
    if source.contains(['\0', '\u{1f}']) {
        return Err(Error::invalid(
            "source_file",
            "it holds a NUL or unit-separator character; rename the file",
        ));
    }
    Ok(())
}
