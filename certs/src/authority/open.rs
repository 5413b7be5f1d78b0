//! The CA's folder: made on first use, opened by one process at a time.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rcgen::KeyPair;
use zeroize::Zeroizing;

use super::ca::{Ca, pem};
use super::held::day;
use crate::files::{self, CA_KEY, NEXT_KEY, OPEN, PRIVATE, TRUSTED};
use crate::{Error, material};

/// An opened CA. The folder is locked until it is dropped.
pub struct Authority {
    pub(super) folder: PathBuf,
    /// Whom the cluster trusts: one, or two while the CA is renewed.
    pub(super) trusted: Vec<Ca>,
    /// The key that signs.
    pub(super) key: KeyPair,
    /// The key that will sign, in the first stage of a renewal.
    pub(super) next: Option<KeyPair>,
    _lock: File,
}

impl Authority {
    /// Opens the CA of a folder, or makes one where the folder is empty or missing. Says whether it was made.
    ///
    /// # Errors
    /// [`Error::NoCaKey`], [`Error::NotOurs`] for a folder with other things in it, [`Error::Exposed`], [`Error::InUse`],
    /// [`Error::Io`].
    pub fn open_or_make(folder: &Path, now: u64) -> Result<(Self, bool), Error> {
        files::folder(folder)?;
        if folder.join(CA_KEY).exists() || folder.join(TRUSTED).exists() {
            return Ok((Self::open(folder, now)?, false));
        }
        if let Some(other) = foreign(folder)? {
            return Err(Error::not_ours(&other, "the folder has no CA and is not empty"));
        }
        let lock = lock(folder)?;
        let key = KeyPair::generate().map_err(Error::internal)?;
        write_key(&folder.join(CA_KEY), &key)?;
        let ca = Ca::make(&key, now)?;
        let made = Self { folder: folder.to_path_buf(), trusted: vec![ca], key, next: None, _lock: lock };
        made.write_trusted(&made.folder)?;
        Ok((made, true))
    }

    /// Opens the CA of a folder.
    ///
    /// # Errors
    /// [`Error::NoCa`], otherwise as [`open_or_make`](Self::open_or_make).
    pub fn open(folder: &Path, now: u64) -> Result<Self, Error> {
        let (key_file, trusted_file) = (folder.join(CA_KEY), folder.join(TRUSTED));
        match (key_file.exists(), trusted_file.exists()) {
            (false, false) => return Err(Error::NoCa(folder.to_path_buf())),
            (false, true) => return Err(Error::NoCaKey(folder.to_path_buf())),
            _ => {}
        }
        let lock = lock(folder)?;
        let key = read_key(&key_file)?.ok_or_else(|| Error::NoCaKey(folder.to_path_buf()))?;
        let next = read_key(&folder.join(NEXT_KEY))?;
        let trusted = match files::read_if_there(&trusted_file)? {
            Some(bytes) => read_trusted(&trusted_file, &bytes)?,
            // The first run ended between the two files. Name and key of the certificate are the same again.
            None => vec![Ca::make(&key, now)?],
        };
        if !trusted.iter().any(|ca| ca.has(&key)) {
            return Err(Error::not_ours(&trusted_file, "no certificate in it is of ca.key"));
        }
        let opened = Self { folder: folder.to_path_buf(), trusted, key, next, _lock: lock };
        if !trusted_file.exists() {
            opened.write_trusted(&opened.folder)?;
        }
        Ok(opened)
    }

    /// The CA that signs.
    pub(super) fn signer(&self) -> &Ca {
        let found = self.trusted.iter().find(|ca| ca.has(&self.key));
        found.expect(
            "opening, and every stage of a renewal, keeps the certificate of the key among the trusted",
        )
    }

    /// The last second of the CA that signs, since 1970.
    #[must_use]
    pub fn not_after(&self) -> u64 {
        self.signer().facts.not_after
    }

    /// The day on which the CA that signs ends, as `2036-09-21`, in UTC.
    #[must_use]
    pub fn last_day(&self) -> String {
        day(self.not_after())
    }

    /// Whether the CA ends so soon that it should be renewed.
    #[must_use]
    pub fn is_due(&self, now: u64) -> bool {
        now + u64::from(crate::limits::CA_RENEWAL_DAYS) * crate::limits::DAY > self.not_after()
    }

    /// Writes whom to trust into a folder.
    pub(super) fn write_trusted(&self, folder: &Path) -> Result<(), Error> {
        let text = pem(self.trusted.iter().map(|ca| &ca.certificate));
        files::replace(&folder.join(TRUSTED), text.as_bytes(), OPEN)
    }
}

fn read_trusted(path: &Path, bytes: &[u8]) -> Result<Vec<Ca>, Error> {
    let certificates = material::parse(bytes).map_err(|problem| Error::not_ours(path, problem))?;
    let read: Result<Vec<Ca>, String> = certificates.into_iter().map(Ca::read).collect();
    read.map_err(|problem| Error::not_ours(path, problem))
}

/// The first thing in a folder that is not the lock; a CA is not made among other people's files.
fn foreign(folder: &Path) -> Result<Option<PathBuf>, Error> {
    let failed = |error| Error::io("list", folder, error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // What the first run leaves when it ends before it has written a file whole.
        let ours = [LOCK, "ca.key.new"].iter().any(|name| entry.file_name() == *name);
        if !ours {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

const LOCK: &str = ".lock";

/// The lock ends with the process, however that ends.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(|error| Error::io("open", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(folder.to_path_buf())),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path, error)),
    }
}

/// Reads a key of a CA that nobody else may read.
pub(super) fn read_key(path: &Path) -> Result<Option<KeyPair>, Error> {
    let Some(bytes) = files::read_if_there(path)? else { return Ok(None) };
    let about = fs::metadata(path).map_err(|error| Error::io("read", path, error))?;
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { path: path.to_path_buf(), mode });
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| Error::not_ours(path, "it is no PEM"))?;
    KeyPair::from_pem(text).map(Some).map_err(|_| Error::not_ours(path, "it is no private key in PEM"))
}

/// Writes a key for the owner alone.
pub(super) fn write_key(path: &Path, key: &KeyPair) -> Result<(), Error> {
    let text = Zeroizing::new(key.serialize_pem());
    files::replace(path, text.as_bytes(), PRIVATE)
}
