//! Copies that can be trusted, and refusals where one cannot.

use std::fs;

use undercroft_tests::support::{Palace, contents};

fn backup(palace: &Palace) -> String {
    let made = palace.json(&["backup", "create"]);
    let path = made["path"].as_str().expect("a path");
    path.rsplit('/').next().expect("a name").to_owned()
}

#[test]
fn a_backup_brings_back_what_was_there_and_nothing_newer() {
    let palace = Palace::new();
    let kept = palace.remember("words before the copy");
    let name = backup(&palace);
    let lost = palace.remember("words after the copy");
    palace.run(&["backup", "restore", &name]).refuses(1, "--force");
    assert_eq!(palace.words(&lost), "words after the copy");
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok().says("-> vault 'default'");
    assert_eq!(palace.words(&kept), "words before the copy");
    palace.run(&["drawer", "get", &lost]).refuses(1, "No drawer");
    palace.verifies();
    let _ = palace.remember("life goes on");
    palace.verifies();
}

#[test]
fn a_deleted_vault_comes_back_from_its_backup_without_force() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    palace.run(&["vault", "delete", "default"]).refuses(1, "--yes");
    let _ = palace.run(&["vault", "delete", "default", "--yes"]).ok();
    assert!(!palace.vault().exists());
    let _ = palace.run(&["backup", "restore", &name]).ok();
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

#[test]
fn a_damaged_backup_is_refused_and_the_vault_stays() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    let folder = palace.root().join("backups").join(&name);
    let database = fs::read(folder.join("vault.db")).expect("a copy");
    let target = folder.join("vault.db");
    let change = |what: &str| match what {
        "cut" => fs::write(&target, &database[..database.len() / 2]).expect("written"),
        "emptied" => fs::write(&target, b"").expect("written"),
        _ => {
            fs::write(&target, &database).expect("written");
            let conn = rusqlite::Connection::open(&target).expect("the copy");
            conn.execute("UPDATE drawers SET content = zeroblob(60)", []).expect("changed");
        }
    };
    for what in ["cut", "emptied", "changed"] {
        change(what);
        let before = contents(&palace.vault());
        let ran = palace.run(&["backup", "restore", &name, "--force"]);
        assert_eq!(ran.code, Some(2), "{what}: {ran}");
        assert_eq!(contents(&palace.vault()), before, "{what}: the vault was touched");
    }
    assert_eq!(palace.words(&id), "words");
}

#[test]
fn names_that_are_no_backups_are_refused() {
    let palace = Palace::new();
    for name in ["nothing", "../vaults/default", "", ".", "/etc"] {
        palace.run(&["backup", "restore", "--force", "--", name]).refuses(1, "no backup");
    }
    fs::create_dir_all(palace.root().join("backups/half")).expect("a folder without a manifest");
    let _ = palace.run(&["backup", "list"]).ok().says("No backups");
}

