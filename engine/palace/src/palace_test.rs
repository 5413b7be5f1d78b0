//! One installation from first start to restore, with vaults that are real.

use std::fs;
use std::path::Path;

use undercroft_crypto::SeededEntropy;
use undercroft_vault::{AddedBy, BypassReason, ManualClock, NewDrawer, Screening};

use super::*;
use crate::registry::{DATABASE, MANIFEST};
use undercroft_crypto::ErrorClass;

const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);
/// 2026-01-02T03:04:05Z.
const NOW: i64 = 1_767_323_045_000_000;

struct Fixture {
    _dir: tempfile::TempDir,
    home: Home,
    clock: Arc<ManualClock>,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("palace"));
        Self { _dir: dir, home, clock: Arc::new(ManualClock::new(NOW)) }
    }

    fn palace(&self, seed: u64) -> Palace {
        self.open(seed, CreateKeys::IfEmpty).unwrap()
    }

    fn open(&self, seed: u64, create: CreateKeys) -> Result<Palace> {
        let tools = tools_with(self.clock.clone(), Arc::new(SeededEntropy::new(seed)));
        Palace::open(self.home.clone(), &KeySource::KeyFile, create, &VaultSettings::default(), tools)
    }
}

fn remember(vault: &Vault, text: &str) {
    vault.save(NewDrawer::direct("house", "keys", text, AddedBy::Cli), SCREENING).unwrap();
}

fn texts(palace: &Palace, vault: &str) -> Vec<String> {
    let vault = palace.open_vault(vault, Access::ReadOnly).unwrap();
    vault.recent(None, 50).unwrap().into_iter().map(|drawer| drawer.content).collect()
}

fn backup(palace: &Palace, vault: &str) -> String {
    let made = palace.create_backup(vault, &mut |_| {}).unwrap();
    made.path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_vault_whose_replacement_was_interrupted_is_not_made_anew_over_its_words() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "words from before");
    // Somebody else works in the staging folder all the while, so it is not cleared.
    let busy = Staging::enter(palace.home()).unwrap();
    busy.set_aside_replaced(&palace.home().vaults().join("work"), "work").unwrap();
    assert!(matches!(palace.create_vault("work", Level::Sealed), Err(Error::VaultExists(_))));
    assert_eq!(texts(&palace, "work"), ["words from before"]);
    drop(busy);
    drop(Staging::enter(palace.home()).unwrap());
    assert_eq!(texts(&palace, "work"), ["words from before"]);
}

#[test]
fn what_a_replacement_left_does_not_come_back_for_a_deleted_vault() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    palace.create_vault("work", Level::Sealed).unwrap();
    let waste = palace.home().root().join(".staging/replaced-work");
    fs::create_dir_all(&waste).unwrap();
    // Of a replacement that is just removing the old folder: nobody clears it away.
    palace.delete_vault("work").unwrap();
    assert!(!waste.exists());
    let again = fixture.palace(2);
    assert_eq!(again.vaults().unwrap(), Vec::<String>::new());
}

#[test]
fn a_restore_takes_the_place_of_whatever_lies_there_when_told_to() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "kept");
    let name = backup(&palace, "work");
    let folder = palace.home().vaults().join("work");
    let lose_manifest = || fs::remove_file(folder.join(MANIFEST)).unwrap();
    let remove = || fs::remove_dir_all(&folder).unwrap();
    let cases: [(&str, &dyn Fn()); 4] = [
        ("no manifest", &lose_manifest),
        ("a folder for a manifest", &|| {
            lose_manifest();
            fs::create_dir(folder.join(MANIFEST)).unwrap();
        }),
        ("a stray folder", &|| {
            remove();
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("note"), "x").unwrap();
        }),
        ("a stray file", &|| {
            remove();
            fs::write(&folder, "x").unwrap();
        }),
    ];
    for (what, spoil) in cases {
        spoil();
        let error = palace.restore_backup(&name, false, &mut |_| {}).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Conflict, "{what}: {error}");
        palace.restore_backup(&name, true, &mut |_| {}).unwrap();
        assert_eq!(texts(&palace, "work"), ["kept"], "{what}");
    }
    remove();
    fs::create_dir(&folder).unwrap();
    palace.restore_backup(&name, false, &mut |_| {}).expect("an empty folder holds nothing to lose");
    assert_eq!(texts(&palace, "work"), ["kept"]);
    assert_eq!(fs::read_dir(palace.home().root().join(".staging")).unwrap().count(), 0);
}

