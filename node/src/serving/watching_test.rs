//! What a process notices by itself: writes of others, a manifest that lags, what open vaults hold.

use tempfile::TempDir;
use undercroft_palace::env::Environment;
use undercroft_palace::{Access, CreateKeys, Home, KeySource, Level, Palace, VaultSettings, standard_tools};
use undercroft_vault::{AddedBy, BypassReason, Change, NewDrawer, Screening, Vault};

use super::sweeper;
use super::{Bounds, Gauge, Serving, ServingOptions};

const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);

fn palace(dir: &TempDir) -> Palace {
    let declared = KeySource::declared(&Environment::default()).unwrap();
    let home = Home::at(dir.path().join("palace"));
    Palace::open(home, &declared, CreateKeys::IfEmpty, &VaultSettings::default(), standard_tools()).unwrap()
}

fn serving(dir: &TempDir) -> Serving {
    let options = ServingOptions { access: Access::Write, resident: None, bounds: Bounds::default() };
    Serving::start(palace(dir), options)
}

fn new(text: &str) -> NewDrawer {
    NewDrawer::direct("home", "notes", text, AddedBy::Rest)
}

fn anchored(vault: &Vault) -> undercroft_vault::Result<u64> {
    Ok(vault.manifest().anchor.height.get())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_committed_before_a_pause_is_anchored_at_the_next_look() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir);
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    for text in ["first", "second"] {
        handle.write(Change::Save(new(text))).await.unwrap();
    }
    sweeper::anchor(&serving.shared()).await;
    assert_eq!(handle.read(anchored).await.unwrap(), 2);
    let other = palace(&dir).open_vault("one", Access::ReadOnly).unwrap();
    assert_eq!(*other.recovery(), undercroft_vault::Recovery::Current);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_position_holds_what_others_wrote_before_a_read() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir);
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    handle.write(Change::Save(new("ours"))).await.unwrap();
    let other = palace(&dir).open_vault("one", Access::Write).unwrap();
    for text in ["theirs", "theirs too"] {
        other.save(new(text), UNSCREENED).unwrap();
    }
    assert_eq!(handle.read(|vault| Ok(vault.stats()?.records)).await.unwrap(), 3);
    assert_eq!(handle.position(), 3);
    other.save(new("once more"), UNSCREENED).unwrap();
    handle.catch_up().await.unwrap();
    assert_eq!(handle.position(), 4);
    assert_eq!(serving.counted().chained, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_vaults_are_measured_and_none_is_opened_for_it() {
    let dir = TempDir::new().unwrap();
    palace(&dir).create_vault("closed", Level::Sealed).unwrap();
    let serving = serving(&dir);
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    for text in ["first", "second"] {
        handle.write(Change::Save(new(text))).await.unwrap();
    }
    let [Gauge { vault, drawers: 2, height: 2, bytes }] = &serving.gauges().await[..] else {
        panic!("one open vault of two drawers")
    };
    assert!(vault == "one" && *bytes > 0);
    assert_eq!(serving.counted().vault_opens, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finding_ends_when_the_vault_opens_again_or_is_gone() {
    let dir = TempDir::new().unwrap();
    for name in ["back", "gone"] {
        palace(&dir).create_vault(name, Level::Sealed).unwrap();
    }
    let vaults = dir.path().join("palace/vaults");
    let sound = std::fs::read(vaults.join("back/vault.db")).unwrap();
    for name in ["back", "gone"] {
        std::fs::write(vaults.join(name).join("vault.db"), vec![0x5a; 8192]).unwrap();
    }
    let serving = serving(&dir);
    for name in ["back", "gone"] {
        serving.vault(name).await.unwrap_err();
    }
    assert_eq!(serving.damaged().len(), 2);
    std::fs::write(vaults.join("back/vault.db"), sound).unwrap();
    let handle = serving.vault("back").await.unwrap();
    std::fs::remove_dir_all(vaults.join("gone")).unwrap();
    sweeper::absent(&serving.shared());
    assert_eq!(serving.damaged(), []);
    // One of a record is not ended by an open, which reads none.
    handle.was_verified(false, 1);
    drop(handle);
    serving.shared().close_oldest().await;
    let handle = serving.vault("back").await.unwrap();
    assert_eq!(serving.damaged().len(), 1);
    handle.was_verified(true, 0);
    assert_eq!(serving.damaged(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_read_after_a_vault_was_deleted_says_so_and_names_no_defect() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir);
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    std::fs::remove_dir_all(dir.path().join("palace/vaults/one")).unwrap();
    let source = std::io::Error::from(std::io::ErrorKind::NotFound);
    let missing = undercroft_vault::Error::Io { action: "read", path: "vault.db".into(), source };
    let refused = handle.read(move |_| Err::<(), _>(missing)).await.unwrap_err();
    assert!(matches!(&refused, crate::Error::Displaced(name) if name == "one"), "{refused}");
    assert_eq!(refused.class(), undercroft_palace::ErrorClass::Conflict);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_whose_files_were_exchanged_is_opened_anew_though_nobody_writes() {
    let dir = TempDir::new().unwrap();
    let serving = serving(&dir);
    for (name, text) in [("one", "of the first life"), ("two", "of another vault")] {
        let handle = serving.create(name, Level::Sealed).await.unwrap();
        handle.write(Change::Save(new(text))).await.unwrap();
    }
    sweeper::displaced(&serving.shared());
    assert_eq!(serving.counted().vault_opens, 2, "nothing was exchanged");
    let vaults = dir.path().join("palace/vaults");
    std::fs::rename(vaults.join("one"), dir.path().join("away")).unwrap();
    sweeper::displaced(&serving.shared());
    let refused = serving.vault("one").await.unwrap_err();
    assert_eq!(refused.class(), undercroft_palace::ErrorClass::NotFound, "{refused}");
    serving.vault("two").await.unwrap();
    assert_eq!(serving.counted().vault_opens, 2, "the other one stayed open");
}
