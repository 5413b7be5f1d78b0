//! How connections between members are made, out and in: plain on one machine, or TLS with certificates of the cluster.
//!
//! Both directions and the question of who may call follow from one value, so that no service is left open beside TLS.

use std::sync::Arc;

use tonic::transport::{Channel, Endpoint};
use undercroft_certs::grpc::{self, Access};
use undercroft_certs::{Role, Roles, Tls};

use crate::limits;

/// Opens channels to members (host:port), and says who may call.
#[derive(Clone)]
pub struct Connect(Option<Arc<Tls>>);

impl Connect {
    /// Connections without encryption, and calls from anyone: for one machine and for tests.
    #[must_use]
    pub const fn plain() -> Self {
        Self(None)
    }

    /// Connections over TLS with the certificates that `tls` has at the time.
    #[must_use]
    pub const fn tls(tls: Arc<Tls>) -> Self {
        Self(Some(tls))
    }

    /// The certificates; `None` when connections are plain.
    #[must_use]
    pub const fn certificates(&self) -> Option<&Arc<Tls>> {
        self.0.as_ref()
    }

    /// Who may make calls that are for these roles. Without certificates nobody can be told from anybody.
    #[must_use]
    pub const fn access(&self, roles: &[Role]) -> Access {
        if self.0.is_some() { Access::Only(Roles::of(roles)) } else { Access::Anyone }
    }

    /// A channel that connects when it is first used: a process that is down is found out by a call, and reached again when
    /// it is back. Over TLS, who answers must have the certificate of a member and of that host.
    ///
    /// # Errors
    /// An address that is none, in words.
    pub fn channel(&self, address: &str) -> Result<Channel, String> {
        let bounded = |endpoint: Endpoint| endpoint.connect_timeout(limits::CONNECT).tcp_nodelay(true);
        let channel = match &self.0 {
            None => Endpoint::from_shared(format!("http://{address}")).map(|to| bounded(to).connect_lazy()),
            Some(tls) => grpc::channel(address, tls.clone(), Roles::of(&[Role::Control]), bounded),
        };
        channel.map_err(|error| error.to_string())
    }
}
