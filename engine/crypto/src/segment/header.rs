//! The header of a segment: fixed fields in a fixed order, readable without a key, covered by the seal of the body.
//! Decides nothing about whether a segment fits a vault.

use super::body::Codec;
use crate::chain::ChainState;
use crate::error::Error;
use crate::ids::{Digest, Head, Height, KeyGeneration, ProposalId, SealId};
use crate::manifest::Anchor;

/// How every segment begins.
pub const SEGMENT_MAGIC: [u8; 4] = *b"UCSG";
/// The only version of the format.
pub const SEGMENT_VERSION: u8 = 1;
/// Bytes of a header: see `docs/formats/segment.md`.
pub const SEGMENT_HEADER_BYTES: usize = 178;

/// Everything about a segment that its readers decide from before they open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The vault's identity in every cipher.
    pub seal_id: SealId,
    /// Which keys seal the body, tag its rows and step its chain.
    pub generation: KeyGeneration,
    /// Which ownership of the vault the writer believed in.
    pub epoch: u64,
    /// Which life of the vault.
    pub incarnation: u64,
    /// Drawn for this proposal; tells two attempts at one base apart.
    pub proposal: ProposalId,
    /// Where the chain stood before.
    pub base: Anchor,
    /// Where it stands afterwards; at least one record later.
    pub after: ChainState,
    /// How the body is encoded before it is sealed.
    pub codec: Codec,
}

impl SegmentHeader {
    /// Number of audit records that the segment appends.
    ///
    /// # Errors
    /// [`Error::Segment`] when the heights do not rise, or by more than a segment can hold.
    pub fn records(&self) -> Result<u32, Error> {
        let rise = self.after.height.get().saturating_sub(self.base.height.get());
        match u32::try_from(rise) {
            Ok(records) if records > 0 => Ok(records),
            _ => Err(Error::Segment { defect: "its chain does not rise by a number of records that fits" }),
        }
    }

    /// The header in front of `sealed_bytes` bytes of sealed body.
    pub(super) fn encode(&self, sealed_bytes: u32) -> Result<Vec<u8>, Error> {
        let records = self.records()?;
        let mut out = Vec::with_capacity(SEGMENT_HEADER_BYTES + sealed_bytes as usize);
        out.extend_from_slice(&SEGMENT_MAGIC);
        out.extend_from_slice(&[SEGMENT_VERSION, self.codec.as_byte()]);
        out.extend_from_slice(self.seal_id.as_bytes());
        out.extend_from_slice(&self.generation.get().to_le_bytes());
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.extend_from_slice(self.proposal.as_bytes());
        out.extend_from_slice(&self.base.height.get().to_le_bytes());
        out.extend_from_slice(self.base.head.as_bytes());
        out.extend_from_slice(&self.after.height.get().to_le_bytes());
        out.extend_from_slice(self.after.head.as_bytes());
        out.extend_from_slice(self.after.digest.as_bytes());
        out.extend_from_slice(&records.to_le_bytes());
        out.extend_from_slice(&sealed_bytes.to_le_bytes());
        Ok(out)
    }

    /// Reads a header and gives the length of the sealed body that it announces.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, u32), Error> {
        let mut rest = Fields(bytes);
        if rest.take::<4>()? != SEGMENT_MAGIC {
            return Err(Error::Segment { defect: "it does not begin as one" });
        }
        let [version, codec] = rest.take()?;
        if version != SEGMENT_VERSION {
            return Err(Error::SegmentVersion { found: version });
        }
        let header = Self {
            codec: Codec::from_byte(codec)?,
            seal_id: SealId::from_bytes(rest.take()?),
            generation: KeyGeneration::from_u32(u32::from_le_bytes(rest.take()?))?,
            epoch: u64::from_le_bytes(rest.take()?),
            incarnation: u64::from_le_bytes(rest.take()?),
            proposal: ProposalId::from_bytes(rest.take()?),
            base: Anchor { height: rest.height()?, head: Head::from_bytes(rest.take()?) },
            after: ChainState {
                height: rest.height()?,
                head: Head::from_bytes(rest.take()?),
                digest: Digest::from_bytes(rest.take()?),
            },
        };
        if u32::from_le_bytes(rest.take()?) != header.records()? {
            return Err(Error::Segment { defect: "its number of records is not the rise of its chain" });
        }
        Ok((header, u32::from_le_bytes(rest.take()?)))
    }
}

/// What is left to read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.0.split_first_chunk().ok_or(Error::Segment { defect: "it is cut short" })?;
        self.0 = rest;
        Ok(*field)
    }

    fn height(&mut self) -> Result<Height, Error> {
        Ok(Height::new(u64::from_le_bytes(self.take()?)))
    }
}
