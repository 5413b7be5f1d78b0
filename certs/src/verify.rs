//! What is checked when two processes meet: the cryptography in use, the chain, the role.
//!
//! TLS 1.3 alone. The key exchange that is offered first is X25519MLKEM768, so what is recorded today stays closed to a quantum
//! computer later; the classical ones remain for peers without it.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme, version,
};

use crate::facts::Facts;
use crate::{Error, Identity};

/// The only version that is spoken.
pub(crate) const VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&version::TLS13];

/// The cryptography of every connection.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// Certificates to trust.
///
/// # Errors
/// Why one of them cannot be.
pub(crate) fn roots<'a>(
    trusted: impl IntoIterator<Item = &'a CertificateDer<'static>>,
) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted {
        roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    }
    Ok(roots)
}

/// Whether one of the roots signed a certificate, at a moment in seconds since 1970.
///
/// # Errors
/// Why it did not.
pub(crate) fn signed_by(
    roots: &RootCertStore,
    certificate: &CertificateDer<'_>,
    between: &[CertificateDer<'_>],
    at: u64,
) -> Result<(), String> {
    let algorithms = provider().signature_verification_algorithms.all;
    let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(at));
    let parsed = ParsedCertificate::try_from(certificate).map_err(|error| error.to_string())?;
    verify_server_cert_signed_by_trust_anchor(&parsed, roots, between, at, algorithms)
        .map_err(|error| error.to_string())
}

/// Who the holder of a certificate is. Its chain must have been verified.
pub(crate) fn holder(chain: Option<&[CertificateDer<'_>]>) -> Result<Identity, String> {
    let leaf = chain.and_then(<[_]>::first).ok_or("it showed no certificate")?;
    Facts::read(leaf)?.identity
}

/// Demands of clients a certificate of the CA, as rustls checks it, and a role in it: who has none learns it in the handshake.
#[derive(Debug)]
pub(crate) struct WithRole(Arc<dyn ClientCertVerifier>);

impl WithRole {
    pub(crate) fn new(roots: Arc<RootCertStore>) -> Result<Arc<Self>, Error> {
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
        verifier.map(|verifier| Arc::new(Self(verifier))).map_err(Error::internal)
    }
}

impl ClientCertVerifier for WithRole {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let verified = self.0.verify_client_cert(end_entity, intermediates, now)?;
        // The alert for it is `access_denied`: the certificate is good, its holder has no place here.
        let refused = |_| rustls::Error::from(CertificateError::ApplicationVerificationFailure);
        holder(Some(std::slice::from_ref(end_entity))).map_err(refused)?;
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
