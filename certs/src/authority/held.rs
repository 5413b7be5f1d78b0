//! The certificates that a CA has issued, as they lie in its folder.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;

use super::Authority;
use super::ca::{Ca, moment};
use crate::facts::Facts;
use crate::files::{self, CERTIFICATE};
use crate::{Error, Identity, Role, material, verify};

/// One certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Whose it is.
    pub identity: Identity,
    /// The folder that its process needs.
    pub folder: PathBuf,
    /// First second of its validity, since 1970.
    pub not_before: u64,
    /// Last second of its validity, since 1970.
    pub not_after: u64,
    /// Host names at which its process is reached.
    pub dns: Vec<String>,
    /// Addresses at which its process is reached.
    pub ips: Vec<IpAddr>,
    /// Whether the CA that signs now signed it, and not the one before it.
    pub of_signer: bool,
}

impl Held {
    /// The day on which it ends, as `2027-09-21`, in UTC.
    #[must_use]
    pub fn last_day(&self) -> String {
        day(self.not_after)
    }

    /// Whether it is to be renewed: a third of its time or less is left, or the CA that signed it is on its way out.
    #[must_use]
    pub fn is_due(&self, now: u64) -> bool {
        !self.of_signer || now >= self.not_after - (self.not_after - self.not_before) / 3
    }
}

impl Authority {
    /// Every certificate of this folder, by role and name.
    ///
    /// # Errors
    /// [`Error::NotOurs`] for a folder with the name of one that holds something else. [`Error::Io`].
    pub fn held(&self) -> Result<Vec<Held>, Error> {
        let failed = |error| Error::io("list", &self.folder, error);
        let mut held = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let identity = name.to_str().and_then(|name| {
                let (role, name) = name.split_once('-')?;
                Identity::new(role.parse::<Role>().ok()?, name).ok()
            });
            if let Some(identity) = identity {
                held.extend(self.find(&identity)?);
            }
        }
        held.sort_by(|one, other| one.identity.cmp(&other.identity));
        Ok(held)
    }

    /// The certificate of an identity, when there is one. What this CA did not make is refused, and so never overwritten.
    pub(super) fn find(&self, identity: &Identity) -> Result<Option<Held>, Error> {
        let folder = self.folder.join(identity.folder());
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(None);
        }
        let path = folder.join(CERTIFICATE);
        let bytes =
            files::read(&path).map_err(|_| Error::not_ours(&folder, "no tls.crt can be read in it"))?;
        let chain = material::parse(&bytes).map_err(|problem| Error::not_ours(&path, problem))?;
        let [certificate] = &chain[..] else {
            return Err(Error::not_ours(&path, format!("{} certificates stand in it", chain.len())));
        };
        let facts = Facts::read(certificate).map_err(|problem| Error::not_ours(&path, problem))?;
        let found = facts.identity.clone().map_err(|problem| Error::not_ours(&path, problem))?;
        if found != *identity {
            return Err(Error::not_ours(&path, format!("it is of {found}")));
        }
        let signer = self.trusted.iter().find(|ca| signed(ca, certificate, facts.not_before));
        let signer = signer.ok_or_else(|| Error::not_ours(&path, "another CA signed it"))?;
        Ok(Some(held(found, &folder, facts, signer.has(&self.key))))
    }
}

pub(super) fn held(identity: Identity, folder: &Path, facts: Facts, of_signer: bool) -> Held {
    let Facts { not_before, not_after, dns, ips, .. } = facts;
    Held { identity, folder: folder.to_path_buf(), not_before, not_after, dns, ips, of_signer }
}

/// Judged at the begin of the certificate, so that an ended one is still known as ours.
fn signed(ca: &Ca, certificate: &CertificateDer<'static>, at: u64) -> bool {
    let roots = verify::roots([&ca.certificate]);
    roots.is_ok_and(|roots| verify::signed_by(&roots, certificate, &[], at).is_ok())
}

/// The day of a moment, in UTC; a moment that no calendar has is told in seconds.
pub(super) fn day(seconds: u64) -> String {
    match moment(seconds) {
        Ok(at) => format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day()),
        Err(_) => format!("second {seconds}"),
    }
}
