//! Durable saves: one client, many clients of one vault, and four times as many with a vault each.

use std::io;

use super::client::Prepared;
use super::load::{self, Seen};
use super::options::ServeOptions;
use super::run::Figures;
use super::server::{Installation, Server};
use crate::corpus::Corpus;
use crate::machine;

/// Texts that one client repeats: each save is a drawer of its own all the same.
const TEXTS: usize = 100;

/// Measures and prints.
pub(super) fn measure(
    installation: &Installation,
    options: &ServeOptions,
    figures: &mut Figures,
) -> io::Result<()> {
    let syncs = machine::fsync_per_second(installation.path())?;
    let server = installation.serve()?;
    let mut corpus = Corpus::new(12);
    let many = options.clients;
    for (clients, vaults) in [(1, 1), (many, 1), (many * 4, many * 4)] {
        let names: Vec<String> = (0..vaults).map(|n| format!("saved-{clients}-{n}")).collect();
        let mut client = server.client()?;
        names.iter().try_for_each(|name| server.create(&mut client, name))?;
        let scripts: Vec<_> = (0..clients).map(|n| script(&mut corpus, &names[n % vaults])).collect();
        let used = server.cpu_secs();
        let seen = load::run(server.address, &scripts, options.lasting())?;
        let cpu_micros = (server.cpu_secs() - used) * 1e6 / seen.timings.count() as f64;
        tell(&seen, clients, vaults, cpu_micros, syncs);
        kept(&server, &names, &seen)?;
        figures.put(&format!("save_{clients}_{vaults}_per_sec"), seen.per_second());
        figures.put(&format!("save_{clients}_{vaults}_p99_ms"), seen.timings.percentile_ms(99));
    }
    figures.put("fsync_per_sec", syncs);
    server.stop()
}

fn script(corpus: &mut Corpus, vault: &str) -> Vec<Prepared> {
    (0..TEXTS).map(|n| Prepared::save(vault, &format!("room-{}", n / 25), &corpus.drawer())).collect()
}

fn tell(seen: &Seen, clients: usize, vaults: usize, cpu_micros: f64, syncs: f64) {
    println!(
        "saves, {clients} client(s), {vaults} vault(s): {:.0}/s durable ({:.2} of {syncs:.0} fdatasyncs/s), p50 {:.2} ms, \
         p99 {:.2} ms, {} turned away, {cpu_micros:.0} µs of the server's processor time each",
        seen.per_second(),
        seen.per_second() / syncs,
        seen.timings.percentile_ms(50),
        seen.timings.percentile_ms(99),
        seen.turned_away,
    );
}

/// What was acknowledged is there.
fn kept(server: &Server, names: &[String], seen: &Seen) -> io::Result<()> {
    let mut client = server.client()?;
    let mut records = 0;
    for name in names {
        let stats = client.expect(&Prepared::new("GET", &format!("/v1/vaults/{name}/stats"), ""))?;
        records += stats["records"].as_u64().unwrap_or(0);
    }
    if records < seen.timings.count() as u64 {
        return Err(io::Error::other(format!("{records} records of {} saves", seen.timings.count())));
    }
    Ok(())
}
