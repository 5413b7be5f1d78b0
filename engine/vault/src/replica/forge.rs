//! The means of a leader that holds the keys and tampers with what it sends: its segments opened, altered and sealed again.

use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;
use undercroft_crypto::{
    Blind, Codec, KeyGeneration, Level, MasterKey, Salt, SealDomain, SealId, SeededEntropy, Segment,
    SegmentHeader, Tag,
};

use super::changes::{Change, Op, Table, Value, read};
use super::changes_test::write;
use super::{
    Create, Entry, Generation, LogId, Outcome, Terms, apply, create, make_ready, open, prepare, state,
};
use crate::audit::{self, Label};
use crate::{
    AddedBy, BypassReason, Change as Asked, DrawerId, Idempotency, ManualClock, NewDrawer, Screening, Vault,
    VaultOptions, WriteRequest,
};

pub(super) const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);
pub(super) const TERMS: Terms = Terms { epoch: 1, incarnation: 1 };

pub(super) struct Scene {
    _folder: TempDir,
    pub(super) leader: Arc<Vault>,
    pub(super) follower: Arc<Vault>,
    next: u64,
}

impl Scene {
    pub(super) fn new(level: Level) -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Arc::new(ManualClock::new(1_767_225_600_000_000));
        let options = VaultOptions { clock, ..VaultOptions::default() };
        let master = MasterKey::generate(&SeededEntropy::new(7));
        let creation = Create {
            name: "v".into(),
            level: level.as_str().into(),
            at: 0,
            epoch: 1,
            incarnation: 1,
            generation: 1,
        };
        let made = |node: &str| {
            let dir = folder.path().join(node).join("v");
            let generation = Generation {
                number: KeyGeneration::first(),
                seal_id: SealId::from_bytes([4; 16]),
                salt: Salt::from_bytes([5; 16]),
                seed: [6; 32],
            };
            let log_id = LogId { shard: 1, term: 1, index: 1 };
            create(&creation, &dir, &generation, &master, &options, log_id).expect("creates");
            Arc::new(open(&dir, &master, options.clone()).expect("opens"))
        };
        let (leader, follower) = (made("leader"), made("follower"));
        Self { _folder: folder, leader, follower, next: 1 }
    }

    pub(super) fn log_id(&mut self) -> LogId {
        self.next += 1;
        LogId { shard: 1, term: 1, index: self.next }
    }

    /// What the leader would send for these requests; it does not commit them.
    pub(super) fn segment(&self, requests: Vec<WriteRequest>) -> Segment {
        let pending = make_ready(&self.leader, requests);
        let parked = prepare(&self.leader, pending, UNSCREENED, TERMS).expect("prepares").parked;
        parked.expect("changes something").segment().clone()
    }

    /// Both copies take it.
    pub(super) fn agree(&mut self, requests: Vec<WriteRequest>) {
        let (segment, log_id) = (self.segment(requests), self.log_id());
        for copy in [&self.leader, &self.follower] {
            let outcomes = apply(copy, &[Entry { log_id, segment: &segment }]).expect("applies");
            assert!(matches!(outcomes[..], [Outcome::Applied(_)]), "{outcomes:?}");
        }
    }

    pub(super) fn save(&mut self, text: &str) -> DrawerId {
        self.agree(vec![saving(text)]);
        self.leader.list(None, None, 1, 0).expect("lists")[0].id
    }

    pub(super) fn seal(&self, header: SegmentHeader, changes: &[u8]) -> Segment {
        let key = self.leader.keyring().keys().segment();
        let header = SegmentHeader { codec: Codec::None, ..header };
        Segment::seal(header, &[changes], key, &SeededEntropy::new(3)).expect("seals")
    }

    /// The leader's segment with its changes altered, sealed again.
    pub(super) fn forged(
        &self,
        requests: Vec<WriteRequest>,
        forge: impl FnOnce(&mut Vec<Change<'static>>),
    ) -> Segment {
        let segment = self.segment(requests);
        let mut changes = changes_of(&self.leader, &segment);
        forge(&mut changes);
        changes.sort_by_key(|change| change.table.name());
        self.seal(*segment.header(), &write(&changes))
    }

    /// The same by somebody who has the chain key as well: records, state and header agree with each other.
    pub(super) fn forged_with_chain(
        &self,
        requests: Vec<WriteRequest>,
        forge: impl FnOnce(&mut Vec<Change<'static>>),
    ) -> Segment {
        let (segment, keyring) = (self.segment(requests), self.leader.keyring());
        let mut changes = changes_of(&self.leader, &segment);
        forge(&mut changes);
        let mut rows: Vec<_> =
            changes.iter().filter(|change| change.table == Table::Audit).cloned().collect();
        rows.sort_by_key(|row| number(row.new[0]));
        let mut chain = state(&self.leader).expect("reads").chain;
        for row in rows {
            let (label, tag) = (Blind::from_slice(bytes(row.new[1])), Tag::from_slice(bytes(row.new[2])));
            let (label, tag) = (label.expect("16 bytes"), tag.expect("32 bytes"));
            chain = keyring.step(&chain, &label, &tag, number(row.new[3]));
        }
        let stored = of(&mut changes, Table::Chain);
        let tag = audit::state::tag(keyring, &chain);
        stored.new = vec![
            None,
            Some(Value::Integer(audit::state::as_sql(chain.height))),
            blob(chain.head.as_bytes()),
            blob(chain.digest.as_bytes()),
            blob(tag.as_bytes()),
        ];
        changes.sort_by_key(|change| change.table.name());
        self.seal(SegmentHeader { after: chain, ..*segment.header() }, &write(&changes))
    }

    /// An audit record as the leader's keys make it.
    pub(super) fn record(&self, n: i64, label: &Label, tag: &Tag) -> Change<'static> {
        let keyring = self.leader.keyring();
        let shown =
            keyring.seal_field(SealDomain::AuditLabel, &n.to_le_bytes(), label.to_string().as_bytes());
        let new = vec![
            Some(Value::Integer(n)),
            blob(keyring.label(label).as_bytes()),
            blob(tag.as_bytes()),
            Some(Value::Integer(5)),
            blob(&shown),
        ];
        Change {
            table: Table::Audit,
            op: Op::Insert,
            old: Vec::new(),
            new,
            key: Value::Integer(n),
            span: 0..0,
        }
    }

    /// The deletion of a row that both copies hold.
    pub(super) fn deletion(&self, seq: i64) -> Change<'static> {
        let conn = Connection::open(self.leader.dir().join("vault.db")).expect("opens");
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<Option<Value<'static>>>> {
            (0..12)
                .map(|at| {
                    Ok(match row.get(at)? {
                        rusqlite::types::Value::Integer(number) => Some(Value::Integer(number)),
                        rusqlite::types::Value::Blob(bytes) => blob(&bytes),
                        _ => Some(Value::Null),
                    })
                })
                .collect()
        };
        let old = conn.query_row("SELECT * FROM drawers WHERE seq = ?1", [seq], read).expect("reads");
        let (table, key) = (Table::Drawers, Value::Integer(seq));
        Change { table, op: Op::Delete, old, new: Vec::new(), key, span: 0..0 }
    }

    /// The follower refuses it, names why, and is as it was.
    pub(super) fn refuses(&mut self, segment: &Segment, why: &str) {
        let (before, log_id) = (dump(&self.follower), self.log_id());
        let outcomes = apply(&self.follower, &[Entry { log_id, segment }]).expect("decides");
        match &outcomes[..] {
            [Outcome::Suspect(suspect)] => {
                assert!(suspect.to_string().contains(why), "{suspect} instead of {why}");
            }
            other => panic!("{other:?} instead of {why}"),
        }
        assert_eq!(dump(&self.follower), before, "{why}");
        assert_eq!(self.follower.height(), state(&self.follower).expect("reads").chain.height.get());
    }
}

