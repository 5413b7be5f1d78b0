//! `identity.txt`: a few words about whom the palace serves, shown first at wake-up.
//!
//! It lies in clear on purpose, and a person writes it with an editor. This file only reads it.

use std::io::{self, Read as _};

use undercroft_crypto::regular;

use crate::error::{Error, Result};
use crate::home::Home;

/// Longest text that is read, in bytes: it is meant to fit on a page.
pub const MAX_BYTES: u64 = 64 * 1024;

/// The identity, without trailing line ends; `None` when there is no file or it is blank.
///
/// # Errors
/// [`Error::Io`] when the file is there and cannot be read as UTF-8 text of at most [`MAX_BYTES`].
pub fn read(home: &Home) -> Result<Option<String>> {
    let path = home.identity_file();
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("read", &path)(source)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
    let refused =
        |reason: String| Error::io("read", &path)(io::Error::new(io::ErrorKind::InvalidData, reason));
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(format!("longer than {MAX_BYTES} bytes; shorten it")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refused("it is not UTF-8 text; save it in that encoding".to_owned()))?;
    let text = text.trim_end();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_missing_or_blank_identity_is_none_and_line_ends_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert_eq!(read(&home).unwrap(), None);
        fs::write(home.identity_file(), " \n").unwrap();
        assert_eq!(read(&home).unwrap(), None);
        fs::write(home.identity_file(), "I keep the garden.\nAnd bees.\n\n").unwrap();
        assert_eq!(read(&home).unwrap().as_deref(), Some("I keep the garden.\nAnd bees."));
    }

    #[test]
    fn an_identity_that_is_no_text_or_no_page_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::write(home.identity_file(), [0xff, 0xfe]).unwrap();
        assert!(read(&home).is_err());
        fs::write(home.identity_file(), "x".repeat(70_000)).unwrap();
        assert!(read(&home).unwrap_err().to_string().contains("shorten"));
    }
}
