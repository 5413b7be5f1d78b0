//! Measures durable appends: the journal, and a SQLite database with one table that is written in the same way.
//!
//! `cargo run --release -p undercroft-node --example journal -- FOLDER [SECONDS]`. Each group has one entry of 1 KiB on its way at a
//! time, as a shard with one client has. The rate of flushes alone, of 1 KiB each, is printed beside. FOLDER must be on the disk
//! that is to be measured, and keeps nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::Connection;
use tokio::sync::oneshot;
use undercroft_node::journal::{Group, GroupLog, Journal, JournalId, LogId, Sizes, SystemDisk};

const ENTRY: usize = 1024;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("say in which folder to write")?);
    let seconds = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let (folder, time) = (folder.join("journal-figures"), Duration::from_secs(seconds));
    fs::create_dir_all(&folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    println!("{:<28}{:>12}", "flushes of 1 KiB alone", format!("{:.0}/s", flushes(&folder, time)?));
    for groups in [1, 16] {
        let (journal, flushes) = runtime.block_on(run_journal(&folder.join("journal"), groups, time))?;
        println!(
            "{:<28}{:>12}   {:.1} a flush",
            named("journal", groups),
            per(journal, time),
            share(journal, flushes)
        );
        let (sqlite, commits) = runtime.block_on(run_sqlite(&folder.join("sqlite"), groups, time))?;
        println!(
            "{:<28}{:>12}   {:.1} a commit",
            named("SQLite", groups),
            per(sqlite, time),
            share(sqlite, commits)
        );
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn named(what: &str, groups: u64) -> String {
    format!("{what}, {groups} group{}", if groups == 1 { "" } else { "s" })
}

fn per(count: u64, time: Duration) -> String {
    format!("{:.0}/s", count as f64 / time.as_secs_f64())
}

fn share(count: u64, of: u64) -> f64 {
    count as f64 / of.max(1) as f64
}

fn flushes(folder: &Path, time: Duration) -> io::Result<f64> {
    let mut file = File::create(folder.join("flushed"))?;
    let (begin, mut count) = (Instant::now(), 0_u32);
    while begin.elapsed() < time {
        file.write_all(&[1; ENTRY])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / begin.elapsed().as_secs_f64())
}

/// Appends and flushes.
async fn run_journal(folder: &Path, groups: u64, time: Duration) -> Result<(u64, u64), Failed> {
    let id = JournalId::from_bytes([1; 16]);
    let journal = Journal::create(Arc::new(SystemDisk), folder, id, Sizes::default())?;
    let before = journal.status().flushes;
    let appending: Vec<_> = (0..groups)
        .map(|group| journal.group(Group::new(group)).map(|log| tokio::spawn(append(log, time))))
        .collect::<Result<_, _>>()?;
    let mut count = 0;
    for task in appending {
        count += task.await??;
    }
    let flushes = journal.status().flushes - before;
    drop(journal);
    fs::remove_dir_all(folder)?;
    Ok((count, flushes))
}

async fn append(log: GroupLog, time: Duration) -> io::Result<u64> {
    let (begin, payload, mut count) = (Instant::now(), Bytes::from(vec![7; ENTRY]), 0);
    while begin.elapsed() < time {
        let (tell, told) = oneshot::channel();
        let entry = (LogId::new(1, 1, count), payload.clone());
        log.append(vec![entry], Box::new(move |result| drop(tell.send(result)))).await?;
        told.await.map_err(io::Error::other)??;
        count += 1;
        if count.is_multiple_of(1000) {
            log.purge(LogId::new(1, 1, count - 500)).await?;
        }
    }
    Ok(count)
}

struct Row {
    group: u64,
    index: u64,
    done: oneshot::Sender<()>,
}

/// Appends and commits of one writer that takes what waits.
async fn run_sqlite(folder: &Path, groups: u64, time: Duration) -> Result<(u64, u64), Failed> {
    fs::create_dir_all(folder)?;
    let (rows, waiting) = channel();
    let database = folder.join("log.db");
    let writer = std::thread::spawn(move || write_rows(&database, &waiting));
    let appending: Vec<_> =
        (0..groups).map(|group| tokio::spawn(insert(rows.clone(), group, time))).collect();
    drop(rows);
    let mut count = 0;
    for task in appending {
        count += task.await??;
    }
    let commits = writer.join().map_err(|_| "the writer panicked")??;
    fs::remove_dir_all(folder)?;
    Ok((count, commits))
}

async fn insert(rows: Sender<Row>, group: u64, time: Duration) -> Result<u64, Failed> {
    let (begin, mut index) = (Instant::now(), 0);
    while begin.elapsed() < time {
        let (done, told) = oneshot::channel();
        rows.send(Row { group, index, done }).map_err(|_| "the writer has ended")?;
        told.await?;
        index += 1;
    }
    Ok(index)
}

fn write_rows(database: &Path, waiting: &Receiver<Row>) -> Result<u64, Failed> {
    let mut database = Connection::open(database)?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE log (shard INTEGER, place INTEGER, payload BLOB, PRIMARY KEY (shard, place)) WITHOUT ROWID;",
    )?;
    let (payload, mut commits) = ([7_u8; ENTRY], 0);
    while let Ok(first) = waiting.recv() {
        let rows: Vec<Row> = std::iter::once(first).chain(waiting.try_iter()).collect();
        let transaction = database.transaction()?;
        for row in &rows {
            let mut insert = transaction.prepare_cached("INSERT INTO log VALUES (?1, ?2, ?3)")?;
            insert.execute((row.group as i64, row.index as i64, &payload[..]))?;
            if row.index % 1000 == 999 {
                let purge = "DELETE FROM log WHERE shard = ?1 AND place < ?2";
                transaction.execute(purge, (row.group as i64, row.index as i64 - 500))?;
            }
        }
        transaction.commit()?;
        commits += 1;
        for row in rows {
            // Who waited may have gone away.
            let _ = row.done.send(());
        }
    }
    Ok(commits)
}
