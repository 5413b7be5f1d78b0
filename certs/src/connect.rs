//! Connections out: to an address, whose certificate must name its host and be of a role that is expected there.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::time_provider::TimeProvider;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::{Error, Roles, Tls, Unusable, files, material, verify};

/// A connection whose other end has shown who it is.
pub type ClientStream = tokio_rustls::client::TlsStream<TcpStream>;

/// Connects to `host:port` (an IPv6 address in brackets). Who answers must be of one of `roles`: a node whose certificate
/// happens to name the host of a member is no member.
///
/// # Errors
/// What the network or the handshake says, or that the other end is somebody else.
pub async fn connect(address: &str, tls: &Tls, roles: Roles) -> io::Result<ClientStream> {
    shake(address, tls.client(), roles).await
}

/// What an operator's machine trusts: it has no certificate of its own, and shows something else, such as a token.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Trusts the certificates of a file, as `cluster certs` writes `ca.crt`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Unusable`].
    pub fn open(file: &Path, clock: Arc<dyn TimeProvider>) -> Result<Self, Error> {
        let unreadable = |problem: String| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let folder = file.parent().unwrap_or(Path::new("."));
            Error::unusable(folder, Unusable::Unreadable { file: name, problem })
        };
        let trusted = material::parse(&files::read(file)?).map_err(unreadable)?;
        if trusted.is_empty() {
            return Err(unreadable("no certificate stands in it".into()));
        }
        let mut client = ClientConfig::builder_with_details(verify::provider(), clock)
            .with_protocol_versions(verify::VERSIONS)
            .map_err(Error::internal)?
            .with_root_certificates(verify::roots(&trusted).map_err(unreadable)?)
            .with_no_client_auth();
        client.resumption = Resumption::disabled();
        client.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(client)))
    }

    /// Connects to `host:port` as [`connect`] does, and shows no certificate.
    ///
    /// # Errors
    /// As [`connect`].
    pub async fn connect(&self, address: &str, roles: Roles) -> io::Result<ClientStream> {
        shake(address, self.0.clone(), roles).await
    }
}

async fn shake(address: &str, client: Arc<ClientConfig>, roles: Roles) -> io::Result<ClientStream> {
    let name = server_name(address)?;
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let stream = TlsConnector::from(client).connect(name, socket).await?;
    let refused = |problem| io::Error::new(io::ErrorKind::PermissionDenied, problem);
    let peer = verify::holder(stream.get_ref().1.peer_certificates()).map_err(|problem| {
        refused(format!("{address} has a certificate without a role of this cluster: {problem}"))
    })?;
    if !roles.contains(peer.role()) {
        return Err(refused(format!(
            "{address} is {peer}, and {roles} is expected there; correct the address"
        )));
    }
    Ok(stream)
}

/// The host of an address, as it must stand in the certificate.
fn server_name(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map(|(host, _)| host.trim_start_matches('[').trim_end_matches(']'));
    let name = host.and_then(|host| ServerName::try_from(host.to_owned()).ok());
    name.ok_or_else(|| {
        let problem =
            format!("'{address}' is no address: expected host:port, for example node-1.example.org:8800");
        io::Error::new(io::ErrorKind::InvalidInput, problem)
    })
}

#[cfg(test)]
mod tests {
    use super::server_name;

    #[test]
    fn the_host_of_an_address_is_what_the_certificate_must_name() {
        for (address, host) in
            [("a.example:1", "a.example"), ("127.0.0.1:1", "127.0.0.1"), ("[::1]:1", "::1")]
        {
            assert_eq!(server_name(address).unwrap().to_str(), host);
        }
        for address in ["", "a", ":1", "a b:1", "[]:1"] {
            assert!(server_name(address).is_err(), "{address}");
        }
    }
}
