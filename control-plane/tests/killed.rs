//! A member whose process is killed without warning still has everything that it acknowledged.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use undercroft_control_plane::Error;
use undercroft_control_plane::raft::{Member, MemberConfig};
use undercroft_control_plane::state::{Batch, Command, JobCommand};
use undercroft_proto::MemberId;

/// Names the folder in which the child process runs its member.
const FOLDER: &str = "UNDERCROFT_TEST_MEMBER_FOLDER";
const ME: MemberId = MemberId::FIRST;

fn config(folder: &Path) -> MemberConfig {
    // Snapshots and purges happen every few entries, so that kills meet them as well.
    MemberConfig { snapshot_entries: 20, ..MemberConfig::plain(folder.to_path_buf(), ME) }
}

/// The member of the child process: asks for jobs without end, and prints how many there are after each answer.
async fn write_until_killed(folder: &Path) -> Result<(), Error> {
    let member = if folder.join("member").exists() {
        Member::open(config(folder)).await?
    } else {
        let member = Member::create(config(folder)).await?;
        // Nothing listens at the address: a group of one sends nothing.
        member.found(BTreeMap::from([(ME, "127.0.0.1:1".to_owned())])).await?;
        member
    };
    loop {
        let job = JobCommand::Create { kind: "test".into(), vault: None, steps: 1 };
        member.propose(&Batch::of(1, [Command::Job(job)])).await?;
        println!("acknowledged {}", member.map().read(|state| state.jobs().iter().count()));
        // A parent that is gone reads nothing.
        if std::io::stdout().flush().is_err() {
            return Ok(());
        }
    }
}

#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(write_until_killed(Path::new(&folder))).expect("it runs until it is killed");
}

fn spawn(folder: &Path) -> Child {
    let this = std::env::current_exe().expect("this test");
    let mut process = Process::new(this);
    process.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
    process.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child")
}

/// Reads acknowledgements until there are `enough` new ones, kills the child at once, and gives the last one that it wrote.
fn killed_after(child: &mut Child, enough: usize) -> usize {
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let (mut seen, mut last) = (0, 0);
    for line in out.lines() {
        let Ok(line) = line else { break };
        let Some(count) = line.split("acknowledged ").nth(1).and_then(|count| count.parse().ok()) else {
            continue;
        };
        last = count;
        seen += 1;
        if seen == enough {
            child.kill().expect("killed");
        }
    }
    child.wait().expect("it ended");
    assert!(seen >= enough, "the child ended by itself after {seen}");
    last
}

#[test]
fn what_was_acknowledged_survives_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut acknowledged = 0;
    for enough in [1, 7, 35, 60, 90] {
        let last = killed_after(&mut spawn(folder.path()), enough);
        assert!(last > acknowledged, "it went on where it was: {last} after {acknowledged}");
        acknowledged = last;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let member = Member::open(config(folder.path())).await.expect("it starts again");
        let wait = member.raft().wait(Some(Duration::from_secs(20)));
        wait.current_leader(1, "it leads").await.expect("it leads");
        member.catch_up().await.expect("a read");
        let there = member.map().read(|state| state.jobs().iter().count());
        assert!(there >= acknowledged, "{there} of {acknowledged}");
        member.stop().await;
    });
}
