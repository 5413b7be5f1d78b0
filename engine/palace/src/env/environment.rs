//! A snapshot of environment variables: names and values as declared.
//!
//! It owns the only read of the process environment. It never interprets a value, and never prints one: values may be
//! passphrases and tokens, so `Debug` shows names alone.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Environment variables as declared, taken once and passed on.
///
/// Values are kept as the platform gave them, so that a path need not be UTF-8; [`text`](Self::text) says when a value
/// that has to be text is not.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    values: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The variables of this process, as they are now.
    #[must_use]
    pub fn of_process() -> Self {
        Self { values: std::env::vars_os().collect() }
    }

    /// Variables given in place: the last of equal names wins.
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        Self { values: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }

    /// The value of `name`, if declared, even when it is empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.values.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The value of `name` as text: `None` when undeclared, `Some(Err(()))` when it is not UTF-8.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Result<&str, ()>> {
        self.get(name).map(|value| value.to_str().ok_or(()))
    }

    /// The value of `name` when it is declared and not empty. For paths, which are never trimmed.
    #[must_use]
    pub fn non_empty(&self, name: &str) -> Option<&OsStr> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Every declared name that is text, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().filter_map(|name| name.to_str())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.keys()).finish()
    }
}
