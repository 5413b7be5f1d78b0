//! A recovery kit: made, opened on another day, and refused when it is not what was written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use undercroft_tests::support::{Fleet, Palace, Ran};

const WORDS: &str = "a stone under the third stair";

fn with_words(fleet: &Fleet, member: usize, words: &str, typed: &[&str]) -> Ran {
    let mut command = fleet.command(member, typed);
    command.env("UNDERCROFT_RECOVERY_PASSPHRASE", words);
    Ran::new(typed.join(" "), command.output().expect("the binary starts"))
}

fn kit(path: &str) -> [&str; 4] {
    ["cluster", "recovery-kit", "--out", path]
}

fn check(path: &str) -> [&str; 4] {
    ["cluster", "recovery-kit", "--check", path]
}

#[test]
fn a_kit_holds_what_was_decided_and_opens_with_its_passphrase_alone() {
    let fleet = Fleet::serving(1, 2, &["a", "b", "c"]);
    let token =
        fleet.json(&["tenant", "create", "Anna's shop"])["token"].as_str().expect("a token").to_owned();
    let _ = fleet.run(&["tenant", "create", "gone"]).ok();
    let _ = fleet.run(&["tenant", "delete", "gone", "--yes"]).ok();
    let made = with_words(&fleet, 0, WORDS, &kit("kit")).ok().says("0600").says("master key").says("purge");
    assert!(!made.stdout.contains(WORDS));
    let path = fleet.palace().outside().join("kit");
    assert_eq!(fs::metadata(&path).expect("a kit").permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&path).expect("a kit");
    for plain in ["Anna", "127.0.0.1", &token[..8], WORDS] {
        assert!(!bytes.windows(plain.len()).any(|part| part == plain.as_bytes()), "{plain} is to be read");
    }
    // Another machine, on another day: no member runs, and there is no token.
    let away = Palace::empty().with("UNDERCROFT_RECOVERY_PASSPHRASE", WORDS);
    let _ = away.file("kit", &bytes);
    let _ = away.run(&check("kit")).ok().says("RECOVERY KIT OK").says("token key:    in it");
    let contents = away.json(&check("kit"))["contents"].clone();
    for (field, value) in [("tenants", 1), ("vaults", 1), ("shards", 2), ("nodes", 3), ("members", 1)] {
        assert_eq!(contents[field], json!(value), "{field} in {contents}");
    }
    assert_eq!(contents["orch_key"], true);
    assert_eq!(contents["cluster"], fleet.json(&["cluster", "status"])["id"]);
    assert!(!away.root().exists(), "no installation is needed, and none is made");
    let away = away.with("UNDERCROFT_RECOVERY_PASSPHRASE", "a stone under the fourth stair");
    away.run(&check("kit")).refuses(1, "not under this one");
    assert_eq!(away.run(&[&check("kit")[..], &["--json"]].concat()).exits(1).json()["class"], "denied");
    away.without("UNDERCROFT_RECOVERY_PASSPHRASE").run(&check("kit")).refuses(1, "--passphrase-file");
    with_words(&fleet, 0, WORDS, &kit("kit")).refuses(1, "refusing to overwrite");
    assert_eq!(fs::read(&path).expect("a kit"), bytes);
}

