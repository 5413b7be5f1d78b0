//! Secrets that an operator gives by file or by variable, and new files for secrets. Nothing here is printed.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use undercroft_crypto::{durable, regular};
use undercroft_palace::ErrorClass;
use zeroize::Zeroizing;

use crate::error::{Failure, Outcome};

/// Bytes of a file with a secret: no secret is longer.
const MOST: u64 = 64 << 10;

/// What a small file holds, for the flag that names it.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn small_file(flag: &str, path: &Path) -> Outcome<Zeroizing<String>> {
    let unusable = |problem: String| Failure::invalid(format!("{flag} {}: {problem}", path.display()));
    let mut bytes = Zeroizing::new(Vec::with_capacity(4096));
    let file = regular::open(path).map_err(|error| unusable(error.to_string()))?;
    let read = file.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(error.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(unusable(format!("it is over {MOST} bytes; name the file with the secret alone")));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unusable("it is not UTF-8 text".into()))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// The first line of a file: an editor ends it with a line feed, which belongs to no secret.
///
/// # Errors
/// As [`small_file`], and for a line that is blank.
pub(super) fn first_line(flag: &str, path: &Path) -> Outcome<Zeroizing<String>> {
    let text = small_file(flag, path)?;
    let line = text.lines().next().unwrap_or_default();
    if line.trim().is_empty() {
        return Err(Failure::invalid(format!(
            "{flag} {}: its first line is blank; put the secret there",
            path.display()
        )));
    }
    Ok(Zeroizing::new(line.to_owned()))
}

/// Writes a secret into a new file that only its owner reads.
///
/// # Errors
/// A conflict where something is, and then nothing is changed; what the system says.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Outcome {
    durable::create_new(path, bytes, 0o600).map_err(|error| cannot_write(path, &error))
}

/// Refuses a path where something is, before there is anything to write.
///
/// # Errors
/// As [`write_new`].
pub(super) fn refuse_taken(path: &Path) -> Outcome {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(cannot_write(path, &io::ErrorKind::AlreadyExists.into())),
        Err(_) => Ok(()),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let path = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        let message = format!("{path} exists; refusing to overwrite it: name a new file");
        return Failure::Refused { class: ErrorClass::Conflict, message };
    }
    Failure::Refused { class: ErrorClass::Unavailable, message: format!("cannot write {path}: {error}") }
}
