//! The process of a member that may not make any file longer, as on a full disk: it takes no more writes, says why, and has
//! everything that it acknowledged once there is room again.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use support::{MASTER, TOKEN};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use undercroft_control_plane::admin::AdminToken;
use undercroft_control_plane::keys::GroupKey;
use undercroft_control_plane::ports::Ports;
use undercroft_control_plane::process::{Admin, Keys, Options, Server};
use undercroft_control_plane::raft::{Connect, Timing};
use undercroft_control_plane::state::{Command, JobCommand};
use undercroft_proto::JoinKey;

/// Names the folder in which the child process runs its member.
const FOLDER: &str = "UNDERCROFT_TEST_FULL_DISK_FOLDER";

fn options(folder: &Path) -> Options {
    let (listen, token) = ("127.0.0.1:0".to_owned(), AdminToken::new(TOKEN.into()).expect("a token"));
    Options {
        data: folder.to_path_buf(),
        listen: listen.clone(),
        advertise: None,
        join: Vec::new(),
        keys: Keys { group: GroupKey::new([4; 32]), join: Some(JoinKey::derive(&MASTER)) },
        connect: Connect::plain(),
        admin: Some(Admin { listen, token }),
        timing: Timing::default(),
        ports: Ports::of_this_machine(),
    }
}

/// The member of the child process: asks for jobs until one is refused or `most` are there, and prints what it is told.
async fn write_until_refused(folder: &Path, most: usize) {
    let server = Server::start(options(folder)).await.expect("a member");
    let desk = server.desk().clone();
    let count = || desk.member.map().read(|state| state.jobs().iter().count());
    loop {
        let job = JobCommand::Create { kind: "test".into(), vault: None, steps: 1 };
        match desk.once(Command::Job(job)).await {
            Ok(_) => println!("acknowledged {}", count()),
            Err(error) => break println!("refused {error}"),
        }
        if count() >= most {
            break;
        }
    }
    let address = server.listening().admin.expect("an interface");
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream
        .write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    println!("readyz {}", answer.replace("\r\n", " "));
    // A parent that is gone reads nothing.
    let _ = std::io::stdout().flush();
    server.stop().await;
}

#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let most = if std::env::var_os("UNDERCROFT_TEST_ROOM").is_some() { 0 } else { usize::MAX };
    let work = write_until_refused(Path::new(&folder), most);
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await }).expect("in time");
}

fn spawn(folder: &Path, blocks: Option<u32>) -> Child {
    let this = std::env::current_exe().expect("this test");
    // Without the trap the system would end the process instead of telling it.
    let limit = blocks.map_or(String::new(), |blocks| format!("trap '' XFSZ; ulimit -f {blocks}; "));
    let mut process = Process::new("sh");
    process.args(["-c", &format!("{limit}exec \"$@\""), "sh"]).arg(this);
    process.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
    if blocks.is_none() {
        process.env("UNDERCROFT_TEST_ROOM", "1");
    }
    process.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child")
}

/// What a child printed behind a word, one for each line that has it.
fn said(lines: &[String], word: &str) -> Vec<String> {
    lines.iter().filter_map(|line| line.split_once(word).map(|(_, rest)| rest.trim().to_owned())).collect()
}

fn ran(folder: &Path, blocks: Option<u32>) -> Vec<String> {
    let mut child = spawn(folder, blocks);
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let lines: Vec<String> = out.lines().map_while(Result::ok).collect();
    assert!(child.wait().expect("it ended").success(), "{lines:?}");
    lines
}

#[test]
fn a_full_disk_is_told_and_nothing_acknowledged_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = ran(folder.path(), Some(64));
    let acknowledged = said(&full, "acknowledged ");
    let last: usize = acknowledged.last().expect("some were").parse().expect("a number");
    let refused = said(&full, "refused ");
    assert!(refused.len() == 1 && refused[0].contains("has stopped"), "{refused:?}");
    let readyz = said(&full, "readyz ").remove(0);
    assert!(readyz.contains("503") && readyz.contains("\"ready\":false"), "{readyz}");
    assert!(readyz.contains("File too large") && readyz.contains("fault"), "{readyz}");
    let room = ran(folder.path(), None);
    let first: usize = said(&room, "acknowledged ").remove(0).parse().expect("a number");
    assert!(first > last, "{last} were acknowledged, and one more makes {first}");
    assert!(said(&room, "readyz ").remove(0).contains("\"ready\":true"));
}
