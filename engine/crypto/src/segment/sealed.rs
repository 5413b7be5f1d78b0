//! A whole segment: sealed, as bytes, and read back strictly. Knows neither SQL nor what a log is.

use super::body::Codec;
use super::header::{SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::derive::SegmentKey;
use crate::entropy::Entropy;
use crate::error::Error;
use crate::seal::SEAL_OVERHEAD;

/// Largest segment, in bytes: what one log entry, one message and one apply may cost.
pub const SEGMENT_MAX_BYTES: usize = 4 << 20;
/// Most bytes of changes that a segment without codec can hold.
pub const SEGMENT_MAX_PLAIN_BYTES: usize = SEGMENT_MAX_BYTES - SEGMENT_HEADER_BYTES - SEAL_OVERHEAD;

/// One group of writes of one vault: a header, and changes under seal.
#[derive(Clone, PartialEq, Eq)]
pub struct Segment {
    header: SegmentHeader,
    /// Header and sealed body, as they travel.
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("header", &self.header).field("bytes", &self.bytes.len()).finish()
    }
}

impl Segment {
    /// Seals `records` (the changes, in the pieces that may be compressed apart) under the header.
    ///
    /// # Errors
    /// [`Error::SegmentTooLarge`] above [`SEGMENT_MAX_BYTES`]; [`Error::Segment`] when the header's chain does not rise.
    pub fn seal(
        header: SegmentHeader,
        records: &[&[u8]],
        key: &SegmentKey,
        entropy: &dyn Entropy,
    ) -> Result<Self, Error> {
        let body = header.codec.encode(records);
        let whole = SEGMENT_HEADER_BYTES + SEAL_OVERHEAD + body.len();
        let sealed_bytes = match u32::try_from(body.len() + SEAL_OVERHEAD) {
            Ok(sealed_bytes) if whole <= SEGMENT_MAX_BYTES => sealed_bytes,
            _ => return Err(Error::SegmentTooLarge { bytes: whole, limit: SEGMENT_MAX_BYTES }),
        };
        let mut bytes = header.encode(sealed_bytes)?;
        let sealed = key.seal(&bytes, &body, entropy);
        bytes.extend_from_slice(&sealed);
        Ok(Self { header, bytes })
    }

    /// Reads a segment. Nothing of it is believed yet: only [`Segment::open`] proves header and body.
    ///
    /// # Errors
    /// [`Error::SegmentVersion`] for one of another version, which a newer program wrote; [`Error::SegmentTooLarge`];
    /// [`Error::Segment`] for bytes that are no segment, are cut, or are followed by others.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, Error> {
        if bytes.len() > SEGMENT_MAX_BYTES {
            return Err(Error::SegmentTooLarge { bytes: bytes.len(), limit: SEGMENT_MAX_BYTES });
        }
        let (header, sealed_bytes) = SegmentHeader::decode(&bytes)?;
        let sealed_bytes = sealed_bytes as usize;
        if sealed_bytes < SEAL_OVERHEAD {
            return Err(Error::Segment { defect: "its body is shorter than a seal" });
        }
        match bytes.len().checked_sub(SEGMENT_HEADER_BYTES) {
            Some(found) if found == sealed_bytes => Ok(Self { header, bytes }),
            Some(found) if found > sealed_bytes => Err(Error::Segment { defect: "bytes follow its body" }),
            _ => Err(Error::Segment { defect: "its body is cut short" }),
        }
    }

    /// What anybody may read of it.
    #[must_use]
    pub const fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// Header and sealed body, as they travel.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, given away.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Opens the body and gives the changes, at most [`SEGMENT_MAX_BYTES`] of them.
    ///
    /// # Errors
    /// [`Error::Open`] for another key or any changed byte, of the header too; an error of the codec for a body that its
    /// writer did not encode as it says.
    pub fn open(&self, key: &SegmentKey) -> Result<Vec<u8>, Error> {
        let (header, sealed) = self.bytes.split_at(SEGMENT_HEADER_BYTES);
        let body = key.open(header, sealed)?;
        self.header.codec.decode(body, SEGMENT_MAX_BYTES)
    }
}

/// Which codec suits what a vault's files show.
impl From<crate::manifest::Level> for Codec {
    fn from(level: crate::manifest::Level) -> Self {
        match level {
            crate::manifest::Level::Sealed => Self::None,
            crate::manifest::Level::HmacOnly => Self::Records,
        }
    }
}
