//! The journal as its users run it: with its writer's thread, on the machine's disk.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tempfile::TempDir;
use undercroft_palace::ErrorClass;

use super::model_test::{Ask, Host, SMALL};
use super::sim_test::{Fault, SimDisk};
use super::{
    Floor, FloorChange, Group, GroupLog, Journal, JournalId, LogId, Recovered, Sizes, SystemDisk, Vote, Why,
};
use crate::Error;

const ID: JournalId = JournalId::from_bytes([9; 16]);

fn create(folder: &Path, sizes: Sizes) -> Journal {
    Journal::create(Arc::new(SystemDisk), folder, ID, sizes).expect("a journal")
}

fn reopened(folder: &Path, sizes: Sizes) -> Journal {
    match Journal::open(Arc::new(SystemDisk), folder, sizes).expect("it can be read") {
        Recovered::Ready(journal) => journal,
        Recovered::Retired(retired) => panic!("retired: {}", retired.why),
    }
}

fn fresh() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal");
    (folder, path)
}

fn entry(index: u64, size: usize) -> (LogId, Bytes) {
    (LogId::new(1, 1, index), Bytes::from(vec![index as u8; size]))
}

async fn append(log: &GroupLog, entries: Vec<(LogId, Bytes)>) -> io::Result<()> {
    let (tell, told) = tokio::sync::oneshot::channel();
    log.append(entries, Box::new(move |result| drop(tell.send(result)))).await?;
    told.await.expect("everybody is told")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_of_all_groups_share_flushes() {
    let (_kept, path) = fresh();
    let journal = create(&path, Sizes::default());
    let appending: Vec<_> = (0..16)
        .map(|group| {
            let log = journal.group(Group::new(group)).expect("a group");
            tokio::spawn(async move {
                for index in 0..50 {
                    append(&log, vec![entry(index, 100)]).await.expect("appended");
                }
            })
        })
        .collect();
    for task in appending {
        task.await.expect("it ends");
    }
    let status = journal.status();
    assert_eq!((status.entries, status.groups), (800, 16));
    assert!(status.flushes < 600, "{status:?}");
    drop(journal);
    let journal = reopened(&path, Sizes::default());
    for group in 0..16 {
        let log = journal.group(Group::new(group)).expect("a group");
        assert_eq!(log.read(0, 99).await.expect("entries").len(), 50);
    }
}

#[tokio::test]
async fn a_closed_journal_opens_with_everything_it_was_told() {
    let (_kept, path) = fresh();
    let journal = create(&path, SMALL);
    let log = journal.group(Group::new(4)).expect("a group");
    let vote = Vote { term: 3, node: 2, committed: true };
    log.save_vote(vote).await.expect("a vote");
    append(&log, (0..9).map(|index| entry(index, 200)).collect()).await.expect("entries");
    log.truncate_after(Some(LogId::new(1, 1, 7))).await.expect("truncated");
    let vault = undercroft_proto::VaultId::from_parts(1, 2);
    let at = |index| LogId::new(1, 1, index);
    let floor =
        Floor { log_id: at(3), membership: Bytes::from_static(b"m"), vaults: [(vault, at(2))].into() };
    log.set_floor(floor.clone()).await.expect("a floor");
    let change = FloorChange { log_id: at(5), membership: None, vaults: vec![(vault, Some(at(5)))] };
    log.advance_floor(change.clone()).await.expect("a later floor");
    log.purge(at(4)).await.expect("purged");
    log.save_committed(Some(at(6))).expect("committed");
    drop((log, journal));
    let journal = reopened(&path, SMALL);
    assert_eq!((journal.id(), journal.groups()), (ID, vec![Group::new(4)]));
    let log = journal.group(Group::new(4)).expect("a group");
    assert_eq!((log.vote(), log.committed(), log.begin()), (Some(vote), Some(at(6)), 5));
    assert_eq!(log.ends(), (Some(at(4)), Some(at(7))));
    assert_eq!(log.floor().as_deref(), Some(&floor.changed(&change)));
    let entries: Vec<_> = (5..8).map(|index| entry(index, 200)).collect();
    assert_eq!(log.read(0, u64::MAX).await.expect("entries"), entries);
    assert_eq!(log.read_some(0, u64::MAX, 1).await.expect("one"), entries[..1]);
    assert_eq!(log.read_some(6, u64::MAX, 400).await.expect("two"), entries[1..]);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (_kept, path) = fresh();
    let sizes = Sizes { journal_bytes: 3_000, groups: 2, ..SMALL };
    let journal = create(&path, sizes);
    let log = journal.group(Group::new(1)).expect("a group");
    let refused = |result: io::Result<()>| result.expect_err("refused").kind();
    append(&log, vec![entry(0, 10), entry(1, 10)]).await.expect("appended");
    assert_eq!(refused(append(&log, vec![entry(3, 10)]).await), io::ErrorKind::InvalidInput);
    assert_eq!(refused(append(&log, vec![entry(2, 10), entry(4, 10)]).await), io::ErrorKind::InvalidInput);
    let large = vec![entry(2, super::limits::RECORD_BYTES + 1)];
    assert_eq!(refused(append(&log, large).await), io::ErrorKind::InvalidInput);
    let floor =
        |index| Floor { log_id: LogId::new(1, 1, index), membership: Bytes::new(), vaults: [].into() };
    let change = FloorChange { log_id: LogId::new(1, 1, 1), membership: None, vaults: vec![] };
    assert_eq!(refused(log.advance_floor(change).await), io::ErrorKind::InvalidInput);
    log.set_floor(floor(1)).await.expect("a floor");
    assert_eq!(refused(log.set_floor(floor(0)).await), io::ErrorKind::InvalidInput);
    assert_eq!(refused(log.purge(LogId::new(1, 1, 2)).await), io::ErrorKind::InvalidInput);
    journal.group(Group::new(2)).expect("a second group");
    let third = journal.group(Group::new(3)).err().expect("refused");
    assert!(matches!(third, Error::JournalGroups(2)) && third.class() == ErrorClass::Unavailable, "{third}");
    append(&log, vec![entry(2, 4_000)]).await.expect("appended");
    let full = append(&log, vec![entry(3, 10)]).await.expect_err("full");
    assert!(full.kind() == io::ErrorKind::StorageFull && full.to_string().contains("purged"), "{full}");
    // Votes, floors and purges are still taken, and make room.
    log.set_floor(floor(2)).await.expect("a floor");
    log.purge(LogId::new(1, 1, 2)).await.expect("purged");
    while append(&log, vec![entry(3, 10)]).await.is_err() {
        log.save_vote(Vote { term: 1, node: 1, committed: false }).await.expect("a vote");
    }
    assert_eq!(log.read(0, 9).await.expect("entries"), vec![entry(3, 10)]);
    assert_eq!(journal.status().failed, None);
}

#[tokio::test]
async fn a_removed_group_is_gone_and_can_be_begun_again() {
    let (_kept, path) = fresh();
    let journal = create(&path, SMALL);
    let log = journal.group(Group::new(1)).expect("a group");
    append(&log, vec![entry(0, 10)]).await.expect("appended");
    log.remove().await.expect("removed");
    assert!(append(&log, vec![entry(1, 10)]).await.is_err());
    assert!(log.read(0, 9).await.expect("nothing").is_empty() && journal.groups().is_empty());
    let again = journal.group(Group::new(1)).expect("a group");
    append(&again, vec![entry(0, 20)]).await.expect("appended");
    drop((log, again, journal));
    let journal = reopened(&path, SMALL);
    let log = journal.group(Group::new(1)).expect("a group");
    assert_eq!(log.read(0, 9).await.expect("entries"), vec![entry(0, 20)]);
}

#[tokio::test]
async fn folders_are_told_apart_and_belong_to_one_process() {
    let (kept, path) = fresh();
    let missing = Journal::open(Arc::new(SystemDisk), &path, SMALL).expect("it can be looked for");
    assert!(matches!(missing, Recovered::Retired(retired) if retired.why == Why::Missing));
    let journal = create(&path, SMALL);
    let second = Journal::open(Arc::new(SystemDisk), &path, SMALL).expect_err("in use");
    assert!(matches!(second, Error::JournalInUse(_)) && second.class() == ErrorClass::Conflict, "{second}");
    drop(journal);
    let exists = Journal::create(Arc::new(SystemDisk), &path, ID, SMALL).expect_err("there is one");
    assert!(matches!(exists, Error::JournalExists(_)), "{exists}");
    let segment = super::segment::path(&path, 1);
    let mut bytes = std::fs::read(&segment).expect("a segment");
    bytes[7] = 9;
    let checksum = crc32c::crc32c(&bytes[..40]).to_le_bytes();
    bytes[40..44].copy_from_slice(&checksum);
    std::fs::write(&segment, &bytes).expect("changed");
    let newer = Journal::open(Arc::new(SystemDisk), &path, SMALL).expect_err("a newer version");
    assert!(matches!(newer, Error::JournalVersion { version: 9, .. }), "{newer}");
    bytes[41] ^= 1;
    std::fs::write(&segment, &bytes).expect("changed");
    let damaged = Journal::open(Arc::new(SystemDisk), &path, SMALL).expect("it can be read");
    assert!(matches!(damaged, Recovered::Retired(_)));
    let aside = Journal::set_aside(&SystemDisk, &path).expect("set aside");
    assert!(aside.starts_with(kept.path()) && aside.is_dir() && !path.exists(), "{}", aside.display());
    drop(create(&path, SMALL));
    assert_ne!(Journal::set_aside(&SystemDisk, &path).expect("again"), aside);
}

#[tokio::test]
async fn a_disk_that_fails_is_told_once_and_for_all_and_entries_stay_readable() {
    for fault in [Fault::Eio, Fault::Full, Fault::Flush] {
        let disk = SimDisk::new();
        let journal = Journal::create(Arc::new(disk.clone()), Path::new("j"), ID, SMALL).expect("a journal");
        let log = journal.group(Group::new(1)).expect("a group");
        let other = journal.group(Group::new(2)).expect("a group");
        append(&log, vec![entry(0, 100)]).await.expect("appended");
        disk.fail(0, fault, 3);
        let first = append(&log, vec![entry(1, 100)]).await.expect_err("the disk fails");
        // The disk is well again; the journal cannot know what it holds.
        let later = append(&other, vec![entry(0, 100)]).await.expect_err("refused");
        for error in [&first, &later] {
            assert!(error.to_string().contains("until it is opened again"), "{error}");
        }
        assert!(log.save_vote(Vote { term: 1, node: 1, committed: false }).await.is_err());
        assert!(log.save_committed(None).is_err());
        assert_eq!(log.read(0, 1).await.expect("still readable"), vec![entry(0, 100)]);
        assert!(journal.status().failed.is_some());
        drop((log, other, journal));
        let opened = Journal::open(Arc::new(disk.killed()), Path::new("j"), SMALL).expect("it can be read");
        let Recovered::Ready(journal) = opened else { panic!("retired") };
        let log = journal.group(Group::new(1)).expect("a group");
        let next = log.ends().1.map_or(0, |last| last.index + 1);
        append(&log, vec![entry(next, 100)]).await.expect("it goes on");
    }
}

#[test]
fn a_quiet_group_does_not_keep_old_segments() {
    let mut host = Host::create(SimDisk::new());
    host.ask(1, &Ask::Vote(1));
    host.ask(1, &Ask::Append { count: 3, size: 100 });
    host.ask(1, &Ask::Floor(9));
    host.pump();
    for _ in 0..200 {
        host.ask(2, &Ask::Append { count: 3, size: 100 });
        host.ask(2, &Ask::Purge(2));
        host.pump();
    }
    let status = host.journal.status();
    assert!(status.segments <= 4 && status.carried > 0, "{status:?}");
    host.check();
    let disk = host.disk.killed();
    host.reopen(disk).check();
}

#[test]
fn entries_that_are_all_needed_are_not_written_again() {
    let mut host = Host::create(SimDisk::new());
    for _ in 0..50 {
        host.ask(1, &Ask::Append { count: 3, size: 100 });
        host.ask(2, &Ask::Append { count: 3, size: 100 });
        host.pump();
    }
    let status = host.journal.status();
    assert_eq!((status.carried, status.entries), (0, 300));
    // What is kept in memory beside the disk is bounded.
    assert!(host.log(1).spare() <= 40, "{}", host.log(1).spare());
}
