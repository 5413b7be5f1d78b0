//! The log against openraft's own suite, and against losses of power and damage.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use openraft::entry::RaftEntry;
use openraft::storage::{IOFlushed, RaftLogStorage, RaftLogStorageExt};
use openraft::testing::log::{StoreBuilder, Suite};
use openraft::vote::RaftLeaderIdExt;
use openraft::{RaftLogReader, StorageError};
use proptest::prelude::*;
use tempfile::TempDir;
use undercroft_proto::{ErrorClass, MemberId};

use crate::Error;
use crate::raft::types::{Entry, LogId, Proposal, Types, Vote};
use crate::raft::{Disk, LogStore, Machine, RealDisk};

const ME: MemberId = MemberId::FIRST;

/// The disk of this machine.
fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

struct Builder;

impl StoreBuilder<Types, LogStore, Machine, TempDir> for Builder {
    async fn build(&self) -> Result<(TempDir, LogStore, Machine), StorageError<Types>> {
        let folder = tempfile::tempdir().expect("a folder");
        let log = LogStore::create(&folder.path().join("log"), ME, real()).expect("a log");
        let machine = Machine::open(&folder.path().join("snapshots"), real()).expect("a machine");
        Ok((folder, log, machine))
    }
}

#[tokio::test]
async fn the_storage_passes_the_suite_of_the_library() {
    Suite::test_all(Builder).await.expect("the suite");
}

fn log_id(term: u64, index: u64) -> LogId {
    LogId::new(openraft::alias::LeaderIdOf::<Types>::new_committed(term, 1), index)
}

fn entry(term: u64, index: u64) -> Entry {
    let text = vec![index as u8; 10 + (index as usize % 7) * 30];
    Entry::new_normal(log_id(term, index), Proposal::from_bytes(&text))
}

/// Vote, committed, purged and entries.
type Content = (Option<Vote>, Option<LogId>, Option<LogId>, Vec<Entry>);

async fn content(log: &mut LogStore) -> Content {
    let vote = log.read_vote().await.expect("vote");
    let committed = log.read_committed().await.expect("committed");
    let purged = log.get_log_state().await.expect("state").last_purged_log_id;
    (vote, committed, purged, log.try_get_log_entries(..).await.expect("entries"))
}

/// A log with a vote, ten entries in three appends, a truncation and two more.
async fn filled(folder: &Path) -> Content {
    let mut log = LogStore::create(folder, ME, real()).expect("a log");
    log.save_vote(&Vote::new(3, 1)).await.expect("vote");
    for range in [0..4, 4..8, 8..10] {
        log.blocking_append(range.map(|index| entry(2, index))).await.expect("append");
    }
    log.truncate_after(Some(log_id(2, 7))).await.expect("truncate");
    log.blocking_append([entry(3, 8), entry(3, 9)]).await.expect("append");
    content(&mut log).await
}

fn only_file(folder: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("folder").map(|file| file.expect("file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "log"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = filled(folder.path()).await;
    let mut log = LogStore::open(folder.path(), ME, real()).expect("the log");
    assert_eq!(content(&mut log).await, before);
    assert_eq!(before.3.len(), 10);
    log.purge(log_id(2, 5)).await.expect("purge");
    log.save_committed(Some(log_id(3, 9))).await.expect("committed");
    let before = content(&mut log).await;
    drop(log);
    let mut log = LogStore::open(folder.path(), ME, real()).expect("the log");
    assert_eq!(content(&mut log).await, before);
    assert_eq!((before.2, before.3.len()), (Some(log_id(2, 5)), 4));
}

#[tokio::test]
async fn a_log_cut_anywhere_behind_its_last_mark_opens_with_everything_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = filled(folder.path()).await;
    let file = only_file(folder.path());
    let whole = fs::read(&file).expect("the file");
    // An append that nobody was told of, torn at each of its bytes.
    let mut log = LogStore::open(folder.path(), ME, real()).expect("the log");
    log.append([entry(3, 10)], IOFlushed::noop()).await.expect("append");
    drop(log);
    let longer = fs::read(&file).expect("the file");
    let end = longer.len() - (8 + 1 + 24);
    for length in whole.len()..end {
        fs::write(&file, &longer[..length]).expect("cut");
        let mut log = LogStore::open(folder.path(), ME, real()).expect("a torn tail is cut");
        assert_eq!(content(&mut log).await, before, "at {length}");
        drop(log);
        assert_eq!(fs::metadata(&file).expect("the file").len(), whole.len() as u64);
        let mut garbage = longer[..length].to_vec();
        garbage.extend([0xff; 40]);
        fs::write(&file, garbage).expect("garbage");
        let mut log = LogStore::open(folder.path(), ME, real()).expect("a torn tail is cut");
        assert_eq!(content(&mut log).await, before, "garbage at {length}");
    }
}

#[tokio::test]
async fn a_flipped_bit_before_the_last_mark_is_never_taken_for_a_torn_tail() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path()).await;
    let file = only_file(folder.path());
    let whole = fs::read(&file).expect("the file");
    let last_mark = whole.len() - (8 + 1 + 24);
    for at in 0..last_mark {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&file, &damaged).expect("damage");
        let error = LogStore::open(folder.path(), ME, real())
            .err()
            .unwrap_or_else(|| panic!("opened, flipped at {at}"));
        assert!(matches!(error, Error::LogDamaged { .. }), "at {at}: {error}");
        assert_eq!(error.class(), ErrorClass::Integrity);
    }
}

