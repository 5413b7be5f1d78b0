//! The walk over everything that can be read in parts, by as many threads as there are cores: each has a snapshot of its
//! own and takes the next part when it has done one. Owns who reads what; what is found is the legs' to say.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;
use rusqlite::types::Value;
use undercroft_crypto::{Anchor, ChainState};

use super::indexes::{self, IndexSums, Scanned};
use super::report::VerifyReport;
use super::{chain, records};
use crate::error::Result;
use crate::storage::snapshot::{Readers, Snapshot};
use crate::vault::Vault;

/// Threads at most: they share the cores with whoever searches.
const THREADS: usize = 8;
/// How often a set of snapshots is begun anew because a commit came in between.
const ATTEMPTS: usize = 16;

/// One snapshot for each thread, all of the same chain state. Under a writer that leaves no gap there may be fewer.
pub(super) fn views(readers: &Readers) -> Result<Vec<Snapshot<'_>>> {
    let wanted = thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS));
    let mut views = vec![readers.snapshot()?];
    for _ in 0..ATTEMPTS {
        let shown = state(&views[0])?;
        while views.len() < wanted {
            let next = readers.snapshot()?;
            if state(&next)? != shown {
                // The later one is the base of the next attempt.
                views = vec![next];
                break;
            }
            views.push(next);
        }
        if views.len() == wanted {
            break;
        }
    }
    Ok(views)
}

/// The stored chain state as it is: whatever it says, two snapshots that show the same say the same.
fn state(view: &Snapshot<'_>) -> Result<Vec<Vec<Value>>> {
    view.with(|conn| {
        let mut statement = conn.prepare_cached("SELECT id, height, head, digest, tag FROM chain")?;
        let rows = statement.query_map([], |row| (0..5).map(|at| row.get(at)).collect())?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    })
}

/// A part of the walk.
enum Part {
    Chain,
    Index(usize),
    Rows(records::Range),
}

/// What is shared by the threads.
struct Job<'a> {
    vault: &'a Vault,
    expected: Option<(&'a ChainState, &'a Anchor)>,
    parts: Mutex<VecDeque<Part>>,
    checked: AtomicU64,
}

/// What all parts together found.
pub(super) struct Found {
    pub(super) report: VerifyReport,
    pub(super) sums: IndexSums,
    pub(super) scanned: Scanned,
    pub(super) chain: chain::Walked,
    pub(super) met: Vec<records::Met>,
    pub(super) links: Vec<records::Link>,
}

/// What one thread found.
struct Leg {
    sums: IndexSums,
    scanned: Scanned,
    chain: Option<(chain::Walked, VerifyReport)>,
    rows: Vec<records::Walked>,
}

/// Walks, and gives what was found in the order of the rows, whoever read them.
pub(super) fn run(
    vault: &Vault,
    views: &[Snapshot<'_>],
    expected: Option<(&ChainState, &Anchor)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Found> {
    let rows = records::ranges(&views[0])?;
    let mut parts: VecDeque<Part> = [Part::Chain].into();
    parts.extend(indexes::OF_EVIDENCE.map(Part::Index));
    parts.extend(rows.into_iter().map(Part::Rows));
    let job = Job { vault, expected, parts: Mutex::new(parts), checked: AtomicU64::new(0) };
    let legs = thread::scope(|scope| {
        let others: Vec<_> = views[1..]
            .iter()
            .map(|view| scope.spawn(|| job.work(view, VecDeque::pop_front, &mut |_| {})))
            .collect();
        // Rows stand at the back: whoever waits for the walk sees it move.
        let own = job.work(&views[0], VecDeque::pop_back, progress);
        let joined = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        [own].into_iter().chain(joined).collect::<Result<Vec<Leg>>>()
    })?;
    let mut found = Found::gather(vault, legs);
    found.report.records_checked = job.checked.into_inner();
    progress(found.report.records_checked);
    Ok(found)
}

impl Job<'_> {
    /// Does one part after the other until none is left. A failure leaves none to the others either.
    fn work(
        &self,
        view: &Snapshot<'_>,
        next: fn(&mut VecDeque<Part>) -> Option<Part>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Leg> {
        let mut leg = Leg {
            sums: IndexSums::new(self.vault.keyring()),
            scanned: Scanned::default(),
            chain: None,
            rows: Vec::new(),
        };
        let mut desk = records::Desk::default();
        loop {
            // Bound to a name: the lock must not outlive the taking.
            let taken = next(&mut self.parts.lock());
            let Some(part) = taken else { return Ok(leg) };
            let done = self.part(view, part, &mut leg, &mut desk);
            if done.is_err() {
                self.parts.lock().clear();
            }
            done?;
            progress(self.checked.load(Ordering::Relaxed));
        }
    }

    fn part(&self, view: &Snapshot<'_>, part: Part, leg: &mut Leg, desk: &mut records::Desk) -> Result<()> {
        match part {
            Part::Chain => {
                let mut report = VerifyReport::default();
                let walked = chain::walk(self.vault, view, self.expected, &mut leg.sums, &mut report)?;
                leg.chain = Some((walked, report));
            }
            Part::Index(index) => leg.sums.scan_into(view, index, &mut leg.scanned)?,
            Part::Rows(range) => {
                let walked = records::walk(self.vault, view, range, &mut leg.sums, desk)?;
                self.checked.fetch_add(walked.count, Ordering::Relaxed);
                leg.rows.push(walked);
            }
        }
        Ok(())
    }
}

impl Found {
    fn gather(vault: &Vault, legs: Vec<Leg>) -> Self {
        let mut found = Self {
            report: VerifyReport::default(),
            sums: IndexSums::new(vault.keyring()),
            scanned: Scanned::default(),
            chain: chain::Walked::default(),
            met: Vec::new(),
            links: Vec::new(),
        };
        let mut rows = Vec::new();
        for leg in legs {
            found.sums.add_all(&leg.sums);
            found.scanned.take(leg.scanned);
            rows.extend(leg.rows);
            if let Some((walked, report)) = leg.chain {
                found.chain = walked;
                found.report.chain_ok = report.chain_ok;
                found.report.absorb(report);
            }
        }
        rows.sort_by_key(|part| part.after);
        for part in rows {
            found.report.absorb(part.report);
            found.met.extend(part.met);
            found.links.extend(part.links);
        }
        found
    }

    /// The index over outcomes, read where the outcomes were read: they change without the chain.
    pub(super) fn outcomes(&mut self, view: &Snapshot<'_>, sums: &IndexSums) -> Result<()> {
        sums.scan_into(view, indexes::OUTCOMES, &mut self.scanned)
    }
}
