use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use undercroft_palace::env::Environment;
use undercroft_palace::{
    Access, CreateKeys, ErrorClass, Home, KeySource, Level, Palace, VaultSettings, standard_tools,
};
use undercroft_vault::{AddedBy, Change, NewDrawer, Outcome, Vault};

use super::sweeper;
use super::{Bounds, Serving, ServingOptions, VaultHandle};
use crate::error::{Error, Result};

const PATIENCE: Duration = Duration::from_secs(30);

fn palace(dir: &TempDir) -> Palace {
    let declared = KeySource::declared(&Environment::default()).unwrap();
    let home = Home::at(dir.path().join("palace"));
    Palace::open(home, &declared, CreateKeys::IfEmpty, &VaultSettings::default(), standard_tools()).unwrap()
}

fn options(bounds: Bounds) -> ServingOptions {
    ServingOptions { access: Access::Write, resident: None, bounds }
}

fn serving(dir: &TempDir, bounds: Bounds) -> Serving {
    Serving::start(palace(dir), options(bounds))
}

fn save(text: &str) -> Change {
    Change::Save(NewDrawer::direct("home", "notes", text, AddedBy::Rest))
}

fn records(vault: &Vault) -> undercroft_vault::Result<u64> {
    Ok(vault.stats()?.records)
}

