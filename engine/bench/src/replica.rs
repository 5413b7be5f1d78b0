//! How fast one copy of a vault writes segments, and how fast another one proves and takes them.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tempfile::TempDir;
use undercroft_crypto::{KeyGeneration, Level, MasterKey, OsEntropy, Salt, SealId, Segment};
use undercroft_vault::replica::{self, Create, Entry, Generation, LogId, Outcome, Terms};
use undercroft_vault::{AddedBy, Change, NewDrawer, Result, Vault, VaultOptions};

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{UNSCREENED, ask};

/// Entries that a copy takes in one transaction.
const BATCH: usize = 256;
/// Words of a text of about 1 KiB.
const WORDS: usize = 150;

type Log = Vec<(LogId, Segment)>;

/// Writes `count` segments of one save each, lets one copy follow that only keeps and one that searches, and prints rates.
///
/// # Errors
/// What the vault says.
///
/// # Panics
/// When there is no place for temporary files, or a copy does not arrive where the writer is.
pub fn run(count: usize, level: Level) -> Result<()> {
    let folder = TempDir::new().expect("a place for temporary files");
    machine::print(folder.path());
    let [writer, keeping, searching] = copies(folder.path(), level)?;
    let mut log = Log::with_capacity(count);
    let write_secs = timed(|| write(&writer, count, &mut log))?;
    let bytes = log.iter().map(|(_, segment)| segment.as_bytes().len()).sum::<usize>() / count.max(1);
    let follow_secs = timed(|| follow(&keeping, &log))?;
    let durable_secs = timed(|| replica::checkpoint(&keeping).map(drop))?;
    let _ = searching.search(&ask(String::from("words")))?;
    let index_secs = timed(|| follow(&searching, &log))?;
    let skip_secs = timed(|| follow(&keeping, &log))?;
    assert_eq!(replica::state(&writer)?, replica::state(&keeping)?, "the copies are alike");
    let rate = |secs: f64| count as f64 / secs;
    println!("replica: {count} segments of one save each, {bytes} bytes a segment");
    println!("replica: written at {:.0}/s, one transaction each, not synced", rate(write_secs));
    println!(
        "replica: taken at {:.0}/s in batches of {BATCH}, then durable in {durable_secs:.3} s",
        rate(follow_secs)
    );
    println!("replica: taken at {:.0}/s with an index in memory", rate(index_secs));
    println!("replica: {:.0}/s found to be held already", rate(skip_secs));
    println!(
        "REPLICA segments={count} bytes={bytes} write_per_sec={:.0} apply_per_sec={:.0} indexed_per_sec={:.0}",
        rate(write_secs),
        rate(follow_secs),
        rate(index_secs)
    );
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work().map(|()| start.elapsed().as_secs_f64())
}

/// Three copies of one new vault.
fn copies(folder: &Path, level: Level) -> Result<[Arc<Vault>; 3]> {
    let master = MasterKey::generate(&OsEntropy);
    let mut seed = [0; 32];
    undercroft_crypto::Entropy::fill(&OsEntropy, &mut seed);
    let generation = Generation {
        number: KeyGeneration::first(),
        seal_id: SealId::generate(&OsEntropy),
        salt: Salt::generate(&OsEntropy),
        seed,
    };
    let creation = Create {
        name: String::from("replica"),
        level: level.as_str().to_owned(),
        at: 0,
        epoch: 1,
        incarnation: 1,
        generation: generation.number.get(),
    };
    let copy = |name: &str| {
        let (dir, options) = (folder.join(name).join("v"), VaultOptions::default());
        replica::create(&creation, &dir, &generation, &master, &options, at(0))?;
        replica::open(&dir, &master, options).map(Arc::new)
    };
    Ok([copy("writing")?, copy("keeping")?, copy("searching")?])
}

fn at(index: usize) -> LogId {
    LogId { shard: 0, term: 1, index: index as u64 }
}

fn write(vault: &Arc<Vault>, count: usize, log: &mut Log) -> Result<()> {
    let mut corpus = Corpus::new(5);
    let terms = Terms { epoch: 1, incarnation: 1 };
    for number in 0..count {
        let new = NewDrawer::direct("bench", "room", &corpus.text(WORDS), AddedBy::Import);
        let ready = replica::make_ready(vault, vec![Change::Save(new).into()]);
        if let Some(parked) = replica::prepare(vault, ready, UNSCREENED, terms)?.parked {
            log.push((at(number + 1), parked.segment().clone()));
            parked.commit(at(number + 1))?;
        }
    }
    Ok(())
}

fn follow(vault: &Vault, log: &Log) -> Result<()> {
    for part in log.chunks(BATCH) {
        let entries: Vec<Entry<'_>> =
            part.iter().map(|(log_id, segment)| Entry { log_id: *log_id, segment }).collect();
        let outcomes = replica::apply(vault, &entries)?;
        let refused = |outcome: &&Outcome| !matches!(outcome, Outcome::Applied(_) | Outcome::NoOp(_));
        assert_eq!(outcomes.iter().find(refused), None);
    }
    Ok(())
}
