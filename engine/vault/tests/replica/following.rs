//! Whatever is written on one copy stands on the others, byte for byte, in memory too.

use std::sync::Arc;

use proptest::prelude::*;
use undercroft_crypto::Level;
use undercroft_vault::replica::{self, Entry, NoOp, Outcome, Suspect};
use undercroft_vault::{AddedBy, Change, DrawerId, NewDrawer, Origin, SourceBatch, Vault, WriteRequest};

use super::cluster::*;

const LEVELS: [Level; 2] = [Level::Sealed, Level::HmacOnly];

#[derive(Debug, Clone)]
enum Step {
    Save(usize),
    Supersede { which: usize, word: usize },
    Update { which: usize, word: usize },
    Delete(usize),
    Source { source: usize, words: Vec<usize> },
    DeleteSource(usize),
    Dedup,
    Keyed { key: usize, word: usize },
    KeyedUpdate { key: usize, which: usize, word: usize },
    Fails,
}

const WORDS: [&str; 6] =
    ["the boiler code", "a garden\r\n", "walrus", "walrus \n", "cafe\u{301} au lait", "caf\u{e9} au lait"];

fn step() -> impl Strategy<Value = Step> {
    let word = 0..WORDS.len();
    let which = 0..100_usize;
    prop_oneof![
        6 => word.clone().prop_map(Step::Save),
        2 => (which.clone(), word.clone()).prop_map(|(which, word)| Step::Supersede { which, word }),
        3 => (which.clone(), word.clone()).prop_map(|(which, word)| Step::Update { which, word }),
        3 => which.clone().prop_map(Step::Delete),
        3 => (0..2_usize, prop::collection::vec(word.clone(), 0..5))
            .prop_map(|(source, words)| Step::Source { source, words }),
        1 => (0..2_usize).prop_map(Step::DeleteSource),
        2 => Just(Step::Dedup),
        3 => (0..4_usize, word.clone()).prop_map(|(key, word)| Step::Keyed { key, word }),
        1 => (0..4_usize, which, word).prop_map(|(key, which, word)| Step::KeyedUpdate { key, which, word }),
        1 => Just(Step::Fails),
    ]
}

fn request(step: &Step, known: &[DrawerId]) -> WriteRequest {
    let pick = |which: usize| which.checked_rem(known.len()).map(|at| known[at]);
    let absent = || undercroft_vault::drawer_id("no", "such", None, 0);
    match step {
        Step::Save(word) => saving(WORDS[*word]).into(),
        Step::Supersede { which, word } => {
            let mut new = NewDrawer::direct("work", "inbox", WORDS[*word], AddedBy::Cli);
            new.supersedes = pick(*which);
            Change::Save(new).into()
        }
        Step::Update { which, word } => {
            Change::Update { id: pick(*which).unwrap_or_else(absent), text: WORDS[*word].into() }.into()
        }
        Step::Delete(which) => Change::Delete(pick(*which).unwrap_or_else(absent)).into(),
        Step::Source { source, words } => Change::Source(batch(*source, words)).into(),
        Step::DeleteSource(source) => Change::DeleteSource(name_of(*source)).into(),
        Step::Dedup => Change::Dedup.into(),
        Step::Keyed { key, word } => keyed(saving(WORDS[*word]), &format!("key{key}")),
        Step::KeyedUpdate { key, which, word } => keyed(
            Change::Update { id: pick(*which).unwrap_or_else(absent), text: WORDS[*word].into() },
            &format!("key{key}"),
        ),
        Step::Fails => Change::Delete(absent()).into(),
    }
}

fn name_of(source: usize) -> String {
    format!("notes{source}.md")
}

fn batch(source: usize, words: &[usize]) -> SourceBatch {
    let name = name_of(source);
    let drawers = (0_u32..)
        .zip(words)
        .map(|(chunk, word)| {
            let origin = Origin { source: name.clone(), chunk, line_start: Some(1), line_end: Some(2) };
            NewDrawer::from_source("mined", "notes", WORDS[*word], AddedBy::Miner, origin)
        })
        .collect();
    let total = Some(u32::try_from(words.len()).expect("few"));
    SourceBatch { source: name, wing: "mined".into(), added_by: AddedBy::Miner, drawers, total }
}

