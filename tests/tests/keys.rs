//! The master key: made once, never guessed, never replaced. Contradictions are refused before anything is derived.

use std::fs;

use undercroft_tests::support::{Palace, contents};

const PASSPHRASE: &str = "UNDERCROFT_PASSPHRASE";

fn make_private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("permissions");
}

/// Fails unless the command is refused with 1 and no byte of the installation changes.
fn refused(palace: &Palace, arguments: &[&str], words: &str) {
    let before = contents(&palace.root());
    palace.run(arguments).refuses(1, words);
    assert_eq!(contents(&palace.root()), before, "a refused command wrote something");
}

#[test]
fn commands_without_an_installation_make_none() {
    let palace = Palace::empty();
    for command in [&["search", "x"][..], &["remember", "x"], &["verify"], &["backup", "create"], &["stats"]]
    {
        refused(&palace, command, "undercroft init");
    }
    assert!(!palace.root().exists());
}

#[test]
fn a_passphrase_opens_what_it_made_and_only_that() {
    let palace = Palace::empty().with(PASSPHRASE, "correct horse battery staple");
    let _ = palace.run(&["init"]).ok().says("Argon2id");
    let id = palace.remember("kept under a passphrase");
    assert_eq!(palace.words(&id), "kept under a passphrase");
    assert!(!palace.root().join("master.key").exists());
    let palace = palace.with(PASSPHRASE, "wrong horse");
    let before = contents(&palace.root());
    // A wrong passphrase cannot be told from a changed manifest.
    palace.run(&["drawer", "get", &id]).refuses(2, "manifest");
    palace.run(&["vault", "create", "other"]).refuses(2, "key");
    assert_eq!(contents(&palace.root()), before);
}

#[test]
fn the_declared_source_must_be_the_one_that_is_there() {
    let with_file = Palace::new().with(PASSPHRASE, "declared later");
    for command in [&["init"][..], &["search", "x"], &["vault", "create", "v"]] {
        refused(&with_file, command, "contradicts this installation");
    }
    let with_salt = Palace::empty().with(PASSPHRASE, "declared first");
    let _ = with_salt.run(&["init"]).ok();
    let undeclared = with_salt.without(PASSPHRASE);
    for command in [&["init"][..], &["search", "x"], &["vault", "create", "v"]] {
        refused(&undeclared, command, "contradicts this installation");
    }
}

#[test]
fn lost_key_material_under_vaults_or_backups_is_never_made_anew() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let _ = palace.run(&["backup", "create"]).ok();
    let key = fs::read(palace.root().join("master.key")).expect("a key");
    fs::remove_file(palace.root().join("master.key")).expect("the key lost");
    for command in [&["init"][..], &["vault", "create", "v"], &["verify"]] {
        refused(&palace, command, "is missing");
    }
    fs::remove_dir_all(palace.root().join("vaults")).expect("the vaults lost too");
    refused(&palace, &["init"], "backups");
    fs::write(palace.root().join("master.key"), key).expect("the key put back");
    make_private(&palace.root().join("master.key"));
    let listed = palace.json(&["backup", "list"]);
    let name = listed["backups"][0]["name"].as_str().expect("a backup");
    let _ = palace.run(&["backup", "restore", name]).ok();
    palace.verifies();
}

#[test]
fn a_key_file_that_is_cut_or_shared_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let palace = Palace::new();
    let path = palace.root().join("master.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("permissions");
    refused(&palace, &["verify"], "chmod 600");
    make_private(&path);
    let key = fs::read(&path).expect("a key");
    fs::write(&path, &key[..31]).expect("a cut key");
    refused(&palace, &["verify"], "32 bytes");
    fs::write(&path, [7; 32]).expect("another key");
    palace.run(&["verify"]).refuses(2, "manifest");
    fs::write(&path, key).expect("the key put back");
    palace.verifies();
}

#[test]
fn files_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let palace = Palace::new();
    let _ = palace.remember("words");
    let _ = palace.run(&["backup", "create"]).ok();
    for path in contents(&palace.root()).keys() {
        let mode = fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
}
