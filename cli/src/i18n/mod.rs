//! Ten result lines in ten languages. Everything else, errors and help included, stays English.
//!
//! A verdict is a translated line too, so scripts go by the exit code.

mod language;
mod tables;
mod template;

pub(crate) use language::Language;
pub(crate) use template::Template;
