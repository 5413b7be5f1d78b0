//! Where the messages of a transcript are filed: at their lines, each place once.
//!
//! A position has 32 bits: the line in the lower 24, and in the upper 8 which part of a large message it is, or above
//! those the storeys: further places of the same line, for what stood there after the log was written anew.

use undercroft_vault::NewDrawer;

/// The last line that has places of its own.
pub(super) const LAST_LINE: u32 = (1 << LINE_BITS) - 1;
/// Parts of one message; a line has room for half of them.
const PARTS: u32 = 192;
const LINE_BITS: u32 = 24;

/// The place of a part of the message at `line`; none when it would be another's.
pub(super) fn own(line: u32, part: u32) -> Option<u32> {
    (line <= LAST_LINE && part < PARTS).then_some(line | part << LINE_BITS)
}

/// The places that a text may have whose own is `place`, in the order in which they are used.
pub(super) fn storeys(place: u32) -> impl Iterator<Item = u32> {
    let above = (PARTS..1 << (u32::BITS - LINE_BITS)).rev();
    std::iter::once(place).chain(above.map(move |storey| place & LAST_LINE | storey << LINE_BITS))
}

/// Puts a text at `place`.
pub(super) fn put(new: &mut NewDrawer, place: u32) {
    if let Some(origin) = &mut new.origin {
        origin.chunk = place;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_parts_have_one_place_and_no_storey_is_a_parts() {
        let mut places = HashSet::new();
        for line in [0, 1, 5, 255, 256, LAST_LINE - 1, LAST_LINE] {
            for part in 0..PARTS {
                assert!(places.insert(own(line, part).unwrap()), "{line} {part}");
            }
            let above: Vec<u32> = storeys(own(line, 3).unwrap()).skip(1).collect();
            assert_eq!(above.len(), 64);
            assert!(above.iter().all(|place| place & LAST_LINE == line && places.insert(*place)));
        }
    }

    #[test]
    fn what_would_share_a_place_has_none() {
        assert_eq!((own(LAST_LINE + 1, 0), own(u32::MAX, 0), own(1, PARTS)), (None, None, None));
    }
}
