//! States for tests: a founded cluster with nodes that are live and shards that are placed.

use undercroft_proto::{
    Height, Incarnation, MemberId, MoveId, NodeId, Position, ShardId, TenantId, TokenMac, VaultId,
};

use super::{
    Batch, ClusterCommand, Command, Health, Level, Limits, Member, NodeCommand, Outcome, ReadPolicy, Refusal,
    Report, Settings, ShardCommand, State, TenantCommand, Vault, VaultCommand, WitnessCommand,
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
    let member = Member {
        id: MemberId::FIRST,
        address: "127.0.0.1:7800".into(),
        speaks: super::VERSION,
        certificate: None,
    };
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
        certificate: None,
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

/// Node 2 reports a vault of shard 1.
pub(crate) fn report(vault: VaultId, incarnation: u64, height: u64, digest: u8) -> Command {
    let position = Position { incarnation: Incarnation::new(incarnation), height: Height::new(height) };
    let report = Report { vault, position, digest: [digest; 32], head: [0; 32], log_id: (1, height) };
    let (shard, reporter) = (ShardId::new(1), NodeId::new(2));
    Command::Witness(WitnessCommand::Report { shard, reporter, reports: vec![report] })
}

/// Why a command was refused.
pub(crate) fn refusal(outcome: Outcome) -> Refusal {
    match outcome {
        Outcome::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// The vault of a tenant.
pub(crate) fn vault_of(state: &State, tenant: TenantId) -> Vault {
    let tenant = state.tenants().get(tenant).expect("the tenant");
    state.vaults().get(tenant.vault).expect("its vault").clone()
}

/// A vault is to move.
pub(crate) fn begin_move(vault: VaultId, to: u32) -> Command {
    Command::Vault(VaultCommand::BeginMove { vault, to: ShardId::new(to), reason: String::new() })
}

/// A move ends, one way or the other.
pub(crate) fn decide_move(vault: VaultId, id: u64, flip: bool) -> Command {
    Command::Vault(VaultCommand::DecideMove { vault, id: MoveId::new(id), flip, reason: String::new() })
}
