//! How fast drawers are kept: in bulk, and one durable save at a time.

use std::time::Instant;

use undercroft_crypto::Level;
use undercroft_vault::{AddedBy, NewDrawer, Result};

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{Palace, UNSCREENED, fill};
use crate::stopwatch::Timings;

/// Runs and prints.
///
/// # Errors
/// What the vault says.
pub fn run(count: usize, level: Level) -> Result<()> {
    let palace = Palace::new();
    machine::print(&palace.path());
    let vault = palace.create("bulk", level)?;
    let mut corpus = Corpus::new(1);
    // Making the words is not the engine's work: they are drawn before the clock starts.
    let start = Instant::now();
    let mut made = Corpus::new(2);
    (0..count.min(10_000)).for_each(|_| drop(made.drawer()));
    let making = start.elapsed().as_secs_f64() / count.min(10_000) as f64 * count as f64;
    let start = Instant::now();
    fill(&vault, &mut corpus, count)?;
    let bulk = start.elapsed().as_secs_f64() - making;
    let rate = count as f64 / bulk;
    println!("bulk: {count} drawers of 90 words in {bulk:.2} s, {rate:.0} drawers/s ({level})");

    let single = palace.create("single", level)?;
    let mut timings = Timings::default();
    let saves = 500;
    for _ in 0..saves {
        let new = NewDrawer::direct("bench", "inbox", &corpus.drawer(), AddedBy::Cli);
        timings.time(|| single.save(new, UNSCREENED))?;
    }
    let per_second = f64::from(saves) / timings.total_secs();
    println!(
        "single durable saves: {per_second:.0}/s, p50 {:.3} ms, p99 {:.3} ms",
        timings.percentile_ms(50),
        timings.percentile_ms(99)
    );
    println!("INGEST drawers={count} level={level} bulk_per_sec={rate:.0} single_per_sec={per_second:.0}");
    Ok(())
}
