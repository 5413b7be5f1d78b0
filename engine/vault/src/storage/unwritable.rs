//! Whether a folder takes what a database needs beside it, asked of the system and not concluded from a refusal: where
//! nobody can write, a database is read as a file that does not change; where only this process lacks something, it is not.

use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

/// What keeps a folder from taking a file.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// Nobody who is this user writes there: a mount for reading, or permissions.
    Forbidden,
    /// There is no room, which may change at any moment.
    Full,
    /// This process lacks something, or the disk fails: it says nothing about others.
    Other(io::Error),
    /// The folder may be written; whether there is room cannot be asked here without leaving something behind.
    Untold,
}

/// Looks for what keeps the folder from taking a file; `None` when nothing does. Leaves nothing behind: the file has no
/// name.
pub(super) fn obstacle(dir: &Path) -> Option<Obstacle> {
    let asked =
        accessat(CWD, dir, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
            // Not every system knows the flag; the ids differ only where a program was made to.
            .or_else(|error| {
                if error == Errno::INVAL { rustix::fs::access(dir, Access::WRITE_OK) } else { Err(error) }
            });
    match asked.and_then(|()| take_a_page(dir)) {
        Ok(true) => None,
        Ok(false) => Some(Obstacle::Untold),
        Err(error) => Some(judged(error)),
    }
}

fn judged(error: Errno) -> Obstacle {
    match error {
        Errno::ROFS | Errno::ACCESS | Errno::PERM => Obstacle::Forbidden,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Obstacle::Full,
        other => Obstacle::Other(other.into()),
    }
}

/// Writes a page into a file without a name; `false` where there are no such files.
#[cfg(target_os = "linux")]
fn take_a_page(dir: &Path) -> rustix::io::Result<bool> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match openat(CWD, dir, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => rustix::io::write(&file, &[0; 4_096]).map(|_| true),
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn take_a_page(_: &Path) -> rustix::io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_for_everybody_is_taken_for_a_folder_that_cannot_be_written() {
        for error in [Errno::ROFS, Errno::ACCESS, Errno::PERM] {
            assert!(matches!(judged(error), Obstacle::Forbidden), "{error}");
        }
        for error in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG] {
            assert!(matches!(judged(error), Obstacle::Full), "{error}");
        }
        for error in [Errno::MFILE, Errno::NFILE, Errno::IO, Errno::NOMEM] {
            assert!(matches!(judged(error), Obstacle::Other(_)), "{error}");
        }
    }

    #[test]
    fn a_folder_that_takes_files_has_no_obstacle_and_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(obstacle(dir.path()), None | Some(Obstacle::Untold)));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(matches!(obstacle(&dir.path().join("none")), Some(Obstacle::Other(_))));
    }
}
