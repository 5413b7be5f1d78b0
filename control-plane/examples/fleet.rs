//! What three members do together: how fast watchers learn of a change, how fast tenants are made, how long a lost leader
//! is missed, how fast a member starts from its snapshot.
//!
//! `cargo run --release -p undercroft-control-plane --example fleet [tenants]`

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use undercroft_control_plane::keys::GroupKey;
use undercroft_control_plane::ports::Ports;
use undercroft_control_plane::process::{Keys, Options, Server};
use undercroft_control_plane::raft::{Connect, Timing};
use undercroft_control_plane::state::{
    ClusterCommand, Command, Health, JobCommand, Level, Limits, NodeCommand, Outcome, ReadPolicy, Request,
    Settings, ShardCommand, Step, TenantCommand,
};
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control::WatchRequest;
use undercroft_proto::wire::control::control_client::ControlClient;
use undercroft_proto::{NodeId, ShardId, TokenMac};

type Outcomes<T = ()> = Result<T, Box<dyn Error>>;

const WATCHERS: usize = 100;
const CHANGES: u64 = 100;
const BATCH: u64 = 256;

struct Group {
    folder: tempfile::TempDir,
    members: BTreeMap<u64, Server>,
    addresses: BTreeMap<u64, String>,
}

impl Group {
    async fn start(&mut self, number: u64) -> Outcomes {
        let options = Options {
            data: self.folder.path().join(number.to_string()),
            listen: self.addresses.get(&number).cloned().unwrap_or("127.0.0.1:0".into()),
            advertise: None,
            join: self.addresses.values().cloned().collect(),
            keys: Keys { group: GroupKey::new([4; 32]), join: None },
            connect: Connect::plain(),
            admin: None,
            timing: Timing::default(),
            ports: Ports::of_this_machine(),
        };
        let server = Server::start(options).await?;
        self.addresses.insert(number, server.listening().address.to_string());
        self.members.insert(number, server);
        Ok(())
    }

    fn member(&self, number: u64) -> Outcomes<&Server> {
        self.members.get(&number).ok_or_else(|| "no such member".into())
    }

