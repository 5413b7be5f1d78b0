//! The writing copy: an open transaction that nobody sees, that holds up nobody, and that is committed or did not happen.

use std::sync::Arc;

use undercroft_crypto::Level;
use undercroft_vault::replica::{self, Answer, Command, NoOp, Outcome, Terms};
use undercroft_vault::{AddedBy, Change, Error, ErrorClass, NewDrawer, SourceBatch, Vault, limits};

use super::cluster::*;

fn heard(vault: &Vault) -> usize {
    vault.list(None, None, 500, 0).expect("lists").len()
}

#[test]
fn nobody_sees_an_open_transaction_and_dropping_it_leaves_nothing() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let mut cluster = Cluster::new();
        let copies = cluster.create(level, 1);
        cluster.save(&copies, "kept");
        let before = dump(&copies[0]);
        let parked = park(&copies[0], "a secret of the open transaction");
        assert_eq!((heard(&copies[0]), found(&copies[0], "secret").len()), (1, 0));
        assert_eq!(dump(&copies[0]), before);
        assert_eq!(copies[0].height(), 1);
        drop(parked);
        assert_eq!(dump(&copies[0]), before);
        park(&copies[0], "given up by name").roll_back();
        assert_eq!(dump(&copies[0]), before);
        // The next one begins where the last committed one ended.
        cluster.save(&copies, "kept as well");
        assert_eq!(heard(&copies[0]), 2);
        assert_alike(&copies);
    }
}

#[test]
fn behind_an_open_transaction_others_are_told_and_not_kept_waiting() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let vault = &copies[0];
    let parked = park(vault, "first");
    let error = try_prepare(vault, vec![saving("second").into()], TERMS).expect_err("cannot begin");
    assert!(matches!(error, Error::Parked(_)) && error.class() == ErrorClass::Unavailable);
    let entry = cluster.next();
    let segment = parked.segment().clone();
    let refused = replica::apply(vault, &[replica::Entry { log_id: entry, segment: &segment }]);
    assert!(matches!(refused, Err(Error::Parked(_))));
    assert!(matches!(replica::checkpoint(vault), Err(Error::Parked(_))));
    let freeze = Command::Freeze { move_id: 1, epoch: 1 };
    assert!(matches!(freeze.apply(vault, entry), Err(Error::Parked(_))));
    // Embedding needs no transaction.
    assert_eq!(replica::make_ready(vault, vec![saving("third").into()]).len(), 1);
    let state = parked.commit(entry).expect("commits");
    assert_eq!(state.applied, entry);
    cluster.save(&copies, "second");
    assert_eq!(heard(vault), 2);
}

#[test]
fn a_transaction_may_be_committed_by_another_thread_than_the_one_that_began_it() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let parked = park(&copies[0], "words");
    let log_id = cluster.next();
    let state = std::thread::spawn(move || parked.commit(log_id)).join().expect("no panic").expect("commits");
    assert_eq!((state.applied, state.position()), (log_id, (1, 1)));
    assert_eq!(found(&copies[0], "words"), ["words"]);
}

#[test]
fn one_request_of_a_transaction_may_fail_without_its_neighbours() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let absent = undercroft_vault::drawer_id("no", "such", None, 0);
    let requests = vec![saving("one").into(), Change::Delete(absent).into(), saving("two").into()];
    let written = cluster.write(&copies, requests);
    let failed: Vec<bool> =
        written.answers.iter().map(|answer| matches!(answer, Answer::Done(Err(_)))).collect();
    assert_eq!(failed, [false, true, false]);
    assert_alike(&copies);
    // Nothing but failures is nothing to agree on.
    let batch = prepare(&copies[0], vec![Change::Delete(absent).into()]);
    assert!(batch.parked.is_none() && batch.answers.len() == 1);
    assert!(try_prepare(&copies[0], Vec::new(), TERMS).expect("is nothing").parked.is_none());
}

