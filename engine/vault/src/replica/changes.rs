//! Reading the changes of a segment: a changeset of SQLite's session extension, strictly and in place. A change that no
//! writing copy makes does not come out of here. Knows which tables and columns there are, and no key.
//!
//! The format is the one that `sqlite3session.c` describes under "Changeset format": for each table its header (`T`, number
//! of columns, a key flag for each, name), then its changes (operation, an indirect flag, the old and the new record).

use std::ops::Range;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rustc_hash::FxHashSet;

/// A table that changes may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Table {
    Drawers,
    Audit,
    Chain,
    Counters,
    Outcomes,
}

impl Table {
    const ALL: [Self; 5] = [Self::Drawers, Self::Audit, Self::Chain, Self::Counters, Self::Outcomes];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Drawers => "drawers",
            Self::Audit => "audit",
            Self::Chain => "chain",
            Self::Counters => "counters",
            Self::Outcomes => "outcomes",
        }
    }

    /// Its columns, the key first.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Drawers => &[
                "seq",
                "written",
                "rid",
                "wing",
                "room",
                "source",
                "fp",
                "supersedes",
                "meta",
                "content",
                "embedding",
                "tag",
            ],
            Self::Audit => &["n", "label", "tag", "at", "shown"],
            Self::Chain => &["id", "height", "head", "digest", "tag"],
            Self::Counters => &["name", "value", "tag"],
            Self::Outcomes => &["key", "request", "expires", "outcome", "tag"],
        }
    }

    const fn allows(self, op: Op) -> bool {
        match self {
            Self::Drawers | Self::Outcomes => true,
            Self::Audit => matches!(op, Op::Insert),
            Self::Chain | Self::Counters => matches!(op, Op::Update),
        }
    }
}

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Insert,
    Update,
    Delete,
}

impl Op {
    /// The numbers of `sqlite3.h`.
    const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            18 => Some(Self::Insert),
            23 => Some(Self::Update),
            9 => Some(Self::Delete),
            _ => None,
        }
    }
}

/// A value of a column. No column of these tables holds a floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Values of a row; `None` where the change says nothing about a column.
pub(super) type Record<'a> = Vec<Option<Value<'a>>>;

/// What happens to one row.
#[derive(Debug, Clone)]
pub(super) struct Change<'a> {
    pub(super) table: Table,
    pub(super) op: Op,
    /// As it was: empty for an insertion, whole for a deletion; for an update its key and what changed.
    pub(super) old: Record<'a>,
    /// As it is: whole for an insertion, empty for a deletion; for an update what changed.
    pub(super) new: Record<'a>,
    pub(super) key: Value<'a>,
    /// Where it lies in the changeset, with its table's header if it is the first of it.
    pub(super) span: Range<usize>,
}

/// Why bytes are not changes that a writing copy makes.
pub(super) type Defect = &'static str;

/// Reads a whole changeset.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Change<'_>>, Defect> {
    let mut rest = Reader { bytes, at: 0 };
    let (mut out, mut keys) = (Vec::new(), FxHashSet::default());
    let (mut table, mut seen, mut from) = (None, FxHashSet::default(), 0);
    while rest.at < bytes.len() {
        if rest.peek() == Some(b'T') {
            let next = rest.table()?;
            if !seen.insert(next) {
                return Err("a table is there twice");
            }
            table = Some(next);
            continue;
        }
        let table = table.ok_or("a change stands before any table")?;
        let mut change = rest.change(table)?;
        if !keys.insert((table, change.key)) {
            return Err("a row is there twice");
        }
        change.span = from..rest.at;
        from = rest.at;
        out.push(change);
    }
    if from == bytes.len() { Ok(out) } else { Err("a table has no change") }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

const CUT: Defect = "the changes are cut short";

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn byte(&mut self) -> Result<u8, Defect> {
        let byte = self.peek().ok_or(CUT)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Defect> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..length)).ok_or(CUT)?;
        self.at += length;
        Ok(taken)
    }

    /// A number in SQLite's variable length: seven bits a byte, highest first. Five bytes are more than a segment can have.
    fn length(&mut self) -> Result<usize, Defect> {
        let mut number = 0_usize;
        for place in 0..5 {
            let byte = self.byte()?;
            if place == 0 && byte == 0x80 {
                return Err("a length is not in its shortest form");
            }
            number = (number << 7) | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a length is out of bounds")
    }

    fn table(&mut self) -> Result<Table, Defect> {
        self.byte()?;
        let count = self.length()?;
        let keys = self.take(count)?;
        let from = self.at;
        while self.byte()? != 0 {}
        let name = &self.bytes[from..self.at - 1];
        let table = Table::ALL.into_iter().find(|table| table.name().as_bytes() == name);
        let table = table.ok_or("a table is not among those that are replicated")?;
        let only_first = keys.first() == Some(&1) && keys[1..].iter().all(|flag| *flag == 0);
        if count != table.columns().len() || !only_first {
            return Err("a table has other columns");
        }
        Ok(table)
    }

    fn change(&mut self, table: Table) -> Result<Change<'a>, Defect> {
        let op = Op::from_byte(self.byte()?).ok_or("an operation is unknown")?;
        if !table.allows(op) {
            return Err("a table does not change in this way");
        }
        if self.byte()? > 1 {
            return Err("a change is neither direct nor indirect");
        }
        let columns = table.columns().len();
        let old = if op == Op::Insert { Vec::new() } else { self.record(columns)? };
        let new = if op == Op::Delete { Vec::new() } else { self.record(columns)? };
        let key = check_form(op, &old, &new)?;
        Ok(Change { table, op, old, new, key, span: 0..0 })
    }

    fn record(&mut self, columns: usize) -> Result<Record<'a>, Defect> {
        (0..columns).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> Result<Option<Value<'a>>, Defect> {
        Ok(match self.byte()? {
            0 => None,
            1 => {
                let bytes = self.take(8)?.try_into().map_err(|_| CUT)?;
                Some(Value::Integer(i64::from_be_bytes(bytes)))
            }
            3 => {
                let length = self.length()?;
                let text = str::from_utf8(self.take(length)?).map_err(|_| "a text is not UTF-8")?;
                Some(Value::Text(text))
            }
            4 => {
                let length = self.length()?;
                Some(Value::Blob(self.take(length)?))
            }
            5 => Some(Value::Null),
            _ => return Err("a value is of a type that no column has"),
        })
    }
}

/// Which values a change must have; gives its key.
fn check_form<'a>(op: Op, old: &Record<'a>, new: &Record<'a>) -> Result<Value<'a>, Defect> {
    let whole = |record: &Record<'_>| record.iter().all(Option::is_some);
    let (sound, first) = match op {
        Op::Insert => (whole(new), new.first()),
        Op::Delete => (whole(old), old.first()),
        Op::Update => {
            // The key stays; of every other column both values are there, and differ, or none.
            let paired = old.iter().zip(new).skip(1).all(|(old, new)| match (old, new) {
                (Some(old), Some(new)) => old != new,
                (None, None) => true,
                _ => false,
            });
            let changes = new.iter().any(Option::is_some);
            (paired && changes && new.first() == Some(&None), old.first())
        }
    };
    match first {
        Some(Some(key)) if sound => Ok(*key),
        _ => Err("a change does not have the values of its kind"),
    }
}
