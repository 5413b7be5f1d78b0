//! Long works: who waits for whom, and that nobody waits in a circle.

use std::pin::Pin;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::task::JoinHandle;
use undercroft_palace::env::Environment;
use undercroft_palace::{
    Access, CreateKeys, ErrorClass, Home, KeySource, Level, Palace, VaultSettings, standard_tools,
};
use undercroft_vault::{AddedBy, Change, NewDrawer};

use super::{Bounds, Serving, ServingOptions};
use crate::error::{Error, Result};
use crate::limits;

const PATIENCE: Duration = Duration::from_secs(5);

/// An installation with the vaults `one`, which has a text and a backup, and `two`; and the backup's name.
async fn serving(dir: &TempDir) -> (Serving, String) {
    let declared = KeySource::declared(&Environment::default()).unwrap();
    let home = Home::at(dir.path().join("palace"));
    let palace =
        Palace::open(home, &declared, CreateKeys::IfEmpty, &VaultSettings::default(), standard_tools());
    let options = ServingOptions { access: Access::Write, resident: None, bounds: Bounds::default() };
    let serving = Serving::start(palace.unwrap(), options);
    for name in ["one", "two"] {
        let handle = serving.create(name, Level::Sealed).await.unwrap();
        let drawer = NewDrawer::direct("home", "notes", "words", AddedBy::Rest);
        handle.write(Change::Save(drawer)).await.unwrap();
    }
    let made = serving.back_up("one").await.unwrap();
    (serving, made.path.file_name().unwrap().to_str().unwrap().to_owned())
}

async fn work(serving: Serving, name: &'static str, gate: mpsc::Receiver<()>) -> Result<()> {
    let place = serving.long_place(name).await?;
    let handle = serving.vault(name).await?;
    let work = handle.work(place, move |_| {
        // Ends with its sender, if it is not told before.
        let _ = gate.recv();
        Ok(())
    });
    work.await
}

/// A long work on `name` that runs or waits from here on, and does not end while the sender lives.
async fn begun(serving: &Serving, name: &'static str) -> (mpsc::Sender<()>, JoinHandle<Result<()>>) {
    let (release, gate) = mpsc::channel();
    let mut work: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(work(serving.clone(), name, gate));
    // The first look takes the place, or a place in the queue.
    let done = std::future::poll_fn(|context| std::task::Poll::Ready(work.as_mut().poll(context))).await;
    assert!(done.is_pending());
    (release, tokio::spawn(work))
}

async fn until_queued(serving: &Serving, works: usize) {
    while serving.shared().lanes.long_works_of("one") < works {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn restores_and_other_long_works_of_a_vault_wait_for_each_other_and_for_nobody_else() {
    let dir = TempDir::new().unwrap();
    let (serving, backup) = serving(&dir).await;
    let mut held = vec![begun(&serving, "one").await];
    let mut restoring = Vec::new();
    for _ in 0..3 {
        let (serving, backup) = (serving.clone(), backup.clone());
        restoring.push(tokio::spawn(async move { serving.restore("one", &backup).await }));
    }
    until_queued(&serving, 4).await;
    held.push(begun(&serving, "one").await);
    // Neither the reads of the vault wait for them, nor the long works of others.
    let reading = async { serving.vault("one").await?.read(|vault| Ok(vault.stats()?.records)).await };
    assert_eq!(tokio::time::timeout(PATIENCE, reading).await.unwrap().unwrap(), 1);
    let (release, other) = begun(&serving, "two").await;
    drop(release);
    tokio::time::timeout(PATIENCE, other).await.unwrap().unwrap().unwrap();
    for (release, task) in held {
        drop(release);
        restoring.push(task);
    }
    for task in restoring {
        tokio::time::timeout(PATIENCE, task).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn restores_count_among_the_long_works_of_their_vault() {
    let dir = TempDir::new().unwrap();
    let (serving, backup) = serving(&dir).await;
    let mut held = Vec::new();
    for _ in 0..limits::LONG_WORKS_PER_VAULT {
        held.push(begun(&serving, "one").await);
    }
    for refused in [
        serving.restore("one", &backup).await.unwrap_err(),
        serving.back_up("one").await.map(drop).unwrap_err(),
        serving.delete("one").await.map(drop).unwrap_err(),
    ] {
        assert!(matches!(refused, Error::VaultBusy(_)), "{refused}");
    }
    let (release, other) = begun(&serving, "two").await;
    held.push((release, other));
    for (release, task) in held {
        drop(release);
        task.await.unwrap().unwrap();
    }
    serving.restore("one", &backup).await.unwrap();
    assert_eq!(serving.shared().lanes.long_works_of("one"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_not_there_and_a_name_that_is_taken_disturb_nobody() {
    let dir = TempDir::new().unwrap();
    let (serving, _) = serving(&dir).await;
    let handle = serving.vault("one").await.unwrap();
    let opens = serving.counted().vault_opens;
    let missing = async { serving.restore("one", "nothing").await.unwrap_err() };
    let missing = tokio::time::timeout(PATIENCE, missing).await.unwrap();
    assert_eq!(missing.class(), ErrorClass::NotFound);
    let taken = async { serving.create("one", Level::Sealed).await.unwrap_err() };
    let taken = tokio::time::timeout(PATIENCE, taken).await.unwrap();
    assert!(taken.to_string().contains("exists"), "{taken}");
    drop(handle);
    serving.vault("one").await.unwrap();
    assert_eq!(serving.counted().vault_opens, opens);
}
