//! Many small vaults, touched in turn by a search each: what a cold one costs, and what the process holds afterwards.

use std::io;
use std::time::Instant;

use super::client::Prepared;
use super::options::ServeOptions;
use super::run::Figures;
use super::server::Installation;
use crate::corpus::Corpus;
use crate::stopwatch::Timings;

/// Drawers in each small vault.
const DRAWERS: usize = 20;

/// Measures and prints.
pub(super) fn measure(
    installation: &Installation,
    options: &ServeOptions,
    figures: &mut Figures,
) -> io::Result<()> {
    let mut corpus = Corpus::new(13);
    let server = installation.serve()?;
    let mut client = server.client()?;
    let mut questions = Vec::new();
    for n in 0..options.vaults {
        let vault = format!("small-{n}");
        server.create(&mut client, &vault)?;
        for _ in 0..DRAWERS {
            let text = corpus.drawer();
            client.expect(&Prepared::save(&vault, "inbox", &text))?;
            if questions.len() == n {
                questions.push(Prepared::search(&vault, &corpus.question(&text, 5)));
            }
        }
    }
    drop(client);
    server.stop()?;

    // A process that has not seen any of them: every search opens its vault first.
    let server = installation.serve()?;
    let before = server.resident_mib();
    let mut client = server.client()?;
    let mut timings = Timings::default();
    let mut most = 0;
    for question in &questions {
        let begun = Instant::now();
        client.expect(question)?;
        timings.push(begun.elapsed());
        most = most.max(server.descriptors()?);
    }
    let (p50, p99) = (timings.percentile_ms(50), timings.percentile_ms(99));
    let resident = server.resident_mib();
    println!(
        "idle: {} vaults of {DRAWERS} drawers touched in turn: a cold one answers in p50 {p50:.2} ms, p99 {p99:.2} ms; \
         {resident:.0} MiB resident ({before:.0} before), at most {most} files open",
        options.vaults
    );
    figures.put("cold_p50_ms", p50);
    figures.put("cold_p99_ms", p99);
    figures.put("idle_resident_mib", resident);
    figures.put("idle_descriptors", most as f64);
    server.stop()
}
