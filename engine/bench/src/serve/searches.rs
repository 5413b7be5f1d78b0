//! One client, then many, searching one sealed vault.

use std::io;
use std::time::Duration;

use super::load;
use super::options::ServeOptions;
use super::questions::{filled, questions};
use super::run::Figures;
use super::server::Installation;
use crate::corpus::Corpus;

/// The load before the clock starts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Measures and prints.
pub(super) fn measure(
    installation: &Installation,
    options: &ServeOptions,
    figures: &mut Figures,
) -> io::Result<()> {
    let server = installation.serve()?;
    let mut corpus = Corpus::new(11);
    let texts = filled(&server, &mut corpus, "searched", options.drawers)?;
    for clients in [1, options.clients] {
        let scripts = questions(&mut corpus, "searched", &texts, clients);
        load::run(server.address, &scripts, WARM_UP)?;
        let used = server.cpu_secs();
        let seen = load::run(server.address, &scripts, options.lasting())?;
        let cpu_micros = (server.cpu_secs() - used) * 1e6 / seen.timings.count() as f64;
        let (p50, p99) = (seen.timings.percentile_ms(50), seen.timings.percentile_ms(99));
        println!(
            "searches, {} drawers, {clients} client(s): {:.0}/s, p50 {p50:.2} ms, p99 {p99:.2} ms, \
             {cpu_micros:.0} µs of the server's processor time each",
            options.drawers,
            seen.per_second()
        );
        figures.put(&format!("search_{clients}_per_sec"), seen.per_second());
        figures.put(&format!("search_{clients}_p50_ms"), p50);
        figures.put(&format!("search_{clients}_p99_ms"), p99);
    }
    server.stop()
}
