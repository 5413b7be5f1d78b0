//! Which crate may name which: the table of `docs/architecture.md` against what cargo says.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::page;

/// Crates of the workspace that one crate depends on, in any way.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Crates that talk to a network or need a runtime; nothing of the engine names one.
const NETWORK: [&str; 9] =
    ["tokio", "hyper", "reqwest", "axum", "tonic", "openraft", "rustls", "ureq", "async-std"];

/// Crates that serve, and so may name those.
const SERVING: [&str; 4] =
    ["undercroft-certs", "undercroft-control-plane", "undercroft-node", "undercroft-proto"];

/// The arrows that the page allows: first cell a crate, second the crates that it may name.
#[must_use]
pub fn allowed(page: &str) -> Arrows {
    let rows = page::table(page, "crate").into_iter();
    rows.map(|row| {
        let names = row[1].split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        (row[0].clone(), names.collect())
    })
    .collect()
}

/// Every dependency of every crate of this workspace, as cargo reads the manifests.
///
/// # Panics
/// When cargo cannot be asked.
#[must_use]
pub fn actual() -> Arrows {
    let manifest = crate::tree::root().join("Cargo.toml");
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .expect("cargo metadata of this workspace");
    let packages = metadata.packages.iter();
    packages
        .map(|package| {
            let named = package.dependencies.iter().map(|dependency| dependency.name.clone());
            (package.name.to_string(), named.collect())
        })
        .collect()
}

/// Arrows that the table does not have, crates that it does not know, and network crates in the engine.
#[must_use]
pub fn breaches(actual: &Arrows, allowed: &Arrows) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, named) in actual {
        let Some(may) = allowed.get(name) else {
            findings.push(Finding::new(name, "is not in the table of docs/architecture.md"));
            continue;
        };
        for other in named.iter().filter(|other| actual.contains_key(*other) && !may.contains(*other)) {
            findings.push(Finding::new(name, format!("names {other}, which the table does not allow")));
        }
        let serves = SERVING.contains(&name.as_str());
        for network in named.iter().filter(|other| !serves && NETWORK.contains(&other.as_str())) {
            findings
                .push(Finding::new(name, format!("names {network}: only what serves talks to a network")));
        }
    }
    let gone = allowed.keys().filter(|name| !actual.contains_key(*name));
    findings.extend(gone.map(|name| Finding::new(name, "is in the table and not in the workspace")));
    findings
}

#[cfg(test)]
mod tests {
    use super::{Arrows, allowed, breaches};

    const TABLE: &str = "| crate | may name |\n|---|---|\n| `a` | |\n| `b` | `a` |\n";

    fn arrows(pairs: &[(&str, &[&str])]) -> Arrows {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        pairs.iter().map(|(name, named)| ((*name).to_owned(), owned(named))).collect()
    }

    #[test]
    fn arrows_of_the_table_are_fine_and_so_are_crates_from_elsewhere() {
        assert_eq!(breaches(&arrows(&[("a", &["serde"]), ("b", &["a", "serde"])]), &allowed(TABLE)), []);
    }

    #[test]
    fn an_arrow_that_points_back_is_found() {
        let found = breaches(&arrows(&[("a", &["b"]), ("b", &[])]), &allowed(TABLE));
        assert!(found.len() == 1 && found[0].what.contains("names b"), "{found:?}");
    }

    #[test]
    fn unknown_and_vanished_crates_are_found() {
        let found = breaches(&arrows(&[("a", &[]), ("c", &[])]), &allowed(TABLE));
        assert_eq!(found.iter().map(|f| f.place.as_str()).collect::<Vec<_>>(), ["c", "b"]);
    }

    #[test]
    fn a_network_crate_is_found() {
        assert_eq!(breaches(&arrows(&[("a", &["tokio"]), ("b", &[])]), &allowed(TABLE)).len(), 1);
        let table = "| crate | may name |\n|---|---|\n| `undercroft-node` | |\n";
        assert_eq!(breaches(&arrows(&[("undercroft-node", &["tokio"])]), &allowed(table)), []);
    }
}