fn known(vault: &Vault) -> Vec<DrawerId> {
    let mut ids: Vec<DrawerId> =
        vault.list(None, None, 500, 0).expect("lists").iter().map(|drawer| drawer.id).collect();
    ids.sort();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_that_follow_any_writes_are_alike(
        level in prop::sample::select(LEVELS.to_vec()),
        batches in prop::collection::vec(prop::collection::vec(step(), 1..6), 1..14),
        days in prop::collection::vec(0..2_i64, 14),
        searched in any::<bool>(),
    ) {
        let mut cluster = Cluster::new();
        let copies = cluster.create(level, 3);
        // One copy follows each entry with an index in memory, one gets all at the end, in a batch.
        if searched {
            let _ = found(&copies[1], "walrus");
        }
        let mut log = Vec::new();
        for (steps, days) in batches.iter().zip(days) {
            cluster.clock.advance(days * 24 * 60 * 60 * 1_000_000);
            let known = known(&copies[0]);
            let requests = steps.iter().map(|step| request(step, &known)).collect();
            log.extend(cluster.write(&copies[..2], requests).entry);
        }
        let entries: Vec<Entry<'_>> =
            log.iter().map(|(log_id, segment)| Entry { log_id: *log_id, segment }).collect();
        let outcomes = replica::apply(&copies[2], &entries).expect("applies");
        prop_assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Applied(_))), "{outcomes:?}");
        assert_alike(&copies);
        for word in ["walrus", "garden", "boiler"] {
            let expected = found(&copies[0], word);
            prop_assert!(copies[1..].iter().all(|copy| found(copy, word) == expected));
        }
        if level == Level::HmacOnly {
            let expected = found_in_full_text(&copies[0], "walrus");
            prop_assert!(copies[1..].iter().all(|copy| found_in_full_text(copy, "walrus") == expected));
        }
    }
}

#[test]
fn a_vault_is_made_alike_on_every_copy() {
    for level in LEVELS {
        let mut cluster = Cluster::new();
        let copies = cluster.create(level, 3);
        assert_alike(&copies);
        let made = state(&copies[0]);
        assert_eq!(made.position(), (1, 0));
        assert_eq!(made.applied.to_string(), "3:1:1");
    }
}

#[test]
fn an_index_in_memory_follows_without_being_built_again() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let (first, ..) = cluster.save(&copies, "an elephant in the attic");
    assert_eq!(found(&copies[1], "elephant"), ["an elephant in the attic"]);
    let before = copies[1].index_bytes();
    cluster.save(&copies, "a second elephant");
    assert!(copies[1].index_bytes() > before, "it was published at apply, before any search");
    cluster.write(&copies, vec![Change::Delete(first).into()]);
    assert_eq!(found(&copies[1], "elephant"), ["a second elephant"]);
    assert_eq!(found(&copies[0], "elephant"), ["a second elephant"]);
}

#[test]
fn what_only_remembers_an_outcome_moves_the_chain_and_is_no_change_again() {
    for level in LEVELS {
        let mut cluster = Cluster::new();
        let copies = cluster.create(level, 2);
        let words = batch(0, &[2]);
        let source = || Change::Source(words.clone());
        cluster.write(&copies, vec![source().into()]);
        let before = state(&copies[1]).chain;
        // The source says the same again, under a key: only the outcome is new.
        let written = cluster.write(&copies, vec![keyed(source(), "again")]);
        assert!(written.entry.is_some());
        let after = state(&copies[1]).chain;
        assert_eq!(after.height.get(), before.height.get() + 1);
        let newest = copies[1].history(None, 1, 0).expect("reads").remove(0);
        assert_eq!(newest.record_id, "ledger/outcomes");
        // Asked for once more there is nothing to write, and nothing to agree on.
        let mut written = cluster.write(&copies, vec![keyed(source(), "again")]);
        assert!(written.entry.is_none() && done(written.answers.remove(0)).replayed);
        assert_alike(&copies);
    }
}

