//! The audit records of a segment: contiguous, leading to the head that the header names, and saying of each drawer that is
//! touched what became of it. Every other change has to be one that they name.

use rustc_hash::{FxHashMap, FxHashSet};
use undercroft_crypto::{Blind, ChainState, SegmentHeader, Tag};

use super::super::changes::{Table, Value};
use super::super::verdict::Suspect;
use super::batch::Stop;
use super::rows::Version;
use crate::audit::table::AuditRow;
use crate::audit::{self, Label};
use crate::drawers::DrawerId;
use crate::keyring::Keyring;
use crate::vault::tombstone_tag;

/// What the records say.
pub(super) struct Records {
    /// Of drawers that stand at the end: position and tag of the record that wrote them.
    pub(super) standing: FxHashMap<DrawerId, (i64, Tag)>,
    /// Drawers that were destroyed on the way, whether or not they were written again.
    pub(super) destroyed: FxHashSet<DrawerId>,
}

/// Replays the records from where the copy stands. `former` holds the tags of the rows that the segment deletes.
pub(super) fn replay(
    keyring: &Keyring,
    base: &ChainState,
    header: &SegmentHeader,
    versions: &[Version<'_>],
    former: &FxHashMap<DrawerId, Tag>,
) -> Result<Records, Stop> {
    let mut rows = Vec::new();
    for version in versions.iter().filter(|version| version.table == Table::Audit) {
        let row = version.new.as_deref().and_then(row);
        rows.push(row.ok_or(Suspect::Unproved("an audit record is malformed"))?);
    }
    // A changeset has its rows in no order.
    rows.sort_by_key(|row| row.n);
    let mut records = Records { standing: FxHashMap::default(), destroyed: FxHashSet::default() };
    let (mut state, mut label) = (*base, Vec::new());
    for row in &rows {
        if row.n != audit::state::as_sql(state.height) + 1 {
            return Err(Suspect::Unproved("its audit records are not contiguous").into());
        }
        state = keyring.step(&state, &row.label, &row.tag, row.at);
        let text = row
            .open_label_into(keyring, &mut label)
            .map_err(|_| Suspect::Unproved("the label of an audit record does not open"))?;
        let label = text.parse().map_err(|_| Suspect::Unproved("the label of an audit record is unknown"))?;
        records.note(keyring, &label, row, former)?;
    }
    if state != header.after {
        return Err(Suspect::Unproved("its audit records do not lead to the head that it names").into());
    }
    Ok(records)
}

impl Records {
    fn note(
        &mut self,
        keyring: &Keyring,
        label: &Label,
        row: &AuditRow<&[u8]>,
        former: &FxHashMap<DrawerId, Tag>,
    ) -> Result<(), Suspect> {
        match label {
            Label::Written(id) => drop(self.standing.insert(*id, (row.n, row.tag))),
            Label::Destroyed(id) => {
                let within = self.standing.remove(id).map(|(_, tag)| tag);
                // Of a drawer that was destroyed before in this segment nothing is left to destroy.
                let before = former.get(id).copied().filter(|_| !self.destroyed.contains(id));
                let last = within.or(before);
                let last = last.ok_or(Suspect::Unproved("a tombstone is of a drawer that is not deleted"))?;
                if row.tag != tombstone_tag(keyring, id, &last) {
                    return Err(Suspect::Unproved("a tombstone is not that of the drawer's last version"));
                }
                self.destroyed.insert(*id);
            }
            // These name no row.
            Label::Migrated(_) | Label::Outcomes => {}
        }
        Ok(())
    }
}

fn row<'a>(values: &[Value<'a>]) -> Option<AuditRow<&'a [u8]>> {
    let [Value::Integer(n), Value::Blob(label), Value::Blob(tag), Value::Integer(at), Value::Blob(shown)] =
        values
    else {
        return None;
    };
    Some(AuditRow {
        n: *n,
        label: Blind::from_slice(label).ok()?,
        tag: Tag::from_slice(tag).ok()?,
        at: *at,
        shown,
    })
}
