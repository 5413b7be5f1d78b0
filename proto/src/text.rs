//! Types with a printed form: numbers that count, and how such a type meets serde: as its text where people read (JSON), as its
//! number where they do not.

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

/// Declares a number that only counts up, as a type of its own, printed as a decimal number.
macro_rules! counting {
    ($(#[$doc:meta])* $name:ident, $number:ty, $what:literal) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name($number);

        impl $name {
            /// The number as this type.
            #[must_use]
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// The plain number.
            #[must_use]
            pub const fn get(self) -> $number {
                self.0
            }

            /// The number behind this one.
            ///
            /// # Panics
            /// Behind the last number of the type, which no fleet reaches: it counts events, and the fastest of them would
            /// take half a million years.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.checked_add(1).expect("fewer events than numbers"))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::Error;

            fn from_str(text: &str) -> Result<Self, crate::Error> {
                let number = crate::text::decimal(text).and_then(|number| <$number>::try_from(number).ok());
                number.map(Self).ok_or_else(|| crate::Error::text($what, "a decimal number", text))
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

pub(crate) use {counting, serde_as_text};
