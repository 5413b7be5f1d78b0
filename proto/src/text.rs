//! How a type with a printed form meets serde: as that text where people read (JSON), as its number where they do not.

/// Implements `Serialize` and `Deserialize` for a newtype over a number that has `Display` and `FromStr`.
macro_rules! serde_as_text {
    ($name:ident, $number:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serde::Serialize::serialize(&self.0, serializer)
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    <$number as serde::Deserialize>::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

/// A decimal number without sign, spaces or needless zeros: one number has one text.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let canonical = text == "0" || (!text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()));
    if canonical { text.parse().ok() } else { None }
}

/// `N` bytes from exactly `2 N` lower-case hex digits.
pub(crate) fn hex_bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let lower = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

pub(crate) use serde_as_text;
