//! Connections: accepted up to a bound, with deadlines for whoever sends slowly, and finished before the process ends.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Uri};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::app::{App, AppOptions};
use super::envelope;
use crate::error::{Error, Result};
use crate::limits;
use crate::serving::Serving;

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Every request that had begun was answered.
    pub answered: bool,
    /// Vaults that were still in use when patience ran out.
    pub vaults_left: usize,
}

/// Whether a host is this machine to itself: `localhost` or a loopback address.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Refuses to listen beyond this machine without a bearer.
///
/// # Errors
/// [`Error::Exposed`].
pub fn check_exposure(host: &str, options: &AppOptions) -> Result<()> {
    if options.bearer.is_none() && !is_loopback(host) {
        return Err(Error::Exposed(host.to_owned()));
    }
    Ok(())
}

/// Serves until `stop` resolves; then finishes what was accepted, anchors and closes every vault.
pub async fn serve(
    listener: TcpListener,
    serving: Serving,
    options: AppOptions,
    stop: impl Future<Output = ()>,
) -> Drained {
    let patience = options.deadlines.head;
    let router = envelope::wrapped(App::new(serving.clone(), options));
    let connections = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            stream = accept(&listener, &places) => {
                let Some((stream, place)) = stream else { continue };
                let connection = connections.watch(connection(stream, router.clone(), patience));
                tokio::spawn(async move {
                    // A client that sends nonsense or goes away ends its own connection and nothing else.
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "connection ended early");
                    }
                    drop(place);
                });
            }
        }
    }
    drop(listener);
    let answered = tokio::time::timeout(limits::DRAIN_WAIT, connections.shutdown()).await.is_ok();
    let vaults_left = serving.drain(limits::CLOSE_WAIT).await;
    Drained { answered, vaults_left }
}

/// The next connection, once there is a place for it: until then clients wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small and complete; waiting to fill a packet only delays them.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            // Out of files, most likely: others have to end first.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

fn connection(
    stream: TcpStream,
    router: Router,
    patience: Duration,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>> + Send
{
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        router.clone().oneshot(trimmed(request.map(Body::new)))
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(limits::HEADER_BYTES)
        .max_headers(limits::HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(limits::HEADER_BYTES as u32)
        .max_concurrent_streams(limits::STREAMS)
        .keep_alive_interval(Some(patience))
        .keep_alive_timeout(patience);
    builder.serve_connection(TokioIo::new(stream), service).into_owned()
}

/// Slashes around a path mean nothing.
fn trimmed(mut request: Request<Body>) -> Request<Body> {
    let path = request.uri().path();
    let core = path.trim_matches('/');
    if path.len() != core.len() + 1 {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = format!("/{core}{query}").parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_around_a_path_are_trimmed_and_nothing_else() {
        let cases = [
            ("/v1/vaults", "/v1/vaults"),
            ("/v1/vaults/", "/v1/vaults"),
            ("//v1/vaults//?a=/b/", "/v1/vaults?a=/b/"),
            ("/", "/"),
            ("/v1//vaults", "/v1//vaults"),
            ("/v1/a%2F/", "/v1/a%2F"),
            ("http://host/v1/", "http://host/v1"),
        ];
        for (given, expected) in cases {
            let request = Request::builder().uri(given).body(Body::empty()).unwrap();
            assert_eq!(trimmed(request).uri().to_string(), expected.to_owned(), "{given}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.0.0.1.nip.io", "", "example.org"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
