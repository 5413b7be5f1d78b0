//! What a certificate says, read from its DER. It believes nothing: signatures are checked elsewhere.

use std::net::IpAddr;

use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use crate::identity::{Identity, PREFIX};

/// The parts of a certificate that this crate decides by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The one role that stands in it, or why there is none.
    pub(crate) identity: Result<Identity, String>,
    /// First second of its validity, since 1970.
    pub(crate) not_before: u64,
    /// Last second of its validity, since 1970.
    pub(crate) not_after: u64,
    /// Host names.
    pub(crate) dns: Vec<String>,
    /// Addresses.
    pub(crate) ips: Vec<IpAddr>,
    /// The public key as it stands in the certificate (DER of SubjectPublicKeyInfo).
    pub(crate) public_key: Vec<u8>,
    /// Whether it may sign others.
    pub(crate) is_ca: bool,
}

impl Facts {
    /// Reads a certificate.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn read(der: &CertificateDer<'_>) -> Result<Self, String> {
        let (rest, certificate) = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
        if !rest.is_empty() {
            return Err("bytes follow the certificate".into());
        }
        let mut facts = Self {
            identity: Err("no URI of a role stands in it".into()),
            not_before: seconds(certificate.validity().not_before.timestamp()),
            not_after: seconds(certificate.validity().not_after.timestamp()),
            dns: Vec::new(),
            ips: Vec::new(),
            public_key: certificate.public_key().raw.to_vec(),
            is_ca: certificate.is_ca(),
        };
        let names = certificate.subject_alternative_name().map_err(|error| error.to_string())?;
        let mut uris = Vec::new();
        for name in names.iter().flat_map(|names| &names.value.general_names) {
            match name {
                GeneralName::DNSName(host) => facts.dns.push((*host).to_owned()),
                GeneralName::IPAddress(bytes) => facts.ips.extend(address(bytes)),
                GeneralName::URI(uri) if uri.starts_with(PREFIX) => uris.push(*uri),
                _ => {}
            }
        }
        match uris[..] {
            [] => {}
            [uri] => facts.identity = Identity::from_uri(uri).map_err(|error| error.to_string()),
            _ => facts.identity = Err(format!("{} roles stand in it", uris.len())),
        }
        Ok(facts)
    }
}

/// Seconds since 1970; a moment before that is 1970.
fn seconds(timestamp: i64) -> u64 {
    u64::try_from(timestamp).unwrap_or(0)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_that_are_no_certificate_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Facts::read(&CertificateDer::from(bytes)).is_err());
        }
    }

    #[test]
    fn a_certificate_that_was_cut_or_extended_is_refused() {
        let whole = crate::fixture::leaf(&["undercroft:role/node/a"]);
        assert!(Facts::read(&whole).is_ok());
        let mut longer = whole.to_vec();
        longer.push(0);
        assert!(Facts::read(&longer.into()).is_err());
        for length in 0..whole.len() {
            assert!(Facts::read(&whole[..length].to_vec().into()).is_err(), "{length}");
        }
    }

    #[test]
    fn one_role_counts_and_two_are_none() {
        let identity = |uris: &[&str]| Facts::read(&crate::fixture::leaf(uris)).unwrap().identity;
        let one = identity(&["spiffe://elsewhere/x", "undercroft:role/node/a"]).unwrap();
        assert_eq!(one.to_string(), "node 'a'");
        assert!(identity(&[]).is_err());
        assert!(identity(&["undercroft:role/node/a", "undercroft:role/control/a"]).is_err());
        assert!(identity(&["undercroft:role/root/a"]).is_err());
        assert!(identity(&["undercroft:role/node/A"]).is_err());
    }
}
