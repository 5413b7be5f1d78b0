//! States for tests: a founded cluster with nodes that are live and shards that are placed.

use undercroft_proto::{MemberId, NodeId, ShardId, TenantId, TokenMac};

use super::{
    Batch, ClusterCommand, Command, Health, Level, Limits, Member, NodeCommand, Outcome, ReadPolicy,
    Settings, ShardCommand, State, TenantCommand,
};

/// When tests begin.
pub(crate) const START: u64 = 1_800_000_000_000;

/// Applies one command a millisecond later and gives its outcome.
pub(crate) fn run(state: &mut State, command: impl Into<Command>) -> Outcome {
    let at = state.now() + 1;
    state.apply(&Batch::of(at, [command.into()])).outcomes.remove(0)
}

/// A founded cluster without nodes.
pub(crate) fn founded(shards: u32, replicas: u8) -> State {
    let mut state = State::default();
    let member = Member { id: MemberId::FIRST, address: "127.0.0.1:7800".into(), speaks: super::VERSION };
    let settings = Settings { id: [7; 16], salt: 11, replicas, witness_days: 7 };
    let commands = [ClusterCommand::AddMember(member), ClusterCommand::Initialise { settings, shards }];
    let applied = state.apply(&Batch::of(START, commands.map(Command::Cluster)));
    assert!(applied.outcomes.iter().all(|outcome| outcome.refusal().is_none()), "{applied:?}");
    state
}

/// A node of this name, zone and journal joins.
pub(crate) fn join(name: &str, zone: Option<&str>, journal: u8) -> Command {
    Command::Node(NodeCommand::Join {
        name: name.into(),
        address: "127.0.0.1:7700".into(),
        zone: zone.map(Into::into),
        capacity_bytes: 1 << 40,
        journal: [journal; 16],
        speaks: super::VERSION,
    })
}

/// A node is seen to be live or dead.
pub(crate) fn health(node: u64, health: Health) -> Command {
    Command::Node(NodeCommand::Health { node: NodeId::new(node), health, reason: "a test says so".into() })
}

/// Live nodes 1 to `nodes`, in the zones of the list by turns.
pub(crate) fn with_nodes(mut state: State, nodes: u64, zones: &[&str]) -> State {
    for number in 1..=nodes {
        let zone = zones.get((number as usize - 1) % zones.len().max(1)).copied();
        assert_eq!(
            run(&mut state, join(&format!("n{number}"), zone, number as u8)),
            Outcome::Node(NodeId::new(number))
        );
        run(&mut state, health(number, Health::Live));
    }
    state
}

/// A shard gets these voters.
pub(crate) fn place(shard: u32, voters: &[u64]) -> Command {
    Command::Shard(ShardCommand::Place {
        shard: ShardId::new(shard),
        voters: voters.iter().map(|node| NodeId::new(*node)).collect(),
        reason: "a test says so".into(),
    })
}

/// Three live nodes and shards that are all on them.
pub(crate) fn serving(shards: u32) -> State {
    let mut state = with_nodes(founded(shards, 3), 3, &[]);
    for shard in 1..=shards {
        assert_eq!(run(&mut state, place(shard, &[1, 2, 3])), Outcome::Done);
    }
    state
}

/// A tenant of this number is created.
pub(crate) fn create(number: u64) -> Command {
    let mut mac = [0; 32];
    mac[..8].copy_from_slice(&number.to_le_bytes());
    Command::Tenant(TenantCommand::Create {
        name: format!("tenant {number}"),
        token: TokenMac::from_bytes(mac),
        level: Level::Sealed,
        limits: Limits::default(),
        read: ReadPolicy::Strong,
        random: u128::from(number) << 17,
        shard: None,
    })
}

/// Creates a tenant and gives its id.
pub(crate) fn tenant(state: &mut State, number: u64) -> TenantId {
    match run(state, create(number)) {
        Outcome::Tenant { tenant, .. } => tenant,
        other => panic!("no tenant: {other:?}"),
    }
}
