//! Every rule about key material: what is refused, that refusing writes nothing, and what is made when.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Barrier;

use undercroft_crypto::{OsEntropy, SeededEntropy};

use super::*;
use undercroft_crypto::ErrorClass;

fn passphrase(text: &str) -> KeySource {
    KeySource::Passphrase(Zeroizing::new(text.to_owned()))
}

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("palace"));
    (dir, home)
}

/// Every file below the data folder with its bytes.
fn files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    durable::replace(path, bytes, MODE).unwrap();
}

/// Loads with a source that must be refused, and proves that nothing was written.
fn refused(home: &Home, declared: &KeySource, create: CreateKeys) -> Error {
    let before = files(home);
    let existed = home.root().exists();
    let error = load_master_key(home, declared, create, &OsEntropy).map(|_| ()).unwrap_err();
    assert_eq!(files(home), before, "refusing wrote something");
    assert_eq!(home.root().exists(), existed);
    error
}

#[test]
fn a_key_file_is_made_once_and_read_from_then_on() {
    let (_dir, home) = home();
    let entropy = SeededEntropy::new(1);
    let (first, origin) = load_master_key(&home, &KeySource::KeyFile, CreateKeys::IfEmpty, &entropy).unwrap();
    assert_eq!(origin, KeyOrigin::KeyFile(home.key_file()));
    let (again, _) = load_master_key(&home, &KeySource::KeyFile, CreateKeys::Never, &entropy).unwrap();
    assert_eq!(first.expose_to_key_file(), again.expose_to_key_file());
    assert_eq!(fs::read(home.key_file()).unwrap(), first.expose_to_key_file());
    assert!(!home.salt_file().exists());
}

#[test]
fn a_passphrase_writes_its_salt_and_nothing_of_the_key() {
    let (_dir, home) = home();
    let (first, origin) =
        load_master_key(&home, &passphrase("one"), CreateKeys::IfEmpty, &OsEntropy).unwrap();
    assert_eq!(origin, KeyOrigin::Passphrase);
    let (again, _) = load_master_key(&home, &passphrase("one"), CreateKeys::Never, &OsEntropy).unwrap();
    let (other, _) = load_master_key(&home, &passphrase("two"), CreateKeys::Never, &OsEntropy).unwrap();
    assert_eq!(first.expose_to_key_file(), again.expose_to_key_file());
    assert_ne!(first.expose_to_key_file(), other.expose_to_key_file());
    assert!(!home.key_file().exists());
    for bytes in files(&home).into_values() {
        assert!(!bytes.windows(8).any(|part| part == &first.expose_to_key_file()[..8]));
    }
}

#[cfg(unix)]
#[test]
fn key_material_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, home) = home();
    load_master_key(&home, &KeySource::KeyFile, CreateKeys::IfEmpty, &OsEntropy).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.key_file()), 0o600);
    assert_eq!(mode(home.root()), 0o700);
}

#[test]
fn a_passphrase_over_a_key_file_is_refused_and_both_readings_are_named() {
    let (_dir, home) = home();
    put(&home.key_file(), &[7; 32]);
    let error = refused(&home, &passphrase("one"), CreateKeys::IfEmpty);
    let message = error.to_string();
    assert_eq!(error.class(), ErrorClass::Invalid);
    assert!(message.contains("UNDERCROFT_PASSPHRASE") && message.contains("master.key"), "{message}");
    assert!(message.contains("Nothing was written"), "{message}");
}

#[test]
fn a_key_file_over_a_passphrase_is_refused_and_both_readings_are_named() {
    let (_dir, home) = home();
    put(&home.salt_file(), &[7; 16]);
    let error = refused(&home, &KeySource::KeyFile, CreateKeys::IfEmpty);
    let message = error.to_string();
    assert_eq!(error.class(), ErrorClass::Invalid);
    assert!(message.contains("UNDERCROFT_PASSPHRASE") && message.contains("kdf.salt"), "{message}");
}

