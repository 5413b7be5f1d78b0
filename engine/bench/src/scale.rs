//! Search latency, memory and open time as a vault grows.

use std::time::Instant;

use undercroft_crypto::Level;
use undercroft_vault::{Result, Vault};

use crate::corpus::Corpus;
use crate::machine;
use crate::palace::{Palace, ask, fill};
use crate::stopwatch::Timings;

/// Searches timed at each size.
const SEARCHES: usize = 300;

/// One checkpoint.
struct Point {
    drawers: usize,
    p50: f64,
    p99: f64,
    index_mib: f64,
    image_secs: f64,
    cold_secs: f64,
    found: f64,
}

/// Grows one sealed vault through `sizes` and prints a line at each.
///
/// # Errors
/// What the vault says.
pub fn run(sizes: &[usize]) -> Result<()> {
    let palace = Palace::new();
    machine::print(&palace.path());
    palace.create("scale", Level::Sealed)?.close()?;
    let mut corpus = Corpus::new(5);
    let (mut filed, mut kept) = (0, Vec::new());
    println!(
        "   drawers   p50 ms   p99 ms   index MiB   bytes/drawer   image s   cold s   own drawer in top 5"
    );
    let mut points = Vec::new();
    for &size in sizes {
        let vault = palace.open("scale")?;
        kept.extend(fill(&vault, &mut corpus, size.saturating_sub(filed))?);
        filed = size;
        vault.close()?;
        let point = measure(&palace, &mut corpus, &kept, size)?;
        println!(
            "{:>10} {:>8.3} {:>8.3} {:>11.1} {:>14.0} {:>9.3} {:>8.3} {:>20.1} %",
            point.drawers,
            point.p50,
            point.p99,
            point.index_mib,
            point.index_mib * 1_048_576.0 / point.drawers as f64,
            point.image_secs,
            point.cold_secs,
            point.found * 100.0
        );
        points.push(point);
    }
    let fields: Vec<String> = points
        .iter()
        .map(|point| {
            format!(
                "ms_{0}={1:.3} mib_{0}={2:.0} cold_{0}={3:.2} image_{0}={4:.2}",
                point.drawers, point.p50, point.index_mib, point.cold_secs, point.image_secs
            )
        })
        .collect();
    println!("SCALE {}", fields.join(" "));
    Ok(())
}

fn measure(palace: &Palace, corpus: &mut Corpus, kept: &[String], size: usize) -> Result<Point> {
    palace.drop_image("scale");
    let (vault, cold_secs) = open_and_ask(palace, "warm up")?;
    let (mut timings, mut found) = (Timings::default(), 0);
    for _ in 0..SEARCHES {
        let text = &kept[corpus.below(kept.len())];
        let words = 3 + corpus.below(6);
        let question = corpus.question(text, words);
        let reply = timings.time(|| vault.search(&ask(question)))?;
        found += usize::from(reply.hits.iter().any(|hit| hit.content == *text));
    }
    let index_mib = vault.index_bytes() as f64 / 1_048_576.0;
    vault.close()?;
    let (vault, image_secs) = open_and_ask(palace, "warm up")?;
    vault.close()?;
    Ok(Point {
        drawers: size,
        p50: timings.percentile_ms(50),
        p99: timings.percentile_ms(99),
        index_mib,
        image_secs,
        cold_secs,
        found: found as f64 / SEARCHES as f64,
    })
}

fn open_and_ask(palace: &Palace, question: &str) -> Result<(Vault, f64)> {
    let start = Instant::now();
    let vault = palace.open("scale")?;
    vault.search(&ask(question.to_owned()))?;
    Ok((vault, start.elapsed().as_secs_f64()))
}
