//! Several copies of one vault, and a log that is a list. No consensus, no network: the test decides which copy sees what.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use undercroft_crypto::{KeyGeneration, Level, MasterKey, Salt, SealId, SeededEntropy, Segment};
use undercroft_vault::replica::{
    self, Answer, Batch, Create, Entry, Generation, LogId, Outcome, Parked, State, Terms,
};
use undercroft_vault::{
    AddedBy, BypassReason, Change, Done, DrawerId, Idempotency, ManualClock, NewDrawer, Result, Screening,
    Vault, VaultOptions, WriteRequest,
};

pub(crate) const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);
pub(crate) const TERMS: Terms = Terms { epoch: 1, incarnation: 1 };
pub(crate) const SHARD: u32 = 3;

pub(crate) struct Cluster {
    folder: TempDir,
    pub(crate) master: MasterKey,
    pub(crate) options: VaultOptions,
    pub(crate) clock: Arc<ManualClock>,
    next_index: u64,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new(1_767_225_600_000_000));
        let options = VaultOptions { clock: clock.clone(), ..VaultOptions::default() };
        let master = MasterKey::generate(&SeededEntropy::new(7));
        Self { folder: TempDir::new().expect("a folder"), master, options, clock, next_index: 0 }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of the copy on this node.
    pub(crate) fn dir(&self, node: u32) -> PathBuf {
        self.path(&format!("node{node}")).join("v")
    }

    pub(crate) fn next(&mut self) -> LogId {
        self.next_index += 1;
        self.clock.advance(1_000_000);
        LogId { shard: SHARD, term: 1, index: self.next_index }
    }

    pub(crate) fn generation() -> Generation {
        Generation {
            number: KeyGeneration::first(),
            seal_id: SealId::from_bytes([4; 16]),
            salt: Salt::from_bytes([5; 16]),
            seed: [6; 32],
        }
    }

    pub(crate) fn creation(level: Level) -> Create {
        Create {
            name: String::from("v"),
            level: level.as_str().to_owned(),
            at: 1_767_225_600_000_000,
            epoch: 1,
            incarnation: 1,
            generation: 1,
        }
    }

    pub(crate) fn create_on(&self, node: u32, level: Level, log_id: LogId) -> Result<Outcome> {
        let (creation, generation) = (Self::creation(level), Self::generation());
        replica::create(&creation, &self.dir(node), &generation, &self.master, &self.options, log_id)
    }

    /// The vault on nodes 0 to `nodes`, open on each.
    pub(crate) fn create(&mut self, level: Level, nodes: u32) -> Vec<Arc<Vault>> {
        let log_id = self.next();
        (0..nodes)
            .map(|node| {
                let made = self.create_on(node, level, log_id).expect("creates");
                assert!(matches!(made, Outcome::Applied(_)), "{made:?}");
                self.open(node)
            })
            .collect()
    }

    /// Another vault, made alike but for its identity.
    pub(crate) fn create_other(&mut self) -> Arc<Vault> {
        let mut generation = Self::generation();
        generation.seal_id = SealId::from_bytes([9; 16]);
        let (creation, log_id) = (Self::creation(Level::Sealed), self.next());
        replica::create(&creation, &self.dir(0), &generation, &self.master, &self.options, log_id)
            .expect("creates");
        self.open(0)
    }

    pub(crate) fn open(&self, node: u32) -> Arc<Vault> {
        let opened = replica::open(&self.dir(node), &self.master, self.options.clone());
        Arc::new(opened.expect("opens"))
    }

    /// Writes on the first copy and lets the others follow; gives what was answered and the entry.
    pub(crate) fn write(&mut self, copies: &[Arc<Vault>], requests: Vec<WriteRequest>) -> Written {
        let batch = prepare(&copies[0], requests);
        let Some(parked) = batch.parked else {
            return Written { answers: batch.answers, entry: None };
        };
        let (log_id, segment) = (self.next(), parked.segment().clone());
        let state = parked.commit(log_id).expect("commits");
        for copy in &copies[1..] {
            assert_eq!(follow(copy, log_id, &segment), Outcome::Applied(state));
        }
        Written { answers: batch.answers, entry: Some((log_id, segment)) }
    }

    pub(crate) fn save(&mut self, copies: &[Arc<Vault>], text: &str) -> (DrawerId, LogId, Segment) {
        let mut written = self.write(copies, vec![saving(text).into()]);
        let (log_id, segment) = written.entry.expect("changes something");
        (id_of(written.answers.remove(0)), log_id, segment)
    }
}

