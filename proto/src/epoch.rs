//! Three numbers that only grow, as three types: which shard owns a vault, which life of it this is, how long its chain is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::text::decimal;

macro_rules! growing_number {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The number as this type.
            #[must_use]
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// The plain number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The number behind this one.
            ///
            /// # Panics
            /// Behind 2⁶⁴ − 1: at a million steps a second that is half a million years away.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.checked_add(1).expect("fewer steps than numbers"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                decimal(text).map(Self).ok_or_else(|| Error::text($what, "a decimal number", text))
            }
        }
    };
}

growing_number!(
    /// Which ownership of a vault this is. Each move of the vault, and each move given up, gives a fresh one.
    Epoch, "an epoch"
);
growing_number!(
    /// Which life of a vault this is: 0 outside a cluster, 1 when it is created in one, one more after a forced restore.
    Incarnation, "an incarnation"
);
growing_number!(
    /// Number of records in a vault's audit chain.
    Height, "a height"
);
