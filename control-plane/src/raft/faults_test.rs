//! A disk that is full, fails or writes by halves: the member stops, says why, and loses nothing that it acknowledged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use undercroft_proto::{ErrorClass, MemberId};

use super::{Disk, Member, MemberConfig, RealDisk};
use crate::Error;
use crate::state::{Batch, Command, JobCommand, Outcome};

const ME: MemberId = MemberId::FIRST;
const PATIENCE: Duration = Duration::from_secs(20);
/// What the system says of a full disk.
const FULL: i32 = 28;
/// And of a failing one.
const BROKEN: i32 = 5;

/// A disk with room for so many more bytes, of which a write that does not fit gets the first ones.
struct Failing {
    room: AtomicU64,
    /// Whether flushing fails.
    flushes: AtomicBool,
    /// Whether only snapshots are refused.
    snapshots: bool,
}

impl Failing {
    fn with_room(room: u64) -> Arc<Self> {
        Arc::new(Self { room: AtomicU64::new(room), flushes: AtomicBool::new(true), snapshots: false })
    }
}

impl Disk for Failing {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if self.snapshots && !bytes.starts_with(b"UCctsnp") {
            return file.write_all(bytes);
        }
        let room = self.room.load(Ordering::SeqCst);
        let fits = room.min(bytes.len() as u64);
        self.room.store(room - fits, Ordering::SeqCst);
        file.write_all(&bytes[..fits as usize])?;
        if fits == bytes.len() as u64 { Ok(()) } else { Err(io::Error::from_raw_os_error(FULL)) }
    }

    fn flush(&self, file: &File) -> io::Result<()> {
        let works = self.flushes.load(Ordering::SeqCst);
        if works { file.sync_data() } else { Err(io::Error::from_raw_os_error(BROKEN)) }
    }
}

fn config(folder: &Path, disk: Arc<dyn Disk>) -> MemberConfig {
    MemberConfig { disk, ..MemberConfig::plain(folder.to_path_buf(), ME) }
}

async fn open(config: MemberConfig) -> Member {
    Member::open(config).await.expect("it starts")
}

/// A group of one, founded on a good disk, with one job.
async fn founded(folder: &Path) {
    let member = Member::create(config(folder, Arc::new(RealDisk))).await.expect("a member");
    member.found(BTreeMap::from([(ME, "127.0.0.1:1".to_owned())])).await.expect("founded");
    ask(&member).await.expect("decided");
    member.stop().await;
}

/// One more job; how many there are then.
async fn ask(member: &Member) -> Result<usize, Error> {
    let job = JobCommand::Create { kind: "test".into(), vault: None, steps: 1 };
    let outcomes = member.propose(&Batch::of(1, [Command::Job(job)])).await?;
    assert!(matches!(outcomes[..], [Outcome::Job(_)]), "{outcomes:?}");
    Ok(jobs(member))
}

fn jobs(member: &Member) -> usize {
    member.map().read(|state| state.jobs().iter().count())
}

/// Asks until it is refused; how many were acknowledged, and what was said then.
async fn until_refused(member: &Member) -> (usize, Error) {
    let mut acknowledged = 0;
    loop {
        match ask(member).await {
            Ok(count) => acknowledged = count,
            Err(error) => return (acknowledged, error),
        }
        assert!(acknowledged < 5_000, "it is never refused");
    }
}

/// Stops a member and starts it on a good disk: it has what was acknowledged, and goes on.
async fn goes_on(stopped: Member, folder: &Path, acknowledged: usize) {
    stopped.stop().await;
    drop(stopped);
    let member = open(config(folder, Arc::new(RealDisk))).await;
    member.raft().wait(Some(PATIENCE)).current_leader(1, "it leads").await.expect("it leads");
    member.catch_up().await.expect("a read");
    let there = jobs(&member);
    assert!((acknowledged..=acknowledged + 1).contains(&there), "{there} of {acknowledged}");
    assert_eq!(ask(&member).await.expect("decided"), there + 1);
    assert_eq!(member.fault(), None);
    member.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_on_a_full_disk_stops_says_why_and_goes_on_when_there_is_room() {
    // Different lengths, so that the last write is cut at different places: in a frame, an entry, a mark.
    for room in [700, 731, 760, 1_000, 2_013] {
        let folder = tempfile::tempdir().expect("a folder");
        founded(folder.path()).await;
        let member = open(config(folder.path(), Failing::with_room(room))).await;
        let waited = member.raft().wait(Some(PATIENCE)).current_leader(1, "it leads").await;
        let acknowledged = if waited.is_ok() {
            let (acknowledged, error) = until_refused(&member).await;
            assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
            acknowledged.max(1)
        } else {
            1
        };
        let fault = member.fault().expect("it says why");
        assert!(fault.contains("No space left"), "{fault}");
        assert!(!member.leads() && member.leader().is_none(), "it leads nobody");
        assert!(ask(&member).await.is_err() && member.catch_up().await.is_err());
        goes_on(member, folder.path(), acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_flush_that_failed_nothing_more_is_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    founded(folder.path()).await;
    let disk = Failing::with_room(u64::MAX);
    let member = open(config(folder.path(), disk.clone())).await;
    member.raft().wait(Some(PATIENCE)).current_leader(1, "it leads").await.expect("it leads");
    let acknowledged = ask(&member).await.expect("decided");
    disk.flushes.store(false, Ordering::SeqCst);
    let error = ask(&member).await.expect_err("the flush fails");
    assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
    // A second flush may claim success for bytes that are gone, so it is never believed.
    disk.flushes.store(true, Ordering::SeqCst);
    assert!(ask(&member).await.is_err());
    assert!(member.fault().is_some_and(|fault| fault.contains("os error 5")), "{:?}", member.fault());
    goes_on(member, folder.path(), acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_does_not_fit_leaves_the_one_before_it_and_no_half_of_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    founded(folder.path()).await;
    let disk =
        Arc::new(Failing { room: AtomicU64::new(40), flushes: AtomicBool::new(true), snapshots: true });
    let small = MemberConfig { snapshot_entries: 10, ..config(folder.path(), disk.clone()) };
    let member = open(small).await;
    member.raft().wait(Some(PATIENCE)).current_leader(1, "it leads").await.expect("it leads");
    let mut acknowledged = 1;
    while member.fault().is_none() {
        match ask(&member).await {
            Ok(count) => acknowledged = count,
            Err(error) => assert_eq!(error.class(), ErrorClass::Unavailable, "{error}"),
        }
        assert!(acknowledged < 5_000, "it never stops");
    }
    let fault = member.fault().expect("it says why");
    assert!(fault.contains("No space left"), "{fault}");
    member.stop().await;
    let left: Vec<_> = std::fs::read_dir(folder.path().join("snapshots")).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
    goes_on(member, folder.path(), acknowledged).await;
}
