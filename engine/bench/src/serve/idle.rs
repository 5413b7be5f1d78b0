//! Many small vaults, touched in turn by a search each: what a cold one costs, and what the process holds afterwards.

use std::io;
use std::ops::Range;
use std::thread;
use std::time::Instant;

use super::client::Prepared;
use super::options::ServeOptions;
use super::run::Figures;
use super::server::{Installation, Server};
use crate::corpus::Corpus;
use crate::stopwatch::Timings;

/// Drawers in each small vault.
const DRAWERS: usize = 20;
/// Connections that fill the vaults.
const FILLERS: usize = 8;

/// Measures and prints.
pub(super) fn measure(
    installation: &Installation,
    options: &ServeOptions,
    figures: &mut Figures,
) -> io::Result<()> {
    let questions = fill(installation, options.vaults)?;

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

/// Makes the vaults, and gives a question for each.
fn fill(installation: &Installation, vaults: usize) -> io::Result<Vec<Prepared>> {
    let server = installation.serve()?;
    let share = vaults.div_ceil(FILLERS).max(1);
    let questions = thread::scope(|scope| {
        let shares = (0..vaults).step_by(share).map(|first| first..vaults.min(first + share));
        let fillers: Vec<_> = shares.map(|share| scope.spawn(|| fill_share(&server, share))).collect();
        let filled = fillers
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(io::Error::other("a filler panicked"))));
        filled.collect::<io::Result<Vec<_>>>()
    })?;
    server.stop()?;
    Ok(questions.concat())
}

fn fill_share(server: &Server, share: Range<usize>) -> io::Result<Vec<Prepared>> {
    let mut corpus = Corpus::new(1_000 + share.start as u64);
    let mut client = server.client()?;
    share
        .map(|n| {
            let vault = format!("small-{n}");
            server.create(&mut client, &vault)?;
            let texts: Vec<String> = (0..DRAWERS).map(|_| corpus.drawer()).collect();
            texts
                .iter()
                .try_for_each(|text| client.expect(&Prepared::save(&vault, "inbox", text)).map(drop))?;
            Ok(Prepared::search(&vault, &corpus.question(&texts[0], 5)))
        })
        .collect()
}
