//! The page `docs/formats/journal.md` and the code say the same.

use proptest::prelude::*;

use super::body;
use super::record::{self, FRAME, Kind, MARK, Place, Record};
use super::segment::{HEAD, Head, MAGIC};
use super::{JournalId, LogId};

const PAGE: &str = include_str!("../../../docs/formats/journal.md");

/// The rows behind the header that begins with this cell, after the heading.
fn table(heading: &str, first_cell: &str) -> Vec<Vec<String>> {
    let part = PAGE.split("\n## ").find(|part| part.starts_with(heading)).expect("the heading");
    let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>());
    let rows: Vec<_> = rows.skip_while(|row| row[0] != first_cell).skip(1).collect();
    assert!(!rows.is_empty(), "no table `{first_cell}` under `{heading}`");
    rows
}

fn sum(heading: &str) -> usize {
    table(heading, "bytes").iter().filter_map(|row| row[0].parse::<usize>().ok()).sum()
}

#[test]
fn the_page_has_the_bytes_of_heads_and_frames() {
    assert_eq!((sum("The head of a segment"), sum("A record")), (HEAD, FRAME));
    assert!(PAGE.contains(&format!("`{}`", std::str::from_utf8(&MAGIC[..7]).expect("text"))));
    assert!(PAGE.contains(&format!("and the version, {}", MAGIC[7])));
    assert!(PAGE.contains(&format!("`00 {}`", std::str::from_utf8(&MARK[1..]).expect("text"))));
    assert_eq!(sum("The state of a group"), body::STANDING);
    assert_eq!(body::write_standing(&body::Standing::default()).len(), body::STANDING);
}

#[test]
fn the_page_has_every_kind_with_its_number() {
    let spaced = |kind: Kind| {
        let name = format!("{kind:?}");
        let spaced = name.chars().enumerate().map(|(at, c)| {
            if at > 0 && c.is_uppercase() {
                format!(" {}", c.to_lowercase())
            } else {
                c.to_lowercase().to_string()
            }
        });
        spaced.collect::<String>()
    };
    let expected: Vec<_> = Kind::ALL.map(|kind| format!("{} {}", kind as u8, spaced(kind))).into();
    let page: Vec<_> = table("Kinds", "kind").iter().map(|row| row[0].clone()).collect();
    assert_eq!(page, expected);
}

#[test]
fn a_record_is_the_bytes_that_the_page_says() {
    let (id, mut bytes) = (JournalId::from_bytes([3; 16]), Vec::new());
    record::write(
        &mut bytes,
        Place::new(id, 5),
        90,
        &Record::new(Kind::Entry, 8, LogId::new(1, 2, 4), b"payload"),
    );
    let number = |number: u64| number.to_le_bytes();
    let rest = [&[1, 1, 0, 0][..], &number(8), &number(1), &number(2), &number(4), b"payload"].concat();
    let length = 7_u32.to_le_bytes();
    let covered = [&[3; 16][..], &number(5), &number(90), &length, &rest].concat();
    assert_eq!(bytes, [&length[..], &crc32c::crc32c(&covered).to_le_bytes(), &rest].concat());
    let head = Head { journal: id, sequence: 5, oldest: 2 }.write();
    let covered = [&b"UCjrnal\x01"[..], &[3; 16], &number(5), &number(2)].concat();
    assert_eq!(head[..], [&covered[..], &crc32c::crc32c(&covered).to_le_bytes()].concat());
}

fn any_log_id() -> impl Strategy<Value = LogId> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(term, node, index)| LogId::new(term, node, index))
}

proptest! {
    #[test]
    fn a_record_is_read_where_it_was_written_and_nowhere_else(
        kind in 0_usize..13, has in any::<bool>(), group in any::<u64>(), log_id in any_log_id(),
        body in proptest::collection::vec(any::<u8>(), 0..200), offset in 0_u64..1 << 30, flip in any::<usize>(),
    ) {
        let record = Record { kind: Kind::ALL[kind], has_log_id: has, group, log_id, body: &body };
        let place = Place::new(JournalId::from_bytes([1; 16]), 7);
        let mut bytes = Vec::new();
        let length = record::write(&mut bytes, place, offset, &record);
        prop_assert_eq!(record::read(&bytes, place, offset), Some((record, length)));
        prop_assert_eq!(record::read(&bytes, place, offset + 1), None);
        prop_assert_eq!(record::read(&bytes, Place::new(JournalId::from_bytes([1; 16]), 8), offset), None);
        prop_assert_eq!(record::read(&bytes, Place::new(JournalId::from_bytes([2; 16]), 7), offset), None);
        prop_assert_eq!(record::read(&bytes[..length - 1], place, offset), None);
        let mut damaged = bytes.clone();
        damaged[flip % length] ^= 1 << (flip % 8);
        prop_assert_eq!(record::read(&damaged, place, offset), None);
    }

    #[test]
    fn bodies_that_are_read_are_written_back(bytes in proptest::collection::vec(any::<u8>(), 0..160), log_id in any_log_id()) {
        if let Some(standing) = body::read_standing(&bytes) {
            prop_assert_eq!(body::read_standing(&body::write_standing(&standing)), Some(standing));
        }
        if let Some(floor) = body::read_floor(log_id, &bytes) {
            prop_assert_eq!(body::read_floor(log_id, &body::write_floor(&floor)), Some(floor));
        }
        if let Some(change) = body::read_floor_change(log_id, &bytes) {
            prop_assert_eq!(body::write_floor_change(&change), bytes);
        }
    }
}
