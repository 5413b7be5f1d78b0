//! Connections in: TCP, then the handshake, many at once so that a slow peer delays nobody.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;

use crate::{Identity, Tls, limits, verify};

/// A connection whose peer has shown who it is.
pub struct ServerStream {
    stream: tokio_rustls::server::TlsStream<TcpStream>,
    peer: Identity,
    from: SocketAddr,
}

impl ServerStream {
    /// Who is at the other end.
    #[must_use]
    pub const fn peer(&self) -> &Identity {
        &self.peer
    }

    /// The address of the other end.
    #[must_use]
    pub const fn from(&self) -> SocketAddr {
        self.from
    }
}

/// A connection whose peer showed no certificate.
pub type AnonymousStream = tokio_rustls::server::TlsStream<TcpStream>;

/// Connections of a listener, as they come out of their handshakes. Accepting ends when this is dropped.
///
/// A peer that fails the handshake is told by an alert, and the log by a line; it never shows here.
pub struct Incoming(mpsc::Receiver<ServerStream>);

impl Incoming {
    /// Begins to accept, with the certificates that `tls` has at the time of each connection.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn new(listener: TcpListener, tls: Arc<Tls>) -> Self {
        Self(begin(listener, move |socket, from| shaken_by_both(socket, from, tls.clone())))
    }

    /// The next connection. `None` never comes while the runtime lives.
    pub async fn next(&mut self) -> Option<ServerStream> {
        self.0.recv().await
    }

    #[cfg(feature = "grpc")]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<ServerStream>> {
        self.0.poll_recv(context)
    }
}

/// As [`Incoming`], and the peer is asked for no certificate: for an interface that asks for something else, such as a token.
pub struct Anonymous(mpsc::Receiver<AnonymousStream>);

impl Anonymous {
    /// Begins to accept, with the certificates that `tls` has at the time of each connection.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn new(listener: TcpListener, tls: Arc<Tls>) -> Self {
        Self(begin(listener, move |socket, _| shaken_by_one(socket, tls.clone())))
    }

    /// The next connection. `None` never comes while the runtime lives.
    pub async fn next(&mut self) -> Option<AnonymousStream> {
        self.0.recv().await
    }
}

/// Accepts and shakes hands for as long as somebody takes what comes of it.
fn begin<S, F>(
    listener: TcpListener,
    shake: impl Fn(TcpStream, SocketAddr) -> F + Send + Sync + 'static,
) -> mpsc::Receiver<S>
where
    S: Send + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
{
    let (to, accepted) = mpsc::channel(limits::ACCEPTED);
    tokio::spawn(async move {
        tokio::select! {
            () = to.closed() => {}
            () = accept(&listener, &shake, &to) => {}
        }
    });
    accepted
}

async fn accept<S, F>(
    listener: &TcpListener,
    shake: &(impl Fn(TcpStream, SocketAddr) -> F + Sync),
    to: &mpsc::Sender<S>,
) where
    S: Send + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(limits::HANDSHAKES));
    loop {
        // Nobody closes the semaphore.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let (socket, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                // Out of descriptors, most likely: leave time for some to be closed.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let (shaking, to) = (shake(socket, from), to.clone());
        tokio::spawn(async move {
            let shaken = tokio::select! {
                // Who served has stopped.
                () = to.closed() => return,
                shaken = tokio::time::timeout(limits::HANDSHAKE, shaking) => shaken,
            };
            drop(place);
            match shaken.unwrap_or_else(|_| Err(io::Error::other("it took too long"))) {
                Ok(stream) => drop(to.send(stream).await),
                Err(error) => tracing::info!(%from, "a handshake failed: {error}"),
            }
        });
    }
}

async fn shaken_by_both(socket: TcpStream, from: SocketAddr, tls: Arc<Tls>) -> io::Result<ServerStream> {
    socket.set_nodelay(true)?;
    let stream = TlsAcceptor::from(tls.server()).accept(socket).await?;
    let peer = verify::holder(stream.get_ref().1.peer_certificates()).map_err(io::Error::other)?;
    Ok(ServerStream { stream, peer, from })
}

async fn shaken_by_one(socket: TcpStream, tls: Arc<Tls>) -> io::Result<AnonymousStream> {
    socket.set_nodelay(true)?;
    TlsAcceptor::from(tls.open_server()).accept(socket).await
}

impl AsyncRead for ServerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
