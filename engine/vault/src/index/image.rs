//! The index image on disk: sealed pieces that bind the chain head at which the index was built.
//!
//! File: magic "UCIMG001", image id (16 random bytes), then pieces: length u32 LE ‖ sealed piece. The associated
//! data of piece `i` is image id ‖ i u64 LE; each piece's plaintext starts with one byte that is 1 in the last piece.
//! The plaintext is the header (chain height u64 LE, head 32, digest 32, embedder name with u32 LE length) and the image of the
//! search crate. It is written beside and renamed; it is not synced, since a torn image is found and rebuilt.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use undercroft_crypto::{ChainState, Digest, Head, Height, SealDomain, regular};
use undercroft_search::{ImageLimits, Index};

use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;

const NAME: &str = "index.img";
/// Where it is written first; the image lock lets one process do so at a time.
const STAGED: &str = "index.img.tmp";
const MAGIC: &[u8; 8] = b"UCIMG001";
const ID_BYTES: usize = 16;
/// Largest sealed piece: plaintext, its last-marker, nonce and authenticator.
const MAX_SEALED_PIECE: usize = limits::IMAGE_PIECE_BYTES + 1 + 24 + 16;

/// An image that was read, and where in the chain it stands.
pub(super) struct Loaded {
    pub(super) chain: ChainState,
    pub(super) index: Index,
}

/// Path of the image of the vault in `dir`.
pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Removes the image, if there is one.
pub(crate) fn remove(dir: &Path) -> Result<()> {
    let path = path(dir);
    refuse_folder(&path).map_err(Error::io("remove", &path))?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
        _ => Ok(()),
    }
}

/// Writes the image of `index` as of `chain`.
pub(super) fn write(
    dir: &Path,
    keyring: &Keyring,
    embedder: &str,
    chain: &ChainState,
    index: &Index,
) -> Result<()> {
    let target = path(dir);
    let staged = dir.join(STAGED);
    let result = refuse_folder(&target)
        .and_then(|()| write_file(&staged, keyring, embedder, chain, index))
        .and_then(|()| fs::rename(&staged, &target));
    if result.is_err() {
        // Best effort: what stays behind is sealed and is replaced next time.
        let _ = fs::remove_file(&staged);
    }
    result.map_err(Error::io("write the index image", &target))
}

/// A pipe or a device in the image's place is replaced or removed like an image. A folder may hold somebody's files.
fn refuse_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() { regular::check(path) } else { Ok(()) }
}

fn write_file(
    staged: &Path,
    keyring: &Keyring,
    embedder: &str,
    chain: &ChainState,
    index: &Index,
) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = regular::open_with(staged, &options)?;
    let mut writer = Sealing::start(file, keyring)?;
    writer.write_all(&chain.height.get().to_le_bytes())?;
    writer.write_all(chain.head.as_bytes())?;
    writer.write_all(chain.digest.as_bytes())?;
    let length = u32::try_from(embedder.len()).map_err(io::Error::other)?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(embedder.as_bytes())?;
    index.write_image(&mut writer)?;
    writer.finish()
}

