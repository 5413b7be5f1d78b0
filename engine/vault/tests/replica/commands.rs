//! Commands of the log: each changes the same on every copy, is durable when it counts, and is repeatable.

use std::fs;

use undercroft_crypto::Level;
use undercroft_vault::replica::{self, Adopt, Command, DropVault, LogId, NoOp, Outcome, Suspect, Terms};
use undercroft_vault::{Error, ErrorClass, Vault};

use super::cluster::*;

fn run(vault: &Vault, command: Command, log_id: LogId) -> Outcome {
    command.apply(vault, log_id).expect("nothing is in its way")
}

fn frozen_for(vault: &Vault) -> Option<u64> {
    state(vault).ownership.frozen_for
}

#[test]
fn freezing_and_activating_change_who_may_write() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let (_, _, _) = cluster.save(&copies, "words");
    let steps = [
        (Command::Freeze { move_id: 8, epoch: 0 }, Some(NoOp::OldEpoch), None),
        (Command::Activate { move_id: 8, epoch: 2 }, Some(NoOp::OtherMove), None),
        (Command::Freeze { move_id: 8, epoch: 1 }, None, Some(8)),
        (Command::Freeze { move_id: 8, epoch: 1 }, Some(NoOp::NothingToDo), Some(8)),
        (Command::Freeze { move_id: 9, epoch: 1 }, Some(NoOp::Frozen), Some(8)),
        (Command::Activate { move_id: 9, epoch: 2 }, Some(NoOp::OtherMove), Some(8)),
        (Command::Activate { move_id: 8, epoch: 1 }, Some(NoOp::OldEpoch), Some(8)),
        (Command::Activate { move_id: 8, epoch: 5 }, None, None),
        (Command::AbortMove { move_id: 8, epoch: 6 }, Some(NoOp::OtherMove), None),
    ];
    for (command, no_op, frozen) in steps {
        let log_id = cluster.next();
        for copy in &copies {
            match (run(copy, command, log_id), no_op) {
                (Outcome::Applied(state), None) => assert_eq!(state.applied, log_id),
                (Outcome::NoOp(found), Some(reason)) => assert_eq!(found, reason, "{command:?}"),
                other => panic!("{command:?}: {other:?}"),
            }
            assert_eq!(frozen_for(copy), frozen, "{command:?}");
            assert_eq!(run(copy, command, log_id), Outcome::NoOp(NoOp::HeldAlready));
        }
    }
    assert_eq!(state(&copies[0]).ownership.epoch, 5);
    assert_alike(&copies);
    // Writes go on under the fresh ownership.
    let terms = Terms { epoch: 5, incarnation: 1 };
    let batch = try_prepare(&copies[0], vec![saving("more").into()], terms).expect("prepares");
    let (log_id, parked) = (cluster.next(), batch.parked.expect("changes something"));
    let segment = parked.segment().clone();
    parked.commit(log_id).expect("commits");
    assert!(matches!(follow(&copies[1], log_id, &segment), Outcome::Applied(_)));
    assert_alike(&copies);
}

#[test]
fn a_command_of_a_later_ownership_than_the_copy_knows_makes_it_suspect() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let log_id = cluster.next();
    let before = dump(&copies[0]);
    let outcome = run(&copies[0], Command::Freeze { move_id: 1, epoch: 2 }, log_id);
    assert!(matches!(outcome, Outcome::Suspect(Suspect::Missed(_))), "{outcome:?}");
    assert_eq!(dump(&copies[0]), before, "it does not claim to hold what it did not follow");
}

#[test]
fn the_archived_index_only_rises_and_rotation_is_not_available_yet_on_any_copy() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 2);
    let archived = |vault: &Vault| state(vault).ownership.archived_up_to;
    for (index, expected) in [(7, 7), (5, 7), (7, 7), (9, 9)] {
        let log_id = cluster.next();
        for copy in &copies {
            run(copy, Command::ArchivedUpTo { index }, log_id);
            assert_eq!(archived(copy), expected);
        }
    }
    let log_id = cluster.next();
    for copy in &copies {
        let outcome = run(copy, Command::Rotate { generation: 2 }, log_id);
        assert!(matches!(outcome, Outcome::NotAvailable(_)), "{outcome:?}");
        assert_eq!(state(copy).applied, log_id, "the log goes on behind it");
    }
    cluster.save(&copies, "still takes writes");
    assert_alike(&copies);
}

