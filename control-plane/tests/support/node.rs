//! What a node says to the control plane.

use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::{JoinKey, Joining, NodeId};

use super::Client;

pub(crate) fn heartbeat(node: NodeId) -> wire::HeartbeatRequest {
    let load = wire::Load { used_bytes: 1, open_vaults: 1, requests_per_second: 0, version: VERSION };
    wire::HeartbeatRequest { version: VERSION, node: node.get(), load: Some(load), ..Default::default() }
}

/// What a node of this name sends that holds this master key.
pub(crate) async fn joining(client: &mut Client, name: &str, master: &[u8; 32]) -> wire::JoinRequest {
    let asked = wire::ChallengeRequest { version: VERSION, name: name.into() };
    let challenge = client.challenge(asked).await.expect("a challenge").into_inner().challenge;
    let mut journal = [0; 16];
    journal[..name.len().min(16)].copy_from_slice(&name.as_bytes()[..name.len().min(16)]);
    let said = Joining {
        challenge: challenge.as_slice().try_into().expect("32 bytes"),
        name,
        address: "127.0.0.1:7700",
        zone: "",
        capacity_bytes: 1 << 40,
        journal,
    };
    let proof = JoinKey::derive(master).prove(&said).to_vec();
    wire::JoinRequest {
        version: VERSION,
        name: name.into(),
        address: said.address.into(),
        zone: String::new(),
        capacity_bytes: said.capacity_bytes,
        journal: journal.to_vec(),
        challenge,
        proof,
    }
}
