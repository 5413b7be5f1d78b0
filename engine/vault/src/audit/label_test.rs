//! Labels read back as what they were written.

use super::label::{Label, REPAIR, UnknownLabel};
use crate::drawers::drawer_id;

#[test]
fn every_label_reads_back() {
    let id = drawer_id("w", "r", None, 7);
    for label in [Label::Written(id), Label::Destroyed(id), Label::Migrated(REPAIR), Label::Outcomes] {
        assert_eq!(label.to_string().parse::<Label>(), Ok(label));
    }
}

#[test]
fn other_texts_are_no_labels() {
    for text in [
        "",
        "del/",
        "del/xyz",
        "migrate/",
        "migrate/other",
        "ledger/",
        "ledger/other",
        "DEADBEEF",
        "deadbeef",
    ] {
        assert_eq!(text.parse::<Label>(), Err(UnknownLabel), "{text:?}");
    }
}