#[tokio::test]
async fn a_log_that_is_missing_or_of_another_member_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = LogStore::open(&folder.path().join("log"), ME, real()).err();
    assert!(matches!(missing, Some(Error::LogMissing(_))));
    let log = folder.path().join("log");
    filled(&log).await;
    assert!(matches!(LogStore::create(&log, ME, real()).err(), Some(Error::LogExists(_))));
    assert!(matches!(LogStore::open(&log, MemberId::new(2), real()).err(), Some(Error::LogDamaged { .. })));
    fs::remove_file(only_file(&log)).expect("lost");
    assert!(matches!(LogStore::open(&log, ME, real()).err(), Some(Error::LogMissing(_))));
}

#[tokio::test]
async fn a_folder_serves_one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = LogStore::create(folder.path(), ME, real()).expect("a log");
    let second = LogStore::open(folder.path(), ME, real()).err().expect("refused");
    assert!(second.to_string().contains("in use by another process"), "{second}");
    drop(log);
    assert!(LogStore::open(folder.path(), ME, real()).is_ok());
}

#[tokio::test]
async fn purged_files_are_removed_and_the_rest_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = LogStore::create(folder.path(), ME, real()).expect("a log");
    log.save_vote(&Vote::new(3, 1)).await.expect("vote");
    let count = || fs::read_dir(folder.path()).expect("folder").count();
    let big = vec![7; 512 << 10];
    for index in 0..64 {
        let entry = Entry::new_normal(log_id(2, index), Proposal::from_bytes(&big));
        log.blocking_append([entry]).await.expect("append");
    }
    let many = count();
    log.purge(log_id(2, 50)).await.expect("purge");
    assert!(many >= 5 && count() < many - 1, "{many} files, then {}", count());
    let before = content(&mut log).await;
    drop(log);
    let mut reopened = LogStore::open(folder.path(), ME, real()).expect("the log");
    assert_eq!(content(&mut reopened).await, before);
    assert_eq!((before.0, before.3.len()), (Some(Vote::new(3, 1)), 13));
    drop(reopened);
    // A file in the middle that is gone is no gap to step over.
    let mut files: Vec<_> =
        fs::read_dir(folder.path()).expect("folder").map(|f| f.expect("file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "log"));
    files.sort();
    fs::remove_file(&files[files.len() - 2]).expect("lost");
    assert!(LogStore::open(folder.path(), ME, real()).is_err());
}

/// Something that openraft asks of a log.
#[derive(Debug, Clone)]
enum Op {
    Vote(u64),
    Append(u64),
    Truncate(u64),
    Purge(u64),
    Committed(u64),
    Reopen,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0_u64..9).prop_map(Op::Vote),
        (1_u64..5).prop_map(Op::Append),
        (0_u64..6).prop_map(Op::Truncate),
        (0_u64..6).prop_map(Op::Purge),
        (0_u64..6).prop_map(Op::Committed),
        Just(Op::Reopen),
    ]
}

async fn do_op(log: &mut LogStore, model: &mut Content, op: &Op) {
    let begin = model.2.map_or(0, |purged| purged.index + 1);
    let next = model.3.last().map_or(begin, |entry| entry.log_id().index + 1);
    match op {
        Op::Vote(term) => {
            model.0 = Some(Vote::new(*term, 1));
            log.save_vote(&Vote::new(*term, 1)).await.expect("vote");
        }
        Op::Append(count) => {
            let entries: Vec<Entry> = (next..next + count).map(|index| entry(2, index)).collect();
            model.3.extend(entries.clone());
            log.blocking_append(entries).await.expect("append");
        }
        Op::Truncate(back) if next > begin + back => {
            let keep = next - back - 1;
            model.3.retain(|entry| entry.log_id().index <= keep);
            log.truncate_after(Some(log_id(2, keep))).await.expect("truncate");
        }
        Op::Purge(ahead) if begin + ahead < next => {
            model.2 = Some(log_id(2, begin + ahead));
            model.3.retain(|entry| entry.log_id().index > begin + ahead);
            log.purge(log_id(2, begin + ahead)).await.expect("purge");
        }
        Op::Committed(index) => {
            model.1 = Some(log_id(2, *index));
            log.save_committed(model.1).await.expect("committed");
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_log_is_what_was_asked_of_it_however_often_it_is_opened(
        ops in proptest::collection::vec(any_op(), 1..30)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let mut log = Some(LogStore::create(folder.path(), ME, real()).unwrap());
            let mut model: Content = (None, None, None, Vec::new());
            for op in &ops {
                if matches!(op, Op::Reopen) {
                    drop(log.take());
                    log = Some(LogStore::open(folder.path(), ME, real()).unwrap());
                }
                let log = log.as_mut().unwrap();
                do_op(log, &mut model, op).await;
                assert_eq!(content(log).await, model, "after {op:?}");
            }
        });
    }
}
