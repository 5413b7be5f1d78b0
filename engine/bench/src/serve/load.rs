//! Clients that ask as fast as they are answered, all at once, and what they saw.

use std::io;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::client::{Client, Prepared};
use crate::stopwatch::Timings;

/// What a load came to.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Time of each request that succeeded.
    pub(super) timings: Timings,
    /// Requests that were turned away (429 or 503).
    pub(super) turned_away: usize,
    /// How long it lasted, in seconds.
    pub(super) seconds: f64,
}

impl Seen {
    /// Successes a second.
    pub(super) fn per_second(&self) -> f64 {
        self.timings.count() as f64 / self.seconds
    }
}

/// Runs one client for each of `scripts`, over and over its requests, for `lasting`.
///
/// # Errors
/// When a connection ends, or the server answers anything but a success or "not now".
pub(super) fn run(address: SocketAddr, scripts: &[Vec<Prepared>], lasting: Duration) -> io::Result<Seen> {
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(scripts.len() + 1);
    thread::scope(|scope| {
        let clients: Vec<_> = scripts
            .iter()
            .map(|script| {
                let (stop, ready) = (&stop, &ready);
                scope.spawn(move || {
                    let client = Client::connect(address);
                    ready.wait();
                    client.and_then(|client| one(client, script, stop))
                })
            })
            .collect();
        ready.wait();
        let begun = Instant::now();
        // Ends early when a client cannot go on: it says so by ending.
        while begun.elapsed() < lasting && clients.iter().all(|client| !client.is_finished()) {
            thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        let seconds = begun.elapsed().as_secs_f64();
        let mut all = Seen { seconds, ..Seen::default() };
        for client in clients {
            let seen = client.join().map_err(|_| io::Error::other("a client panicked"))??;
            all.timings.join(seen.timings);
            all.turned_away += seen.turned_away;
        }
        Ok(all)
    })
}

fn one(mut client: Client, script: &[Prepared], stop: &AtomicBool) -> io::Result<Seen> {
    let mut seen = Seen::default();
    for request in script.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        let answered = client.send(request)?;
        match answered.status {
            200..300 => seen.timings.push(begun.elapsed()),
            429 | 503 => seen.turned_away += 1,
            other => {
                let said = String::from_utf8_lossy(answered.body).into_owned();
                return Err(io::Error::other(format!("{other}: {said}")));
            }
        }
    }
    Ok(seen)
}
