//! Connections: accepted up to a bound, with deadlines for whoever sends slowly, and finished before the process ends.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::app::{App, AppOptions, Deadlines};
use super::connections::{Admitted, Connections, Seat};
use super::errors::Refusal;
use super::leaving::leave;
use super::path::normal;
use super::{envelope, status};
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
    let door = Door::new(App::new(serving.clone(), options));
    tokio::pin!(stop);
    let mut sweep = tokio::time::interval(limits::CONNECTION_SWEEP);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => door.accepted(accepted).await,
            _ = sweep.tick() => door.end_stalled(door.deadlines.answer),
        }
    }
    drop(listener);
    let answered = door.drain().await;
    let vaults_left = serving.drain(limits::CLOSE_WAIT).await;
    Drained { answered, vaults_left }
}

/// Where connections come in and end.
struct Door {
    app: App,
    router: Router,
    deadlines: Deadlines,
    connections: Connections,
    graceful: GracefulShutdown,
    crowded: Mutex<Option<Instant>>,
}

impl Door {
    fn new(app: App) -> Self {
        let (deadlines, capacity) = (app.options.deadlines, app.options.capacity);
        Self {
            router: envelope::wrapped(app.clone()),
            app,
            deadlines,
            connections: Connections::new(capacity),
            graceful: GracefulShutdown::new(),
            crowded: Mutex::new(None),
        }
    }

    async fn accepted(&self, accepted: std::io::Result<(TcpStream, SocketAddr)>) {
        match accepted {
            Ok((stream, peer)) => self.admit(stream, peer),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Out of files, most likely: another has to end first.
                if self.connections.end_longest_idle() {
                    self.ended("idle", 1);
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(Admitted { seat, ended_another }) = self.connections.admit(peer.ip()) else {
            return self.ended("full", 1);
        };
        match (ended_another, seat.is_spare()) {
            (_, true) => self.ended("full", 1),
            (true, false) => self.ended("idle", 1),
            (false, false) => {}
        }
        // Answers are small and complete; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let seat = Arc::new(seat);
        let connection = connection(stream, self.router.clone(), seat.clone(), self.deadlines.head);
        let connection = self.graceful.watch(connection);
        let patience = self.deadlines.head;
        tokio::spawn(async move {
            // The library waits for the first bytes as long as nobody sends them.
            let silent = async {
                if tokio::time::timeout(patience, seat.began()).await.is_ok() {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                // A client that sends nonsense or goes away ends its own connection and nothing else.
                result = connection => if let Err(error) = result {
                    tracing::debug!(%error, "connection ended early");
                },
                () = seat.told_to_end() => {}
                () = silent => {}
            }
        });
    }

    /// Lets every request that has begun end. Who neither takes an answer nor sends a request is not waited for long.
    async fn drain(self) -> bool {
        let (connections, patience) =
            (self.connections.clone(), self.deadlines.answer.min(limits::LAST_WAIT));
        let finished = tokio::time::timeout(limits::DRAIN_WAIT, self.graceful.shutdown());
        tokio::pin!(finished);
        let mut sweep = tokio::time::interval(limits::CONNECTION_SWEEP);
        loop {
            tokio::select! {
                finished = &mut finished => return finished.is_ok(),
                _ = sweep.tick() => {
                    connections.end_stalled(patience);
                    connections.end_idle(patience);
                }
            }
        }
    }

    fn end_stalled(&self, patience: Duration) {
        let stalled = self.connections.end_stalled(patience);
        if stalled > 0 {
            self.ended("stalled", stalled);
        }
    }

    /// Counts connections that were ended, and says so once in a while.
    fn ended(&self, reason: &'static str, count: usize) {
        self.app.metrics.connections_ended(reason, count);
        let mut last = self.crowded.lock();
        if last.is_none_or(|last| last.elapsed() >= limits::CROWDED_LINE) {
            *last = Some(Instant::now());
            tracing::warn!(reason, "connections are ended or turned away");
        }
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

fn connection(
    stream: TcpStream,
    router: Router,
    seat: Arc<Seat>,
    patience: Duration,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>> + Send
{
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let (at_work, router, spare) = (seat.begin(), router.clone(), seat.is_spare());
        async move {
            let response = if spare && !status::is_open(request.uri().path()) {
                full()
            } else if request.headers().len() > limits::HEADERS {
                too_many_lines()
            } else {
                router.oneshot(normal(request.map(Body::new))).await?
            };
            Ok::<_, Infallible>(leave(response, &at_work))
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .half_close(true)
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

/// HTTP/1 is bounded by its parser; over HTTP/2 nothing else counts the lines.
fn too_many_lines() -> Response {
    let message = format!("the head has over {} lines; send fewer", limits::HEADERS);
    Refusal::surface(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message).into_response()
}

/// The answer on a connection that came when all places were taken.
fn full() -> Response {
    let mut response =
        Refusal::from(Error::Busy("as many connections at work as it accepts")).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

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
