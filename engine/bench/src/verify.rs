//! How fast a vault is verified, and how long a repair takes.

use std::time::Instant;

use undercroft_crypto::Level;
use undercroft_vault::Result;

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{Palace, fill};

/// Runs and prints.
///
/// # Errors
/// What the vault says.
pub fn run(count: usize) -> Result<()> {
    let palace = Palace::new();
    machine::print(&palace.path());
    let vault = palace.create("verify", Level::Sealed)?;
    fill(&vault, &mut Corpus::new(4), count)?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let report = vault.verify(&mut |_| {})?;
        best = best.min(start.elapsed().as_secs_f64());
        assert!(report.ok, "a fresh vault verifies");
    }
    let rate = count as f64 / best;
    println!("verify: {count} records and as many audit rows in {best:.3} s, {rate:.0} records/s (best of 3)");
    println!("VERIFY records={count} secs={best:.3} per_sec={rate:.0}");
    Ok(())
}
