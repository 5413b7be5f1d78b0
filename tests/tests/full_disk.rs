//! A disk that takes not one byte more: what is there is still read, writing fails as such, and nothing is lost by it.

use std::process::Command;

use undercroft_tests::support::{Palace, Ran, binary};

/// Runs a command in a process that may not make any file longer, as on a full disk, and is told so by an error.
fn on_a_full_disk(palace: &Palace, arguments: &[&str]) -> Ran {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
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

#[test]
fn what_was_kept_is_read_and_what_is_not_kept_is_told() {
    let palace = Palace::new();
    let id = palace.remember("words from before the disk was full");
    for command in [
        &["search", "words"][..],
        &["drawer", "get", &id],
        &["drawer", "list"],
        &["stats"],
        &["history"],
        &["wake-up"],
        &["vault", "list"],
        &["dedup"],
    ] {
        let _ = on_a_full_disk(&palace, command).ok();
    }
    let _ = on_a_full_disk(&palace, &["verify"]).ok().says("VERIFY OK");
    let told = on_a_full_disk(&palace, &["search", "words"]).ok();
    assert!(told.stdout.contains("words from before") && told.stderr.contains("only read"), "{told}");
    for command in [&["remember", "words that do not fit"][..], &["repair"], &["vault", "anchor", "default"]]
    {
        on_a_full_disk(&palace, command).refuses(1, "make room");
    }
    let told = on_a_full_disk(&palace, &["remember", "words that do not fit"]).exits(1);
    assert!(!told.stderr.contains("caused by"), "a cause is told once: {told}");
    for command in [&["backup", "create"][..], &["vault", "create", "other"]] {
        on_a_full_disk(&palace, command).refuses(1, "");
    }
    assert_eq!(palace.json(&["stats"])["records"], 1);
    assert_eq!(palace.json(&["vault", "list"])["vaults"], serde_json::json!(["default"]));
    palace.verifies();
    let _ = palace.remember("words after room was made");
    palace.verifies();
}
