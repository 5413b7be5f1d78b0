//! Files of certificates: how they are called, read within bounds, and replaced in one step. Keys are the owner's alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use zeroize::Zeroizing;

use crate::{Error, limits};

/// The certificates that are trusted. The names are those of Kubernetes' secrets.
pub(crate) const TRUSTED: &str = "ca.crt";
/// The certificate of a process.
pub(crate) const CERTIFICATE: &str = "tls.crt";
/// The key of a process.
pub(crate) const KEY: &str = "tls.key";
/// The key of the CA. It never leaves the operator's folder.
pub(crate) const CA_KEY: &str = "ca.key";
/// The key of the CA to come, between the steps `begin` and `switch` of its renewal.
pub(crate) const NEXT_KEY: &str = "ca-next.key";

/// Mode of files that are nobody's secret.
pub(crate) const OPEN: u32 = 0o644;
/// Mode of keys.
pub(crate) const PRIVATE: u32 = 0o600;

/// Reads a file whole. The bytes are wiped when they are dropped, since it may be a key.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let failed = |error| Error::io("read", path, error);
    // A pipe would be waited for, so what it is is asked before it is opened.
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(failed(io::Error::other("it is no file")));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(about.len().min(limits::FILE_BYTES) as usize + 1));
    let file = File::open(path).map_err(failed)?;
    file.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limits::FILE_BYTES {
        return Err(failed(io::Error::other(format!("it is over {} bytes", limits::FILE_BYTES))));
    }
    Ok(bytes)
}

/// Reads a file that may be missing.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    match read(path) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Makes a folder, and those above it, for the owner alone.
pub(crate) fn folder(path: &Path) -> Result<(), Error> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Error::io("create", path, error))
}

/// Writes a file or replaces it: who reads it sees the old bytes or the new ones.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = || -> io::Result<()> {
        // One that a crash left behind, whose mode nobody knows.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    written().map_err(|error| Error::io("write", path, error))?;
    sync(path.parent().unwrap_or(Path::new(".")))
}

/// Makes what was done in a folder survive a power loss.
pub(crate) fn sync(folder: &Path) -> Result<(), Error> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|open| open.sync_all()).map_err(|error| Error::io("flush", folder, error))
}