#[test]
fn a_foreign_key_makes_nothing_where_vaults_are() {
    let fixture = Fixture::new();
    fixture.palace(1).create_vault("work", Level::Sealed).unwrap();
    fs::write(fixture.home.key_file(), [9; 32]).unwrap();
    assert!(matches!(fixture.open(2, CreateKeys::IfEmpty), Err(Error::ForeignKey { vaults: 1 })));
    fixture.open(2, CreateKeys::Never).expect("opening to read judges each vault by itself");
}

#[test]
fn a_vault_is_made_once_opened_again_and_deleted_for_good() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "the spare key hangs behind the map");
    assert!(matches!(palace.create_vault("work", Level::Sealed), Err(Error::VaultExists(_))));
    assert_eq!(palace.vaults().unwrap(), ["work"]);
    assert_eq!(texts(&palace, "work"), ["the spare key hangs behind the map"]);
    palace.delete_vault("work").unwrap();
    assert!(matches!(palace.open_vault("work", Access::Write), Err(Error::NoVault(_))));
    palace.create_vault("work", Level::HmacOnly).unwrap();
    assert!(texts(&palace, "work").is_empty());
}

#[test]
fn a_vault_in_use_is_not_deleted() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    let open = palace.create_vault("work", Level::Sealed).unwrap();
    assert_eq!(palace.delete_vault("work").unwrap_err().class(), ErrorClass::Conflict);
    drop(open);
    palace.delete_vault("work").unwrap();
}

#[test]
fn a_key_that_opens_no_vault_makes_none_beside_them() {
    let fixture = Fixture::new();
    fixture.palace(1).create_vault("work", Level::Sealed).unwrap();
    undercroft_crypto::durable::replace(&fixture.home.key_file(), &[9; 32], 0o600).unwrap();
    let foreign = fixture.open(2, CreateKeys::Never).unwrap();
    let error = foreign.create_vault("other", Level::Sealed).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert_eq!(foreign.vaults().unwrap(), ["work"]);
    assert_eq!(foreign.open_vault("work", Access::ReadOnly).unwrap_err().class(), ErrorClass::Integrity);
}

#[test]
fn swapped_folders_are_refused_with_both_names_and_are_not_deleted() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    palace.create_vault("work", Level::Sealed).unwrap();
    fs::rename(fixture.home.vaults().join("work"), fixture.home.vaults().join("play")).unwrap();
    for error in [
        palace.open_vault("play", Access::ReadOnly).map(drop).unwrap_err(),
        palace.delete_vault("play").unwrap_err(),
    ] {
        assert_eq!(error.class(), ErrorClass::Integrity);
        let message = error.to_string();
        assert!(
            message.contains("'play'") && message.contains("rename the folder back to 'work'"),
            "{message}"
        );
    }
    fs::rename(fixture.home.vaults().join("play"), fixture.home.vaults().join("work")).unwrap();
    palace.open_vault("work", Access::Write).unwrap();
}

#[test]
fn a_vault_is_not_deleted_with_a_key_that_does_not_open_it() {
    let fixture = Fixture::new();
    fixture.palace(1).create_vault("work", Level::Sealed).unwrap();
    undercroft_crypto::durable::replace(&fixture.home.key_file(), &[9; 32], 0o600).unwrap();
    let foreign = fixture.open(2, CreateKeys::Never).unwrap();
    let error = foreign.delete_vault("work").unwrap_err();
    assert!(matches!(error, Error::NotOpened(_)), "{error}");
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert_eq!(foreign.vaults().unwrap(), ["work"]);
}

#[test]
fn a_backup_is_a_whole_vault_named_for_its_moment() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "one");
    let name = backup(&palace, "work");
    assert_eq!(name, "work-2026-01-02T03-04-05-000000Z");
    let folder = fixture.home.backups().join(&name);
    assert!(folder.join(MANIFEST).is_file() && folder.join(DATABASE).is_file());
    assert_eq!(palace.backups().unwrap()[0].vault.as_deref(), Some("work"));
}