#[test]
fn with_both_files_there_the_declaration_decides() {
    let (_dir, home) = home();
    put(&home.key_file(), &[7; 32]);
    put(&home.salt_file(), &[8; 16]);
    let (key, _) = load_master_key(&home, &KeySource::KeyFile, CreateKeys::Never, &OsEntropy).unwrap();
    assert_eq!(key.expose_to_key_file(), &[7; 32]);
    assert_eq!(decide(&home, &passphrase("one"), CreateKeys::Never).unwrap(), Step::Load);
}

#[test]
fn missing_key_material_is_never_replaced_under_vaults_or_backups() {
    for (below, holds) in [("vaults/default", "vaults"), ("backups/default-x", "backups")] {
        for file in ["vault.json", "vault.db"] {
            let (_dir, home) = home();
            put(&home.root().join(below).join(file), b"{}");
            for declared in [KeySource::KeyFile, passphrase("one")] {
                let error = refused(&home, &declared, CreateKeys::IfEmpty);
                assert_eq!(error.class(), ErrorClass::Invalid);
                assert!(error.to_string().contains(holds), "{error}");
            }
        }
    }
}

#[test]
fn an_operation_that_may_not_make_keys_says_how_to_make_them() {
    let (_dir, home) = home();
    let error = refused(&home, &KeySource::KeyFile, CreateKeys::Never);
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert!(error.to_string().contains("undercroft init"), "{error}");
}

#[test]
fn key_files_of_another_length_are_refused() {
    for length in [0, 31, 33, 64] {
        let (_dir, home) = home();
        put(&home.key_file(), &vec![1; length]);
        let error = refused(&home, &KeySource::KeyFile, CreateKeys::IfEmpty);
        assert!(matches!(error, Error::KeyFileLength { expected: 32, .. }), "{error}");
    }
    let (_dir, home) = home();
    put(&home.salt_file(), &[1; 15]);
    let error = refused(&home, &passphrase("one"), CreateKeys::IfEmpty);
    assert!(matches!(error, Error::KeyFileLength { expected: 16, found: 15, .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_can_read_is_refused_with_the_remedy() {
    use std::os::unix::fs::PermissionsExt;
    for mode in [0o640, 0o604, 0o620, 0o666] {
        let (_dir, home) = home();
        put(&home.key_file(), &[1; 32]);
        fs::set_permissions(home.key_file(), fs::Permissions::from_mode(mode)).unwrap();
        let error = refused(&home, &KeySource::KeyFile, CreateKeys::IfEmpty);
        assert!(error.to_string().contains("chmod 600"), "{error}");
        fs::set_permissions(home.key_file(), fs::Permissions::from_mode(0o400)).unwrap();
        load_master_key(&home, &KeySource::KeyFile, CreateKeys::Never, &OsEntropy).expect("0400 is private");
    }
}

#[test]
fn a_data_folder_that_is_a_file_is_an_error_and_not_an_empty_installation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, b"x").unwrap();
    let error =
        load_master_key(&Home::at(&path), &KeySource::KeyFile, CreateKeys::IfEmpty, &OsEntropy).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn racers_at_the_first_start_agree_on_one_key() {
    let (_dir, home) = home();
    let start = Barrier::new(8);
    let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let loaded = load_master_key(&home, &KeySource::KeyFile, CreateKeys::IfEmpty, &OsEntropy);
                    *loaded.unwrap().0.expose_to_key_file()
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn racers_with_different_sources_never_leave_both() {
    let (_dir, home) = home();
    let start = Barrier::new(2);
    let outcomes: Vec<bool> = std::thread::scope(|scope| {
        let racers = [KeySource::KeyFile, passphrase("one")].map(|declared| {
            let (home, start) = (&home, &start);
            scope.spawn(move || {
                start.wait();
                load_master_key(home, &declared, CreateKeys::IfEmpty, &OsEntropy).is_ok()
            })
        });
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
    assert_ne!(home.key_file().exists(), home.salt_file().exists());
}

#[test]
fn a_source_is_never_shown() {
    let environment = Environment::from_pairs([("UNDERCROFT_PASSPHRASE", "hunter2")]);
    let shown = format!("{:?}", KeySource::declared(&environment).unwrap());
    assert_eq!(shown, "Passphrase(..)");
    assert!(KeySource::declared(&Environment::from_pairs([("UNDERCROFT_PASSPHRASE", " ")])).is_err());
}
