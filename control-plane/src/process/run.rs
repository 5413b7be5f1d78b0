//! The whole life of the process: start, signals, end. Blocks.

use tokio::signal::unix::{SignalKind, signal};

use super::{Listening, Options, Server};
use crate::Error;

/// Runs a member until SIGTERM or SIGINT. `started` is told where it listens once it serves.
///
/// # Errors
/// As [`Server::start`].
pub fn run(options: Options, started: impl FnOnce(Listening)) -> Result<(), Error> {
    let cannot = |source: std::io::Error| Error::Stopped(source.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("control-plane")
        .build()
        .map_err(cannot)?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
        let mut told = std::pin::pin!(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        });
        // Starting may take long: a member that enters waits for its group.
        let server = tokio::select! {
            () = &mut told => {
                tracing::info!("told to stop before it had started");
                return Ok(());
            }
            server = Server::start(options) => server?,
        };
        started(server.listening());
        told.await;
        tracing::info!("told to stop");
        server.stop().await;
        Ok(())
    })
}