#[test]
fn a_restore_brings_back_what_was_there_and_replaces_only_when_told() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    let vault = palace.create_vault("work-2026", Level::Sealed).unwrap();
    remember(&vault, "before");
    let name = backup(&palace, "work-2026");
    fixture.clock.advance(1_000_000);
    remember(&vault, "after");
    assert!(matches!(palace.restore_backup(&name, false, &mut |_| {}), Err(Error::RestoreReplaces(_))));
    let in_use = palace.restore_backup(&name, true, &mut |_| {}).unwrap_err();
    assert_eq!(in_use.class(), ErrorClass::Conflict);
    drop(vault);
    assert_eq!(texts(&palace, "work-2026").len(), 2);
    assert_eq!(palace.restore_backup(&name, true, &mut |_| {}).unwrap(), "work-2026");
    assert_eq!(texts(&palace, "work-2026"), ["before"]);
    palace.delete_vault("work-2026").unwrap();
    assert_eq!(palace.restore_backup(&name, false, &mut |_| {}).unwrap(), "work-2026");
    assert_eq!(texts(&palace, "work-2026"), ["before"]);
    assert_eq!(fs::read_dir(fixture.home.root().join(".staging")).unwrap().count(), 0);
}

#[test]
fn a_restored_vault_takes_writes_and_verifies() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "one");
    let name = backup(&palace, "work");
    palace.restore_backup(&name, true, &mut |_| {}).unwrap();
    let vault = palace.open_vault("work", Access::Write).unwrap();
    remember(&vault, "two");
    assert!(vault.verify(&mut |_| {}).unwrap().ok);
}

#[test]
fn a_renamed_backup_restores_the_vault_it_was_made_from_and_replaces_none() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "one");
    let name = backup(&palace, "work");
    let renamed = "other-2020-01-01T00-00-00-000000Z";
    fs::rename(fixture.home.backups().join(name), fixture.home.backups().join(renamed)).unwrap();
    let refused = palace.restore_backup(renamed, true, &mut |_| {});
    assert!(matches!(refused, Err(Error::BackupRenamed { .. })), "{refused:?}");
    fs::remove_dir_all(fixture.home.vaults().join("work")).unwrap();
    assert_eq!(palace.restore_backup(renamed, true, &mut |_| {}).unwrap(), "work");
    assert_eq!(palace.vaults().unwrap(), ["work"]);
}

#[test]
fn a_damaged_backup_is_refused_and_the_vault_left_as_it_is() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    remember(&palace.create_vault("work", Level::Sealed).unwrap(), "one");
    let name = backup(&palace, "work");
    let manifest = fixture.home.backups().join(&name).join(MANIFEST);
    let database = fixture.home.backups().join(&name).join(DATABASE);
    for damaged in [&manifest, &database] {
        let whole = fs::read(damaged).unwrap();
        damage(damaged);
        let error = palace.restore_backup(&name, true, &mut |_| {}).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Integrity, "{error}");
        fs::write(damaged, whole).unwrap();
    }
    assert_eq!(texts(&palace, "work"), ["one"]);
    palace.restore_backup(&name, true, &mut |_| {}).expect("put back, it restores");
}

/// Changes bytes in the middle of every page-sized part of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    for part in bytes.chunks_mut(512) {
        let middle = part.len() / 2;
        part[middle] ^= 0x5a;
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn the_eleventh_backup_drops_the_first() {
    let fixture = Fixture::new();
    let palace = fixture.palace(1);
    palace.create_vault("work", Level::Sealed).unwrap();
    let first = backup(&palace, "work");
    for _ in 0..9 {
        fixture.clock.advance(1);
        assert!(palace.create_backup("work", &mut |_| {}).unwrap().dropped.is_empty());
    }
    fixture.clock.advance(1);
    assert_eq!(palace.create_backup("work", &mut |_| {}).unwrap().dropped, [first]);
    assert_eq!(palace.backups().unwrap().len(), backups::KEPT);
}

#[test]
fn settings_reach_the_vault_in_its_own_terms() {
    let settings = VaultSettings {
        fusion: Fusion::Legacy,
        fusion_weight: 0.25,
        semantic_gate: Some(Limit::Off),
        semantic_floor: Some(0.5),
        force_embedder: true,
        ..VaultSettings::default()
    };
    let config = config(&settings);
    assert_eq!(config.fusion, undercroft_search::FusionMode::Legacy);
    assert_eq!(config.gate, Some(undercroft_search::Gate::Off));
    assert_eq!((config.semantic_weight, config.floor, config.force_embedder), (0.25, Some(0.5), true));
}
