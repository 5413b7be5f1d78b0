//! How far a copy of a vault has come: what a reply states and a later read can demand.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Height, Incarnation};

/// A place in the life of a vault, printed `<incarnation>:<height>`.
///
/// Positions of one vault are totally ordered: a later life is behind every height of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Which life of the vault.
    pub incarnation: Incarnation,
    /// How many records its audit chain has.
    pub height: Height,
}

impl Position {
    /// Whether a copy at this position may answer a read that demands `wanted`.
    ///
    /// A copy in another life may not, however long its chain is: what was demanded may not be in it.
    #[must_use]
    pub fn satisfies(self, wanted: Self) -> bool {
        self.incarnation == wanted.incarnation && self.height >= wanted.height
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.incarnation, self.height)
    }
}

impl FromStr for Position {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::text("a position", "<incarnation>:<height>, for example 1:42", text);
        let (incarnation, height) = text.split_once(':').ok_or_else(wrong)?;
        let (Ok(incarnation), Ok(height)) = (incarnation.parse(), height.parse()) else {
            return Err(wrong());
        };
        Ok(Self { incarnation, height })
    }
}

#[derive(Serialize, Deserialize)]
struct Plain(Incarnation, Height);

impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            Plain(self.incarnation, self.height).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
            text.parse().map_err(serde::de::Error::custom)
        } else {
            Plain::deserialize(deserializer).map(|Plain(incarnation, height)| Self { incarnation, height })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Position;
    use crate::{Height, Incarnation};

    fn at(incarnation: u64, height: u64) -> Position {
        Position { incarnation: Incarnation::new(incarnation), height: Height::new(height) }
    }

    proptest! {
        #[test]
        fn every_position_reads_back(incarnation in any::<u64>(), height in any::<u64>()) {
            let position = at(incarnation, height);
            prop_assert_eq!(position.to_string().parse::<Position>(), Ok(position));
            let json = serde_json::to_string(&position).unwrap();
            prop_assert_eq!(serde_json::from_str::<Position>(&json).unwrap(), position);
            let bytes = postcard::to_allocvec(&position).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Position>(&bytes).unwrap(), position);
        }

        #[test]
        fn any_text_that_reads_as_a_position_is_its_only_text(text in "[0-9:+ ]{0,12}") {
            if let Ok(position) = text.parse::<Position>() {
                prop_assert_eq!(position.to_string(), text);
            }
        }
    }

    #[test]
    fn texts_that_are_no_positions_are_refused() {
        for text in ["", ":", "1", "1:", ":1", "1:2:3", "01:2", "1: 2", "-1:2", "1:18446744073709551616"] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_later_life_sorts_behind_and_satisfies_nothing_of_an_earlier_one() {
        assert!(at(2, 0) > at(1, 900));
        assert!(at(1, 7).satisfies(at(1, 7)) && at(1, 8).satisfies(at(1, 7)));
        assert!(!at(1, 6).satisfies(at(1, 7)));
        assert!(!at(2, 900).satisfies(at(1, 7)) && !at(1, 900).satisfies(at(2, 7)));
    }
}
