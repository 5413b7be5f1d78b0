//! The process: start order, the signals that end it, how it ends. Reads no environment.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use undercroft_palace::Palace;

use crate::error::{Error, Result};
use crate::http::{self, AppOptions, Drained};
use crate::serving::{Serving, ServingOptions, too_few_files};

/// What a server is started with.
pub struct Setup {
    /// The installation.
    pub palace: Palace,
    /// How its vaults are served.
    pub serving: ServingOptions,
    /// What is declared about the surface.
    pub app: AppOptions,
    /// Name or address to listen on.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
}

/// A server that accepts connections.
#[derive(Debug, Clone, Copy)]
pub struct Listening {
    /// Its address, with the port that was taken.
    pub address: SocketAddr,
}

/// Serves until SIGTERM or SIGINT, then finishes what was accepted. `started` is told the address once connections are
/// accepted. Blocks.
///
/// # Errors
/// [`Error::Exposed`], [`Error::Listen`], [`Error::Start`]; not found when the resident vault does not exist.
pub fn run(setup: Setup, started: impl FnOnce(Listening)) -> Result<Drained> {
    http::check_exposure(&setup.host, &setup.app)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("undercroft")
        .build()
        .map_err(|source| Error::Start(Arc::new(source)))?;
    runtime.block_on(serve(setup, started))
}

async fn serve(setup: Setup, started: impl FnOnce(Listening)) -> Result<Drained> {
    let stop = stop_signal()?;
    let address = format!("{}:{}", bracketed(&setup.host), setup.port);
    let refused = |source| Error::Listen { address: address.clone(), source: Arc::new(source) };
    let listener = TcpListener::bind(&address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    if let Some(files) = too_few_files() {
        tracing::warn!(
            files,
            "the process may open so few files that it will turn requests away; raise its limit of open files (ulimit -n)"
        );
    }
    let serving = Serving::start(setup.palace, setup.serving);
    started(Listening { address });
    let drained = http::serve(listener, serving, setup.app, stop).await;
    tracing::info!(answered = drained.answered, vaults_left = drained.vaults_left, "stopped");
    Ok(drained)
}

/// Resolves at the first signal that asks the process to end.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    let watch = |kind| signal(kind).map_err(|source| Error::Start(Arc::new(source)));
    let (mut terminate, mut interrupt) = (watch(SignalKind::terminate())?, watch(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("told to stop");
    })
}

/// An IPv6 address stands in brackets before a port.
fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
}