/// A read that has begun and does not end before it is told to.
async fn held(handle: &VaultHandle) -> (mpsc::Sender<()>, tokio::task::JoinHandle<Result<()>>) {
    let (release, gate) = mpsc::channel();
    let (begun, begins) = tokio::sync::oneshot::channel();
    let handle = handle.clone();
    let task = tokio::spawn(async move {
        handle
            .read(move |_| {
                begun.send(()).unwrap();
                gate.recv().unwrap();
                Ok(())
            })
            .await
    });
    begins.await.unwrap();
    (release, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_is_read_and_the_position_holds_it() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    assert_eq!(handle.position(), 0);
    let Outcome::Saved(saved) = handle.write(save("the key hangs behind the map")).await.unwrap() else {
        panic!("a save answers with what was saved")
    };
    assert_eq!(handle.position(), 1);
    let drawer = handle.read(move |vault| vault.get(saved.id)).await.unwrap();
    assert_eq!(drawer.content, "the key hangs behind the map");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_writes_share_transactions_and_each_has_its_own_result() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    let clients: Vec<_> = (0..16)
        .map(|client| {
            let handle = handle.clone();
            tokio::spawn(async move {
                for n in 0..20 {
                    handle.write(save(&format!("client {client} says {n}"))).await.unwrap();
                    let refused = handle.write(save("  ")).await.unwrap_err();
                    assert_eq!(refused.class(), ErrorClass::Invalid);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(handle.read(records).await.unwrap(), 320);
    assert_eq!(handle.position(), 320);
    let counted = serving.counted();
    assert_eq!((counted.created, counted.grouped_writes), (320, 640));
    assert!(counted.write_groups < 320, "{counted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_with_too_many_readers_turns_one_away_and_serves_the_rest() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds { waiting_reads: 1, ..Bounds::default() });
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    let other = serving.create("two", Level::Sealed).await.unwrap();
    let (release, reading) = held(&handle).await;
    let refused = handle.read(records).await.unwrap_err();
    assert!(matches!(&refused, Error::VaultBusy(name) if name == "one"), "{refused}");
    assert!(refused.retry_after().is_some());
    assert_eq!(other.read(records).await.unwrap(), 0);
    release.send(()).unwrap();
    reading.await.unwrap().unwrap();
    assert_eq!(handle.read(records).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_vaults_than_may_be_open_are_served_in_turn() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds { open_vaults: 2, ..Bounds::default() });
    for n in 0..6 {
        let handle = serving.create(&format!("v{n}"), Level::Sealed).await.unwrap();
        handle.write(save("words")).await.unwrap();
        assert!(serving.open_vaults() <= 2);
    }
    for n in 0..6 {
        let handle = serving.vault(&format!("v{n}")).await.unwrap();
        assert_eq!(handle.read(records).await.unwrap(), 1);
        assert_eq!(handle.position(), 1);
    }
    let (one, two) = (serving.vault("v0").await.unwrap(), serving.vault("v1").await.unwrap());
    assert!(matches!(serving.vault("v2").await, Err(Error::Busy(_))));
    drop((one, two));
    serving.vault("v2").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_nobody_uses_is_closed_and_one_in_use_is_not() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds { idle: Duration::ZERO, ..Bounds::default() });
    let used = serving.create("used", Level::Sealed).await.unwrap();
    serving.create("idle", Level::Sealed).await.unwrap().write(save("words")).await.unwrap();
    sweeper::sweep(&serving.shared()).await;
    assert_eq!(serving.open_vaults(), 1);
    assert_eq!(used.read(records).await.unwrap(), 0);
    assert_eq!(serving.vault("idle").await.unwrap().read(records).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_open_a_vault_once() {
    let dir = TempDir::new().unwrap();
    palace(&dir).create_vault("one", Level::Sealed).unwrap();
    let serving = serving(&dir, Bounds::default());
    let asking: Vec<_> = (0..16)
        .map(|_| {
            let serving = serving.clone();
            tokio::spawn(async move { serving.vault(" one ").await.map(|_| ()) })
        })
        .collect();
    for asked in asking {
        asked.await.unwrap().unwrap();
    }
    assert_eq!(serving.counted().vault_opens, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_vault_is_named_and_stops_no_other() {
    let dir = TempDir::new().unwrap();
    for name in ["broken", "whole"] {
        palace(&dir).create_vault(name, Level::Sealed).unwrap();
    }
    let database = dir.path().join("palace/vaults/broken/vault.db");
    std::fs::write(&database, vec![0x5a; 8192]).unwrap();
    let serving = serving(&dir, Bounds::default());
    let refused = serving.vault("broken").await.unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Integrity);
    let handle = serving.vault("whole").await.unwrap();
    handle.write(save("words")).await.unwrap();
    let damaged: Vec<_> = serving.damaged().into_iter().map(|found| found.vault).collect();
    assert_eq!(damaged, ["broken"]);
    serving.delete("broken").await.unwrap();
    assert_eq!(serving.damaged(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_leaves_no_trace() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    for name in ["nobody", "default"] {
        assert_eq!(serving.vault(name).await.unwrap_err().class(), ErrorClass::NotFound);
        assert_eq!(serving.delete(name).await.unwrap_err().class(), ErrorClass::NotFound);
        assert_eq!(serving.backups(name).await.unwrap_err().class(), ErrorClass::NotFound);
    }
    for name in ["", "..", "a/b", "a\u{0}b"] {
        assert_eq!(serving.vault(name).await.unwrap_err().class(), ErrorClass::Invalid, "{name:?}");
    }
    assert_eq!(serving.open_vaults(), 0);
    assert_eq!(serving.entries(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_waits_for_who_uses_the_vault_and_never_takes_the_resident_one() {
    let dir = TempDir::new().unwrap();
    palace(&dir).create_vault("mine", Level::Sealed).unwrap();
    let resident = ServingOptions { resident: Some("mine".into()), ..options(Bounds::default()) };
    let serving = Serving::start(palace(&dir), resident);
    assert!(matches!(serving.delete("mine").await, Err(Error::CoResident(_))));
    let handle = serving.create("other", Level::Sealed).await.unwrap();
    let deleting = {
        let serving = serving.clone();
        tokio::spawn(async move { serving.delete("other").await })
    };
    handle.write(save("still here")).await.unwrap();
    drop(handle);
    deleting.await.unwrap().unwrap();
    assert_eq!(serving.vaults().await.unwrap(), ["mine"]);
    let again = serving.create("other", Level::Sealed).await.unwrap();
    assert_eq!(again.read(records).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_comes_back_and_one_of_another_vault_does_not() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    let one = serving.create("one", Level::Sealed).await.unwrap();
    one.write(save("before")).await.unwrap();
    drop(one);
    let made = serving.back_up("one").await.unwrap();
    let name = made.path.file_name().unwrap().to_str().unwrap().to_owned();
    serving.vault("one").await.unwrap().write(save("after")).await.unwrap();
    serving.create("two", Level::Sealed).await.unwrap();
    let foreign = serving.restore("two", &name).await.unwrap_err();
    assert!(matches!(foreign, Error::ForeignBackup { .. }));
    serving.restore("one", &name).await.unwrap();
    let handle = serving.vault("one").await.unwrap();
    assert_eq!((handle.read(records).await.unwrap(), handle.position()), (1, 1));
    assert_eq!(serving.backups("one").await.unwrap().len(), 1);
    assert_eq!(serving.backups("two").await.unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_process_changes_nothing() {
    let dir = TempDir::new().unwrap();
    palace(&dir).create_vault("one", Level::Sealed).unwrap();
    let read_only = ServingOptions { access: Access::ReadOnly, ..options(Bounds::default()) };
    let serving = Serving::start(palace(&dir), read_only);
    let handle = serving.vault("one").await.unwrap();
    assert_eq!(handle.write(save("no")).await.unwrap_err().class(), ErrorClass::Denied);
    assert_eq!(handle.read(records).await.unwrap(), 0);
    drop(handle);
    assert_eq!(serving.create("two", Level::Sealed).await.unwrap_err().class(), ErrorClass::Denied);
    assert_eq!(serving.delete("one").await.unwrap_err().class(), ErrorClass::Denied);
    assert_eq!(serving.back_up("one").await.unwrap_err().class(), ErrorClass::Denied);
    assert_eq!(serving.restore("one", "x").await.unwrap_err().class(), ErrorClass::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_finishes_what_was_accepted_and_takes_nothing_new() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    let writing: Vec<_> = (0..64)
        .map(|n| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.write(save(&format!("text {n}"))).await.is_ok() })
        })
        .collect();
    drop(handle);
    assert_eq!(serving.drain(PATIENCE).await, 0);
    let mut acknowledged = 0;
    for written in writing {
        acknowledged += u64::from(written.await.unwrap());
    }
    assert!(matches!(serving.vault("one").await, Err(Error::Draining)));
    assert_eq!(acknowledged, 64);
    let vault = palace(&dir).open_vault("one", Access::ReadOnly).unwrap();
    assert_eq!(records(&vault).unwrap(), acknowledged);
    assert_eq!(*vault.recovery(), undercroft_vault::Recovery::Current, "it was anchored");
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_gives_up_on_a_vault_that_does_not_come_free() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds::default());
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    let (release, reading) = held(&handle).await;
    assert_eq!(serving.drain(Duration::ZERO).await, 1);
    release.send(()).unwrap();
    reading.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_given_up_keeps_its_vault_until_its_work_ends() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir, Bounds { open_vaults: 1, ..Bounds::default() });
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    let (release, reading) = held(&handle).await;
    drop(handle);
    reading.abort();
    assert!(matches!(serving.create("two", Level::Sealed).await, Err(Error::Busy(_))));
    assert_eq!(serving.open_vaults(), 1);
    release.send(()).unwrap();
    assert_eq!(serving.drain(PATIENCE).await, 0);
    // Given up or done by then: nobody waited for it.
    let _ = reading.await;
    assert_eq!(serving.open_vaults(), 0);
}