#[test]
fn a_key_that_is_sent_twice_is_done_once_whichever_copy_answers() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    cluster.write(&copies, vec![keyed(saving("once"), "key"), keyed(saving("once"), "key")]);
    assert_eq!(heard(&copies[0]), 1);
    // The other copy has become the writing one.
    let batch = prepare(&copies[1], vec![keyed(saving("once"), "key")]);
    assert!(batch.parked.is_none());
    assert!(batch.answers.into_iter().all(|answer| done(answer).replayed));
}

#[test]
fn terms_of_another_ownership_or_life_are_refused() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    for terms in [
        Terms { epoch: 0, ..TERMS },
        Terms { epoch: 2, ..TERMS },
        Terms { incarnation: 0, ..TERMS },
        Terms { incarnation: 2, ..TERMS },
    ] {
        let error = try_prepare(&copies[0], vec![saving("x").into()], terms).expect_err("is refused");
        assert!(
            matches!(error, Error::NotOwned { .. }) && error.class() == ErrorClass::Conflict,
            "{terms:?}"
        );
    }
    let log_id = cluster.next();
    let freeze = Command::Freeze { move_id: 1, epoch: 1 };
    assert!(matches!(freeze.apply(&copies[0], log_id), Ok(Outcome::Applied(_))));
    let error = try_prepare(&copies[0], vec![saving("x").into()], TERMS).expect_err("is frozen");
    assert!(error.to_string().contains("frozen"), "{error}");
    assert_eq!(heard(&copies[0]), 0);
}

/// Words that do not compress.
fn noise(bytes: usize, seed: u32) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            char::from(b'!' + u8::try_from(state % 90).expect("small"))
        })
        .collect()
}

#[test]
fn what_does_not_fit_behind_others_is_given_back_in_order_and_lands_in_the_next_segment() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let mut cluster = Cluster::new();
        let copies = cluster.create(level, 2);
        let texts: Vec<String> = (0..70).map(|seed| noise(limits::MAX_TEXT_BYTES, seed)).collect();
        let mut waiting: Vec<_> = texts.iter().map(|text| saving(text).into()).collect();
        let mut rounds = 0;
        while !waiting.is_empty() {
            let written = cluster.write(&copies, std::mem::take(&mut waiting));
            let (_, segment) = written.entry.expect("something lands each time");
            assert!(segment.as_bytes().len() <= undercroft_crypto::segment::SEGMENT_MAX_BYTES);
            let given_back = |answer: &Answer| matches!(answer, Answer::Again(_));
            let first = written.answers.iter().position(given_back).unwrap_or(written.answers.len());
            assert!(first > 10 && written.answers[first..].iter().all(given_back));
            waiting.extend(written.answers.into_iter().skip(first).map(|answer| match answer {
                Answer::Again(request) => *request,
                Answer::Done(_) => unreachable!(),
            }));
            rounds += 1;
        }
        assert!(rounds >= 2, "{rounds}");
        let listed = copies[1].list(None, None, 500, 0).expect("lists");
        let filed: Vec<String> =
            listed.iter().rev().map(|drawer| copies[1].get(drawer.id).expect("reads").content).collect();
        assert_eq!(filed, texts, "in the order in which they were asked for");
        assert_alike(&copies);
    }
}