#[test]
fn a_kit_that_was_changed_cut_or_exchanged_is_refused() {
    let fleet = Fleet::serving(1, 1, &["a", "b", "c"]);
    let palace = fleet.palace();
    let _ = with_words(&fleet, 0, WORDS, &kit("kit")).ok();
    let bytes = fs::read(palace.outside().join("kit")).expect("a kit");
    let opened = |name: &str, bytes: &[u8]| {
        let _ = palace.file(name, bytes);
        with_words(&fleet, 0, WORDS, &check(name))
    };
    for at in [8, 9, 30, 45, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        opened("changed", &changed).refuses(2, "damaged or was changed");
    }
    for end in [9, 100, bytes.len() - 1] {
        opened("cut", &bytes[..end]).refuses(2, "damaged or was changed");
    }
    let mut newer = bytes.clone();
    newer[7] = 9;
    opened("newer", &newer).refuses(1, "another version");
    opened("other", b"no kit at all").refuses(1, "no recovery kit");
    opened("empty", b"").refuses(1, "no recovery kit");
    with_words(&fleet, 0, WORDS, &check("nowhere")).refuses(1, "nowhere");
    with_words(&fleet, 0, WORDS, &check(".")).refuses(1, "a folder");
    let _ = opened("same", &bytes).ok();
}

#[test]
fn a_key_file_or_a_file_of_words_takes_the_place_of_the_variable() {
    let fleet = Fleet::serving(1, 1, &["a", "b", "c"]);
    let palace = fleet.palace();
    let _ = palace.file("words", format!("{WORDS}\nand a second line\n"));
    let _ = fleet.run(&[&kit("by-words")[..], &["--passphrase-file", "words"]].concat()).ok();
    let _ = with_words(&fleet, 0, WORDS, &check("by-words")).ok();
    let key = palace.file("key", [7; 32]);
    let mode = |mode| fs::set_permissions(&key, fs::Permissions::from_mode(mode)).expect("a mode");
    mode(0o644);
    let by_key = [&kit("by-key")[..], &["--key-file", "key"]].concat();
    fleet.run(&by_key).refuses(1, "chmod 600");
    mode(0o600);
    let _ = fleet.run(&by_key).ok().says("the key file");
    let _ = fleet.run(&[&check("by-key")[..], &["--key-file", "key"]].concat()).ok();
    with_words(&fleet, 0, WORDS, &check("by-key")).refuses(1, "sealed under a key file");
    fleet
        .run(&[&check("by-words")[..], &["--key-file", "key"]].concat())
        .refuses(1, "sealed under a passphrase");
    let other = palace.file("short", [7; 31]);
    fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).expect("a mode");
    fleet.run(&[&check("by-key")[..], &["--key-file", "short"]].concat()).refuses(1, "32 bytes");
    let _ = palace.file("blank", "\n");
    for (typed, says) in [
        (&["--passphrase-file", "blank"][..], "blank"),
        (&["--passphrase-file", "nowhere"], "nowhere"),
        (&["--passphrase-file", "words", "--key-file", "key"], "--key-file"),
        (&["--check", "by-key"], "--check"),
    ] {
        fleet.run(&[&kit("none")[..], typed].concat()).refuses(1, says);
    }
    with_words(&fleet, 0, "eleven char", &kit("none")).refuses(1, "at least 12 characters");
    assert!(!palace.outside().join("none").exists());
    fleet.run(&["cluster", "recovery-kit"]).refuses(1, "--check");
    fleet.run(&[&check("by-key")[..], &["--stale"]].concat()).refuses(1, "--check");
}

#[test]
fn a_group_that_lost_its_majority_still_gives_what_a_member_has() {
    let mut fleet = Fleet::serving(3, 1, &["a", "b", "c"]);
    let _ = fleet.at(2, &["tenant", "create", "kept"]).ok();
    fleet.until("the first member has it", &["tenant", "list"], |answer| answer["tenants"] != json!([]));
    fleet.kill(1);
    fleet.kill(2);
    with_words(&fleet, 0, WORDS, &kit("kit")).refuses(1, "unknown");
    assert!(!fleet.palace().outside().join("kit").exists());
    let stale = [&kit("kit")[..], &["--stale", "--json"]].concat();
    let made = with_words(&fleet, 0, WORDS, &stale).ok().json();
    assert_eq!((&made["contents"]["tenants"], &made["contents"]["members"]), (&json!(1), &json!(3)));
    let _ = with_words(&fleet, 0, WORDS, &check("kit")).ok();
}
