//! The secrets that an operator makes once for a fleet: the key of the control group and the token of its admin interface.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use zeroize::Zeroizing;

use crate::{Error, files, verify};

/// Bytes of the control group's key.
const KEY_BYTES: usize = 32;
/// Bytes of the admin token: 48 hexadecimal digits, of which a bearer needs 16.
const TOKEN_BYTES: usize = 24;

/// Secrets that were just drawn. They are kept nowhere but where they are written to.
pub struct Secrets {
    /// The key, in hexadecimal.
    pub key: Zeroizing<String>,
    /// The token, in hexadecimal.
    pub admin_token: Zeroizing<String>,
}

impl Secrets {
    /// Draws new ones.
    ///
    /// # Errors
    /// [`Error::Internal`] when the operating system has no randomness.
    pub fn draw() -> Result<Self, Error> {
        Ok(Self { key: hex::<KEY_BYTES>()?, admin_token: hex::<TOKEN_BYTES>()? })
    }

    /// The two as a shell and an environment file take them.
    #[must_use]
    pub fn lines(&self) -> Zeroizing<String> {
        let (key, token) = (self.key.as_str(), self.admin_token.as_str());
        Zeroizing::new(format!("UNDERCROFT_ORCH_KEY={key}\nUNDERCROFT_ORCH_ADMIN_TOKEN={token}\n"))
    }

    /// Writes the lines into a new file that only its owner reads.
    ///
    /// # Errors
    /// [`Error::NotOurs`] where something is: a key that is replaced is lost. [`Error::Io`].
    pub fn write_new(&self, path: &Path) -> Result<(), Error> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(files::PRIVATE).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::not_ours(path, "refusing to overwrite it"),
            _ => Error::io("create", path, error),
        })?;
        let written = file.write_all(self.lines().as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // Half a key is none, and would be in the way of the next run. What says so is the first failure.
            let _ = std::fs::remove_file(path);
            return Err(Error::io("write", path, error));
        }
        files::sync(path.parent().unwrap_or(Path::new(".")))
    }
}

fn hex<const N: usize>() -> Result<Zeroizing<String>, Error> {
    let mut bytes = Zeroizing::new([0_u8; N]);
    let drawn = verify::provider().secure_random.fill(&mut *bytes);
    drawn.map_err(|_| Error::internal("the operating system gives no random bytes"))?;
    // As long as it will be, so that no shorter copy is left behind in memory.
    let mut text = Zeroizing::new(String::with_capacity(2 * N));
    for byte in bytes.iter() {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn secrets_are_as_long_as_they_must_be_and_never_the_same() {
        let (one, other) = (Secrets::draw().unwrap(), Secrets::draw().unwrap());
        assert_eq!((one.key.len(), one.admin_token.len()), (64, 48));
        assert!(one.key != other.key && one.admin_token != other.admin_token);
        assert!(one.key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(one.lines().lines().count(), 2);
    }

    #[test]
    fn a_file_is_the_owners_alone_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        let secrets = Secrets::draw().unwrap();
        secrets.write_new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let before = fs::read(&path).unwrap();
        assert!(matches!(Secrets::draw().unwrap().write_new(&path), Err(Error::NotOurs { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(matches!(secrets.write_new(&folder.path().join("no/file")), Err(Error::Io { .. })));
    }
}
