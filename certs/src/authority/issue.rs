//! Issuing: a new certificate, a renewed one, or the one that is there when it will do.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose,
    SanType,
};
use rustls::pki_types::DnsName;

use super::ca::{moment, pem};
use super::held::held;
use super::open::write_key;
use super::{Authority, Held};
use crate::facts::Facts;
use crate::files::{self, CERTIFICATE, KEY, OPEN};
use crate::{Error, Identity, limits};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// For whom.
    pub identity: Identity,
    /// Host names at which the process is reached. Without any host, those of the certificate that is there stay.
    pub dns: Vec<String>,
    /// Addresses at which the process is reached.
    pub ips: Vec<IpAddr>,
    /// Days for which it is valid.
    pub days: u32,
}

impl Request {
    /// The request with its hosts in one order and each once. Issuing does it as well; who makes a CA first asks before.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::Text`].
    pub fn checked(mut self) -> Result<Self, Error> {
        let bounds = |field, value: u64, least, most| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(Error::Bounds { field, value, least, most })
            }
        };
        self.dns.sort();
        self.dns.dedup();
        self.ips.sort();
        self.ips.dedup();
        bounds("the number of hosts", (self.dns.len() + self.ips.len()) as u64, 0, limits::HOSTS as u64)?;
        bounds("--days", self.days.into(), 1, limits::DAYS_MAX.into())?;
        for host in &self.dns {
            let expected = "a name such as node-1.example.org, in small letters; an address goes to --ip";
            let fits =
                DnsName::try_from(host.as_str()).is_ok() && host.bytes().all(|b| !b.is_ascii_uppercase());
            // A name that reads as an address would be taken for one when somebody connects.
            if !fits || host.parse::<IpAddr>().is_ok() {
                return Err(Error::text("a host name", expected, host));
            }
        }
        Ok(self)
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// There was none.
    Made,
    /// There was one, which is replaced.
    Renewed,
    /// The one that is there will do.
    Kept,
}

impl Authority {
    /// Sees to it that there is a certificate for an identity, with these hosts and not near its end. `anew` replaces also one
    /// that would do.
    ///
    /// # Errors
    /// [`Error::NoHost`], [`Error::Bounds`], [`Error::Text`], [`Error::NotOurs`], [`Error::Step`] when the CA itself is near its
    /// end, [`Error::Io`].
    pub fn issue(&self, request: &Request, anew: bool, now: u64) -> Result<(Done, Held), Error> {
        let mut request = request.clone().checked()?;
        let there = self.find(&request.identity)?;
        let Some(there) = there else {
            return Ok((Done::Made, self.make(&request, now)?));
        };
        let given = !request.dns.is_empty() || !request.ips.is_empty();
        let hosts_differ = given && (request.dns != there.dns || request.ips != there.ips);
        let broken = !is_pair(&there.folder);
        if !(anew || hosts_differ || broken || there.is_due(now)) {
            return Ok((Done::Kept, there));
        }
        if !given {
            (request.dns, request.ips) = (there.dns, there.ips);
        }
        Ok((Done::Renewed, self.write(&request, &there.folder, now)?))
    }

    /// Renews every certificate that is due.
    ///
    /// # Errors
    /// As [`issue`](Self::issue). What was renewed before the failure stays so.
    pub fn renew(&self, days: u32, now: u64) -> Result<Vec<(Done, Held)>, Error> {
        let held = self.held()?.into_iter();
        held.map(|there| {
            let request = Request { identity: there.identity, dns: vec![], ips: vec![], days };
            self.issue(&request, false, now)
        })
        .collect()
    }

    /// A folder appears whole or not at all.
    fn make(&self, request: &Request, now: u64) -> Result<Held, Error> {
        if request.identity.role().listens() && request.dns.is_empty() && request.ips.is_empty() {
            return Err(Error::NoHost(request.identity.role()));
        }
        let name = request.identity.folder();
        let (folder, beside) = (self.folder.join(&name), self.folder.join(format!(".{name}.new")));
        // What a run that was killed left behind: its name is nobody else's.
        match fs::remove_dir_all(&beside) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &beside, error));
            }
            _ => {}
        }
        files::folder(&beside)?;
        let mut made = self.write(request, &beside, now)?;
        fs::rename(&beside, &folder).map_err(|error| Error::io("create", &folder, error))?;
        files::sync(&self.folder)?;
        made.folder = folder;
        Ok(made)
    }

    /// Signs and writes the three files. Between key and certificate they do not fit, which who reads them notices.
    fn write(&self, request: &Request, folder: &Path, now: u64) -> Result<Held, Error> {
        let signer = self.signer();
        if signer.facts.not_after < now + limits::DAY {
            return Err(Error::Step(
                "the CA ends within a day; renew it first: undercroft cluster certs --renew-ca begin".into(),
            ));
        }
        let until = (now + u64::from(request.days) * limits::DAY).min(signer.facts.not_after);
        let from = now.saturating_sub(limits::CLOCK_SKEW).max(signer.facts.not_before);
        let key = KeyPair::generate().map_err(Error::internal)?;
        let params = params(request, from, until)?;
        let issuer = Issuer::from_ca_cert_der(&signer.certificate, &self.key).map_err(Error::internal)?;
        let certificate = params.signed_by(&key, &issuer).map_err(Error::internal)?;
        self.write_trusted(folder)?;
        write_key(&folder.join(KEY), &key)?;
        files::replace(&folder.join(CERTIFICATE), pem([certificate.der()]).as_bytes(), OPEN)?;
        let facts = Facts::read(certificate.der()).map_err(Error::Internal)?;
        Ok(held(request.identity.clone(), folder, facts, true))
    }
}

fn params(request: &Request, from: u64, until: u64) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::new(request.dns.clone()).map_err(Error::internal)?;
    params.subject_alt_names.extend(request.ips.iter().copied().map(SanType::IpAddress));
    let uri = request.identity.uri().try_into().map_err(Error::internal)?;
    params.subject_alt_names.push(SanType::URI(uri));
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, request.identity.folder());
    params.distinguished_name = name;
    params.not_before = moment(from)?;
    params.not_after = moment(until)?;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    // Members of one group call each other, so each is both. What a holder may do, its role says.
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    Ok(params)
}

impl Done {
    /// The word as it is printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Renewed => "renewed",
            Self::Kept => "kept",
        }
    }
}

/// Whether a run that was killed between key and certificate left a pair that does not fit.
fn is_pair(folder: &Path) -> bool {
    let read = || {
        let key = KeyPair::from_pem(std::str::from_utf8(&files::read(&folder.join(KEY)).ok()?).ok()?).ok()?;
        let chain = crate::material::parse(&files::read(&folder.join(CERTIFICATE)).ok()?).ok()?;
        let facts = Facts::read(chain.first()?).ok()?;
        Some(facts.public_key == rcgen::PublicKeyData::subject_public_key_info(&key))
    };
    read().unwrap_or(false)
}

#[cfg(test)]
impl Authority {
    /// A certificate of this CA in which no role stands, and its key: what an operator's CA may issue by mistake.
    pub(crate) fn without_role(
        &self,
    ) -> (rustls::pki_types::CertificateDer<'static>, rustls::pki_types::PrivateKeyDer<'static>) {
        let request = crate::fixture::request(crate::Role::Node, "a");
        let mut params = params(&request, crate::fixture::NOW, self.not_after()).unwrap();
        params.subject_alt_names.retain(|name| !matches!(name, SanType::URI(_)));
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_ca_cert_der(&self.signer().certificate, &self.key).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        (certificate.der().clone(), key.serialize_der().try_into().unwrap())
    }
}
