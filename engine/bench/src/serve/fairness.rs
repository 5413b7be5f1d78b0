//! One client of one vault, alone, and then beside many clients that hammer another one with searches or with saves.

use std::io;
use std::thread;
use std::time::Duration;

use super::client::Prepared;
use super::load;
use super::options::ServeOptions;
use super::questions::{filled, questions};
use super::run::Figures;
use super::server::Installation;
use crate::corpus::Corpus;

/// How long the hammering lasts before and after the measured client.
const AROUND: Duration = Duration::from_millis(500);

/// Measures and prints.
pub(super) fn measure(
    installation: &Installation,
    options: &ServeOptions,
    figures: &mut Figures,
) -> io::Result<()> {
    let server = installation.serve()?;
    let mut corpus = Corpus::new(14);
    let quiet = filled(&server, &mut corpus, "quiet", options.drawers)?;
    let loud = filled(&server, &mut corpus, "loud", options.drawers)?;
    let asked = questions(&mut corpus, "quiet", &quiet, 1);
    load::run(server.address, &asked, AROUND)?;
    let alone = load::run(server.address, &asked, options.lasting())?.timings;
    let saves = |text: &String| Prepared::save("loud", "inbox", text);
    let hammers = [
        ("searches", questions(&mut corpus, "loud", &loud, options.clients)),
        (
            "saves",
            loud.chunks(options.drawers.div_ceil(options.clients))
                .map(|texts| texts.iter().map(saves).collect())
                .collect(),
        ),
    ];
    println!(
        "fairness: one client alone: p50 {:.2} ms, p99 {:.2} ms",
        alone.percentile_ms(50),
        alone.percentile_ms(99)
    );
    for (name, hammer) in hammers {
        let lasting = options.lasting() + 2 * AROUND;
        let (hammering, beside) = thread::scope(|scope| {
            let hammering = scope.spawn(|| load::run(server.address, &hammer, lasting));
            thread::sleep(AROUND);
            let beside = load::run(server.address, &asked, options.lasting());
            (hammering.join().unwrap_or_else(|_| Err(io::Error::other("the hammer panicked"))), beside)
        });
        let (hammering, beside) = (hammering?, beside?.timings);
        let ratio = beside.percentile_ms(99) / alone.percentile_ms(99);
        println!(
            "fairness: beside {} clients that send {:.0} {name}/s to another vault: p50 {:.2} ms, p99 {:.2} ms, {ratio:.1} \
             times that of the client alone",
            options.clients,
            hammering.per_second(),
            beside.percentile_ms(50),
            beside.percentile_ms(99)
        );
        figures.put(&format!("fairness_{name}_p99_ms"), beside.percentile_ms(99));
        figures.put(&format!("fairness_{name}_ratio"), ratio);
    }
    figures.put("fairness_alone_p99_ms", alone.percentile_ms(99));
    server.stop()
}
