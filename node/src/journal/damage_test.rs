//! Damage at every byte, and missing files: a cut above the last mark, a verdict below it, and never a wrong entry.

use super::limits::BATCH_BYTES;
use super::model_test::{Ask, Host, folder, open};
use super::sim_test::{Dice, SimDisk};
use super::{Journal, Why, record, segment};

/// A journal of a few segments and groups, with something behind its last mark.
fn filled() -> Host {
    let mut host = Host::create(SimDisk::new());
    let mut dice = Dice(5);
    for round in 0..14 {
        for group in 0..3 {
            host.ask(group, &Ask::Append { count: 1 + dice.below(3) as u64, size: dice.below(60) });
        }
        if round == 4 {
            host.ask(1, &Ask::Vote(1));
            host.ask(1, &Ask::Truncate(2));
            host.ask(2, &Ask::Floor(7));
            host.ask(2, &Ask::FloorChange(3));
        }
        host.pump();
    }
    host.ask(0, &Ask::Purge(1));
    host.pump();
    host.ask(1, &Ask::Committed(3));
    host.ask(2, &Ask::Committed(4));
    host.pump();
    host
}

/// Where the last mark of a segment begins.
fn last_mark(bytes: &[u8]) -> usize {
    bytes.windows(record::MARK.len()).rposition(|window| window == record::MARK).expect("a mark")
        - record::FRAME
}

#[test]
fn a_flipped_bit_is_cut_above_the_last_mark_and_retires_the_journal_below_it() {
    let host = filled();
    let files = host.disk.files();
    assert!(files.len() >= 3, "{files:?}");
    let newest = files.last().expect("a segment");
    for file in &files {
        let whole = host.disk.content(file);
        let mark = if file == newest { last_mark(&whole) } else { whole.len() };
        for at in 0..whole.len() {
            let disk = host.disk.copy();
            disk.edit(file, |bytes| bytes[at] ^= 1 << (at % 8));
            match open(&disk) {
                Ok((shared, _, taken)) => {
                    assert!(at >= mark, "{} opened, flipped at {at}", file.display());
                    let journal = Journal::of(shared, None, taken);
                    assert!(host.agrees(&journal), "{}: a wrong entry, flipped at {at}", file.display());
                }
                Err(retired) => assert!(at < mark, "{} retired at {at}: {}", file.display(), retired.why),
            }
        }
    }
}

#[test]
fn a_tail_torn_or_overwritten_anywhere_behind_the_last_mark_is_cut() {
    let host = filled();
    let newest = host.disk.files().pop().expect("a segment");
    let whole = host.disk.content(&newest);
    let end = last_mark(&whole) + record::FRAME + record::MARK.len();
    for at in end..=whole.len() {
        for garbage in [0, 1, 200] {
            let disk = host.disk.copy();
            disk.edit(&newest, |bytes| {
                bytes.truncate(at);
                bytes.extend(std::iter::repeat_n(if garbage == 1 { 0 } else { 0xff }, garbage));
            });
            let (shared, keeper, taken) = open(&disk).expect("a torn tail is cut");
            assert!(keeper.length() >= end as u64);
            assert!(host.agrees(&Journal::of(shared, None, taken)), "cut at {at}");
        }
    }
}

#[test]
fn a_missing_segment_is_named_and_so_is_a_missing_journal() {
    let host = filled();
    let files = host.disk.files();
    for (at, file) in files.iter().enumerate() {
        let disk = host.disk.copy();
        disk.lose_file(file);
        let why = open(&disk).err().expect("retired").why;
        let Why::MissingSegment { sequence } = why else { panic!("{why} without {}", file.display()) };
        assert_eq!(&segment::path(folder(), sequence), file, "{at}");
    }
    let disk = host.disk.copy();
    files.iter().for_each(|file| disk.lose_file(file));
    assert_eq!(open(&disk).err().expect("retired").why, Why::Missing);
}

#[test]
fn segments_that_changed_places_or_came_from_another_journal_are_found() {
    let host = filled();
    let files = host.disk.files();
    let disk = host.disk.copy();
    let second = disk.content(&files[1]);
    disk.edit(&files[0], |bytes| *bytes = second);
    assert!(matches!(open(&disk).err().expect("retired").why, Why::Damaged { at: 0, .. }));
    // A record of the same journal at another place of it.
    let disk = host.disk.copy();
    disk.edit(&files[0], |bytes| {
        let first = bytes[segment::HEAD..].to_vec();
        bytes.extend(first);
    });
    assert!(matches!(open(&disk).err().expect("retired").why, Why::Damaged { .. }));
}

#[test]
fn an_entry_that_rots_while_the_journal_is_open_is_an_error_and_never_handed_out() {
    let mut host = Host::create(SimDisk::new());
    for _ in 0..6 {
        host.ask(1, &Ask::Append { count: 4, size: 90 });
        host.pump();
    }
    let first = host.disk.files().remove(0);
    host.disk.edit(&first, |bytes| bytes[200] ^= 4);
    let log = host.log(1);
    let error = log.read_now(0, u64::MAX).expect_err("an entry is damaged");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    // Carrying it forward would hide the damage: the journal stops instead.
    host.ask(1, &Ask::Floor(1));
    host.pump();
    let tasks = host.keeper.shared.queue.take(BATCH_BYTES, false).unwrap_or_default();
    host.keeper.batch(tasks);
    assert!(log.read_now(20, u64::MAX).is_ok(), "the others are still there");
}
