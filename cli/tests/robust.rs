//! What the built binary does where it cannot write, and what it never shows: asked of folders, pipes and full devices.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A user without rights, for a test that is run by root: root ignores modes.
const NOBODY: u32 = 65_534;

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undercroft"));
    command.args(arguments).env_clear().env("UNDERCROFT_HOME", home);
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

fn palace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    assert!(run(&dir.path().join("p"), &["init"]).status.success());
    assert!(run(&dir.path().join("p"), &["remember", "The port is 7044."]).status.success());
    dir
}

fn each(path: &Path, act: &impl Fn(&Path)) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            each(&entry.unwrap().path(), act);
        }
    }
    act(path);
}

#[test]
fn what_only_reads_works_in_a_folder_that_cannot_be_written() {
    let dir = palace();
    let home = dir.path().join("p");
    let is_root = fs::metadata(dir.path()).unwrap().uid() == 0;
    if is_root {
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        each(&home, &|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    }
    each(&home, &|path| {
        let mode = if path.is_dir() { 0o500 } else { 0o400 };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    });
    let read: [&[&str]; 11] = [
        &["search", "port"],
        &["stats"],
        &["drawer", "list"],
        &["drawer", "check-dup", "x"],
        &["taxonomy"],
        &["wake-up"],
        &["history"],
        &["supersessions"],
        &["dedup"],
        &["vault", "status", "default"],
        &["vault", "list"],
    ];
    for arguments in read {
        let mut command = command(&home, arguments);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
    }
    each(&home, &|path| fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap());
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error_and_no_panic() {
    let dir = palace();
    let home = dir.path().join("p");
    let typed: [&[&str]; 5] = [
        &["verify", "--json"],
        &["stats"],
        &["--help"],
        &["serch", "--json"],
        &["drawer", "get", "1", "--json"],
    ];
    for arguments in typed {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&home, arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"), "{arguments:?}");
        let deaf = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = command(&home, arguments).stdout(Stdio::null()).stderr(deaf).status().unwrap();
        assert!(matches!(status.code(), Some(0 | 1)), "{arguments:?}");
    }
}

#[test]
fn a_mistaken_date_is_told_once() {
    let dir = palace();
    let typed = ["remember", "x", "--content-date", "soon"];
    let output = run(&dir.path().join("p"), &typed);
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("invalid content_date").count(), 1);
}

#[test]
fn help_is_a_command_and_shows_no_vault_where_none_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["help", "search"]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("--vault"));
    for arguments in
        [["vault", "list", "--help"].as_slice(), &["init", "--help"], &["backup", "list", "--help"]]
    {
        let output = run(dir.path(), arguments);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !stdout.contains("--vault"), "{stdout}");
    }
    let refused = run(dir.path(), &["vault", "list", "--vault", "v"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--vault does not apply"));
}

#[test]
fn the_status_of_a_vault_is_the_object_of_its_counts() {
    let dir = palace();
    let home = dir.path().join("p");
    let object = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&run(&home, arguments).stdout).unwrap()
    };
    let stats = object(&["stats", "--json"]);
    assert_eq!(object(&["vault", "status", "default", "--json"]), stats);
    assert_eq!(stats["codebooks"], serde_json::json!([]));
    assert_eq!(stats["chain_over_ceiling"], false);
    let history = object(&["history", "--json"]);
    assert_eq!((&history["count"], &history["scope"]), (&1.into(), &"operator".into()));
    assert_eq!(object(&["verify", "--json"])["receipts"]["dangling"], 0);
}
