//! Stands in for nodes where none is needed that serves vaults, as in the stories of operators: each joins by its name, with the
//! master key of a palace, and says that it is there until standard input ends.
//!
//! `node_stand_in MEMBER MASTER_KEY_FILE NAME…`

use std::error::Error;
use std::io::Read as _;
use std::time::Duration;

use undercroft_control_plane::raft::Connect;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::control_client::ControlClient;
use undercroft_proto::{JoinKey, Joining};

type Outcomes<T = ()> = Result<T, Box<dyn Error>>;

/// Between two heartbeats.
const PULSE: Duration = Duration::from_millis(300);

fn main() -> Outcomes {
    let mut arguments = std::env::args().skip(1);
    let (Some(member), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("node_stand_in MEMBER MASTER_KEY_FILE NAME…".into());
    };
    let master: [u8; 32] = std::fs::read(key)?.as_slice().try_into()?;
    let names: Vec<String> = arguments.collect();
    // Whoever started this has ended, or wants an end.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(stand_in(
        &member,
        &JoinKey::derive(&master),
        &names,
    ))
}

async fn stand_in(member: &str, key: &JoinKey, names: &[String]) -> Outcomes {
    let mut client = ControlClient::new(Connect::plain().channel(member)?);
    let mut nodes = Vec::new();
    for (number, name) in (1_u8..).zip(names) {
        let asked = wire::ChallengeRequest { version: VERSION, name: name.clone() };
        let challenge = client.challenge(asked).await?.into_inner().challenge;
        let said = Joining {
            challenge: challenge.as_slice().try_into()?,
            name,
            address: "127.0.0.1:7700",
            zone: "",
            capacity_bytes: 1 << 40,
            journal: [number; 16],
        };
        let joining = wire::JoinRequest {
            version: VERSION,
            name: name.clone(),
            address: said.address.into(),
            zone: said.zone.into(),
            capacity_bytes: said.capacity_bytes,
            journal: said.journal.to_vec(),
            proof: key.prove(&said).to_vec(),
            challenge,
        };
        nodes.push(client.join(joining).await?.into_inner().node);
    }
    let mut pulse = tokio::time::interval(PULSE);
    loop {
        pulse.tick().await;
        for node in &nodes {
            let load = wire::Load { used_bytes: 1 << 20, version: VERSION, ..Default::default() };
            let said = wire::HeartbeatRequest {
                version: VERSION,
                node: *node,
                load: Some(load),
                ..Default::default()
            };
            // A group that elects a leader hears the next one.
            if let Err(status) = client.heartbeat(said).await {
                eprintln!("not heard: {}", status.message());
            }
        }
    }
}
