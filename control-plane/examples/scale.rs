//! How large and how fast the state is: 100,000 tenants created in batches, written as a snapshot and read back.
//!
//! `cargo run --release -p undercroft-control-plane --example scale [tenants]`

use std::error::Error;
use std::time::Instant;

use undercroft_control_plane::state::{
    Batch, ClusterCommand, Command, Generation, Health, Level, Limits, Member, NodeCommand, Outcome,
    ReadPolicy, Report, Settings, ShardCommand, State, TenantCommand, VaultCommand, WitnessCommand,
};
use undercroft_proto::{Height, Incarnation, MemberId, NodeId, Position, ShardId, TokenMac, VaultId};

/// Commands in one entry of the log.
const BATCH: u64 = 256;
const START: u64 = 1_800_000_000_000;

/// Bytes that this process holds in memory, as the system counts them.
fn resident() -> Result<u64, Box<dyn Error>> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').nth(1).ok_or("no second number")?.parse()?;
    Ok(pages * 4096)
}

fn founding() -> Vec<Command> {
    let member = Member { id: MemberId::FIRST, address: "127.0.0.1:1".into(), speaks: 1, certificate: None };
    let settings = Settings { id: [1; 16], salt: 3, replicas: 3, witness_days: 7 };
    let mut commands = vec![
        Command::Cluster(ClusterCommand::AddMember(member)),
        Command::Cluster(ClusterCommand::Initialise { settings, shards: 16 }),
    ];
    for number in 1..=3 {
        commands.push(Command::Node(NodeCommand::Join {
            name: format!("node {number}"),
            address: "127.0.0.1:2".into(),
            zone: None,
            capacity_bytes: 1 << 40,
            journal: [number as u8; 16],
            speaks: 1,
            certificate: None,
        }));
        let reason = "it is heard".to_owned();
        let health = Health::Live;
        commands.push(Command::Node(NodeCommand::Health { node: NodeId::new(number), health, reason }));
    }
    let voters: Vec<NodeId> = (1..=3).map(NodeId::new).collect();
    commands.extend((1..=16).map(|shard| {
        let (shard, voters, reason) = (ShardId::new(shard), voters.clone(), "there are three".to_owned());
        Command::Shard(ShardCommand::Place { shard, voters, reason })
    }));
    commands
}

fn tenant(number: u64) -> Command {
    let mut mac = [0; 32];
    mac[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    Command::Tenant(TenantCommand::Create {
        name: format!("tenant-{number:08}"),
        token: TokenMac::from_bytes(mac),
        level: Level::Sealed,
        limits: Limits { requests_per_minute: Some(600), ..Limits::default() },
        read: ReadPolicy::Strong,
        random: u128::from(number) << 40,
        shard: None,
    })
}

/// A generation and a witness for a vault, as every vault has.
fn of_a_vault(vault: VaultId, shard: ShardId) -> [Command; 2] {
    let position = Position { incarnation: Incarnation::new(1), height: Height::new(10) };
    let report = Report { vault, position, digest: [1; 32], head: [2; 32], log_id: (1, 10) };
    let generation = Generation { incarnation: Incarnation::new(1), number: 1, sealed: vec![7; 136].into() };
    [
        Command::Vault(VaultCommand::AddGeneration { vault, generation }),
        Command::Witness(WitnessCommand::Report { shard, reporter: NodeId::new(1), reports: vec![report] }),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let tenants: u64 = std::env::args().nth(1).map_or(Ok(100_000), |number| number.parse())?;
    let before = resident()?;
    let mut state = State::default();
    state.apply(&Batch::of(START, founding()));
    let began = Instant::now();
    let mut made = Vec::new();
    for first in (0..tenants).step_by(BATCH as usize) {
        let batch = Batch::of(START + first, (first..(first + BATCH).min(tenants)).map(tenant));
        let read = Batch::decode(&batch.encode()?)?;
        made.extend(state.apply(&read).outcomes.into_iter().filter_map(|outcome| match outcome {
            Outcome::Tenant { vault, shard, .. } => Some((vault, shard)),
            _ => None,
        }));
    }
    let rate = tenants as f64 / began.elapsed().as_secs_f64();
    for (at, vaults) in made.chunks(BATCH as usize).enumerate() {
        let commands = vaults.iter().flat_map(|(vault, shard)| of_a_vault(*vault, *shard));
        state.apply(&Batch::of(START + tenants + at as u64, commands));
    }
    println!("tenants                     {}", state.tenants().len());
    println!("created and applied         {rate:.0} a second, in batches of {BATCH}");
    println!("memory                      {:.0} MB", (resident()? - before) as f64 / 1e6);
    let began = Instant::now();
    let bytes = state.encode()?;
    println!("snapshot                    {:.1} MB in {:.0?}", bytes.len() as f64 / 1e6, began.elapsed());
    let began = Instant::now();
    let read = State::decode(&bytes)?;
    println!("read back and checked       {:.0?}", began.elapsed());
    if read == state { Ok(()) } else { Err("the state that was read back is another one".into()) }
}
