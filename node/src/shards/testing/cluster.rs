//! Hosts by their node ids, with what a test asks of them. Whatever takes its time is waited for by its condition.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tempfile::TempDir;
use undercroft_crypto::{KeyGeneration, MasterKey, Salt, SealId, SeededEntropy};
use undercroft_proto::{NodeId, Position, ShardId, VaultId};
use undercroft_vault::replica::{self, Create, Generation, Outcome, State, Terms};
use undercroft_vault::{
    AddedBy, BypassReason, Change, Idempotency, NewDrawer, Screening, VaultOptions, WriteRequest,
};

use super::net::{Net, Wire};
use crate::journal::{JournalId, Sizes};
use crate::shards::{
    Consistency, Generations, Group, HostConfig, Opened, ShardHost, Timing, Verdict, Watch, What, Written,
};
use crate::{Error, Result};

pub(crate) const SHARD: ShardId = ShardId::new(7);
pub(crate) const TERMS: Terms = Terms { epoch: 1, incarnation: 1 };
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn vault(number: u128) -> VaultId {
    VaultId::from_u128(number)
}

pub(crate) fn saving(text: &str) -> Change {
    Change::Save(NewDrawer::direct("work", "inbox", text, AddedBy::Cli))
}

/// A request to save a text, once for the key that is the text itself.
pub(crate) fn keyed(text: &str) -> WriteRequest {
    let change = saving(text);
    let idempotency = Idempotency::new("POST /drawers", text.replace(' ', "-"), [1; 32]).expect("a key");
    WriteRequest { change, idempotency: Some(idempotency) }
}

/// Waits until something is so.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{what} did not come about");
}

/// Keys by the vault's id and nothing else; they can be withheld.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) withheld: AtomicBool,
}

impl Generations for Drawn {
    fn generation(&self, vault: VaultId, number: u32) -> io::Result<Generation> {
        if self.withheld.load(Ordering::Relaxed) {
            return Err(io::Error::other("it is withheld"));
        }
        Ok(Generation {
            number: KeyGeneration::from_u32(number).map_err(io::Error::other)?,
            seal_id: SealId::from_bytes(vault.as_u128().to_le_bytes()),
            salt: Salt::from_bytes([5; 16]),
            seed: [6; 32],
        })
    }
}

/// What was told of copies on one node.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) suspect: Mutex<Vec<(VaultId, String)>>,
    pub(crate) healed: Mutex<Vec<VaultId>>,
}

impl Watch for Told {
    fn suspect(&self, _shard: ShardId, vault: VaultId, reason: &str) {
        self.suspect.lock().push((vault, reason.to_owned()));
    }

    fn healed(&self, _shard: ShardId, vault: VaultId) {
        self.healed.lock().push(vault);
    }
}

pub(crate) struct Cluster {
    folder: TempDir,
    master: Arc<MasterKey>,
    pub(crate) net: Arc<Net>,
    pub(crate) told: BTreeMap<u64, Arc<Told>>,
    pub(crate) drawn: BTreeMap<u64, Arc<Drawn>>,
    pub(crate) hosts: BTreeMap<u64, Arc<ShardHost>>,
    pub(crate) kept_entries: u64,
    pub(crate) sizes: Sizes,
}

impl Cluster {
    /// Hosts 1 to `voters`, which are the voters of one shard.
    pub(crate) async fn new(voters: u64) -> Self {
        let mut cluster = Self {
            folder: TempDir::new().expect("a folder"),
            master: Arc::new(MasterKey::generate(&SeededEntropy::new(7))),
            net: Net::new(voters),
            told: BTreeMap::new(),
            drawn: BTreeMap::new(),
            hosts: BTreeMap::new(),
            kept_entries: 1024,
            sizes: Sizes::default(),
        };
        for node in 1..=voters {
            cluster.begin(node).await;
        }
        let members = (1..=voters).map(|node| (NodeId::new(node), node.to_string())).collect();
        cluster.group(1).found(members).await.expect("founds");
        cluster
    }

    fn config(&mut self, node: u64) -> HostConfig {
        let wire = Arc::new(Wire { net: Arc::clone(&self.net), me: NodeId::new(node) });
        HostConfig {
            node: NodeId::new(node),
            folder: self.path(node),
            master: Arc::clone(&self.master),
            options: VaultOptions::default(),
            screening: Screening::Bypass(BypassReason::NotDeclared),
            transport: Arc::clone(&wire) as _,
            generations: Arc::clone(self.drawn.entry(node).or_default()) as _,
            copies: wire,
            watch: Arc::clone(self.told.entry(node).or_default()) as _,
            sizes: self.sizes,
            timing: Timing {
                heartbeat: Duration::from_millis(100),
                election: Duration::from_millis(500),
                proposal: Duration::from_secs(3),
                // When floors move is the test's business.
                checkpoint: Duration::from_secs(3600),
                kept_entries: self.kept_entries,
                ..Timing::default()
            },
        }
    }

    fn path(&self, node: u64) -> PathBuf {
        self.folder.path().join(node.to_string())
    }

    pub(crate) fn copy(&self, node: u64, vault: VaultId) -> PathBuf {
        self.path(node).join("vaults").join(vault.to_string())
    }

    pub(crate) fn evidence(&self, node: u64) -> usize {
        std::fs::read_dir(self.path(node).join("evidence")).expect("reads").count()
    }

