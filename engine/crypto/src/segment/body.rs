//! How the changes of a segment are laid out before they are sealed. Trusts no length that it reads.
//!
//! In a `sealed` vault every value is ciphertext and does not compress. In an `hmac-only` vault each record is framed on
//! its own: what one record holds cannot be guessed from how well another one compresses beside it.

use crate::error::Error;
use crate::frame;

/// Encoding of a segment's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// The changes as they are.
    None,
    /// Each record in a content frame of its own: frame length u32 ‖ frame.
    Records,
}

impl Codec {
    /// Every codec.
    pub const ALL: [Self; 2] = [Self::None, Self::Records];

    /// The codec's byte in the header.
    #[must_use]
    pub const fn as_byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Records => 1,
        }
    }

    pub(super) fn from_byte(byte: u8) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|codec| codec.as_byte() == byte);
        known.ok_or(Error::Segment { defect: "its codec is unknown" })
    }

    /// The body made of these records, in order.
    pub(super) fn encode(self, records: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::None => records.concat(),
            Self::Records => {
                let mut out = Vec::new();
                for record in records {
                    let framed = frame::encode(record);
                    // A frame that were longer makes a body that is refused for its length.
                    let length = u32::try_from(framed.len()).unwrap_or(u32::MAX);
                    out.extend_from_slice(&length.to_le_bytes());
                    out.extend_from_slice(&framed);
                }
                out
            }
        }
    }

    /// The records of a body, one behind the other, at most `limit` bytes.
    pub(super) fn decode(self, body: Vec<u8>, limit: usize) -> Result<Vec<u8>, Error> {
        match self {
            Self::None if body.len() <= limit => Ok(body),
            Self::None => Err(Error::FrameTooLarge { claimed: body.len() as u64, limit }),
            Self::Records => decode_records(&body, limit),
        }
    }
}

fn decode_records(body: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
    let cut = Error::Segment { defect: "a record of its body is cut short" };
    let (mut rest, mut out, mut record) = (body, Vec::new(), Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let Some((framed, behind)) = after.split_at_checked(length) else { return Err(cut) };
        frame::decode_into(framed, limit - out.len(), &mut record)?;
        out.extend_from_slice(&record);
        rest = behind;
    }
    if rest.is_empty() { Ok(out) } else { Err(cut) }
}
