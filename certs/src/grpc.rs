//! Certificates under tonic: connections in and out, and who asks.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use http::Uri;
use hyper_util::rt::TokioIo;
use tonic::Status;
use tonic::transport::server::Connected;
use tonic::transport::{Channel, Endpoint};

use crate::accept::Incoming;
use crate::connect::connect;
use crate::{ClientStream, Identity, Roles, ServerStream, Tls};

/// Who sent a request; in the extensions of every request that came over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer(pub Identity);

impl Connected for ServerStream {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        Peer(self.peer().clone())
    }
}

/// For `serve_with_incoming`.
impl Stream for Incoming {
    type Item = io::Result<ServerStream>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context).map(|accepted| accepted.map(Ok))
    }
}

/// Who may make the calls of a service.
#[derive(Debug, Clone, Copy)]
pub enum Access {
    /// Whoever reaches it: for connections without TLS, which are for one machine and for tests.
    Anyone,
    /// Holders of a certificate of one of these roles. Without TLS nobody is one.
    Only(Roles),
}

impl Access {
    /// Lets a request pass or refuses it; says who asks, where that is known.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for another role, `UNAUTHENTICATED` for a request that did not come over TLS.
    pub fn check(self, extensions: &tonic::Extensions) -> Result<Option<&Identity>, Status> {
        let peer = extensions.get::<Peer>().map(|Peer(identity)| identity);
        match (self, peer) {
            (Self::Anyone, peer) => Ok(peer),
            (Self::Only(roles), Some(peer)) if roles.contains(peer.role()) => Ok(Some(peer)),
            (Self::Only(roles), Some(peer)) => {
                let what = format!("this call is for {roles}, and the certificate is of {peer}");
                Err(Status::permission_denied(what))
            }
            (Self::Only(_), None) => Err(Status::unauthenticated(
                "this call needs TLS with a certificate of the cluster; set --cert-dir",
            )),
        }
    }
}

/// A channel to `host:port` that connects when it is first used, and again after each loss, each time with the certificates
/// that there are. The other end must be of one of `roles`.
///
/// # Errors
/// An address that is none.
pub fn channel(
    address: &str,
    tls: Arc<Tls>,
    roles: Roles,
    with: impl FnOnce(Endpoint) -> Endpoint,
) -> Result<Channel, tonic::transport::Error> {
    // The connector decides how it is reached; the scheme is only what requests say.
    let endpoint = with(Endpoint::from_shared(format!("https://{address}"))?);
    Ok(endpoint.connect_with_connector_lazy(Connector { address: address.into(), tls, roles }))
}

#[derive(Clone)]
struct Connector {
    address: Arc<str>,
    tls: Arc<Tls>,
    roles: Roles,
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<ClientStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<ClientStream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let Self { address, tls, roles } = self.clone();
        Box::pin(async move { connect(&address, &tls, roles).await.map(TokioIo::new) })
    }
}
