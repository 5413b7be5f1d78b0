//! The certificates of a running process: loaded once, then looked at again and again, and replaced without a restart.
//!
//! A connection keeps what it was made with. Files that do not fit together, because they are just being copied or are wrong,
//! are reported and change nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rustls::client::Resumption;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, ServerConfig};

use crate::files::{CERTIFICATE, KEY, TRUSTED};
use crate::material::Material;
use crate::verify::{self, VERSIONS, WithRole};
use crate::{Error, Identity, Role};

/// What a look at the files found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// They are as they were.
    Same,
    /// They changed, and new connections use them.
    Replaced,
}

/// The certificates of a process, as connections take them.
pub struct Tls {
    folder: PathBuf,
    role: Role,
    clock: Arc<dyn TimeProvider>,
    /// Read at every connection, written when files change.
    current: RwLock<Current>,
    /// What was looked at last; held for the whole of a look, so that two do not cross.
    seen: Mutex<Stamp>,
}

#[derive(Clone)]
struct Current {
    identity: Identity,
    not_after: u64,
    server: Arc<ServerConfig>,
    /// For peers that are asked for no certificate.
    open_server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl Tls {
    /// Loads what a folder holds for a process of this role.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Unusable`].
    pub fn open(folder: &Path, role: Role, clock: Arc<dyn TimeProvider>) -> Result<Arc<Self>, Error> {
        // Before the files: a change between the two is seen at the next look.
        let seen = Stamp::of(folder);
        let current = Current::load(folder, role, &clock)?;
        let folder = folder.to_path_buf();
        Ok(Arc::new(Self { folder, role, clock, current: RwLock::new(current), seen: Mutex::new(seen) }))
    }

    /// Looks at the files, and uses them from now on when they changed and are good.
    ///
    /// # Errors
    /// As [`open`](Self::open); what was used before is used further, and the files are looked at again the next time.
    pub fn refresh(&self) -> Result<Refreshed, Error> {
        let mut seen = self.seen.lock();
        let now = Stamp::of(&self.folder);
        if *seen == now {
            return Ok(Refreshed::Same);
        }
        let loaded = Current::load(&self.folder, self.role, &self.clock)?;
        *self.current.write() = loaded;
        *seen = now;
        Ok(Refreshed::Replaced)
    }

    /// Looks at the files every so often ([`crate::limits::LOOK`] suits) for as long as it is polled, and tells the log what
    /// it finds, the same trouble once.
    pub async fn watch(&self, every: Duration) {
        let mut told = None;
        let mut looks = tokio::time::interval(every);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            match self.refresh() {
                Ok(Refreshed::Same) => told = None,
                Ok(Refreshed::Replaced) => {
                    told = None;
                    tracing::info!(not_after = self.not_after(), "certificates were replaced");
                }
                Err(error) => {
                    let text = error.to_string();
                    if told.as_ref() != Some(&text) {
                        tracing::warn!("new certificates are not used: {text}");
                        told = Some(text);
                    }
                }
            }
        }
    }

    /// Who this process is.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.current.read().identity.clone()
    }

    /// Last second of its certificate, since 1970: for a metric and an alarm.
    #[must_use]
    pub fn not_after(&self) -> u64 {
        self.current.read().not_after
    }

    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        self.current.read().server.clone()
    }

    pub(crate) fn open_server(&self) -> Arc<ServerConfig> {
        self.current.read().open_server.clone()
    }

    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        self.current.read().client.clone()
    }
}

impl Current {
    fn load(folder: &Path, role: Role, clock: &Arc<dyn TimeProvider>) -> Result<Self, Error> {
        let now = clock.current_time().ok_or_else(|| Error::internal("the clock cannot be read"))?;
        let Material { identity, not_after, trusted, own } = Material::load(folder, role, now.as_secs())?;
        let certificate = Arc::new(SingleCertAndKey::from(own));
        let provider = verify::provider();
        let server = || {
            let versioned = ServerConfig::builder_with_details(provider.clone(), clock.clone());
            versioned.with_protocol_versions(VERSIONS).map_err(Error::internal)
        };
        let checking = server()?.with_client_cert_verifier(WithRole::new(trusted.clone())?);
        let checking = serving(checking.with_cert_resolver(certificate.clone()));
        let open = serving(server()?.with_no_client_auth().with_cert_resolver(certificate.clone()));
        let mut client = ClientConfig::builder_with_details(provider.clone(), clock.clone())
            .with_protocol_versions(VERSIONS)
            .map_err(Error::internal)?
            .with_root_certificates(trusted)
            .with_client_cert_resolver(certificate);
        client.resumption = Resumption::disabled();
        client.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { identity, not_after, server: checking, open_server: open, client: Arc::new(client) })
    }
}

/// What holds for every connection in, whoever is at the other end.
fn serving(mut server: ServerConfig) -> Arc<ServerConfig> {
    // A resumed session would not be checked against certificates and clocks that have changed since. Connections
    // here are long, and few.
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.send_tls13_tickets = 0;
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(server)
}

/// What tells a replaced file from the one before it, without reading it. A missing file has none.
#[derive(PartialEq, Eq)]
struct Stamp([Option<(u64, u64, i64, i64)>; 3]);

impl Stamp {
    fn of(folder: &Path) -> Self {
        Self([TRUSTED, CERTIFICATE, KEY].map(|file| {
            let about = fs::metadata(folder.join(file)).ok()?;
            Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
        }))
    }
}
