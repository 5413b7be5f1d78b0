//! How fast a vault is verified, and how long a repair takes.

use std::time::Instant;

use undercroft_crypto::Level;
use undercroft_vault::Result;

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{Palace, fill};

/// Verifies `runs` times and prints the best.
///
/// # Errors
/// What the vault says.
pub fn run(count: usize, runs: u32) -> Result<()> {
    let palace = Palace::new();
    machine::print(&palace.path());
    let vault = palace.create("verify", Level::Sealed)?;
    fill(&vault, &mut Corpus::new(4), count)?;
    let mut best = f64::INFINITY;
    let cpu_before = machine::cpu_secs();
    for _ in 0..runs {
        let start = Instant::now();
        let report = vault.verify(&mut |_| {})?;
        best = best.min(start.elapsed().as_secs_f64());
        assert!(report.ok, "a fresh vault verifies");
    }
    let rate = count as f64 / best;
    let cpu_us = (machine::cpu_secs() - cpu_before) * 1e6 / (f64::from(runs) * count as f64);
    println!(
        "verify: {count} records and as many audit rows in {best:.3} s, {rate:.0} records/s (best of {runs})"
    );
    println!("verify: {cpu_us:.1} microseconds of processor time a record, over all threads");
    println!("VERIFY records={count} secs={best:.3} per_sec={rate:.0} cpu_us={cpu_us:.1}");
    Ok(())
}
