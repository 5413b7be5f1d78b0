//! The master key of an installation: which of the two ways it comes by, and when it may be made.
//!
//! All contradictions are refused by looking at names in the data folder, before a key is read or derived and before
//! anything is written. The key itself is never printed; what this file holds of a secret is zeroed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use undercroft_crypto::{Entropy, KdfSalt, MasterKey, durable, regular};
use zeroize::Zeroizing;

use crate::env::{Environment, Finding, resolve};
use crate::error::{Error, Result};
use crate::home::Home;
use crate::{backups, registry};

const KEY_LEN: usize = 32;
/// Key material is for its owner alone.
const MODE: u32 = 0o600;

/// Where the environment says that the master key comes from.
pub enum KeySource {
    /// Nothing is declared: `master.key`.
    KeyFile,
    /// A declared passphrase, with `kdf.salt`.
    Passphrase(Zeroizing<String>),
}

impl KeySource {
    /// What `environment` declares.
    ///
    /// # Errors
    /// The finding that refuses: a declared passphrase that is blank or not text.
    pub fn declared(environment: &Environment) -> Result<Self, Finding> {
        let passphrase = resolve::passphrase(environment).accept()?;
        Ok(passphrase.map_or(Self::KeyFile, |text| Self::Passphrase(Zeroizing::new(text))))
    }
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::KeyFile => "KeyFile",
            Self::Passphrase(_) => "Passphrase(..)",
        })
    }
}

/// Whether missing key material may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateKeys {
    /// In an installation without vaults and without backups.
    IfEmpty,
    /// Not by this operation.
    Never,
}

/// Where the master key came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// Derived from the declared passphrase.
    Passphrase,
    /// Read from this file.
    KeyFile(PathBuf),
}

/// Loads the master key, or makes its material where that is allowed.
///
/// Of processes that race at the first start, one makes the material and all end up with the same key.
///
/// # Errors
/// [`Error::KeySource`] when the declaration contradicts the data folder, [`Error::KeyMaterialMissing`] when vaults or
/// backups are there and their key material is not, [`Error::NoInstallation`] when it may not be made,
/// [`Error::KeyFileLength`] and [`Error::KeyFileShared`] for the files themselves, [`Error::Io`].
pub fn load_master_key(
    home: &Home,
    declared: &KeySource,
    create: CreateKeys,
    entropy: &dyn Entropy,
) -> Result<(MasterKey, KeyOrigin)> {
    if decide(home, declared, create)? == Step::Make {
        home.create()?;
        let _alone = FirstStart::wait(home)?;
        // Somebody else may have been first, perhaps with the other key source.
        if decide(home, declared, create)? == Step::Make {
            make_material(home, declared, entropy)?;
        }
    }
    match declared {
        KeySource::KeyFile => {
            let path = home.key_file();
            let key = MasterKey::from_bytes(&*read_private::<KEY_LEN>(&path)?)?;
            Ok((key, KeyOrigin::KeyFile(path)))
        }
        KeySource::Passphrase(passphrase) => {
            let salt = KdfSalt::from_bytes(*read_private::<{ KdfSalt::LEN }>(&home.salt_file())?);
            Ok((MasterKey::from_passphrase(passphrase.as_bytes(), &salt)?, KeyOrigin::Passphrase))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Load,
    Make,
}

/// The whole decision, from the declaration and from which names exist. Reads no file.
fn decide(home: &Home, declared: &KeySource, create: CreateKeys) -> Result<Step> {
    let has_key = exists(&home.key_file())?;
    let has_salt = exists(&home.salt_file())?;
    let (needed, there) = match declared {
        KeySource::KeyFile => (home.key_file(), has_key),
        KeySource::Passphrase(_) => (home.salt_file(), has_salt),
    };
    if there {
        return Ok(Step::Load);
    }
    match declared {
        KeySource::Passphrase(_) if has_key => {
            return Err(Error::KeySource {
                declared: "UNDERCROFT_PASSPHRASE says that the key comes from a passphrase",
                found: format!(
                    "{} says that it is a key file (there is no kdf.salt)",
                    home.key_file().display()
                ),
                remedy: "remove the declaration to use the key file, or put back the kdf.salt that belongs to the passphrase",
            });
        }
        KeySource::KeyFile if has_salt => {
            return Err(Error::KeySource {
                declared: "UNDERCROFT_PASSPHRASE is not declared, so the key comes from a key file",
                found: format!(
                    "{} says that it comes from a passphrase (there is no master.key)",
                    home.salt_file().display()
                ),
                remedy: "declare UNDERCROFT_PASSPHRASE, or put back the master.key that belongs here",
            });
        }
        _ => {}
    }
    if registry::holds_any(home)? {
        return Err(Error::KeyMaterialMissing { missing: needed, holds: "vaults" });
    }
    if backups::holds_any(home)? {
        return Err(Error::KeyMaterialMissing { missing: needed, holds: "backups" });
    }
    match create {
        CreateKeys::IfEmpty => Ok(Step::Make),
        CreateKeys::Never => Err(Error::NoInstallation(home.root().to_path_buf())),
    }
}

/// Existence that tells "not there" from "cannot be looked at": the second must never lead to a new key.
fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::io("look for", path)(source)),
    }
}

fn make_material(home: &Home, declared: &KeySource, entropy: &dyn Entropy) -> Result<()> {
    match declared {
        KeySource::KeyFile => {
            let path = home.key_file();
            let key = MasterKey::generate(entropy);
            durable::create_new(&path, key.expose_to_key_file(), MODE)
                .map_err(Error::io("write the key file", &path))
        }
        KeySource::Passphrase(_) => {
            let path = home.salt_file();
            let salt = KdfSalt::generate(entropy);
            durable::create_new(&path, salt.as_bytes(), MODE).map_err(Error::io("write the salt", &path))
        }
    }
}

/// Reads a file of exactly `LEN` bytes that nobody but its owner may read.
fn read_private<const LEN: usize>(path: &Path) -> Result<Zeroizing<[u8; LEN]>> {
    let mut file = regular::open(path).map_err(Error::io("read", path))?;
    let metadata = file.metadata().map_err(Error::io("read", path))?;
    refuse_shared(path, &metadata)?;
    let wrong_length = |found| Error::KeyFileLength { path: path.to_path_buf(), expected: LEN, found };
    if metadata.len() != LEN as u64 {
        return Err(wrong_length(metadata.len()));
    }
    let mut bytes = Zeroizing::new([0; LEN]);
    file.read_exact(&mut *bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}

#[cfg(unix)]
fn refuse_shared(path: &Path, metadata: &fs::Metadata) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(Error::KeyFileShared { path: path.to_path_buf(), mode })
}

#[cfg(not(unix))]
fn refuse_shared(_path: &Path, _metadata: &fs::Metadata) -> Result<()> {
    Ok(())
}

/// Held by the one process that makes key material. The operating system releases it when that process dies.
struct FirstStart {
    _file: File,
}

impl FirstStart {
    fn wait(home: &Home) -> Result<Self> {
        let path = home.root().join("keys.lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, MODE);
        let file = regular::open_with(&path, &options).map_err(Error::io("open", &path))?;
        file.lock().map_err(Error::io("lock", &path))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
#[path = "keys_test.rs"]
mod keys_test;