#[test]
fn a_schema_that_this_program_does_not_know_stops_the_copy_and_changes_nothing() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let (current, newer) = (cluster.next(), cluster.next());
    assert_eq!(run(&copies[0], Command::MigrateSchema { to: 1 }, current), Outcome::NoOp(NoOp::NothingToDo));
    let error = Command::MigrateSchema { to: 2 }.apply(&copies[0], newer).expect_err("stops");
    assert!(matches!(error, Error::Schema { found: 2, .. }));
    assert_eq!(state(&copies[0]).applied, current);
}

#[test]
fn a_command_is_anchored_with_its_log_id_when_it_counts() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "words");
    let lagging = fs::read_to_string(cluster.dir(0).join("vault.json")).expect("reads");
    assert!(lagging.contains("\"log_id\": \"3:1:1\""), "a commit alone moves no manifest");
    let log_id = cluster.next();
    run(&copies[0], Command::Freeze { move_id: 1, epoch: 1 }, log_id);
    let manifest = fs::read_to_string(cluster.dir(0).join("vault.json")).expect("reads");
    assert!(manifest.contains(&format!("\"log_id\": \"{log_id}\"")) && manifest.contains("\"height\": 1"));
}

#[test]
fn creating_again_is_recognised_and_another_vault_in_the_place_is_not_touched() {
    let mut cluster = Cluster::new();
    let first = cluster.next();
    assert!(matches!(cluster.create_on(0, Level::Sealed, first), Ok(Outcome::Applied(_))));
    assert_eq!(
        cluster.create_on(0, Level::Sealed, first).expect("is known"),
        Outcome::NoOp(NoOp::HeldAlready)
    );
    let second = cluster.next();
    assert!(matches!(cluster.create_on(0, Level::Sealed, second), Err(Error::VaultExists(_))));
    // A generation of another number than the entry names.
    let mut creation = Cluster::creation(Level::Sealed);
    creation.generation = 2;
    let (dir, generation) = (cluster.dir(1), Cluster::generation());
    let made = replica::create(&creation, &dir, &generation, &cluster.master, &cluster.options, second);
    assert!(made.is_err_and(|error| error.class() == ErrorClass::Invalid));
    assert!(!dir.exists());
}

