//! What the tests of this crate share: a clock that stands, a CA in a folder, certificates with any URIs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair, SanType};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::time_provider::TimeProvider;
use tempfile::TempDir;

use crate::authority::{Done, Request};
use crate::{Authority, Identity, Role, Tls, limits};

/// A moment in 2026.
pub(crate) const NOW: u64 = 1_790_000_000;

/// A clock that stands.
#[derive(Debug)]
pub(crate) struct At(pub(crate) u64);

impl TimeProvider for At {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0)))
    }
}

/// A certificate that nobody trusts, with these URIs.
pub(crate) fn leaf(uris: &[&str]) -> CertificateDer<'static> {
    let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
    let uris = uris.iter().map(|uri| SanType::URI((*uri).try_into().unwrap()));
    params.subject_alt_names.extend(uris);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
}

/// A request for a process on this machine.
pub(crate) fn request(role: Role, name: &str) -> Request {
    Request {
        identity: Identity::new(role, name).unwrap(),
        dns: vec!["localhost".into()],
        ips: vec!["127.0.0.1".parse().unwrap()],
        days: limits::DAYS,
    }
}

/// A CA in a folder of its own.
pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn authority(&self) -> Authority {
        Authority::open_or_make(self.path(), NOW).unwrap().0
    }

    /// Issues at a moment, and gives the folder.
    pub(crate) fn issue(&self, request: &Request, now: u64) -> PathBuf {
        let (authority, _) = Authority::open_or_make(self.path(), now).unwrap();
        let (done, held) = authority.issue(request, false, now).unwrap();
        assert_ne!(done, Done::Kept);
        held.folder
    }

    /// The certificates of a process, issued and loaded at the usual moment.
    pub(crate) fn tls(&self, role: Role, name: &str) -> Arc<Tls> {
        Tls::open(&self.issue(&request(role, name), NOW), role, Arc::new(At(NOW))).unwrap()
    }
}
