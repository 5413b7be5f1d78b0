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
        let server = Server::start(options).await?;
        started(server.listening());
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("told to stop");
        server.stop().await;
        Ok(())
    })
}
