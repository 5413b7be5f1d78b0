//! The ledgers in a segment: tagged rows without audit records. Each carries its tag; the chain's is the one that follows
//! from its records, and the counter covers the numbers that were issued.

use undercroft_crypto::{SegmentHeader, Tag};

use super::super::changes::{Table, Value};
use super::super::verdict::Suspect;
use super::batch::Stop;
use super::rows::Version;
use crate::audit;
use crate::keyring::Keyring;
use crate::storage::{counters, outcomes};

/// Checks every ledger row, and gives the number of drawers filed afterwards.
pub(super) fn check(
    keyring: &Keyring,
    header: &SegmentHeader,
    filed: i64,
    versions: &[Version<'_>],
) -> Result<i64, Stop> {
    let (mut now, mut chain) = (filed, false);
    for version in versions {
        match (version.table, version.new.as_deref()) {
            (Table::Chain, Some(row)) => {
                check_chain(keyring, header, row)?;
                chain = true;
            }
            (Table::Counters, Some(row)) => now = check_counter(keyring, filed, row)?,
            (Table::Outcomes, row) => {
                // What is forgotten must have been what was remembered.
                for row in [version.old.as_deref(), row].into_iter().flatten() {
                    check_outcome(keyring, row)?;
                }
            }
            _ => {}
        }
    }
    if chain { Ok(now) } else { Err(Suspect::Unproved("the chain's state is not among its changes").into()) }
}

fn check_chain(keyring: &Keyring, header: &SegmentHeader, row: &[Value<'_>]) -> Result<(), Suspect> {
    let after = &header.after;
    let tag = audit::state::tag(keyring, after);
    let expected = [
        Value::Integer(1),
        Value::Integer(audit::state::as_sql(after.height)),
        Value::Blob(after.head.as_bytes()),
        Value::Blob(after.digest.as_bytes()),
        Value::Blob(tag.as_bytes()),
    ];
    if row == expected {
        Ok(())
    } else {
        Err(Suspect::Unproved("the chain's state is not the one of its header"))
    }
}

fn check_counter(keyring: &Keyring, filed: i64, row: &[Value<'_>]) -> Result<i64, Suspect> {
    let wrong = Suspect::Unproved("a counter is unknown, runs backwards or fails its check");
    let [Value::Text(counters::DRAWERS), Value::Integer(value), Value::Blob(tag)] = row else {
        return Err(wrong);
    };
    let sound =
        Tag::from_slice(tag).is_ok_and(|tag| tag == counters::tag(keyring.mac(), counters::DRAWERS, *value));
    if sound && *value > filed { Ok(*value) } else { Err(wrong) }
}

fn check_outcome(keyring: &Keyring, row: &[Value<'_>]) -> Result<(), Suspect> {
    let [
        Value::Blob(key),
        Value::Blob(request),
        Value::Integer(expires),
        Value::Blob(outcome),
        Value::Blob(tag),
    ] = row
    else {
        return Err(Suspect::Unproved("a remembered outcome is malformed"));
    };
    let row = outcomes::StoredRow::new(key, request, *expires, outcome, tag);
    row.verified(keyring.mac())
        .map(drop)
        .map_err(|_| Suspect::Unproved("a remembered outcome fails its check"))
}
