//! What a copy holds after a crash.

use std::sync::Arc;

use rusqlite::Connection;
use undercroft_crypto::Level;
use undercroft_vault::replica::{self, Command, Entry, NoOp, Outcome};
use undercroft_vault::{Change, Vault};

use super::cluster::*;

/// The folder as a crash would leave it now, opened as another node's.
fn crashed(cluster: &Cluster, vault: &Vault, node: u32) -> Arc<Vault> {
    replica::evidence_copy(vault.dir(), &cluster.dir(node)).expect("copies");
    cluster.open(node)
}

#[test]
fn a_crash_between_preparing_and_committing_leaves_the_entry_to_the_log() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    cluster.save(&copies, "before");
    let parked = park(&copies[0], "in flight");
    let after_crash = crashed(&cluster, &copies[0], 5);
    assert_eq!(state(&after_crash), state(&copies[1]), "nothing of it is there");
    // The log held the entry: it is applied like any other.
    let (log_id, segment) = (cluster.next(), parked.segment().clone());
    let committed = parked.commit(log_id).expect("commits");
    assert_eq!(follow(&after_crash, log_id, &segment), Outcome::Applied(committed));
    assert_eq!(follow(&copies[1], log_id, &segment), Outcome::Applied(committed));
    assert_alike(&[Arc::clone(&copies[0]), Arc::clone(&copies[1]), after_crash]);
}

#[test]
fn replaying_the_whole_log_after_a_crash_skips_what_the_copy_holds() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let log: Vec<_> = (0..5)
        .map(|number| {
            let (_, log_id, segment) = cluster.save(&copies, &format!("text {number}"));
            (log_id, segment)
        })
        .collect();
    let entries: Vec<Entry<'_>> =
        log.iter().map(|(log_id, segment)| Entry { log_id: *log_id, segment }).collect();
    let after_crash = crashed(&cluster, &copies[0], 5);
    let outcomes = replica::apply(&after_crash, &entries).expect("applies");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::NoOp(NoOp::HeldAlready)), "{outcomes:?}");
    assert_alike(&[Arc::clone(&copies[0]), after_crash]);
}

#[test]
fn a_copy_that_lost_a_suffix_of_its_commits_takes_them_again_and_raises_no_alarm() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "one");
    replica::checkpoint(&copies[0]).expect("checkpoints");
    cluster.save(&copies, "two");
    // A power loss takes what was not synced: here the write-ahead log as it was a commit ago.
    replica::evidence_copy(copies[0].dir(), &cluster.dir(5)).expect("copies");
    let (_, log_id, segment) = cluster.save(&copies, "three");
    let (restored, floor) = (cluster.open(5), state(&copies[0]));
    assert!(!floor.applied.reached(&cluster.next()));
    assert_eq!(state(&restored).position(), (1, 2));
    assert!(matches!(follow(&restored, log_id, &segment), Outcome::Applied(_)));
    assert_alike(&[Arc::clone(&copies[0]), restored]);
}

#[test]
fn a_checkpoint_says_what_is_durable_and_the_manifest_never_leads() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let anchor = |vault: &Vault| {
        let manifest = vault.manifest();
        (manifest.anchor.height.get(), manifest.log_id.expect("is of a cluster"))
    };
    cluster.save(&copies, "one");
    cluster.clock.advance(60 * 1_000_000);
    cluster.save(&copies, "two");
    assert_eq!(anchor(&copies[0]), (0, String::from("3:1:1")));
    let durable = replica::checkpoint(&copies[0]).expect("checkpoints");
    assert_eq!(durable, state(&copies[0]));
    assert_eq!(anchor(&copies[0]), (2, durable.applied.to_string()));
    // Also while a reader holds the log back.
    cluster.save(&copies, "three");
    let reader = Connection::open(copies[0].dir().join("vault.db")).expect("opens");
    reader.execute_batch("BEGIN; SELECT * FROM chain").expect("reads");
    cluster.save(&copies, "four");
    assert_eq!(replica::checkpoint(&copies[0]).expect("checkpoints").position(), (1, 4));
    assert_eq!(
        replica::read(copies[0].dir(), &cluster.master, &cluster.options).expect("reads"),
        state(&copies[0])
    );
}

#[test]
fn closing_a_copy_after_a_batch_anchors_nothing_and_loses_nothing() {
    let mut cluster = Cluster::new();
    let mut copies = cluster.create(Level::Sealed, 2);
    cluster.save(&copies, "one");
    let before = state(&copies[1]);
    Arc::into_inner(copies.pop().expect("is there")).expect("alone").close().expect("closes");
    let opened = cluster.open(1);
    assert_eq!(state(&opened), before);
    assert_eq!(opened.manifest().anchor.height.get(), 0);
    copies.push(opened);
    cluster.save(&copies, "two");
    assert_alike(&copies);
}

#[test]
fn entries_and_commands_interleave_across_openings() {
    let mut cluster = Cluster::new();
    let mut copies = cluster.create(Level::HmacOnly, 2);
    for round in 0..4_u64 {
        let (id, ..) = cluster.save(&copies, &format!("round {round}"));
        let log_id = cluster.next();
        for copy in &copies {
            Command::ArchivedUpTo { index: round + 1 }.apply(copy, log_id).expect("applies");
        }
        if round % 2 == 1 {
            cluster.write(&copies, vec![Change::Delete(id).into()]);
        }
        drop(copies.pop());
        copies.push(cluster.open(1));
        assert_alike(&copies);
    }
}