#[test]
fn what_a_crash_left_of_a_creation_is_swept_or_made_anew() {
    let mut cluster = Cluster::new();
    let log_id = cluster.next();
    let half = cluster.path("node0").join(".new-v");
    fs::create_dir_all(&half).expect("makes");
    fs::write(half.join("vault.db"), "half").expect("writes");
    assert!(matches!(cluster.create_on(0, Level::Sealed, log_id), Ok(Outcome::Applied(_))));
    assert!(!half.exists());
    fs::create_dir_all(&half).expect("makes");
    fs::create_dir_all(cluster.path("node0").join(".gone-v")).expect("makes");
    replica::sweep(&cluster.path("node0")).expect("sweeps");
    let left: Vec<_> = fs::read_dir(cluster.path("node0")).expect("lists").collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_move_stages_adopts_activates_and_drops_and_each_step_can_be_repeated() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "moves house");
    let freeze = cluster.next();
    run(&copies[0], Command::Freeze { move_id: 8, epoch: 1 }, freeze);
    let staged = cluster.path("node1").join("staged");
    let sent = replica::copy_to(&copies[0], &staged).expect("copies");
    let (master, options, target) = (&cluster.master, &cluster.options, cluster.dir(1));
    assert_eq!(replica::verify_copy(&staged, master, options, &sent).expect("verifies"), sent);
    // Entries of the other shard's log.
    let there = |index| LogId { shard: 5, term: 4, index };
    let adopt = |command: Adopt, index| {
        replica::adopt(&command, &staged, &target, master, options, there(index))
            .expect("nothing is in its way")
    };
    let wrong = adopt(Adopt { move_id: 9, epoch: 1 }, 70);
    assert_eq!(wrong, Outcome::NoOp(NoOp::OtherMove));
    assert!(staged.exists() && !target.exists());
    let adopted = adopt(Adopt { move_id: 8, epoch: 1 }, 71);
    assert!(matches!(adopted, Outcome::Applied(state) if state.applied == there(71)), "{adopted:?}");
    assert!(!staged.exists() && target.exists());
    assert_eq!(adopt(Adopt { move_id: 8, epoch: 1 }, 71), Outcome::NoOp(NoOp::HeldAlready));
    let moved = cluster.open(1);
    assert_eq!(frozen_for(&moved), Some(8));
    let activated = run(&moved, Command::Activate { move_id: 8, epoch: 2 }, there(72));
    assert!(matches!(activated, Outcome::Applied(_)));
    assert_eq!(found(&moved, "house"), ["moves house"]);
    // The old owner.
    drop(copies);
    let drop_it = |epoch, log_id| {
        replica::drop_vault(&DropVault { epoch }, &cluster.dir(0), master, options, log_id)
            .expect("nothing is in its way")
    };
    let at = |index| LogId { shard: SHARD, term: 1, index };
    assert_eq!(drop_it(0, at(90)), Outcome::NoOp(NoOp::OldEpoch));
    assert_eq!(drop_it(2, at(91)), Outcome::Gone);
    assert!(!cluster.dir(0).exists());
    assert_eq!(drop_it(2, at(91)), Outcome::NoOp(NoOp::HeldAlready));
}

#[test]
fn a_copy_that_was_not_staged_is_missing_and_one_that_is_open_is_not_dropped() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    let log_id = cluster.next();
    let command = Adopt { move_id: 8, epoch: 1 };
    let (nowhere, target) = (cluster.path("nowhere"), cluster.dir(1));
    let outcome = replica::adopt(&command, &nowhere, &target, &cluster.master, &cluster.options, log_id);
    assert!(matches!(outcome, Ok(Outcome::Suspect(Suspect::Missing(_)))));
    let dropped = replica::drop_vault(
        &DropVault { epoch: 1 },
        &cluster.dir(0),
        &cluster.master,
        &cluster.options,
        log_id,
    );
    assert!(matches!(dropped, Err(Error::InUse(_))));
    assert_alike(&copies);
}

#[test]
fn a_copy_that_cannot_be_read_is_suspect_where_it_is_needed_and_goes_where_it_is_not() {
    let mut cluster = Cluster::new();
    let made = cluster.next();
    cluster.create_on(0, Level::Sealed, made).expect("creates");
    let conn = rusqlite::Connection::open(cluster.dir(0).join("vault.db")).expect("opens");
    conn.execute_batch("UPDATE meta SET value = zeroblob(20) WHERE key = 'applied'").expect("edits");
    drop(conn);
    let again = cluster.create_on(0, Level::Sealed, made).expect("decides");
    assert!(matches!(again, Outcome::Suspect(Suspect::Rows(_))), "{again:?}");
    let (dir, log_id) = (cluster.dir(0), cluster.next());
    let dropping = DropVault { epoch: 1 };
    let gone = replica::drop_vault(&dropping, &dir, &cluster.master, &cluster.options, log_id);
    assert!(matches!(gone, Ok(Outcome::Gone)) && !dir.exists());
}

#[test]
fn every_command_has_a_form_in_which_it_travels() {
    for command in [
        Command::Freeze { move_id: 1, epoch: 2 },
        Command::Activate { move_id: 1, epoch: 2 },
        Command::AbortMove { move_id: 1, epoch: 2 },
        Command::MigrateSchema { to: 1 },
        Command::ArchivedUpTo { index: 3 },
        Command::Rotate { generation: 2 },
    ] {
        let text = serde_json::to_string(&command).expect("has one");
        assert_eq!(serde_json::from_str::<Command>(&text).expect("reads"), command);
    }
}
