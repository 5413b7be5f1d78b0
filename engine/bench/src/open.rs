//! How long it takes from opening a vault to the first answer: from the rows, and from the sealed image.

use std::time::Instant;

use undercroft_crypto::Level;
use undercroft_vault::Result;

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{Palace, ask, fill};

/// Runs and prints.
///
/// # Errors
/// What the vault says.
pub fn run(count: usize) -> Result<()> {
    let palace = Palace::new();
    machine::print(&palace.path());
    let vault = palace.create("open", Level::Sealed)?;
    let mut corpus = Corpus::new(3);
    let kept = fill(&vault, &mut corpus, count)?;
    vault.close()?;
    let question = corpus.question(&kept[kept.len() / 2], 5);

    palace.drop_image("open");
    let cold = first_answer(&palace, &question, true)?;
    println!("{count} drawers: first search after opening from the rows {cold:.3} s");
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(first_answer(&palace, &question, false)?);
    }
    println!("{count} drawers: first search after opening from the sealed image {best:.3} s (best of 3)");
    println!(
        "OPEN drawers={count} cold_secs={cold:.3} image_secs={best:.3} resident_mib={:.0}",
        machine::resident_mib()
    );
    Ok(())
}

/// Opens, searches once, and closes; the closing writes the image and is not timed.
fn first_answer(palace: &Palace, question: &str, cold: bool) -> Result<f64> {
    let start = Instant::now();
    let vault = palace.open("open")?;
    vault.search(&ask(question.to_owned()))?;
    let took = start.elapsed().as_secs_f64();
    if cold {
        vault.close()?;
    }
    Ok(took)
}