#[test]
fn the_newest_ten_of_each_vault_are_kept_whatever_its_name() {
    let palace = Palace::new();
    // A name that ends in what looks like a time must not be taken for another vault's backups.
    let odd = "default-2026-01-02T03-04-05-678901Z";
    let _ = palace.run(&["vault", "create", odd]).ok();
    let _ = palace.run(&["backup", "create", "--vault", odd]).ok();
    let names: Vec<String> = (0..12).map(|_| backup(&palace)).collect();
    let listed = palace.json(&["backup", "list"]);
    let listed: Vec<&str> = listed["backups"]
        .as_array()
        .expect("backups")
        .iter()
        .map(|b| b["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(listed.iter().filter(|name| names.iter().any(|own| own == *name)).count(), 10);
    assert!(listed.iter().any(|name| name.starts_with(odd)), "{listed:?}");
    assert!(!listed.contains(&names[0].as_str()) && listed.contains(&names[11].as_str()));
}

#[test]
fn a_backup_opens_as_a_palace_of_its_own_with_the_same_key() {
    let palace = Palace::new();
    let id = palace.remember("words on another machine");
    let name = backup(&palace);
    let other = Palace::empty();
    let to = other.root().join("backups").join(&name);
    fs::create_dir_all(&to).expect("a folder");
    for file in ["vault.db", "vault.json"] {
        fs::copy(palace.root().join("backups").join(&name).join(file), to.join(file)).expect("a copy");
    }
    fs::copy(palace.root().join("master.key"), other.root().join("master.key")).expect("the key");
    let _ = other.run(&["backup", "restore", &name]).ok();
    assert_eq!(other.words(&id), "words on another machine");
    other.verifies();
}

#[test]
fn the_copy_that_was_just_made_is_kept_although_the_clock_was_put_back() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let backups = palace.root().join("backups");
    for number in 0..10 {
        let name = backup(&palace);
        let later = format!("default-2099-01-02T03-04-{number:02}-678901Z");
        fs::rename(backups.join(name), backups.join(later)).expect("renamed");
    }
    let name = backup(&palace);
    assert!(backups.join(&name).join("vault.db").is_file(), "{name} was dropped");
    assert_eq!(fs::read_dir(&backups).expect("backups").count(), 10);
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok();
}

#[test]
fn a_folder_that_was_copied_by_hand_is_restored_with_its_log() {
    let palace = Palace::new();
    let kept = palace.remember("words in the database");
    let manual = palace.root().join("backups/manual");
    fs::create_dir_all(&manual).expect("a folder");
    let vault = undercroft_tests::support::open_to_write(&palace);
    let drawer =
        undercroft_vault::NewDrawer::direct("w", "r", "words in the log", undercroft_vault::AddedBy::Cli);
    let screening = undercroft_vault::Screening::Bypass(undercroft_vault::BypassReason::NotDeclared);
    let logged = vault.save(drawer, screening).expect("saved").id.to_string();
    for file in ["vault.db", "vault.db-wal", "vault.json"] {
        fs::copy(palace.vault().join(file), manual.join(file)).expect("a copy by hand");
    }
    drop(vault);
    assert!(fs::metadata(manual.join("vault.db-wal")).expect("a log").len() > 0);
    let before = contents(&manual);
    let _ = palace.run(&["backup", "restore", "manual", "--force"]).ok();
    assert_eq!(palace.words(&logged), "words in the log");
    assert_eq!(palace.words(&kept), "words in the database");
    palace.verifies();
    assert_eq!(contents(&manual), before, "a backup is only read");
    // One whose log is that of another copy is refused, and the vault stays.
    let name = backup(&palace);
    fs::copy(manual.join("vault.db-wal"), palace.root().join("backups").join(&name).join("vault.db-wal"))
        .expect("a copy");
    let _ = palace.remember("life goes on");
    let before = contents(&palace.vault());
    let ran = palace.run(&["backup", "restore", &name, "--force"]);
    if ran.code != Some(0) {
        assert_eq!(ran.code, Some(2), "{ran}");
        assert_eq!(contents(&palace.vault()), before);
    }
    palace.verifies();
}

/// A folder on another file system, where the machine has one.
fn elsewhere(palace: &Palace) -> Option<tempfile::TempDir> {
    use std::os::unix::fs::MetadataExt as _;
    let other = tempfile::tempdir_in("/dev/shm").ok()?;
    let device = |path: &std::path::Path| fs::metadata(path).expect("a folder").dev();
    (device(other.path()) != device(&palace.root())).then_some(other)
}

#[test]
fn backups_and_vaults_may_be_kept_on_another_disk() {
    let palace = Palace::new();
    let Some(other) = elsewhere(&palace) else { return };
    let id = palace.remember("words");
    let _ = backup(&palace);
    for part in ["backups", "vaults"] {
        let moved = other.path().join(part);
        let here = palace.root().join(part);
        let copied = std::process::Command::new("cp").arg("-a").arg(&here).arg(&moved).status().expect("cp");
        assert!(copied.success());
        fs::remove_dir_all(&here).expect("moved away");
        std::os::unix::fs::symlink(&moved, &here).expect("a link");
        let names: Vec<String> = (0..11).map(|_| backup(&palace)).collect();
        let _ = palace.run(&["backup", "restore", &names[10], "--force"]).ok();
        assert_eq!(palace.words(&id), "words");
        let _ = palace.run(&["vault", "create", "more"]).ok();
        let _ = palace.run(&["vault", "delete", "more", "--yes"]).ok();
        assert_eq!(palace.json(&["backup", "list"])["backups"].as_array().expect("backups").len(), 10);
        for staging in [palace.root().join(".staging"), other.path().join(part).join(".staging")] {
            let left = fs::read_dir(staging).map_or(0, Iterator::count);
            assert_eq!(left, 0, "something was left in the staging folder");
        }
        palace.verifies();
    }
}
