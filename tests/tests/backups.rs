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