#[test]
fn what_alone_is_larger_than_a_segment_fails_and_leaves_room_for_the_others() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let texts: Vec<String> = (0..50).map(|seed| noise(limits::MAX_TEXT_BYTES, seed)).collect();
    let source = SourceBatch {
        source: String::from("big.md"),
        wing: String::from("mined"),
        added_by: AddedBy::Miner,
        drawers: (0_u32..)
            .zip(&texts)
            .map(|(chunk, text)| {
                let origin = undercroft_vault::Origin {
                    source: String::from("big.md"),
                    chunk,
                    line_start: None,
                    line_end: None,
                };
                NewDrawer::from_source("mined", "notes", text.as_str(), AddedBy::Miner, origin)
            })
            .collect(),
        total: None,
        expects: None,
    };
    let written = cluster.write(&copies, vec![Change::Source(source).into(), saving("small").into()]);
    let mut answers = written.answers.into_iter();
    match answers.next() {
        Some(Answer::Done(Err(error))) => {
            assert_eq!(error.class(), ErrorClass::Invalid);
            assert!(error.to_string().contains("split the work"), "{error}");
        }
        other => panic!("unexpected {other:?}"),
    }
    id_of(answers.next().expect("the small one is answered"));
    assert_eq!(heard(&copies[1]), 1);
    assert_alike(&copies);
}

#[test]
fn a_replica_is_written_through_its_log_alone_and_opening_it_for_writing_changes_no_byte() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "words");
    for refused in [
        copies[0].write(vec![saving("x")], UNSCREENED).map(drop),
        copies[0].repair(&mut |_| {}).map(drop),
        copies[0].anchor().map(drop),
        copies[0].delete_source("x").map(drop),
    ] {
        assert!(matches!(refused, Err(Error::OfCluster(_))));
    }
    drop(copies);
    let dir = cluster.dir(0);
    let before = files(&dir);
    let error = Vault::open(&dir, &cluster.master, cluster.options.clone()).expect_err("is refused");
    assert!(matches!(error, Error::OfCluster(_)) && error.class() == ErrorClass::Denied);
    assert!(error.to_string().contains("send the request to the cluster"), "{error}");
    let alone = undercroft_vault::alone(&dir, "v", || Ok(()));
    assert!(matches!(alone, Err(Error::OfCluster(_))));
    assert_eq!(files(&dir), before);
    let options = undercroft_vault::VaultOptions { read_only: true, ..cluster.options.clone() };
    let reading = Vault::open(&dir, &cluster.master, options).expect("opens for reading");
    assert_eq!(found(&reading, "words"), ["words"]);
}

#[test]
fn a_vault_of_this_machine_is_no_replica() {
    let cluster = Cluster::new();
    let dir = cluster.path("local");
    let vault = Vault::create(&dir, "local", Level::Sealed, &cluster.master, cluster.options.clone());
    let vault = Arc::new(vault.expect("creates"));
    assert!(!vault.is_of_cluster());
    assert!(matches!(try_prepare(&vault, Vec::new(), TERMS), Err(Error::NotOfCluster(_))));
    assert!(matches!(replica::copy_to(&vault, &cluster.path("copy")), Err(Error::NotOfCluster(_))));
    drop(vault);
    let opened = replica::open(&dir, &cluster.master, cluster.options.clone());
    assert!(matches!(opened, Err(Error::NotOfCluster(_))));
}

#[test]
fn a_frozen_copy_takes_no_segment_in_flight() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let in_flight = park(&copies[0], "in flight").segment().clone();
    let (freeze, late) = (cluster.next(), cluster.next());
    for copy in &copies {
        Command::Freeze { move_id: 8, epoch: 1 }.apply(copy, freeze).expect("freezes");
        assert_eq!(follow(copy, late, &in_flight), Outcome::NoOp(NoOp::Frozen));
    }
    let (activate, later) = (cluster.next(), cluster.next());
    for copy in &copies {
        Command::AbortMove { move_id: 8, epoch: 2 }.apply(copy, activate).expect("thaws");
        assert_eq!(follow(copy, later, &in_flight), Outcome::NoOp(NoOp::OldEpoch));
    }
    assert_alike(&copies);
}

/// Names and contents of a folder, but for the lock files and what SQLite keeps beside a database that is read.
fn files(dir: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir)
        .expect("lists")
        .map(|entry| {
            let entry = entry.expect("reads");
            (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("reads"))
        })
        .collect();
    found.sort();
    found
}