pub(super) fn saving(text: &str) -> WriteRequest {
    Asked::Save(NewDrawer::direct("work", "inbox", text, AddedBy::Cli)).into()
}

pub(super) fn keyed(text: &str) -> WriteRequest {
    let idempotency = Idempotency::new("scope", "key", [1; 32]).expect("a key");
    WriteRequest { idempotency: Some(idempotency), ..saving(text) }
}

/// The changes of a segment, for as long as the test runs.
pub(super) fn changes_of(vault: &Vault, segment: &Segment) -> Vec<Change<'static>> {
    let body = segment.open(vault.keyring().keys().segment()).expect("opens");
    read(Box::leak(body.into_boxed_slice())).expect("reads")
}

pub(super) fn blob(bytes: &[u8]) -> Option<Value<'static>> {
    Some(Value::Blob(Box::leak(bytes.to_vec().into_boxed_slice())))
}

pub(super) fn number(value: Option<Value<'_>>) -> i64 {
    match value {
        Some(Value::Integer(number)) => number,
        other => panic!("{other:?} is no number"),
    }
}

pub(super) fn bytes<'a>(value: Option<Value<'a>>) -> &'a [u8] {
    match value {
        Some(Value::Blob(bytes)) => bytes,
        other => panic!("{other:?} is no blob"),
    }
}

/// Every row of every table.
pub(super) fn dump(vault: &Vault) -> Vec<String> {
    let conn = Connection::open(vault.dir().join("vault.db")).expect("opens");
    let table = |table: &str| {
        let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).expect("compiles");
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Result<Vec<rusqlite::types::Value>, _> = (0..columns).map(|at| row.get(at)).collect();
            Ok(format!("{table}: {:?}", values?))
        });
        rows.expect("reads").map(|row| row.expect("reads")).collect::<Vec<_>>()
    };
    ["drawers", "audit", "chain", "counters", "outcomes", "meta"].into_iter().flat_map(table).collect()
}

pub(super) fn of<'c>(changes: &'c mut [Change<'static>], table: Table) -> &'c mut Change<'static> {
    changes.iter_mut().find(|change| change.table == table).expect("is there")
}

/// Another value of the same type and length.
pub(super) fn other(value: Option<Value<'static>>) -> Option<Value<'static>> {
    match value {
        Some(Value::Integer(number)) => Some(Value::Integer(number + 1)),
        Some(Value::Null) => blob(&[1; 16]),
        Some(Value::Blob(bytes)) => blob(&bytes.iter().map(|byte| byte ^ 1).collect::<Vec<_>>()),
        other => other,
    }
}
