//! Names to folders: what is a vault, what is not, and that no name leaves the folder of vaults.

use std::fs;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    (dir, home)
}

fn put_vault(home: &Home, name: &str) {
    let folder = home.vaults().join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(MANIFEST), "{}").unwrap();
}

#[test]
fn a_manifest_makes_a_folder_a_vault_and_what_lost_its_own_is_named() {
    let (_dir, home) = home();
    assert_eq!(names(&home).unwrap(), Vec::<String>::new());
    put_vault(&home, "work");
    put_vault(&home, "notes on bees");
    fs::create_dir_all(home.vaults().join("empty")).unwrap();
    fs::create_dir_all(home.vaults().join("folder").join(MANIFEST)).unwrap();
    fs::write(home.vaults().join("file"), "x").unwrap();
    put_vault(&home, ".new-0011223344556677");
    fs::create_dir_all(home.vaults().join("lost")).unwrap();
    fs::write(home.vaults().join("lost").join(DATABASE), "x").unwrap();
    assert_eq!(names(&home).unwrap(), ["folder", "lost", "notes on bees", "work"]);
    assert!(exists(&home, "work").unwrap() && !exists(&home, "empty").unwrap());
    for damaged in ["folder", "lost"] {
        let error = existing(&home, damaged).unwrap_err();
        assert_eq!(error.class(), crate::ErrorClass::Integrity, "{error}");
        assert!(error.to_string().contains("backup restore NAME --force"), "{error}");
    }
    for other in ["empty", "file", "nothing"] {
        assert!(matches!(existing(&home, other), Err(Error::NoVault(_))), "{other}");
    }
    let found = |name: &str| look(&home.vaults().join(name)).unwrap();
    assert_eq!(found("empty"), Found::EmptyFolder);
    assert_eq!(found("nothing"), Found::Nothing);
    assert_eq!(found("file"), Found::Stray("a file"));
    fs::write(home.vaults().join("empty").join("note"), "x").unwrap();
    assert_eq!(found("empty"), Found::Stray("a folder that holds no vault"));
}

#[test]
fn no_name_leaves_the_folder_of_vaults() {
    let (_dir, home) = home();
    for name in
        ["", " ", ".", "..", ".new-0011", "a/b", "../x", "a\\b", "nul\0", "line\nend", &"x".repeat(129)]
    {
        assert!(matches!(folder(&home, name), Err(Error::VaultName(_))), "{name:?}");
    }
    assert_eq!(folder(&home, " work ").unwrap(), home.vaults().join("work"));
}

#[test]
fn a_database_without_a_manifest_still_needs_the_key() {
    let (_dir, home) = home();
    assert!(!holds_any(&home).unwrap());
    fs::create_dir_all(home.vaults().join("x")).unwrap();
    assert!(!holds_any(&home).unwrap());
    fs::write(home.vaults().join("x").join(DATABASE), "x").unwrap();
    assert!(holds_any(&home).unwrap());
}

#[test]
fn removal_leaves_the_name_free_and_the_others_alone() {
    let (_dir, home) = home();
    put_vault(&home, "a");
    put_vault(&home, "b");
    let staging = Staging::enter(&home).unwrap();
    remove(&home, "a", &staging).unwrap();
    assert_eq!(names(&home).unwrap(), ["b"]);
    assert!(matches!(remove(&home, "a", &staging), Err(Error::NoVault(_))));
    assert_eq!(fs::read_dir(home.root().join(".staging")).unwrap().count(), 0);
    put_vault(&home, "a");
    remove(&home, "a", &staging).unwrap();
}

#[test]
fn a_folder_of_vaults_that_cannot_be_read_is_an_error_and_not_empty() {
    let (_dir, home) = home();
    fs::write(home.vaults(), "a file").unwrap();
    assert!(names(&home).is_err());
    assert!(holds_any(&home).is_err());
}
