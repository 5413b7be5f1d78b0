//! The page `docs/formats/segment.md` and the code say the same.

use super::{
    Codec, SEGMENT_HEADER_BYTES, SEGMENT_MAGIC, SEGMENT_MAX_BYTES, SEGMENT_VERSION, Segment, SegmentHeader,
};
use crate::chain::ChainState;
use crate::entropy::SeededEntropy;
use crate::fixture;
use crate::ids::{Digest, Head, Height, ProposalId};
use crate::manifest::Anchor;

const PAGE: &str = include_str!("../../../../docs/formats/segment.md");

/// The cells of every row of the table whose header begins with `first_cell`.
fn table(first_cell: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Option<Vec<String>> {
        let row = line.strip_prefix("| ")?.strip_suffix('|')?;
        Some(row.split('|').map(|cell| cell.trim().replace('`', "")).collect())
    };
    let from = PAGE.lines().skip_while(|line| cells(line).is_none_or(|cells| cells[0] != first_cell));
    let rows: Vec<_> = from.skip(2).map_while(cells).collect();
    assert!(!rows.is_empty(), "no table `{first_cell}`");
    rows
}

/// A header in which every field has bytes of its own.
fn header() -> SegmentHeader {
    SegmentHeader {
        seal_id: fixture::seal_id(),
        generation: fixture::generation(0x0102_0304),
        epoch: 0x1112_1314_1516_1718,
        incarnation: 0x2122_2324_2526_2728,
        proposal: ProposalId::from_bytes([0x33; 16]),
        base: Anchor { height: Height::new(0x4142), head: Head::from_bytes([0x55; 32]) },
        after: ChainState {
            height: Height::new(0x4142 + 0x0607),
            head: Head::from_bytes([0x66; 32]),
            digest: Digest::from_bytes([0x77; 32]),
        },
        codec: Codec::Records,
    }
}

#[test]
fn the_page_gives_offset_length_and_order_of_every_field() {
    let header = header();
    let segment = Segment::seal(header, &[b"x"], fixture::keys().segment(), &SeededEntropy::new(1)).unwrap();
    let body = u32::try_from(segment.as_bytes().len() - SEGMENT_HEADER_BYTES).unwrap();
    let mut fields: Vec<(&str, Vec<u8>)> = vec![
        ("magic", SEGMENT_MAGIC.to_vec()),
        ("format version", vec![SEGMENT_VERSION]),
        ("codec", vec![1]),
        ("seal id", header.seal_id.as_bytes().to_vec()),
        ("key generation", 0x0102_0304_u32.to_le_bytes().to_vec()),
        ("ownership epoch", header.epoch.to_le_bytes().to_vec()),
        ("incarnation", header.incarnation.to_le_bytes().to_vec()),
        ("proposal id", header.proposal.as_bytes().to_vec()),
        ("chain height before", 0x4142_u64.to_le_bytes().to_vec()),
        ("chain head before", vec![0x55; 32]),
        ("chain height after", 0x4749_u64.to_le_bytes().to_vec()),
        ("chain head after", vec![0x66; 32]),
        ("running digest after", vec![0x77; 32]),
        ("records", 0x0607_u32.to_le_bytes().to_vec()),
        ("body length", body.to_le_bytes().to_vec()),
    ];
    let mut offset = 0;
    for row in table("offset") {
        let (name, expected) = fields.remove(0);
        assert_eq!((&row[0], &row[1]), (&offset.to_string(), &expected.len().to_string()), "{name}");
        assert!(row[2].starts_with(name), "{name}: {}", row[2]);
        assert_eq!(&segment.as_bytes()[offset..offset + expected.len()], expected, "{name}");
        offset += expected.len();
    }
    assert!(fields.is_empty() && offset == SEGMENT_HEADER_BYTES);
}

#[test]
fn the_page_gives_the_codecs_and_the_bounds() {
    let codecs: Vec<String> = table("codec").into_iter().map(|mut row| row.swap_remove(0)).collect();
    assert_eq!(codecs, Codec::ALL.map(|codec| codec.as_byte().to_string()));
    let bounds = [
        ("format version", usize::from(SEGMENT_VERSION)),
        ("header", SEGMENT_HEADER_BYTES),
        ("whole segment", SEGMENT_MAX_BYTES),
    ];
    let written: Vec<(String, usize)> =
        table("number").into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    assert_eq!(written, bounds.map(|(name, number)| (name.to_owned(), number)));
    assert!(PAGE.contains(&format!("`{}`", std::str::from_utf8(&SEGMENT_MAGIC).unwrap())));
}
