//! Owns the sections of an image: arrays of numbers as bytes, and the bounds that a reader keeps.

use std::io::{self, Read, Write};

use crate::error::ImageError;
use crate::limits::DOCUMENTS_MAX;

/// First bytes of every image.
pub(crate) const MAGIC: [u8; 8] = *b"UCINDEX\0";
/// Version of the layout and of the analysis behind it; another one means another image.
pub(crate) const VERSION: u32 = 1;

/// What a reader of an image accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Most bytes of all sections together.
    pub bytes: u64,
    /// Most drawers.
    pub documents: usize,
}

impl Default for ImageLimits {
    /// 16 GiB and the most drawers an index holds.
    fn default() -> Self {
        Self { bytes: 16 << 30, documents: DOCUMENTS_MAX }
    }
}

/// A number of fixed size.
pub(crate) trait Number: Copy {
    /// Its bytes.
    const SIZE: usize;
    fn put(self, bytes: &mut [u8]);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            const SIZE: usize = size_of::<$kind>();

            #[inline(always)]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$kind>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    )*};
}

number!(u8, i8, u32, i32, u64, f32, f64, u128);

/// Writes sections.
pub(crate) struct Sections<'a, W> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

impl<'a, W: Write> Sections<'a, W> {
    pub(crate) fn new(out: &'a mut W) -> Self {
        Self { out, buffer: Vec::new() }
    }

    pub(crate) fn plain(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// A section of numbers.
    pub(crate) fn numbers<N: Number>(&mut self, numbers: impl ExactSizeIterator<Item = N>) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.resize(numbers.len() * N::SIZE, 0);
        let rows = self.buffer.chunks_exact_mut(N::SIZE).zip(numbers);
        rows.for_each(|(row, number)| number.put(row));
        self.out.write_all(&(self.buffer.len() as u64).to_le_bytes())?;
        self.out.write_all(&self.buffer)
    }

    /// A section made of several byte strings, `total` bytes together.
    pub(crate) fn bytes<'b>(
        &mut self,
        total: usize,
        parts: impl Iterator<Item = &'b [u8]>,
    ) -> io::Result<()> {
        self.out.write_all(&(total as u64).to_le_bytes())?;
        for part in parts {
            self.out.write_all(part)?;
        }
        Ok(())
    }
}

/// Reads sections, never allocating more than the input really holds.
pub(crate) struct SectionReader<'a, R> {
    input: &'a mut R,
    left: u64,
}

impl<'a, R: Read> SectionReader<'a, R> {
    pub(crate) fn new(input: &'a mut R, limit: u64) -> Self {
        Self { input, left: limit }
    }

    pub(crate) fn plain<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], ImageError> {
        let mut bytes = [0; LENGTH];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A section of bytes.
    pub(crate) fn bytes(&mut self, field: &'static str) -> Result<Vec<u8>, ImageError> {
        let claimed = u64::from_le_bytes(self.plain()?);
        if claimed > self.left {
            return Err(ImageError::TooLarge { field, claimed, allowed: self.left });
        }
        self.left -= claimed;
        let mut bytes = Vec::new();
        // A claim is believed up to a megabyte; beyond that the bytes have to arrive first.
        bytes.reserve_exact(claimed.min(1 << 20) as usize);
        let found = self.input.by_ref().take(claimed).read_to_end(&mut bytes)?;
        if found as u64 != claimed {
            return Err(ImageError::Corrupt { field });
        }
        bytes.shrink_to_fit();
        Ok(bytes)
    }

    /// A section of numbers.
    pub(crate) fn numbers<N: Number>(&mut self, field: &'static str) -> Result<Vec<N>, ImageError> {
        let bytes = self.bytes(field)?;
        if bytes.len() % N::SIZE != 0 {
            return Err(ImageError::Corrupt { field });
        }
        Ok(bytes.chunks_exact(N::SIZE).map(N::get).collect())
    }

    /// A section of exactly `count` numbers.
    pub(crate) fn column<N: Number>(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<Vec<N>, ImageError> {
        let numbers = self.numbers(field)?;
        if numbers.len() == count { Ok(numbers) } else { Err(ImageError::Corrupt { field }) }
    }
}
