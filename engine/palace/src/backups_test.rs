//! Names, list and pruning of backups, with vault names that look like parts of each other.

use std::fs;

use undercroft_crypto::{
    Anchor, Head, Height, KeyGeneration, Level, Manifest, MasterKey, Salt, SealId, SeededEntropy, VaultKeys,
};

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    (dir, home)
}

/// The manifest of the vault `vault` in one of its lives: deleted and made again, it has another seal id.
fn manifest_text(vault: &str, life: u64) -> String {
    let entropy = SeededEntropy::new(life);
    let (seal_id, salt) = (SealId::generate(&entropy), Salt::generate(&entropy));
    let generation = KeyGeneration::first();
    let keys = VaultKeys::derive(&MasterKey::generate(&entropy), &seal_id, generation, &salt);
    let manifest = Manifest {
        version: 1,
        name: vault.to_owned(),
        level: Level::Sealed,
        seal_id,
        generations: vec![(generation, salt)],
        embedder: None,
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        anchor: Anchor { height: Height::genesis(), head: Head::from_bytes([0; 32]) },
        log_id: None,
    };
    manifest.to_json(keys.manifest())
}

fn put(home: &Home, folder: &str, vault: &str) {
    let path = home.backups().join(folder);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join(MANIFEST), manifest_text(vault, 3)).unwrap();
}

fn names(home: &Home) -> Vec<String> {
    list(home).unwrap().into_iter().map(|backup| backup.name).collect()
}

#[test]
fn a_backup_belongs_to_the_vault_that_its_manifest_names() {
    let (_dir, home) = home();
    put(&home, "work-2026-2026-01-02T03-04-05-000001Z", "work-2026");
    put(&home, "renamed by hand", "work");
    let found = list(&home).unwrap();
    assert_eq!(found[0].vault.as_deref(), Some("work"));
    assert_eq!(found[0].stamp(), None);
    assert_eq!(found[1].vault.as_deref(), Some("work-2026"));
    assert_eq!(found[1].stamp(), Some("2026-01-02T03-04-05-000001Z"));
}

#[test]
fn folders_without_a_manifest_are_not_listed_and_damaged_ones_are() {
    let (_dir, home) = home();
    assert!(list(&home).unwrap().is_empty());
    fs::create_dir_all(home.backups().join("empty")).unwrap();
    fs::create_dir_all(home.backups().join("damaged")).unwrap();
    fs::write(home.backups().join("damaged").join(MANIFEST), [0xff, b'{']).unwrap();
    let found = list(&home).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].vault.as_deref()), ("damaged", None));
}

#[test]
fn pruning_keeps_the_newest_ten_of_one_vault_and_touches_no_other() {
    let (_dir, home) = home();
    for number in 0..13 {
        put(&home, &format!("work-2026-01-02T03-04-05-0000{number:02}Z"), "work");
        put(&home, &format!("work-2026-2026-01-02T03-04-05-0000{number:02}Z"), "work-2026");
    }
    put(&home, "work-before the move", "work");
    let staging = Staging::enter(&home).unwrap();
    let dropped = prune(&home, "work", Path::new("none"), &staging).unwrap();
    let expected: Vec<String> =
        (0..3).rev().map(|n| format!("work-2026-01-02T03-04-05-0000{n:02}Z")).collect();
    assert_eq!(dropped, expected);
    assert_eq!(names(&home).len(), 10 + 13 + 1);
    assert!(prune(&home, "work", Path::new("none"), &staging).unwrap().is_empty());
}

#[test]
fn a_backup_that_somebody_else_dropped_is_dropped() {
    let (_dir, home) = home();
    put(&home, "work-x", "work");
    let staging = Staging::enter(&home).unwrap();
    for _ in 0..2 {
        drop_one(&home, &home.backups().join("work-x"), &staging).unwrap();
    }
    assert!(names(&home).is_empty());
}

#[test]
fn the_copies_of_a_deleted_vault_are_not_pruned_by_a_new_one_of_its_name() {
    let (_dir, home) = home();
    let earlier = "work-2025-01-02T03-04-05-000000Z";
    put(&home, earlier, "work");
    fs::write(home.backups().join(earlier).join(MANIFEST), manifest_text("work", 4)).unwrap();
    for number in 0..12 {
        put(&home, &format!("work-2026-01-02T03-04-05-0000{number:02}Z"), "work");
    }
    let staging = Staging::enter(&home).unwrap();
    assert_eq!(prune(&home, "work", Path::new("none"), &staging).unwrap().len(), 2);
    assert!(names(&home).iter().any(|name| name == earlier));
}

#[test]
fn the_backup_that_was_just_made_is_the_newest_although_the_others_are_of_a_later_time() {
    let (_dir, home) = home();
    for number in 0..10 {
        put(&home, &format!("work-2099-01-02T03-04-05-0000{number:02}Z"), "work");
    }
    let made = "work-2026-01-02T03-04-05-000000Z";
    put(&home, made, "work");
    let staging = Staging::enter(&home).unwrap();
    let dropped = prune(&home, "work", &home.backups().join(made), &staging).unwrap();
    assert_eq!(dropped, ["work-2099-01-02T03-04-05-000000Z"]);
    assert!(names(&home).iter().any(|name| name == made));
}

#[test]
fn two_backups_in_one_microsecond_get_two_names() {
    let (_dir, home) = home();
    let first = reserve(&home, "work", 5).unwrap();
    fs::create_dir_all(&first).unwrap();
    let second = reserve(&home, "work", 5).unwrap();
    assert!(first.ends_with("work-1970-01-01T00-00-00-000005Z"));
    assert!(second.ends_with("work-1970-01-01T00-00-00-000006Z"));
}

#[test]
fn a_backup_is_found_by_its_plain_name_only() {
    let (dir, home) = home();
    put(&home, "work-x", "work");
    fs::create_dir_all(dir.path().join("outside")).unwrap();
    fs::write(dir.path().join("outside").join(MANIFEST), manifest_text("outside", 3)).unwrap();
    assert_eq!(find(&home, "work-x").unwrap().vault.as_deref(), Some("work"));
    for name in ["work-y", "../outside", "", ".", "work-x/"] {
        assert!(matches!(find(&home, name), Err(Error::NoBackup(_))), "{name}");
    }
}
