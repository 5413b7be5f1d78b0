//! The files of the journal, as it uses them: a small trait, so that tests decide what a disk does, and the real one.
//!
//! Nothing else of the journal touches a file. Nothing here knows what is in one.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file system, as far as the journal needs one. Names are single components of a folder that the caller gives whole.
pub trait Disk: Send + Sync + 'static {
    /// Makes the folder with its parents, so that it is there after a loss of power.
    ///
    /// # Errors
    /// What the system says.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Names of what is in the folder, in any order.
    ///
    /// # Errors
    /// `NotFound` when there is no such folder, otherwise what the system says.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Takes the folder for this process until what is returned is dropped.
    ///
    /// # Errors
    /// `ResourceBusy` when another process has it.
    fn take(&self, folder: &Path) -> io::Result<Box<dyn Send + Sync>>;

    /// An empty file of this name, in the place of one that was there.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// A file that is there, for reading and writing.
    ///
    /// # Errors
    /// `NotFound` when it is not, otherwise what the system says.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file or a folder another name; durable once the folder is flushed.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Deletes a file; durable once the folder is flushed.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Flushes the names in a folder.
    ///
    /// # Errors
    /// What the system says.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file. Reads and writes say where; nobody moves a cursor under somebody else.
pub trait DiskFile: Send + Sync {
    /// Its length in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn length(&self) -> io::Result<u64>;

    /// Reads up to `into.len()` bytes from `offset`; 0 at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes a part of `bytes`, from the first one on, and says how many.
    ///
    /// # Errors
    /// What the system says.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts the file to this length.
    ///
    /// # Errors
    /// What the system says.
    fn cut(&self, length: u64) -> io::Result<()>;

    /// Flushes content and length. After an error the content of the disk is unknown, whatever a second call says.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all of it.
pub(super) fn write_all(file: &dyn DiskFile, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until `into` is full or the file ends, and says how much that was.
pub(super) fn read_full(file: &dyn DiskFile, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read_at(&mut into[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a whole file.
pub(super) fn read_whole(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.length()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    let filled = read_full(file, &mut bytes, 0)?;
    bytes.truncate(filled);
    Ok(bytes)
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        folder.parent().map_or(Ok(()), |parent| self.sync_folder(parent))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        // A name that is no text is none of the journal's.
        let names = fs::read_dir(folder)?.map(|file| file.map(|file| file.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn take(&self, folder: &Path) -> io::Result<Box<dyn Send + Sync>> {
        let file = File::options().create(true).truncate(false).write(true).open(folder.join("in-use"))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(path)?;
        Ok(Arc::new(SystemFile(file)))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = File::options().read(true).write(true).open(path)?;
        Ok(Arc::new(SystemFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // The parent of a name without a folder before it is the empty path.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()
    }
}

struct SystemFile(File);

impl DiskFile for SystemFile {
    fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, into, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.0, bytes, offset)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
