//! A leader that holds the keys and tampers with what it sends: every change that its audit records do not prove makes the
//! copy suspect, and nothing of it is written. The forgeries are sealed as a real leader would seal them.

use rusqlite::Connection;
use undercroft_crypto::{Head, Height, KeyGeneration, Level, SegmentHeader, Tag};

use super::changes::{Change, Table, Value};
use super::changes_test::{header, write};
use super::forge::{Scene, TERMS, UNSCREENED, blob, changes_of, dump, keyed, of, other, saving};
use super::{Entry, LogId, NoOp, Outcome, Suspect, apply, make_ready, prepare};
use crate::audit::Label;
use crate::storage::counters;
use crate::vault::tombstone_tag;
use crate::{Change as Asked, Vault};

#[test]
fn what_a_leader_sends_untouched_is_taken() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let mut scene = Scene::new(level);
        scene.save("one");
        let untouched =
            [scene.forged(vec![saving("two")], |_| {}), scene.forged_with_chain(vec![saving("two")], |_| {})];
        for segment in &untouched[..1] {
            let log_id = scene.log_id();
            let outcomes = apply(&scene.follower, &[Entry { log_id, segment }]).expect("decides");
            assert!(matches!(outcomes[..], [Outcome::Applied(_)]), "{outcomes:?}");
        }
        // The second was made by the forger's means, so those make sound segments: what is refused below is refused for the
        // forgery. It begins where the first one did, and so comes too late.
        let log_id = scene.log_id();
        let outcomes = apply(&scene.follower, &[Entry { log_id, segment: &untouched[1] }]).expect("decides");
        assert_eq!(outcomes, [Outcome::NoOp(NoOp::OlderHead)]);
        let fresh = Scene::new(level);
        let segment = fresh.forged_with_chain(vec![saving("one")], |_| {});
        let log_id = LogId { shard: 1, term: 1, index: 2 };
        let outcomes = apply(&fresh.follower, &[Entry { log_id, segment: &segment }]).expect("decides");
        assert!(matches!(outcomes[..], [Outcome::Applied(_)]), "{outcomes:?}");
    }
}

#[test]
fn an_altered_column_of_a_drawer_is_refused_whichever_it_is() {
    let mut scene = Scene::new(Level::Sealed);
    let kept = scene.save("one");
    for at in 0..Table::Drawers.columns().len() {
        let inserted = scene.forged(vec![saving("two")], |changes| {
            let change = of(changes, Table::Drawers);
            change.new[at] = other(change.new[at]);
            change.key = change.new[0].expect("a key");
        });
        scene.refuses(&inserted, "drawer's row");
        let updated = scene.forged(vec![Asked::Update { id: kept, text: "two".into() }.into()], |changes| {
            let change = of(changes, Table::Drawers);
            // The key of a change has no new value; of another row it is not the one that was named.
            match change.new[at] {
                Some(_) => change.new[at] = other(change.new[at]),
                None => change.old[0] = Some(Value::Integer(77)),
            }
            change.key = change.old[0].expect("a key");
        });
        scene.refuses(&updated, "drawer");
    }
}

#[test]
fn an_altered_record_is_refused_whichever_column_it_is() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    for at in 0..Table::Audit.columns().len() {
        let segment = scene.forged(vec![saving("two")], |changes| {
            let change = of(changes, Table::Audit);
            change.new[at] = other(change.new[at]);
            change.key = change.new[0].expect("a key");
        });
        scene.refuses(&segment, "audit record");
    }
}

#[test]
fn records_in_another_order_are_refused_even_with_a_chain_of_their_own() {
    let mut scene = Scene::new(Level::Sealed);
    let swap = |changes: &mut Vec<Change<'static>>| {
        let mut records: Vec<_> = changes.iter_mut().filter(|change| change.table == Table::Audit).collect();
        let (first, second) = (records[0].new[0], records[1].new[0]);
        (records[0].new[0], records[1].new[0]) = (second, first);
        for record in records {
            record.key = record.new[0].expect("a key");
        }
    };
    let requests = || vec![saving("one"), saving("two")];
    let segment = scene.forged(requests(), swap);
    scene.refuses(&segment, "audit record");
    let segment = scene.forged_with_chain(requests(), swap);
    scene.refuses(&segment, "audit record");
}

#[test]
fn a_row_without_a_record_and_a_record_without_a_row_are_refused() {
    let mut scene = Scene::new(Level::Sealed);
    let kept = scene.save("one");
    let no_row = |changes: &mut Vec<Change<'static>>| changes.retain(|change| change.table != Table::Drawers);
    let segment = scene.forged(vec![saving("two")], no_row);
    scene.refuses(&segment, "not among the changes");
    let no_record = |changes: &mut Vec<Change<'static>>| {
        changes.retain(|change| change.table != Table::Audit || change.key != Value::Integer(3));
    };
    let two = || vec![saving("two"), saving("three")];
    let segment = scene.forged(two(), no_record);
    scene.refuses(&segment, "head that it names");
    let segment = scene.forged_with_chain(two(), no_record);
    scene.refuses(&segment, "not named with its tag");
    // A record of a drawer that the segment does not touch.
    let record = scene.record(3, &Label::Written(kept), &Tag::from_bytes([1; 32]));
    let segment = scene.forged_with_chain(vec![saving("two")], |changes| changes.push(record));
    scene.refuses(&segment, "not among the changes");
}

