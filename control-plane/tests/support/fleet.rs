//! A group of real members in one process, over real connections.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use undercroft_certs::authority::Request;
use undercroft_certs::{Authority, Identity, Role, Roles, SystemTime as MachineTime, Tls, grpc};
use undercroft_control_plane::admin::AdminToken;
use undercroft_control_plane::keys::GroupKey;
use undercroft_control_plane::ports::Ports;
use undercroft_control_plane::process::{Admin, Keys, Options, Server};
use undercroft_control_plane::raft::{Connect, Timing};
use undercroft_control_plane::state::{ClusterCommand, Command, Outcome, Settings};
use undercroft_proto::wire::control::control_client::ControlClient;
use undercroft_proto::{JoinKey, MemberId, NodeId};

use super::{heartbeat, joining};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The fleet's master key in tests.
pub(crate) const MASTER: [u8; 32] = [9; 32];

/// The operator's token in tests.
pub(crate) const TOKEN: &str = "0123456789abcdef";

pub(crate) type Client = ControlClient<tonic::transport::Channel>;

pub(crate) struct Fleet {
    folder: TempDir,
    pub(crate) members: BTreeMap<u64, Server>,
    addresses: BTreeMap<u64, String>,
    /// Whether members and those that talk to them have certificates.
    secured: bool,
}

impl Fleet {
    /// Members 1 to `members`, all voting, and a cluster of so many shards with so many replicas.
    pub(crate) async fn new(members: u64, shards: u32, replicas: u8) -> Self {
        Self::founded(false, (members, shards, replicas)).await
    }

    /// The same over mutual TLS: member 2 has the certificate `c2`.
    pub(crate) async fn secured(members: u64, shards: u32, replicas: u8) -> Self {
        Self::founded(true, (members, shards, replicas)).await
    }

    async fn founded(secured: bool, (members, shards, replicas): (u64, u32, u8)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fleet = Self { folder, members: BTreeMap::new(), addresses: BTreeMap::new(), secured };
        for number in 1..=members {
            fleet.start(number).await;
            fleet
                .until("everyone votes", |server| {
                    let group = server.desk().member.group();
                    let known = server.desk().member.map().read(|state| state.cluster().members().count());
                    known == group.len()
                        && known == number as usize
                        && group.iter().all(|(_, _, votes)| *votes)
                })
                .await;
        }
        let settings = Settings { id: [7; 16], salt: 3, replicas, witness_days: 7 };
        let outcome = fleet.decide(Command::Cluster(ClusterCommand::Initialise { settings, shards })).await;
        assert_eq!(outcome, Outcome::Done);
        fleet
    }

    /// The folder of everything.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The certificates of somebody, issued when there are none yet.
    pub(crate) fn certificates(&self, role: Role, name: &str) -> Arc<Tls> {
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let (now, folder) = (seconds(SystemTime::now()), self.folder().join("certs"));
        let (authority, _) = Authority::open_or_make(&folder, now).expect("a CA");
        let identity = Identity::new(role, name).expect("an identity");
        let ips = vec!["127.0.0.1".parse().expect("an address")];
        let request = Request { identity, dns: vec![], ips, days: 30 };
        let (_, held) = authority.issue(&request, false, now).expect("a certificate");
        Tls::open(&held.folder, role, Arc::new(MachineTime)).expect("certificates")
    }

    /// What a member is started with.
    pub(crate) fn options(&self, number: u64) -> Options {
        let listen = self.addresses.get(&number).cloned().unwrap_or("127.0.0.1:0".into());
        let join =
            if self.addresses.is_empty() { Vec::new() } else { self.addresses.values().cloned().collect() };
        Options {
            data: self.folder.path().join(number.to_string()),
            listen,
            advertise: None,
            join,
            keys: Keys { group: GroupKey::new([4; 32]), join: Some(JoinKey::derive(&MASTER)) },
            connect: if self.secured {
                Connect::tls(self.certificates(Role::Control, &format!("c{number}")))
            } else {
                Connect::plain()
            },
            admin: Some(Admin {
                listen: "127.0.0.1:0".into(),
                token: AdminToken::new(TOKEN.into()).expect("a token"),
            }),
            timing: Timing::default(),
            ports: Ports::of_this_machine(),
        }
    }

    /// Starts a member, or starts it again in its folder and at its address.
    pub(crate) async fn start(&mut self, number: u64) {
        let server = Server::start(self.options(number)).await.expect("a member");
        assert_eq!(server.desk().member.id(), MemberId::new(number));
        self.addresses.insert(number, server.listening().address.to_string());
        self.members.insert(number, server);
    }

    pub(crate) fn member(&self, number: u64) -> &Server {
        &self.members[&number]
    }

    /// Waits until something is so at every member.
    pub(crate) async fn until(&self, what: &str, so: impl Fn(&Server) -> bool) {
        let all = async {
            while !self.members.values().all(&so) {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, all).await.is_ok(), "{what}");
    }

    /// The member that leads and has begun to.
    pub(crate) async fn leader(&self) -> u64 {
        let found = async {
            loop {
                let leads = |server: &Server| server.lead().leads() && server.desk().member.leads();
                if let Some((number, _)) = self.members.iter().find(|(_, server)| leads(server)) {
                    return *number;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, found).await.expect("a leader")
    }

    pub(crate) async fn follower(&self) -> u64 {
        let leader = self.leader().await;
        *self.members.keys().find(|number| **number != leader).expect("another member")
    }

    /// Decides at the first member that there is.
    pub(crate) async fn decide(&self, command: Command) -> Outcome {
        let server = self.members.values().next().expect("a member");
        server.desk().once(command).await.expect("an outcome")
    }

    pub(crate) fn client(&self, number: u64) -> Client {
        ControlClient::new(Connect::plain().channel(&self.addresses[&number]).expect("an address"))
    }

    /// A member, asked by somebody with a certificate.
    pub(crate) fn client_as(&self, number: u64, role: Role, name: &str) -> Client {
        let (tls, members) = (self.certificates(role, name), Roles::of(&[Role::Control]));
        let channel = grpc::channel(&self.addresses[&number], tls, members, |endpoint| endpoint);
        ControlClient::new(channel.expect("an address"))
    }

    /// A node joins through a member.
    pub(crate) async fn join(&self, through: u64, name: &str) -> NodeId {
        let mut client = self.client(through);
        let request = joining(&mut client, name, &MASTER).await;
        NodeId::new(client.join(request).await.expect("joined").into_inner().node)
    }

    /// Live nodes by these names, that have said they are there.
    pub(crate) async fn nodes(&self, names: &[&str]) -> Vec<NodeId> {
        let through = *self.members.keys().next().expect("a member");
        let mut nodes = Vec::new();
        for name in names {
            let node = self.join(through, name).await;
            let leader = self.leader().await;
            self.client(leader).heartbeat(heartbeat(node)).await.expect("heard");
            nodes.push(node);
        }
        nodes
    }
}
