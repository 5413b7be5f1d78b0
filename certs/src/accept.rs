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
        let (to, accepted) = mpsc::channel(limits::ACCEPTED);
        tokio::spawn(async move {
            tokio::select! {
                () = to.closed() => {}
                () = accept(&listener, &tls, &to) => {}
            }
        });
        Self(accepted)
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

async fn accept(listener: &TcpListener, tls: &Arc<Tls>, to: &mpsc::Sender<ServerStream>) {
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
        let (tls, to) = (tls.clone(), to.clone());
        tokio::spawn(async move {
            let shaken = tokio::select! {
                // Who served has stopped.
                () = to.closed() => return,
                shaken = tokio::time::timeout(limits::HANDSHAKE, handshake(socket, from, &tls)) => shaken,
            };
            drop(place);
            match shaken.unwrap_or_else(|_| Err(io::Error::other("it took too long"))) {
                Ok(stream) => drop(to.send(stream).await),
                Err(error) => tracing::info!(%from, "a handshake failed: {error}"),
            }
        });
    }
}

async fn handshake(socket: TcpStream, from: SocketAddr, tls: &Tls) -> io::Result<ServerStream> {
    socket.set_nodelay(true)?;
    let stream = TlsAcceptor::from(tls.server()).accept(socket).await?;
    let peer = verify::holder(stream.get_ref().1.peer_certificates()).map_err(io::Error::other)?;
    Ok(ServerStream { stream, peer, from })
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
