//! Only what a writing copy makes is read as changes; anything else is told to be something else.

use proptest::prelude::*;

use super::changes::{Change, Op, Table, Value, read};

/// The bytes of changes, as SQLite lays them out: what a forger would write.
pub(super) fn write(changes: &[Change<'_>]) -> Vec<u8> {
    let (mut out, mut table) = (Vec::new(), None);
    for change in changes {
        if table != Some(change.table) {
            out.extend_from_slice(&header(change.table.name(), change.table.columns().len()));
            table = Some(change.table);
        }
        out.push(match change.op {
            Op::Insert => 18,
            Op::Update => 23,
            Op::Delete => 9,
        });
        out.push(0);
        change.old.iter().chain(&change.new).for_each(|value| put(&mut out, *value));
    }
    out
}

pub(super) fn header(name: &str, columns: usize) -> Vec<u8> {
    let mut out = vec![b'T', u8::try_from(columns).expect("few"), 1];
    out.extend(std::iter::repeat_n(0, columns - 1));
    out.extend_from_slice(name.as_bytes());
    out.push(0);
    out
}

fn put(out: &mut Vec<u8>, value: Option<Value<'_>>) {
    match value {
        None => out.push(0),
        Some(Value::Null) => out.push(5),
        Some(Value::Integer(number)) => {
            out.push(1);
            out.extend_from_slice(&number.to_be_bytes());
        }
        Some(Value::Text(text)) => put_bytes(out, 3, text.as_bytes()),
        Some(Value::Blob(bytes)) => put_bytes(out, 4, bytes),
    }
}

fn put_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    let mut groups = vec![u8::try_from(bytes.len() & 0x7f).expect("seven bits")];
    let mut left = bytes.len() >> 7;
    while left > 0 {
        groups.push(0x80 | u8::try_from(left & 0x7f).expect("seven bits"));
        left >>= 7;
    }
    out.extend(groups.iter().rev());
    out.extend_from_slice(bytes);
}

fn counter(value: i64) -> Change<'static> {
    Change {
        table: Table::Counters,
        op: Op::Update,
        old: vec![Some(Value::Text("drawers")), Some(Value::Integer(0)), Some(Value::Blob(b"old"))],
        new: vec![None, Some(Value::Integer(value)), Some(Value::Blob(b"new"))],
        key: Value::Text("drawers"),
        span: 0..0,
    }
}

fn outcome<'a>(key: &'a [u8], outcome: &'a [u8]) -> Change<'a> {
    let row = vec![
        Some(Value::Blob(key)),
        Some(Value::Blob(b"request")),
        Some(Value::Integer(7)),
        Some(Value::Blob(outcome)),
        Some(Value::Blob(b"tag")),
    ];
    Change {
        table: Table::Outcomes,
        op: Op::Insert,
        old: Vec::new(),
        new: row,
        key: Value::Blob(key),
        span: 0..0,
    }
}

/// Everything of a change but where it lies.
fn told<'a>(change: &Change<'a>) -> (Table, Op, Vec<Option<Value<'a>>>, Vec<Option<Value<'a>>>) {
    (change.table, change.op, change.old.clone(), change.new.clone())
}

proptest! {
    #[test]
    fn changes_read_back_and_their_places_are_the_whole(
        long in prop::collection::vec(any::<u8>(), 0..40_000),
        value in 1_i64..,
    ) {
        let mut deleted = outcome(b"b", &long);
        (deleted.op, deleted.old, deleted.new) = (Op::Delete, deleted.new, Vec::new());
        let changes = [counter(value), outcome(b"a", &long), deleted];
        let bytes = write(&changes);
        let found = read(&bytes).unwrap();
        prop_assert_eq!(found.iter().map(told).collect::<Vec<_>>(), changes.iter().map(told).collect::<Vec<_>>());
        let pieces: Vec<u8> = found.iter().flat_map(|change| bytes[change.span.clone()].to_vec()).collect();
        prop_assert_eq!(pieces, bytes);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), begun: bool) {
        let mut input = if begun { header("outcomes", 5) } else { Vec::new() };
        input.extend(bytes);
        let _ = read(&input);
    }

    #[test]
    fn cut_changes_are_refused(at in 1..100_usize) {
        let bytes = write(&[counter(1), outcome(b"key", b"words")]);
        let at = at % bytes.len();
        // A cut between two changes of one table is a shorter list of changes, not damage.
        if let Ok(found) = read(&bytes[..at]) {
            prop_assert!(found.len() < 2);
        }
    }
}

#[test]
fn nothing_is_no_change() {
    assert!(read(&[]).unwrap().is_empty());
}

#[test]
fn what_no_writing_copy_makes_is_refused() {
    let sound = write(&[counter(1)]);
    let altered = |change: fn(&mut Change<'static>)| {
        let mut changed = counter(1);
        change(&mut changed);
        write(&[changed])
    };
    let mut other_flags = sound.clone();
    other_flags[3] = 1;
    let mut indirect = sound.clone();
    indirect[header("counters", 3).len() + 1] = 2;
    let mut operation = sound.clone();
    operation[header("counters", 3).len()] = 1;
    let mut real = sound.clone();
    let at = header("counters", 3).len() + 2;
    real[at] = 2;
    let mut long_length = sound.clone();
    long_length.splice(at + 1..at + 2, [0x80, 7]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("a table that is not replicated", header("meta", 3)),
        ("a table of another program", header("evil", 3)),
        ("a table with more columns", header("counters", 4)),
        ("a table without a change", header("counters", 3)),
        ("another key", other_flags),
        ("an indirect flag that is none", indirect),
        ("an unknown operation", operation),
        ("a floating-point number", real),
        ("a length in a longer form", long_length),
        ("a change before any table", sound[header("counters", 3).len()..].to_vec()),
        ("a table that comes again", [sound.clone(), write(&[outcome(b"k", b"o")]), sound.clone()].concat()),
        ("a row that comes again", write(&[counter(1), counter(2)])),
        ("an insertion of a counter", altered(|c| (c.op, c.old) = (Op::Insert, Vec::new()))),
        ("a deletion of a counter", altered(|c| (c.op, c.new) = (Op::Delete, Vec::new()))),
        ("a key that changes", altered(|c| c.new[0] = Some(Value::Text("other")))),
        ("a key that is missing", altered(|c| c.old[0] = None)),
        ("a new value without an old one", altered(|c| c.old[1] = None)),
        ("a new value that is the old one", altered(|c| c.new[1] = Some(Value::Integer(0)))),
        ("nothing that changes", altered(|c| (c.old, c.new) = (vec![c.old[0], None, None], vec![None; 3]))),
    ];
    for (what, bytes) in cases {
        assert!(read(&bytes).is_err(), "{what}");
    }
    let mut partial = outcome(b"k", b"o");
    partial.new[2] = None;
    assert!(read(&write(&[partial])).is_err(), "an insertion with a hole");
}
