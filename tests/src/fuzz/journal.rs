//! Bodies over the journal of a node: a record is read where it was written and nowhere else, and no length is believed.

use undercroft_node::journal::body;
use undercroft_node::journal::record::{self, FRAME, Kind, Place, Record};
use undercroft_node::journal::segment::Head;
use undercroft_node::journal::{JournalId, LogId};

fn place(sequence: u64) -> Place {
    Place::new(JournalId::from_bytes([3; 16]), sequence)
}

/// Whatever is read is written back to the same bytes; whatever is written is read, and not in another place.
pub fn journal_record(bytes: &[u8]) {
    if let Some((found, length)) = record::read(bytes, place(1), 0) {
        let mut again = Vec::new();
        assert_eq!(record::write(&mut again, place(1), 0, &found), length);
        assert_eq!(again, bytes[..length]);
    }
    let _ = record::mark_behind(bytes, place(1), 0);
    if let Ok(head) = Head::read(bytes) {
        assert!(bytes.starts_with(&head.write()));
    }
    bodies(bytes);
    let Some((first, rest)) = bytes.split_first() else { return };
    let kind = Kind::ALL[usize::from(*first) % Kind::ALL.len()];
    let written = Record::new(kind, u64::from(*first), LogId::new(1, 2, bytes.len() as u64), rest);
    let mut file = b"before".to_vec();
    let length = record::write(&mut file, place(2), 6, &written);
    assert_eq!(length, FRAME + rest.len());
    assert_eq!(record::read(&file[6..], place(2), 6), Some((written, length)));
    for (at, elsewhere) in [(5, place(2)), (6, place(3))] {
        assert_eq!(record::read(&file[6..], elsewhere, at), None, "a record is believed in another place");
    }
    let at = 6 + usize::from(*first) % length;
    file[at] ^= 0x20;
    assert_eq!(record::read(&file[6..], place(2), 6), None, "a changed byte went unseen");
}

/// Bodies that are read survive the way there and back.
fn bodies(bytes: &[u8]) {
    let log_id = LogId::new(1, 1, 1);
    if let Some(standing) = body::read_standing(bytes) {
        assert_eq!(body::read_standing(&body::write_standing(&standing)), Some(standing));
    }
    if let Some(floor) = body::read_floor(log_id, bytes) {
        assert_eq!(body::read_floor(log_id, &body::write_floor(&floor)), Some(floor));
    }
    if let Some(change) = body::read_floor_change(log_id, bytes) {
        assert_eq!(body::write_floor_change(&change), bytes);
    }
}

/// Records, heads and bodies of the right form.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let log_id = LogId::new(3, 1, 7);
    let standing =
        body::Standing { last: Some(log_id), purged: Some(log_id), begin: 8, ..body::Standing::default() };
    let standing = body::write_standing(&standing);
    let floor = [&3_u32.to_le_bytes()[..], b"abc", &1_u32.to_le_bytes(), &[5; 40]].concat();
    let change = [&[0][..], &0_u32.to_le_bytes(), &1_u32.to_le_bytes(), &[5; 16], &[1; 25]].concat();
    let head = Head { journal: JournalId::from_bytes([3; 16]), sequence: 1, oldest: 1 }.write().to_vec();
    let records = [(Kind::Entry, &b"payload"[..]), (Kind::Mark, &record::MARK), (Kind::State, &standing)];
    let records = records.map(|(kind, body)| {
        let mut bytes = Vec::new();
        record::write(&mut bytes, place(1), 0, &Record::new(kind, 9, log_id, body));
        bytes
    });
    records.into_iter().chain([standing, floor, change, head]).collect()
}
