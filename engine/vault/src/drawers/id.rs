//! Drawer ids: deterministic, unkeyed, as clients see them. They never stand on disk in clear (see `at-rest`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// Version of the recipe's normalising rule: 3 means that the stored text is the source's own bytes.
pub(crate) const NORMALIZE_VERSION: u32 = 3;
/// Name of the recipe, recorded in every drawer.
pub(crate) const ID_RECIPE: &str = "sha256/wing|room|source|chunk|v1";

/// Separator of the recipe's fields.
const UNIT: [u8; 1] = [0x1f];
/// Stands for the source of a drawer that was saved directly.
const DIRECT: &str = "(direct)";

/// Id of a drawer: 16 bytes, shown as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String, pattern = "^[0-9a-f]{32}$"))]
pub struct DrawerId([u8; 16]);

impl DrawerId {
    /// The 16 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// The id of the drawer at `chunk` of `source` in a wing's room:
/// first 16 bytes of SHA-256(wing ␟ room ␟ source ␟ chunk u32 LE ␟ normalize version u32 LE).
#[must_use]
pub fn drawer_id(wing: &str, room: &str, source: Option<&str>, chunk: u32) -> DrawerId {
    let mut hasher = Sha256::new();
    for field in [wing, room, source.unwrap_or(DIRECT)] {
        hasher.update(field.as_bytes());
        hasher.update(UNIT);
    }
    hasher.update(chunk.to_le_bytes());
    hasher.update(UNIT);
    hasher.update(NORMALIZE_VERSION.to_le_bytes());
    let digest: [u8; 32] = hasher.finalize().into();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    DrawerId(id)
}

impl fmt::Display for DrawerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for DrawerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DrawerId({self})")
    }
}

/// Lower-case digits only: an id has one written form.
fn decode(text: &str) -> Option<[u8; 16]> {
    let pairs = text.as_bytes().as_chunks::<2>();
    let (pairs, []) = pairs else { return None };
    let mut id = [0; 16];
    // Digits that are none leave a mark instead of a branch: every record of a vault passes here.
    let mut stray = (pairs.len() != id.len()) as u8;
    for (byte, [high, low]) in id.iter_mut().zip(pairs) {
        let (high, low) = (DIGITS[usize::from(*high)], DIGITS[usize::from(*low)]);
        stray |= (high | low) & STRAY;
        *byte = high << 4 | low;
    }
    (stray == 0).then_some(id)
}

/// Marks what is no digit.
const STRAY: u8 = 0x80;

/// The value of each digit.
const DIGITS: [u8; 256] = {
    let (mut digits, mut value) = ([STRAY; 256], 0);
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

impl FromStr for DrawerId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        decode(text).map(Self).ok_or_else(|| {
            Error::invalid(
                "id",
                "a drawer id is 32 lower-case hexadecimal digits; copy it from a search or a list",
            )
        })
    }
}

impl Serialize for DrawerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DrawerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
