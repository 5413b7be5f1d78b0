//! Connections of operators: plain on this machine, or TLS with the member's certificate. Who asks is told by the token, so no
//! certificate is asked for.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use undercroft_certs::accept::Anonymous;
use undercroft_certs::{AnonymousStream, Tls};

use crate::limits;

/// Where operators come in.
enum Door {
    Plain(TcpListener),
    Secured(Anonymous),
}

/// One of them.
enum Visitor {
    Plain(TcpStream),
    Secured(Box<AnonymousStream>),
}

impl Door {
    async fn next(&mut self) -> Visitor {
        loop {
            match self {
                Self::Secured(accepted) => match accepted.next().await {
                    Some(stream) => return Visitor::Secured(Box::new(stream)),
                    // Its task has ended with the runtime.
                    None => std::future::pending().await,
                },
                Self::Plain(listener) => match listener.accept().await {
                    Ok((stream, _)) => return Visitor::Plain(stream),
                    Err(error) => {
                        tracing::warn!(%error, "a connection of an operator could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
    }
}

/// Serves operators until told to stop, then answers what was accepted.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    routes: Router,
    until: impl Future<Output = ()>,
) {
    let mut door = match tls {
        Some(tls) => Door::Secured(Anonymous::new(listener, tls)),
        None => Door::Plain(listener),
    };
    let (going, places) = (GracefulShutdown::new(), Arc::new(Semaphore::new(limits::OPERATORS)));
    let mut until = std::pin::pin!(until);
    loop {
        let visitor = tokio::select! {
            () = &mut until => break,
            visitor = door.next() => visitor,
        };
        // One too many is closed at once: it would wait for somebody who may never go.
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        match visitor {
            Visitor::Plain(stream) => attend(stream, place, &routes, &going),
            Visitor::Secured(stream) => attend(*stream, place, &routes, &going),
        }
    }
    drop(door);
    going.shutdown().await;
}

/// Answers one connection in a task of its own. Who does not send a whole head in time is disconnected.
fn attend<S>(stream: S, place: OwnedSemaphorePermit, routes: &Router, going: &GracefulShutdown)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits::HEAD);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(limits::HEAD);
    let service = TowerToHyperService::new(routes.clone());
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let watched = going.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = watched.await {
            tracing::debug!(%error, "a connection of an operator has ended");
        }
        drop(place);
    });
}
