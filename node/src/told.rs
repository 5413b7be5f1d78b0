//! What of a failure is told to a client: what is wrong and what to do, but nothing of the machine that the server runs on.
//! The log has the whole.

use std::error::Error as _;
use std::io::ErrorKind;

use undercroft_palace::ErrorClass;
use undercroft_vault::Error as VaultError;

use crate::error::Error;

/// Of a defect: the details name files of the machine.
pub(crate) const DEFECT: &str = "internal: the server could not carry this out; its log says why";
/// Of a machine that does not give what is needed.
const UNAVAILABLE: &str = "the machine of the server does not take this now; its log says why. Try again when whoever runs it has made room";
/// Of a process that may not open another file.
const FILES: &str = "the server has as many files open as it may; try again in a moment";
/// Of a path.
const PATH: &str = "a file of the server";

/// The message for a client.
pub(crate) fn to_client(error: &Error) -> String {
    match error.class() {
        ErrorClass::Internal if !matches!(error, Error::Lost) => DEFECT.to_owned(),
        ErrorClass::Unavailable if lacks_files(error) => FILES.to_owned(),
        ErrorClass::Unavailable if is_of_the_machine(error) => UNAVAILABLE.to_owned(),
        // What is wrong with a request may repeat the words of the client, and they may look like a path.
        ErrorClass::Invalid => error.to_string(),
        _ => without_paths(&error.to_string()),
    }
}

/// SQLite's results of a disk that has no room, and of one that does not do what it is asked (`SQLITE_FULL`,
/// `SQLITE_IOERR`).
const DISK: [i32; 2] = [13, 10];

/// Whether the disk has no room for what was to be written.
pub(crate) fn lacks_room(error: &Error) -> bool {
    if let Error::Vault(inner) = error
        && let VaultError::Sqlite(refused) = &**inner
    {
        // The lower eight bits are the result, the others say more of it.
        return refused.sqlite_error().is_some_and(|error| DISK.contains(&(error.extended_code & 0xff)));
    }
    io_kind(error).is_some_and(|kind| {
        matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
    })
}

/// SQLite's result of a file that cannot be opened (`SQLITE_CANTOPEN`). The file is there: whatever is missing or damaged is
/// found before, and one that was taken away is told as that.
const CANNOT_OPEN: i32 = 14;
/// The process, or the system, has as many files open as it may (`EMFILE`, `ENFILE`).
const NO_FILES: [i32; 2] = [24, 23];

/// Whether a file could not be opened because too many are.
pub(crate) fn lacks_files(error: &Error) -> bool {
    if let Error::Vault(inner) = error
        && let VaultError::Sqlite(refused) = &**inner
    {
        return refused.sqlite_error().is_some_and(|error| error.extended_code & 0xff == CANNOT_OPEN);
    }
    io_of(error).and_then(std::io::Error::raw_os_error).is_some_and(|code| NO_FILES.contains(&code))
}

/// Whether the system or the database said no.
pub(crate) fn is_of_the_machine(error: &Error) -> bool {
    let database = matches!(error, Error::Vault(inner) if matches!(**inner, VaultError::Sqlite(_) | VaultError::LogPending(_)));
    database || io_kind(error).is_some()
}

/// What the system said, if it was the system that said no.
fn io_kind(error: &Error) -> Option<ErrorKind> {
    io_of(error).map(std::io::Error::kind)
}

fn io_of(error: &Error) -> Option<&std::io::Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = match error {
        Error::Vault(inner) => Some(&**inner),
        Error::Palace(inner) => Some(&**inner),
        other => other.source(),
    };
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io);
        }
        next = error.source();
    }
    None
}

/// Puts something else in the place of every absolute path.
fn without_paths(message: &str) -> String {
    let words = message.split(' ').map(|word| {
        let start = word.find(|first: char| !matches!(first, '(' | '\'' | '"' | '`')).unwrap_or(0);
        let (before, word) = word.split_at(start);
        let end = word.trim_end_matches([';', ',', '.', ':', ')', '\'', '"', '`']).len();
        // A slash alone names nothing of the machine.
        let is_path = end > 1 && word.starts_with('/');
        if is_path { format!("{before}{PATH}{}", &word[end..]) } else { format!("{before}{word}") }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(kind: ErrorKind) -> Error {
        let source = std::io::Error::from(kind);
        Error::from(VaultError::Io { action: "write", path: "/secret/place".into(), source })
    }

    #[test]
    fn no_message_names_a_path_of_the_machine() {
        let messages = [
            to_client(&io(ErrorKind::Other)),
            to_client(&io(ErrorKind::StorageFull)),
            to_client(&VaultError::NoVault("/secret/place".into()).into()),
            to_client(&VaultError::LogPending("/secret/place".into()).into()),
            without_paths("x '/secret/place' (/secret/place); and /secret."),
        ];
        for message in messages {
            assert!(!message.contains("secret"), "{message}");
        }
        assert_eq!(without_paths("backup '/' and '/a'"), "backup '/' and 'a file of the server'");
        assert_eq!(without_paths("(/a/b), use a/b: 1 / 2"), "(a file of the server), use a/b: 1 / 2");
    }

    #[test]
    fn a_disk_without_room_is_unavailable_and_not_a_defect() {
        assert_eq!(io(ErrorKind::Other).class(), ErrorClass::Internal);
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge] {
            assert_eq!(io(kind).class(), ErrorClass::Unavailable);
        }
        for (result, class) in
            [(13, ErrorClass::Unavailable), (778, ErrorClass::Unavailable), (21, ErrorClass::Internal)]
        {
            let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(result), None);
            assert_eq!(Error::from(VaultError::Sqlite(failure)).class(), class, "{result}");
        }
        for code in NO_FILES {
            let source = std::io::Error::from_raw_os_error(code);
            let error = Error::from(VaultError::Io { action: "open", path: "/secret/place".into(), source });
            assert_eq!((error.class(), to_client(&error).as_str()), (ErrorClass::Unavailable, FILES));
        }
        let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(CANNOT_OPEN), None);
        assert_eq!(Error::from(VaultError::Sqlite(failure)).class(), ErrorClass::Unavailable);
        let palace = undercroft_palace::Error::Io {
            action: "make",
            path: "/secret/place".into(),
            source: std::io::Error::from(ErrorKind::StorageFull),
        };
        assert_eq!(Error::from(palace).class(), ErrorClass::Unavailable);
    }
}