    async fn until(&self, so: impl Fn(&Server) -> bool) {
        while !self.members.values().all(&so) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn leader(&self) -> u64 {
        loop {
            if let Some((number, _)) = self.members.iter().find(|(_, server)| server.lead().leads()) {
                return *number;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn founded() -> Outcomes<Group> {
    let folder = tempfile::tempdir()?;
    let mut group = Group { folder, members: BTreeMap::new(), addresses: BTreeMap::new() };
    for number in 1..=3 {
        group.start(number).await?;
        group
            .until(|server| {
                server.desk().member.group().iter().filter(|(_, _, v)| *v).count() == number as usize
            })
            .await;
    }
    let settings = Settings { id: [1; 16], salt: 3, replicas: 3, witness_days: 7 };
    let mut commands = vec![Command::Cluster(ClusterCommand::Initialise { settings, shards: 16 })];
    for number in 1..=3_u64 {
        commands.push(Command::Node(NodeCommand::Join {
            name: format!("node {number}"),
            address: "127.0.0.1:2".into(),
            zone: None,
            capacity_bytes: 1 << 40,
            journal: [number as u8; 16],
            speaks: 1,
            certificate: None,
        }));
        let (node, reason) = (NodeId::new(number), "it is heard".to_owned());
        commands.push(Command::Node(NodeCommand::Health { node, health: Health::Live, reason }));
    }
    commands.extend((1..=16).map(|shard| {
        let voters: Vec<NodeId> = (1..=3).map(NodeId::new).collect();
        let reason = "there are three".to_owned();
        Command::Shard(ShardCommand::Place { shard: ShardId::new(shard), voters, reason })
    }));
    group.member(1)?.desk().decide(commands.into_iter().map(Step::from).collect()).await?;
    Ok(group)
}

fn tenant(number: u64) -> Step {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let command = Command::Tenant(TenantCommand::Create {
        name: format!("tenant-{number:08}"),
        token: TokenMac::from_bytes(bytes),
        level: Level::Sealed,
        limits: Limits::default(),
        read: ReadPolicy::Strong,
        random: u128::from(number) << 40,
        shard: None,
    });
    Step { request: Some(Request { id: bytes, digest: bytes }), command }
}

/// A hundred routers at three members are told of single changes. From asking for a change to its arrival at each.
async fn watched(group: &Group) -> Outcomes<u64> {
    let (said, mut heard) = mpsc::unbounded_channel();
    let addresses: Vec<&String> = group.addresses.values().collect();
    for at in 0..WATCHERS {
        let channel = Connect::plain().channel(addresses[at % addresses.len()])?;
        let said = said.clone();
        let asked = WatchRequest { version: VERSION, role: 2, have: 0, node: 0 };
        let mut replies = ControlClient::new(channel).watch(asked).await?.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(reply)) = replies.message().await {
                if !reply.partial && said.send((reply.map_version, Instant::now())).is_err() {
                    return;
                }
            }
        });
    }
    let mut waits = Vec::new();
    for number in 0..CHANGES {
        let before = group.member(1)?.desk().member.map().read(|state| state.version());
        while group.members.values().any(|server| server.desk().member.map().read(|s| s.version()) < before) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let began = Instant::now();
        group.member(1 + number % 3)?.desk().decide(vec![tenant(number)]).await?;
        let mut missing = WATCHERS;
        while missing > 0 {
            let (version, at) = heard.recv().await.ok_or("the watchers are gone")?;
            if version == before + 1 {
                waits.push(at - began);
                missing -= 1;
            }
        }
    }
    waits.sort();
    let at = |part: usize| waits[(waits.len() * part / 100).min(waits.len() - 1)];
    println!(
        "a change at {WATCHERS} watchers      p50 {:.1?}, p99 {:.1?}, longest {:.1?}",
        at(50),
        at(99),
        at(100)
    );
    Ok(CHANGES)
}

/// Tenants in batches, asked for at a follower, with the watchers still there.
async fn made(group: &Group, from: u64, tenants: u64) -> Outcomes {
    let leader = group.leader().await;
    let follower = group.members.keys().find(|number| **number != leader).copied().unwrap_or(leader);
    let began = Instant::now();
    for first in (from..tenants).step_by(BATCH as usize) {
        let steps = (first..(first + BATCH).min(tenants)).map(tenant).collect();
        let outcomes = group.member(follower)?.desk().decide(steps).await?;
        if outcomes.iter().any(|outcome| outcome.refusal().is_some()) {
            return Err("a tenant was refused".into());
        }
    }
    let rate = (tenants - from) as f64 / began.elapsed().as_secs_f64();
    println!("tenants made at a follower  {rate:.0} a second, in batches of {BATCH}");
    Ok(())
}

/// The leader ends without a word. From there to the next decision that another member acknowledges.
async fn failed_over(group: &mut Group) -> Outcomes {
    let mut waits = Vec::new();
    for _ in 0..5 {
        let leader = group.leader().await;
        let lost = group.members.remove(&leader).ok_or("no leader")?;
        let began = Instant::now();
        let ended = tokio::spawn(lost.kill());
        let job = Command::Job(JobCommand::Create { kind: "probe".into(), vault: None, steps: 1 });
        let other = group.members.values().next().ok_or("nobody is left")?;
        match other.desk().once(job).await? {
            Outcome::Job(_) => waits.push(began.elapsed()),
            other => return Err(format!("{other:?}").into()),
        }
        ended.await?;
        group.start(leader).await?;
        group.until(|server| server.desk().member.leader().is_some()).await;
    }
    waits.sort();
    println!(
        "a decision after a leader   {:.2?} to {:.2?}, of {}",
        waits[0],
        waits[waits.len() - 1],
        waits.len()
    );
    Ok(())
}

/// A member that stopped starts again with everything.
async fn started(group: &mut Group, tenants: u64) -> Outcomes {
    let leader = group.leader().await;
    let number = group.members.keys().find(|number| **number != leader).copied().unwrap_or(leader);
    let newest = group.folder.path().join(number.to_string()).join("snapshots/newest.snapshot");
    group.member(number)?.desk().member.raft().trigger().snapshot().await?;
    let bytes = loop {
        match newest.metadata() {
            Ok(file) => break file.len(),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    group.members.remove(&number).ok_or("no such member")?.stop().await;
    let began = loop {
        // What the library still does with the log may outlast the member by a moment.
        let began = Instant::now();
        match group.start(number).await {
            Ok(()) => break began,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let there =
        |server: &Server| server.desk().member.map().read(|state| state.tenants().len() as u64) >= tenants;
    group.until(there).await;
    println!(
        "a member starts again       {:.2?}, {tenants} tenants, snapshot of {:.1} MB",
        began.elapsed(),
        bytes as f64 / 1e6
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Outcomes {
    let tenants: u64 = std::env::args().nth(1).map_or(Ok(100_000), |number| number.parse())?;
    let mut group = founded().await?;
    let made_so_far = watched(&group).await?;
    made(&group, made_so_far, tenants).await?;
    failed_over(&mut group).await?;
    started(&mut group, tenants).await?;
    for (_, server) in group.members {
        server.stop().await;
    }
    Ok(())
}