pub(crate) struct Written {
    pub(crate) answers: Vec<Answer>,
    pub(crate) entry: Option<(LogId, Segment)>,
}

pub(crate) fn saving(text: &str) -> Change {
    Change::Save(NewDrawer::direct("work", "inbox", text, AddedBy::Cli))
}

pub(crate) fn keyed(change: Change, key: &str) -> WriteRequest {
    let idempotency = Idempotency::new("POST /drawers", key, [1; 32]).expect("a key");
    WriteRequest { change, idempotency: Some(idempotency) }
}

pub(crate) fn try_prepare(vault: &Arc<Vault>, requests: Vec<WriteRequest>, terms: Terms) -> Result<Batch> {
    replica::prepare(vault, replica::make_ready(vault, requests), UNSCREENED, terms)
}

pub(crate) fn prepare(vault: &Arc<Vault>, requests: Vec<WriteRequest>) -> Batch {
    try_prepare(vault, requests, TERMS).expect("prepares")
}

/// An open transaction that saves one text.
pub(crate) fn park(vault: &Arc<Vault>, text: &str) -> Parked {
    prepare(vault, vec![saving(text).into()]).parked.expect("changes something")
}

pub(crate) fn follow(vault: &Vault, log_id: LogId, segment: &Segment) -> Outcome {
    let mut outcomes = replica::apply(vault, &[Entry { log_id, segment }]).expect("nothing is in its way");
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

pub(crate) fn state(vault: &Vault) -> State {
    replica::state(vault).expect("reads")
}

pub(crate) fn done(answer: Answer) -> Done {
    match answer {
        Answer::Done(done) => done.expect("lands"),
        Answer::Again(request) => panic!("{request:?} was given back"),
    }
}

pub(crate) fn id_of(answer: Answer) -> DrawerId {
    match done(answer).outcome {
        undercroft_vault::Outcome::Saved(saved) => saved.id,
        other => panic!("unexpected {other:?}"),
    }
}

/// Every row of every table that copies have alike, and the words of the full-text table where there is one.
pub(crate) fn dump(vault: &Vault) -> Vec<(String, Vec<Vec<Value>>)> {
    let conn = Connection::open(vault.dir().join("vault.db")).expect("opens");
    ["drawers", "audit", "chain", "counters", "outcomes", "meta"]
        .into_iter()
        .map(|table| (table.to_owned(), rows(&conn, &format!("SELECT * FROM {table} ORDER BY 1"))))
        .collect()
}

fn rows(conn: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = conn.prepare(sql).expect("compiles");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
    rows.expect("reads").map(|row| row.expect("reads")).collect()
}

/// Copies hold the same, byte for byte, and each verifies.
pub(crate) fn assert_alike(copies: &[Arc<Vault>]) {
    let (first, expected) = (state(&copies[0]), dump(&copies[0]));
    for copy in copies {
        assert_eq!(state(copy), first);
        assert_eq!(dump(copy), expected);
        let report = copy.verify(&mut |_| {}).expect("walks");
        assert!(report.ok, "{report:?}");
    }
}

/// Drawers whose words the full-text table of an `hmac-only` vault has.
pub(crate) fn found_in_full_text(vault: &Vault, word: &str) -> Vec<Vec<Value>> {
    let conn = Connection::open(vault.dir().join("vault.db")).expect("opens");
    rows(&conn, &format!("SELECT rowid FROM drawers_fts WHERE drawers_fts MATCH '{word}' ORDER BY 1"))
}

pub(crate) fn found(vault: &Vault, query: &str) -> Vec<String> {
    let request = undercroft_vault::SearchRequest {
        query: query.to_owned(),
        limit: 20,
        ..undercroft_vault::SearchRequest::default()
    };
    let mut texts: Vec<String> =
        vault.search(&request).expect("searches").hits.into_iter().map(|hit| hit.content).collect();
    texts.sort();
    texts
}
