//! A verdict on stored bytes outlives everything that can happen to its output: a reader that went away, a full device.

use std::fs::{self, File};
use std::io;
use std::process::{Command, Stdio};

use undercroft_tests::support::Palace;

/// A palace whose only drawer was changed past the program.
fn tampered() -> (Palace, String) {
    let palace = Palace::new();
    let id = palace.remember("the boiler code is 4711");
    let database = rusqlite::Connection::open(palace.vault().join("vault.db")).expect("the database");
    let changed = database.execute("UPDATE drawers SET content = zeroblob(length(content))", []);
    assert_eq!(changed.expect("an update"), 1);
    (palace, id)
}

/// Standard output whose reader is gone already.
fn closed() -> Stdio {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    Stdio::from(writer)
}

/// The exit code with this output.
fn code(mut command: Command, output: Stdio) -> Option<i32> {
    command.stdout(output).stderr(Stdio::null()).status().expect("the binary starts").code()
}

#[test]
fn no_closed_pipe_and_no_full_device_hides_a_verdict() {
    let (palace, id) = tampered();
    for arguments in [
        &["verify"][..],
        &["verify", "--json"],
        &["repair"],
        &["repair", "--json"],
        &["drawer", "get", &id],
        &["drawer", "get", &id, "--json"],
        &["search", "boiler code"],
        &["wake-up", "--json"],
        &["dedup"],
        &["backup", "create"],
        &["backup", "create", "--json"],
    ] {
        assert_eq!(code(palace.command(arguments), closed()), Some(2), "{arguments:?} into a closed pipe");
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            assert_eq!(
                code(palace.command(arguments), full.into()),
                Some(2),
                "{arguments:?} on a full device"
            );
        }
    }
}

#[test]
fn a_damaged_vault_in_a_list_that_nobody_reads_is_a_verdict_too() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "other"]).ok();
    fs::write(palace.vault().join("vault.json"), "{}").expect("a damaged manifest");
    assert_eq!(code(palace.command(&["vault", "list"]), closed()), Some(2));
}

#[test]
fn a_closed_pipe_alone_is_no_failure_and_a_full_device_is_one() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    for arguments in [&["verify"][..], &["stats", "--json"], &["--help"]] {
        assert_eq!(code(palace.command(arguments), closed()), Some(0), "{arguments:?}");
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            assert_eq!(code(palace.command(arguments), full.into()), Some(1), "{arguments:?}");
        }
    }
}
