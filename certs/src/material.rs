//! What one process was given: whom it trusts, its certificate, its key; checked whole before any of it is used.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use crate::facts::Facts;
use crate::files::{CERTIFICATE, KEY, TRUSTED, read};
use crate::{Error, Identity, Role, Unusable, verify};

/// Files that fit together.
pub(crate) struct Material {
    /// Who this process is.
    pub(crate) identity: Identity,
    /// Last second of its certificate, since 1970.
    pub(crate) not_after: u64,
    /// Whom it trusts.
    pub(crate) trusted: Arc<RootCertStore>,
    /// Certificate and key.
    pub(crate) own: Arc<CertifiedKey>,
}

impl Material {
    /// Reads and checks a folder: key and certificate are a pair, a trusted CA signed it, it is valid now, and it is of the
    /// role. Files that are just being replaced fail one of these, and are read again later.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Unusable`].
    pub(crate) fn load(folder: &Path, role: Role, now: u64) -> Result<Self, Error> {
        let trusted = certificates(folder, TRUSTED)?;
        let chain = certificates(folder, CERTIFICATE)?;
        let key = read(&folder.join(KEY))?;
        let unusable = |problem| Error::unusable(folder, problem);
        let unreadable =
            |file: &str, problem: String| unusable(Unusable::Unreadable { file: file.into(), problem });
        let facts = Facts::read(&chain[0]).map_err(|problem| unreadable(CERTIFICATE, problem))?;
        let trusted = verify::roots(&trusted).map_err(|problem| unreadable(TRUSTED, problem))?;
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| unreadable(KEY, error.to_string()))?;
        let own = CertifiedKey::from_der(chain, key, &verify::provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => unusable(Unusable::NotAPair),
            other => unreadable(KEY, other.to_string()),
        })?;
        if now > facts.not_after {
            return Err(unusable(Unusable::Expired { seconds: now - facts.not_after }));
        }
        if now < facts.not_before {
            return Err(unusable(Unusable::NotYetValid { seconds: facts.not_before - now }));
        }
        verify::signed_by(&trusted, &own.cert[0], &own.cert[1..], now)
            .map_err(|problem| unusable(Unusable::NotTrusted(problem)))?;
        let identity = facts.identity.map_err(|problem| unusable(Unusable::NoRole(problem)))?;
        if identity.role() != role {
            return Err(unusable(Unusable::WrongRole { expected: role, found: identity }));
        }
        Ok(Self { identity, not_after: facts.not_after, trusted: Arc::new(trusted), own: Arc::new(own) })
    }
}

/// The certificates of a PEM file, at least one.
fn certificates(folder: &Path, file: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bytes = read(&folder.join(file))?;
    let unreadable =
        |problem: String| Error::unusable(folder, Unusable::Unreadable { file: file.into(), problem });
    let found = parse(&bytes).map_err(unreadable)?;
    if found.is_empty() { Err(unreadable("no certificate stands in it".into())) } else { Ok(found) }
}

/// The certificates of PEM text, in their order.
///
/// # Errors
/// Where it is none.
pub(crate) fn parse(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|error| error.to_string())
}