#[test]
fn deletions_need_their_tombstone_and_tombstones_their_deletion() {
    let mut scene = Scene::new(Level::Sealed);
    let (first, second) = (scene.save("one"), scene.save("two"));
    let delete = || vec![Asked::Delete(first).into()];
    let segment = scene.forged(delete(), |changes| changes.retain(|change| change.table != Table::Drawers));
    scene.refuses(&segment, "a drawer that is not deleted");
    let another = scene.deletion(2);
    let segment = scene.forged(delete(), |changes| changes.push(another.clone()));
    scene.refuses(&segment, "no tombstone");
    // A tombstone over another version than the last.
    let keyring = scene.leader.keyring();
    let wrong = tombstone_tag(keyring, &second, &Tag::from_bytes([9; 32]));
    let record = scene.record(4, &Label::Destroyed(second), &wrong);
    let segment = scene.forged_with_chain(delete(), |changes| changes.extend([another, record]));
    scene.refuses(&segment, "drawer's last version");
}

#[test]
fn a_drawer_that_is_written_and_destroyed_in_one_segment_leaves_no_row_behind() {
    let mut scene = Scene::new(Level::Sealed);
    let kept = scene.save("one");
    let update = || vec![Asked::Update { id: kept, text: "two".into() }.into()];
    // Its records say that it is gone, its row stays as it was.
    let tag = Tag::from_bytes([9; 32]);
    let tombstone = tombstone_tag(scene.leader.keyring(), &kept, &tag);
    let written = scene.record(2, &Label::Written(kept), &tag);
    let destroyed = scene.record(3, &Label::Destroyed(kept), &tombstone);
    let segment = scene.forged_with_chain(update(), |changes| {
        changes.retain(|change| !matches!(change.table, Table::Drawers | Table::Audit));
        changes.extend([written, destroyed]);
    });
    scene.refuses(&segment, "a destroyed drawer is not deleted");
}

#[test]
fn ledgers_that_fail_their_check_are_refused() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    for (table, why) in [
        (Table::Chain, "chain's state"),
        (Table::Counters, "a counter"),
        (Table::Outcomes, "a remembered outcome"),
    ] {
        for at in 1..table.columns().len() {
            let segment = scene.forged(vec![keyed("two")], |changes| {
                let change = of(changes, table);
                change.new[at] = other(change.new[at]);
            });
            scene.refuses(&segment, why);
        }
    }
    let segment = scene.forged(vec![saving("two")], |changes| changes.retain(|c| c.table != Table::Chain));
    scene.refuses(&segment, "chain's state is not among");
    // A counter that does not cover the numbers that were issued, with its own tag.
    let segment = scene.forged(vec![saving("two")], |changes| changes.retain(|c| c.table != Table::Counters));
    scene.refuses(&segment, "a place that was not issued");
    let tag = counters::tag(scene.leader.keyring().mac(), counters::DRAWERS, 0);
    let segment = scene.forged(vec![saving("two")], |changes| {
        let change = of(changes, Table::Counters);
        change.new = vec![None, Some(Value::Integer(0)), blob(tag.as_bytes())];
    });
    scene.refuses(&segment, "runs backwards");
}

#[test]
fn other_tables_and_bytes_that_are_no_changes_are_refused() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    let honest = *scene.segment(vec![saving("two")]).header();
    let mut meta = header("meta", 3);
    meta.extend_from_slice(&[9, 0, 3, 6]);
    meta.extend_from_slice(b"schema");
    meta.extend_from_slice(&[4, 0, 4, 0]);
    for (bytes, why) in [
        (meta, "not among those that are replicated"),
        (header("sqlite_master", 5), "not among those that are replicated"),
        (b"words".to_vec(), "malformed"),
        (Vec::new(), "chain's state is not among"),
    ] {
        let segment = scene.seal(honest, &bytes);
        scene.refuses(&segment, why);
    }
}

#[test]
fn a_header_that_promises_another_end_is_refused() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    let segment = scene.segment(vec![saving("two")]);
    let body = write(&changes_of(&scene.leader, &segment));
    let honest = *segment.header();
    let mut ends = vec![honest; 3];
    ends[0].after.head = Head::from_bytes([1; 32]);
    ends[1].after.digest = undercroft_crypto::Digest::from_bytes([1; 32]);
    ends[2].after.height = Height::new(9);
    for header in ends {
        let segment = scene.seal(header, &body);
        scene.refuses(&segment, "chain's state is not the one of its header");
    }
}