    /// A host that never ran.
    pub(crate) async fn begin(&mut self, node: u64) {
        let host = ShardHost::create(self.config(node), JournalId::from_bytes([node as u8; 16]));
        let host = Arc::new(host.expect("creates"));
        host.add(SHARD).await.expect("starts");
        self.connect(node, host);
    }

    /// A host that ran before, from what is on its disk.
    pub(crate) async fn reopen(&mut self, node: u64) {
        let opened = loop {
            match ShardHost::open(self.config(node)).await {
                // Tasks of the one before may still be ending.
                Err(Error::JournalInUse(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                opened => break opened.expect("opens"),
            }
        };
        let Opened::Ready(host) = opened else { panic!("nothing is missing in the journal") };
        // A journal that holds nothing of the shard yet does not know of it.
        host.add(SHARD).await.expect("starts");
        self.connect(node, Arc::new(host));
    }

    fn connect(&mut self, node: u64, host: Arc<ShardHost>) {
        self.net.connect(node, &host);
        self.hosts.insert(node, host);
    }

    /// Ends all hosts and opens them again, as they are declared now.
    pub(crate) async fn restart(&mut self) {
        let nodes: Vec<u64> = self.hosts.keys().copied().collect();
        for node in &nodes {
            self.kill(*node).await;
        }
        for node in nodes {
            self.reopen(node).await;
        }
    }

    /// Ends a host where it is: no floor is moved and no vault is closed in order.
    pub(crate) async fn kill(&mut self, node: u64) {
        self.net.disconnect(node);
        if let Some(host) = self.hosts.remove(&node) {
            host.stop().await;
        }
    }

    pub(crate) fn group(&self, node: u64) -> Arc<Group> {
        self.hosts[&node].group(SHARD).expect("the group runs")
    }

    /// The node that leads, which a majority has confirmed.
    pub(crate) async fn leader(&self) -> u64 {
        let found = Mutex::new(0);
        until("a leader", || async {
            for node in self.hosts.keys() {
                let group = self.group(*node);
                if group.leads() && group.confirm().await.is_ok() {
                    *found.lock() = *node;
                    return true;
                }
            }
            false
        })
        .await;
        found.into_inner()
    }

    pub(crate) async fn create(&self, vault: VaultId) {
        let create = Create {
            name: vault.to_string(),
            level: String::from("sealed"),
            at: 1_767_225_600_000_000,
            epoch: 1,
            incarnation: 1,
            generation: 1,
        };
        let leader = self.leader().await;
        let made = self.group(leader).command(vault, What::Create(create)).await.expect("is proposed");
        assert!(matches!(made, Verdict::Said(Outcome::Applied(_))), "{made:?}");
    }

    /// Saves a text, asking whoever leads, again and again until it is acknowledged.
    pub(crate) async fn save(&self, vault: VaultId, text: &str) -> Position {
        let position = Mutex::new(None);
        until("a write", || async {
            for node in self.hosts.keys() {
                if let Ok(written) = self.try_save(*node, vault, text).await {
                    *position.lock() = Some(written.position);
                    return true;
                }
            }
            false
        })
        .await;
        position.into_inner().expect("it was written")
    }

    pub(crate) async fn try_save(&self, node: u64, vault: VaultId, text: &str) -> Result<Written> {
        self.group(node).write(vault, keyed(text), TERMS).await
    }

    /// Waits until every host holds the vault up to this position, and checks that all hold the same and that it verifies.
    pub(crate) async fn assert_alike(&self, vault: VaultId, at: Position) -> State {
        let mut states = Vec::new();
        for node in self.hosts.keys() {
            let group = self.group(*node);
            let read = || async { group.read(vault, Consistency::Session(at)).await.is_ok() };
            until(&format!("node {node} at {at}"), read).await;
            let served = group.read(vault, Consistency::Session(at)).await.expect("is there");
            let report = served.vault.verify(&mut |_| {}).expect("walks");
            assert!(report.ok, "node {node}: {report:?}");
            states.push(replica::state(&served.vault).expect("reads"));
        }
        assert!(states.windows(2).all(|two| two[0].chain == two[1].chain), "{states:?}");
        states[0]
    }

    /// What the vault holds, as a strong read of its leader shows it, in the order of its texts.
    pub(crate) async fn texts(&self, vault: VaultId) -> Vec<String> {
        let texts = Mutex::new(Vec::new());
        until("a strong read", || async {
            let leader = self.leader().await;
            let Ok(served) = self.group(leader).read(vault, Consistency::Strong).await else { return false };
            let listed = served.vault.list(None, None, 500, 0).expect("lists");
            let read = |id| served.vault.get(id).expect("reads").content;
            *texts.lock() = listed.iter().map(|drawer| read(drawer.id)).collect();
            true
        })
        .await;
        let mut texts = texts.into_inner();
        texts.sort();
        texts
    }

    /// Nobody was told of a copy that is not like the others.
    pub(crate) fn assert_nobody_suspect(&self) {
        for (node, told) in &self.told {
            assert_eq!(*told.suspect.lock(), [], "node {node}");
        }
    }

    pub(crate) async fn stop(mut self) {
        for node in self.hosts.keys().copied().collect::<Vec<_>>() {
            self.kill(node).await;
        }
    }
}