#[test]
fn two_writers_that_only_remember_outcomes_at_one_base_are_a_lost_race_and_no_alarm() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let words = batch(0, &[2]);
    cluster.write(&copies, vec![Change::Source(words.clone()).into()]);
    let lost = prepare(&copies[1], vec![keyed(Change::Source(words.clone()), "key")]);
    let lost = lost.parked.expect("remembers something").segment().clone();
    cluster.write(&copies, vec![keyed(Change::Source(words), "key")]);
    let log_id = cluster.next();
    for copy in &copies {
        assert_eq!(follow(copy, log_id, &lost), Outcome::NoOp(NoOp::OlderHead));
    }
    assert_alike(&copies);
}

#[test]
fn outcomes_that_expired_are_forgotten_on_every_copy() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    cluster.write(&copies, vec![keyed(saving("one"), "a"), keyed(saving("two"), "b")]);
    cluster.clock.advance(25 * 60 * 60 * 1_000_000);
    cluster.write(&copies, vec![keyed(saving("three"), "c")]);
    let outcomes = dump(&copies[1]).into_iter().find(|(table, _)| table == "outcomes").expect("is there");
    assert_eq!(outcomes.1.len(), 1);
    assert_alike(&copies);
}

#[test]
fn an_entry_that_is_held_already_and_one_that_lost_a_race_change_nothing() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let old_leader = Arc::clone(&copies[1]);
    // Both write at one base; the log takes the first copy's.
    let lost = {
        let parked = park(&old_leader, "the one that lost");
        parked.segment().clone()
    };
    let (_, log_id, segment) = cluster.save(&copies, "the one that won");
    let held = dump(&copies[1]);
    assert_eq!(follow(&copies[1], log_id, &segment), Outcome::NoOp(NoOp::HeldAlready));
    assert_eq!(dump(&copies[1]), held);
    let late = cluster.next();
    for copy in &copies {
        assert_eq!(follow(copy, late, &lost), Outcome::NoOp(NoOp::OlderHead));
    }
    // Again much later, behind an anchor and after the handle was opened anew.
    cluster.save(&copies, "more");
    for copy in &copies {
        replica::checkpoint(copy).expect("checkpoints");
    }
    let later = cluster.next();
    for copy in &copies {
        assert_eq!(follow(copy, later, &lost), Outcome::NoOp(NoOp::OlderHead));
    }
    assert_alike(&copies);
}

#[test]
fn a_gap_and_another_history_make_a_copy_suspect_and_change_nothing() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 3);
    let (_, first, segment) = cluster.save(&copies[..1], "one");
    let (_, second, behind) = cluster.save(&copies[..1], "two");
    let held = dump(&copies[1]);
    let gap = follow(&copies[1], second, &behind);
    assert_eq!(gap, Outcome::Suspect(Suspect::BaseAhead { height: 0, base: 1 }));
    assert_eq!(dump(&copies[1]), held);
    // A copy that took another first write: the second continues a head that it never had.
    let parked = park(&copies[2], "not the one");
    parked.commit(first).expect("commits");
    let other = dump(&copies[2]);
    assert_eq!(follow(&copies[2], second, &behind), Outcome::Suspect(Suspect::OtherHistory));
    assert_eq!(dump(&copies[2]), other);
    // In a batch what stands before it is kept, what stands behind it is not looked at.
    let third = cluster.next();
    let entries = [
        Entry { log_id: first, segment: &segment },
        Entry { log_id: third, segment: &segment },
        Entry { log_id: second, segment: &behind },
    ];
    let outcomes = replica::apply(&copies[1], &[entries[0], entries[2]]).expect("applies");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Applied(_))));
    assert_alike(&copies[..2]);
}

#[test]
fn another_vaults_segment_is_refused() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let mut other = Cluster::new();
    let theirs = other.create_other();
    let parked = park(&theirs, "of another vault");
    let log_id = cluster.next();
    assert_eq!(follow(&copies[0], log_id, parked.segment()), Outcome::Suspect(Suspect::OtherVault));
    assert_alike(&copies);
}