#[test]
fn a_copy_whose_own_rows_were_edited_is_suspect_at_the_next_entry_that_touches_them() {
    for (sql, why) in [
        ("UPDATE drawers SET content = zeroblob(60)", "a row of drawers"),
        ("UPDATE drawers SET wing = zeroblob(16)", "fails its check"),
        ("DELETE FROM drawers", "a row of drawers"),
        ("UPDATE chain SET head = zeroblob(32)", "own rows fail"),
        ("UPDATE counters SET value = 0", "own rows fail"),
        ("DELETE FROM audit", "own rows fail"),
        ("UPDATE meta SET value = zeroblob(34) WHERE key = 'ownership'", "own rows fail"),
    ] {
        let mut scene = Scene::new(Level::Sealed);
        let kept = scene.save("one");
        let segment = scene.segment(vec![Asked::Update { id: kept, text: "two".into() }.into()]);
        let conn = Connection::open(scene.follower.dir().join("vault.db")).expect("opens");
        conn.execute_batch(sql).expect("edits");
        drop(conn);
        let (before, log_id) = (dump(&scene.follower), scene.log_id());
        let outcomes = apply(&scene.follower, &[Entry { log_id, segment: &segment }]).expect("decides");
        let [Outcome::Suspect(suspect)] = &outcomes[..] else { panic!("{sql}: {outcomes:?}") };
        assert!(suspect.to_string().contains(why), "{sql}: {suspect}");
        assert_eq!(dump(&scene.follower), before, "{sql}");
    }
}

#[test]
fn later_lives_ownerships_and_generations_are_missed_and_earlier_ones_lost() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    let segment = scene.segment(vec![saving("two")]);
    let (body, honest) = (write(&changes_of(&scene.leader, &segment)), *segment.header());
    let number = |number| KeyGeneration::from_u32(number).expect("not zero");
    for (header, expected) in [
        (SegmentHeader { epoch: 0, ..honest }, Outcome::NoOp(NoOp::OldEpoch)),
        (SegmentHeader { epoch: 2, ..honest }, Outcome::Suspect(Suspect::Missed("ownership epoch"))),
        (SegmentHeader { incarnation: 0, ..honest }, Outcome::NoOp(NoOp::OldIncarnation)),
        (SegmentHeader { incarnation: 2, ..honest }, Outcome::Suspect(Suspect::Missed("incarnation"))),
        (
            SegmentHeader { generation: number(2), ..honest },
            Outcome::Suspect(Suspect::Missed("key generation")),
        ),
    ] {
        let (segment, log_id) = (scene.seal(header, &body), scene.log_id());
        let before = dump(&scene.follower);
        let outcomes = apply(&scene.follower, &[Entry { log_id, segment: &segment }]).expect("decides");
        assert_eq!(outcomes, [expected]);
        let without_log_id =
            |rows: Vec<String>| rows.into_iter().filter(|row| !row.contains("applied")).collect::<Vec<_>>();
        assert_eq!(without_log_id(dump(&scene.follower)), without_log_id(before));
    }
}

#[test]
fn a_full_disk_stalls_and_loses_nothing() {
    let mut scene = Scene::new(Level::Sealed);
    scene.save("one");
    // Words that do not compress.
    let mut drawn = vec![0; 60_000];
    undercroft_crypto::Entropy::fill(&undercroft_crypto::SeededEntropy::new(5), &mut drawn);
    let text: String = drawn.iter().map(|byte| char::from(b'!' + byte % 90)).collect();
    let segment = scene.segment(vec![saving(&text)]);
    let limit = |vault: &Vault, pages: i64| {
        let conn = vault.replicating().expect("writes").lock().expect("is free");
        conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get::<_, i64>(0))
            .expect("sets")
    };
    // Never less than what is in use: no page more can be had.
    limit(&scene.follower, 1);
    let (before, log_id) = (dump(&scene.follower), scene.log_id());
    let entries = [Entry { log_id, segment: &segment }];
    let error = apply(&scene.follower, &entries).expect_err("stalls");
    assert_eq!(error.class(), crate::ErrorClass::Unavailable, "{error}");
    assert_eq!(dump(&scene.follower), before);
    limit(&scene.follower, 1 << 30);
    let outcomes = apply(&scene.follower, &entries).expect("has room again");
    assert!(matches!(outcomes[..], [Outcome::Applied(_)]), "{outcomes:?}");
    // The writing copy: the transaction does not happen, and the next one does.
    limit(&scene.leader, 1);
    let refused = prepare(&scene.leader, make_ready(&scene.leader, vec![saving(&text)]), UNSCREENED, TERMS);
    assert_eq!(refused.expect_err("stalls").class(), crate::ErrorClass::Unavailable);
    limit(&scene.leader, 1 << 30);
    let outcomes = apply(&scene.leader, &entries).expect("has room again");
    assert!(matches!(outcomes[..], [Outcome::Applied(_)]), "{outcomes:?}");
    assert_eq!(dump(&scene.leader), dump(&scene.follower));
}
