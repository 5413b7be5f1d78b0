//! One CA certificate and how it is made.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, KeyUsagePurpose,
    PublicKeyData,
};
use rustls::pki_types::CertificateDer;
use time::OffsetDateTime;

use crate::facts::Facts;
use crate::{Error, limits};

/// A CA that is trusted.
pub(super) struct Ca {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) facts: Facts,
}

impl Ca {
    /// The certificate of a key, by itself. Its name follows from the key, so that two CAs of one cluster differ.
    pub(super) fn make(key: &KeyPair, now: u64) -> Result<Self, Error> {
        let mut params = CertificateParams::default();
        params.not_before = moment(now.saturating_sub(limits::CLOCK_SKEW))?;
        params.not_after = moment(now + u64::from(limits::CA_DAYS) * limits::DAY)?;
        // It signs processes and no other CA.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let mut name = DistinguishedName::new();
        let id = params.key_identifier(key);
        let short: String = id.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        name.push(DnType::CommonName, format!("Undercroft cluster CA {short}"));
        params.distinguished_name = name;
        let made = params.self_signed(key).map_err(Error::internal)?;
        Self::read(made.der().clone()).map_err(Error::Internal)
    }

    /// Reads one.
    ///
    /// # Errors
    /// Why it is no CA.
    pub(super) fn read(certificate: CertificateDer<'static>) -> Result<Self, String> {
        let facts = Facts::read(&certificate)?;
        if facts.is_ca { Ok(Self { certificate, facts }) } else { Err("a certificate in it is no CA".into()) }
    }

    /// Whether this key is its.
    pub(super) fn has(&self, key: &KeyPair) -> bool {
        self.facts.public_key == key.subject_public_key_info()
    }
}

/// PEM of certificates, one after another.
pub(super) fn pem<'a>(certificates: impl IntoIterator<Item = &'a CertificateDer<'static>>) -> String {
    let config = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    let one =
        |der: &CertificateDer<'_>| pem::encode_config(&pem::Pem::new("CERTIFICATE", der.to_vec()), config);
    certificates.into_iter().map(one).collect()
}

/// A moment as certificates have it.
pub(super) fn moment(seconds: u64) -> Result<OffsetDateTime, Error> {
    let wrong = || Error::Internal(format!("the clock says {seconds} s since 1970"));
    let signed = i64::try_from(seconds).map_err(|_| wrong())?;
    OffsetDateTime::from_unix_timestamp(signed).map_err(|_| wrong())
}
