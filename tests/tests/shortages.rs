//! A process that lacks something which others have: it says so, tells no untruth about the files, and what it kept before is kept.

use std::fs;
use std::process::Command;

use undercroft_tests::support::{Palace, Ran, binary};

/// Runs a command in a process that may have only so many files open.
fn with_files(palace: &Palace, files: u32, arguments: &[&str]) -> Ran {
    let output = Command::new("sh")
        .args(["-c", "ulimit -n $0; exec \"$@\"", &files.to_string()])
        .arg(binary())
        .arg("--data-dir")
        .arg(palace.root())
        .args(arguments)
        .env_clear()
        .env("HOME", palace.outside())
        .output()
        .expect("a shell");
    Ran::new(arguments.join(" "), output)
}

fn drawers(palace: &Palace) -> usize {
    palace.json(&["drawer", "list"])["drawers"].as_array().expect("drawers").len()
}

#[test]
fn too_few_files_are_told_as_that_and_never_read_past_the_log() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let mut refused = 0;
    for files in 4..16 {
        for command in [&["verify"][..], &["search", "words"], &["drawer", "list"]] {
            let ran = with_files(&palace, files, command);
            assert!(matches!(ran.code, Some(0 | 1)), "{files} files: {ran}");
            for untrue in ["immutable", "folder cannot be written", "make room"] {
                assert!(!ran.stderr.contains(untrue), "{files} files: {ran}");
            }
            refused += usize::from(ran.code == Some(1));
        }
    }
    assert!(refused > 0, "nothing was lacking");
    palace.verifies();
}

#[test]
fn what_was_written_is_acknowledged_although_the_manifest_cannot_follow() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    for files in 4..20 {
        let before = drawers(&palace);
        let ran = with_files(&palace, files, &["remember", "more words"]);
        let kept = drawers(&palace) - before;
        assert_eq!(kept, usize::from(ran.code == Some(0)), "{files} files: {ran}");
        assert!(matches!(ran.code, Some(0 | 1)), "{files} files: {ran}");
    }
    let lock = palace.vault().join("anchor.lock");
    fs::remove_file(&lock).expect("removed");
    fs::create_dir(&lock).expect("a folder in its place");
    let before = drawers(&palace);
    let ran = palace.run(&["remember", "words that are kept"]).ok();
    assert!(ran.stderr.contains("is kept"), "{ran}");
    fs::remove_dir(&lock).expect("removed");
    assert_eq!(drawers(&palace), before + 1);
    palace.verifies();
}

#[test]
fn a_folder_whose_name_looks_like_a_uri_is_a_folder() {
    let palace = Palace::empty();
    let run = |arguments: &[&str]| {
        let output = Command::new(binary())
            .args(["--data-dir", "file:words?mode=memory"])
            .args(arguments)
            .env_clear()
            .env("HOME", palace.outside())
            .current_dir(palace.outside())
            .output()
            .expect("the binary starts");
        Ran::new(arguments.join(" "), output).ok()
    };
    for command in [&["init"][..], &["remember", "words of a folder"], &["backup", "create"]] {
        let _ = run(command);
    }
    let _ = run(&["search", "folder"]).says("words of a folder");
    let _ = run(&["verify"]).says("VERIFY OK");
    assert!(palace.outside().join("file:words?mode=memory/vaults/default/vault.db").is_file());
}