/// Reads the image, if there is one that this vault's keys open and that was made with this embedder.
pub(super) fn read(dir: &Path, keyring: &Keyring, embedder: &str) -> Result<Option<Loaded>> {
    let path = path(dir);
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if regular::is_refusal(&error) => return Err(Error::Image(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open the index image", &path)(error)),
    };
    let bytes = file.metadata().map_err(Error::io("read the index image", &path))?.len();
    if bytes > limits::MAX_IMAGE_BYTES {
        return Err(Error::Image(format!("{bytes} bytes is over the limit")));
    }
    decode(file, keyring, embedder).map_err(|error| Error::Image(error.to_string()))
}

fn decode(input: impl Read, keyring: &Keyring, embedder: &str) -> io::Result<Option<Loaded>> {
    let mut reader = Opening::start(input, keyring)?;
    let height = Height::new(u64::from_le_bytes(array(&mut reader)?));
    let head = Head::from_bytes(array(&mut reader)?);
    let digest = Digest::from_bytes(array(&mut reader)?);
    let length = u32::from_le_bytes(array(&mut reader)?) as usize;
    if length > 1_024 {
        return Err(io::Error::other("embedder name over the limit"));
    }
    let mut name = vec![0; length];
    reader.read_exact(&mut name)?;
    if name != embedder.as_bytes() {
        return Ok(None);
    }
    let index = Index::read_image(&mut reader, ImageLimits::default()).map_err(io::Error::other)?;
    reader.expect_end()?;
    Ok(Some(Loaded { chain: ChainState { height, head, digest }, index }))
}

fn array<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn record(id: &[u8; ID_BYTES], piece: u64) -> [u8; ID_BYTES + 8] {
    let mut record = [0; ID_BYTES + 8];
    record[..ID_BYTES].copy_from_slice(id);
    record[ID_BYTES..].copy_from_slice(&piece.to_le_bytes());
    record
}

/// Seals what is written, piece by piece.
struct Sealing<'a, W: Write> {
    out: W,
    keyring: &'a Keyring,
    id: [u8; ID_BYTES],
    piece: u64,
    /// Starts with the byte that marks the last piece.
    buffer: Vec<u8>,
}

impl<'a, W: Write> Sealing<'a, W> {
    fn start(mut out: W, keyring: &'a Keyring) -> io::Result<Self> {
        let mut id = [0; ID_BYTES];
        keyring.entropy().fill(&mut id);
        out.write_all(MAGIC)?;
        out.write_all(&id)?;
        Ok(Self { out, keyring, id, piece: 0, buffer: vec![0] })
    }

    fn flush_piece(&mut self, last: bool) -> io::Result<()> {
        self.buffer[0] = u8::from(last);
        let record = record(&self.id, self.piece);
        let sealed = self.keyring.seal_always(SealDomain::IndexImage, &record, &self.buffer);
        let length = u32::try_from(sealed.len()).map_err(io::Error::other)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&sealed)?;
        self.piece += 1;
        self.buffer.truncate(1);
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush_piece(true)?;
        self.out.flush()
    }
}

impl<W: Write> Write for Sealing<'_, W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = limits::IMAGE_PIECE_BYTES + 1 - self.buffer.len();
        let taken = room.min(data.len());
        self.buffer.extend_from_slice(&data[..taken]);
        if self.buffer.len() == limits::IMAGE_PIECE_BYTES + 1 {
            self.flush_piece(false)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens pieces as they are read.
struct Opening<'a, R: Read> {
    input: R,
    keyring: &'a Keyring,
    id: [u8; ID_BYTES],
    piece: u64,
    plain: Vec<u8>,
    at: usize,
    last: bool,
}

impl<'a, R: Read> Opening<'a, R> {
    fn start(mut input: R, keyring: &'a Keyring) -> io::Result<Self> {
        if array::<8>(&mut input)? != *MAGIC {
            return Err(io::Error::other("not an index image of this version"));
        }
        let id = array(&mut input)?;
        Ok(Self { input, keyring, id, piece: 0, plain: Vec::new(), at: 0, last: false })
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let length = u32::from_le_bytes(array(&mut self.input)?) as usize;
        if length > MAX_SEALED_PIECE {
            return Err(io::Error::other("a piece is over the limit"));
        }
        let mut sealed = vec![0; length];
        self.input.read_exact(&mut sealed)?;
        let record = record(&self.id, self.piece);
        self.plain =
            self.keyring.open_always(SealDomain::IndexImage, &record, &sealed).map_err(io::Error::other)?;
        self.last = self.plain.first() == Some(&1);
        self.at = 1;
        self.piece += 1;
        Ok(())
    }

    fn expect_end(&mut self) -> io::Result<()> {
        if self.at < self.plain.len() || !self.last {
            return Err(io::Error::other("the image goes on after its end"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Opening<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.plain.len() {
            if self.last {
                return Ok(0);
            }
            self.next_piece()?;
        }
        let taken = out.len().min(self.plain.len() - self.at);
        out[..taken].copy_from_slice(&self.plain[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
#[path = "image_test.rs"]
mod image_test;
