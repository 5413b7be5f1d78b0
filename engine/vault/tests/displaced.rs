//! A vault whose folder or database was exchanged under an open handle: what would be lost is not acknowledged, and the
//! manifest of what is there now is left alone.

mod support;

use std::fs;

use support::{Home, UNSCREENED, copy_folder, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{Error, ErrorClass, Recovery, Vault, alone};

fn refused(vault: &Vault, what: &str) {
    let error = vault.save(note("inbox", "lost words"), UNSCREENED).expect_err(what);
    assert!(matches!(error, Error::Displaced(_)), "{what}: {error}");
    assert_eq!(error.class(), ErrorClass::Conflict);
    assert!(matches!(vault.repair(&mut |_| {}), Err(Error::Displaced(_))), "{what}");
}

#[test]
fn a_vault_that_was_deleted_or_replaced_under_a_handle_takes_no_writes_from_it() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "words");
    vault.anchor().expect("anchors");
    copy_folder(&home.dir(), &home.path("earlier"));
    save(&vault, "inbox", "words of which the copy knows nothing");
    fs::rename(home.dir(), home.path("aside")).expect("renames");
    refused(&vault, "deleted");
    assert!(matches!(vault.anchor(), Err(Error::Displaced(_))));
    fs::rename(home.path("earlier"), home.dir()).expect("renames");
    refused(&vault, "replaced");
    let manifest = fs::read(home.dir().join("vault.json")).expect("reads");
    drop(vault);
    assert_eq!(fs::read(home.dir().join("vault.json")).expect("reads"), manifest);
    let replaced = home.open().expect("the replacement is whole");
    assert_eq!(replaced.get(id).expect("reads").content, "words");
    assert!(replaced.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn a_database_exchanged_for_a_copy_of_itself_takes_no_writes_from_the_old_handle() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "words");
    let (database, copy) = (home.dir().join("vault.db"), home.path("copy.db"));
    fs::copy(&database, &copy).expect("copies");
    fs::rename(&copy, &database).expect("exchanges");
    refused(&vault, "exchanged");
}

#[test]
fn a_removed_lock_file_is_made_again_by_the_next_write() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    fs::remove_file(home.dir().join("use.lock")).expect("removes");
    save(&vault, "inbox", "words");
    assert!(matches!(alone(&home.dir(), "v", || Ok(())), Err(Error::InUse(_))));
    vault.close().expect("closes");
    alone(&home.dir(), "v", || Ok(())).expect("nobody has it open");
}

#[test]
fn a_lag_is_no_news_while_somebody_else_writes_and_is_after_a_crash() {
    let home = Home::new();
    let writing = home.create(Level::Sealed);
    for n in 0..3 {
        save(&writing, "inbox", &format!("words {n}"));
    }
    copy_folder(&home.dir(), &home.path("crashed"));
    let reading = home.open_read_only().expect("opens");
    assert!(matches!(reading.recovery(), Recovery::Behind(3)) && reading.unhealed().is_empty());
    let beside = home.open().expect("opens");
    assert!(matches!(beside.recovery(), Recovery::Behind(3)) && beside.unhealed().is_empty());
    let crashed = Vault::open(&home.path("crashed"), &home.master, home.options.clone()).expect("opens");
    assert_eq!(crashed.unhealed().len(), 1, "{:?}", crashed.unhealed());
}
