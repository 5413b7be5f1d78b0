//! Whole files: manifests and databases exchanged, cut, filled with garbage.

use undercroft_crypto::Level;
use undercroft_vault::Error;

use crate::scene::{Found, LEVELS, Scene, assert_integrity};
use crate::support::{Home, UNSCREENED, copy_folder, save};

#[test]
fn the_manifest_of_another_vault_is_refused() {
    let (scene, other) = (Scene::new(Level::Sealed), Scene::new(Level::Sealed));
    let copy = scene.copy();
    std::fs::copy(other.home.dir().join("vault.json"), copy.dir.join("vault.json")).expect("copies");
    assert_eq!(copy.assert_found("another manifest"), Found::ByOpening);
}

#[test]
fn a_flipped_byte_anywhere_in_the_manifest_is_found() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.copy();
    let path = copy.dir.join("vault.json");
    let genuine = std::fs::read(&path).expect("reads");
    for at in 0..genuine.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut changed = genuine.clone();
            changed[at] ^= bit;
            std::fs::write(&path, &changed).expect("writes");
            // White space between fields carries nothing.
            match copy.open() {
                Ok(_) => assert!(genuine[at].is_ascii_whitespace(), "byte {at} carries nothing"),
                Err(error) => assert_integrity(&error, &format!("byte {at} of the manifest")),
            }
        }
    }
    for cut in [0, 1, genuine.len() / 2, genuine.len() - 2] {
        std::fs::write(&path, &genuine[..cut]).expect("writes");
        assert_integrity(&copy.open().expect_err("refuses"), "a cut manifest");
    }
    std::fs::write(&path, [genuine.as_slice(), &[b' '; 100_000]].concat()).expect("writes");
    assert_integrity(&copy.open().expect_err("refuses"), "a manifest that goes on");
}

#[test]
fn a_missing_or_cut_database_is_found() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.copy();
    let path = copy.dir.join("vault.db");
    let genuine = std::fs::read(&path).expect("reads");
    for cut in
        [0, 1, 99, 100, 4_095, 4_096, 4_097, genuine.len() / 2, genuine.len() - 4_096, genuine.len() - 1]
    {
        let copy = scene.copy();
        std::fs::write(copy.dir.join("vault.db"), &genuine[..cut]).expect("writes");
        let found = copy.inspect(&format!("cut to {cut}"));
        // SQLite reads zeros where the last page ends early.
        let lost_nothing = genuine[cut..].iter().all(|byte| *byte == 0);
        assert!(found != Found::Not || lost_nothing, "cut to {cut} of {} bytes", genuine.len());
    }
    std::fs::remove_file(&path).expect("removes");
    assert!(matches!(copy.open(), Err(Error::DatabaseMissing(_))));
}

/// Numbers without a pattern that are the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16;
        usize::try_from(mixed).expect("64-bit") % bound
    }
}

#[test]
fn an_old_log_put_back_beside_the_database_is_found_or_harmless() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "the old words");
    copy_folder(&home.dir(), &home.path("older"));
    vault.update(id, "the new words", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    assert!(!home.dir().join("vault.db-wal").exists(), "closing moved it into the database");
    for file in ["vault.db-wal", "vault.db-shm"] {
        std::fs::copy(home.path("older").join(file), home.dir().join(file)).expect("puts back");
    }
    match home.open() {
        Err(error) => assert_integrity(&error, "old log"),
        Ok(vault) => match vault.get(id) {
            Err(error) => assert_integrity(&error, "old log"),
            Ok(drawer) => assert_eq!(drawer.content, "the new words"),
        },
    }
}

#[test]
fn garbage_anywhere_in_the_database_is_found_or_harmless() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for level in LEVELS {
        let scene = Scene::new(level);
        let genuine = std::fs::read(scene.home.dir().join("vault.db")).expect("reads");
        for round in 0..150 {
            let mut bytes = genuine.clone();
            let at = numbers.below(bytes.len());
            let length = [1, 2, 16, 512, 4_096][round % 5].min(bytes.len() - at);
            bytes[at..at + length].iter_mut().for_each(|byte| *byte = numbers.below(256) as u8);
            let copy = scene.copy();
            std::fs::write(copy.dir.join("vault.db"), &bytes).expect("writes");
            // Free space and the header's spare fields carry nothing: there nothing has to be found.
            copy.inspect(&format!("{level:?} {length} byte(s) at {at}"));
        }
    }
}

#[test]
fn an_untouched_copy_raises_no_alarm() {
    for level in LEVELS {
        Scene::new(level).copy().assert_harmless("nothing");
    }
}
