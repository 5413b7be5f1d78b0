//! Every variable that this program knows: one table, from which the pre-flight, the resolvers and the book are checked.
//!
//! The tables say what a variable is; `parse` says which values it takes. No value is read here.

mod core;
mod models;
mod outward;
mod policy;
mod retrieval;
mod roles;
mod variable;

pub use variable::{Check, Class, Reader, Variable};

/// What every name of this program starts with.
pub const PREFIX: &str = "UNDERCROFT_";

const TABLES: [&[Variable]; 6] =
    [core::TABLE, models::TABLE, retrieval::TABLE, policy::TABLE, outward::TABLE, roles::TABLE];

/// Every variable, grouped as in the book.
pub fn all() -> impl Iterator<Item = &'static Variable> {
    TABLES.into_iter().flatten()
}

/// The variable called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Variable> {
    all().find(|variable| variable.name == name)
}

/// The known name nearest to `name` by edit distance, when it is near enough to be what was meant: at most a third of the
/// part after the prefix may differ.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    let own_part = name.len().saturating_sub(PREFIX.len());
    all()
        .map(|variable| (edit_distance(name, variable.name), variable.name))
        .min()
        .filter(|(distance, _)| *distance <= (own_part / 3).max(1))
        .map(|(_, name)| name)
}

/// Levenshtein distance over bytes, one row at a time.
fn edit_distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
