//! The pre-flight: every declaration judged before anything opens.
//!
//! It reads the environment it is given and, for pinned authorities, their files. It opens no vault and no database,
//! derives no key and writes nothing.

use crate::env::{Environment, Finding, Severity, inventory, resolve};

/// Names with this prefix configure other programs of the same family and are none of ours to judge.
const FOREIGN: [&str; 5] = [
    "UNDERCROFT_VS_URL",
    "UNDERCROFT_VS_ADD_PATH",
    "UNDERCROFT_VS_SEARCH_PATH",
    "UNDERCROFT_VS_BEARER",
    "UNDERCROFT_FEATURES",
];

/// Everything that the pre-flight found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// One finding per declared variable, in the order of the inventory, then unknown names.
    pub findings: Vec<Finding>,
    /// How many declarations were parsed and understood.
    pub validated: usize,
    /// How many were accepted as they stand, for their consumer to judge.
    pub accepted: usize,
}

impl Report {
    /// Whether a start with this environment is allowed.
    #[must_use]
    pub fn starts(&self) -> bool {
        self.refusals() == 0
    }

    /// How many findings refuse.
    #[must_use]
    pub fn refusals(&self) -> usize {
        self.count(Severity::Refuse)
    }

    /// How many findings warn.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warn)
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Judges every declared variable of this program, and names that look like one and are none.
#[must_use]
pub fn check(environment: &Environment) -> Report {
    let mut findings: Vec<Finding> =
        inventory::all().filter_map(|variable| resolve::judge(environment, variable)).collect();
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (validated, accepted) = (count(Severity::Ok), count(Severity::Seen));
    findings.extend(environment.names().filter(|name| is_unknown(name)).map(unknown));
    Report { findings, validated, accepted }
}

fn is_unknown(name: &str) -> bool {
    name.starts_with(inventory::PREFIX) && !FOREIGN.contains(&name) && inventory::find(name).is_none()
}

fn unknown(name: &str) -> Finding {
    let message = match inventory::nearest(name) {
        Some(known) => format!("no such variable, so it has no effect; did you mean {known}?"),
        None => "no such variable, so it has no effect".to_owned(),
    };
    Finding { variable: name.to_owned(), severity: Severity::Warn, message }
}

#[cfg(test)]
#[path = "check_test.rs"]
mod check_test;
