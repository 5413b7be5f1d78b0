//! Opening files where something else may lie: a pipe makes an open wait for ever, a device acts when it is opened, a
//! folder opens and fails later with words that name nothing. What is no regular file is refused before it is opened.
//!
//! Links are followed: somebody may keep a file on another disk. This file knows nothing of what it opens.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] with a text that says what lies there when it is no regular file; otherwise what the
/// file system reports.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens a file as `options` say, which may make it.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, options: &OpenOptions) -> io::Result<File> {
    check(path)?;
    let file = options.open(path)?;
    // What was exchanged in between is not read either.
    refuse_other(file.metadata()?.file_type())?;
    Ok(file)
}

/// Refuses what is no regular file. Nothing at all is accepted.
///
/// # Errors
/// As [`open`].
pub fn check(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) => refuse_other(metadata.file_type()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether an error is the refusal of something that is no regular file.
#[must_use]
pub fn is_refusal(error: &io::Error) -> bool {
    refused_kind(error).is_some()
}

/// What lies there, with its article, when an error is the refusal of something that is no regular file.
#[must_use]
pub fn refused_kind(error: &io::Error) -> Option<&'static str> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<NotRegular>()).map(|refusal| refusal.0)
}

#[derive(Debug, thiserror::Error)]
#[error("it is {0} where a regular file belongs; move it away and put the file back")]
struct NotRegular(&'static str);

fn refuse_other(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, NotRegular(name_of(kind))))
}

/// What something is called, with its article.
#[must_use]
pub fn name_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_file() {
        "a file"
    } else {
        "something else"
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_file_opens_also_through_a_link_and_nothing_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert_eq!(open(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        check(&path).unwrap();
        fs::write(&path, "words").unwrap();
        let link = dir.path().join("link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&path, &link).unwrap();
        #[cfg(not(unix))]
        fs::copy(&path, &link).unwrap();
        let mut text = String::new();
        open(&link).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "words");
        let made = dir.path().join("made");
        open_with(&made, OpenOptions::new().write(true).create(true).truncate(false)).unwrap();
        assert!(made.exists());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_named_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let device = std::path::PathBuf::from("/dev/null");
        let folder = dir.path().to_path_buf();
        for (path, name) in
            [(socket, "a socket"), (pipe, "a named pipe"), (device, "a device"), (folder, "a folder")]
        {
            for error in [open(&path).unwrap_err(), check(&path).unwrap_err()] {
                assert!(is_refusal(&error) && error.to_string().contains(name), "{error}");
                assert_eq!(refused_kind(&error), Some(name));
            }
        }
        assert!(!is_refusal(&io::ErrorKind::InvalidInput.into()));
    }
}
