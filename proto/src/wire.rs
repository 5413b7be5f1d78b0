//! The messages and services, as generated from `proto/wire/`. What they mean is said there.
//!
//! Nothing here connects or listens: who does brings its own transport.

/// The version that this build speaks. A receiver refuses what it cannot know.
pub const VERSION: u32 = 1;

/// Joining, heartbeats, the map, witnesses, jobs.
#[allow(missing_docs, unreachable_pub, reason = "generated; documented in proto/wire/control.proto")]
pub mod control {
    tonic::include_proto!("undercroft.control.v1");
}

/// Raft messages between the replicas of a group.
#[allow(missing_docs, unreachable_pub, reason = "generated; documented in proto/wire/raft.proto")]
pub mod raft {
    tonic::include_proto!("undercroft.raft.v1");
}

use crate::{Error, VaultId};

/// A vault's id as it travels: 16 bytes, big-endian.
#[must_use]
pub fn vault_bytes(vault: VaultId) -> Vec<u8> {
    vault.as_u128().to_be_bytes().to_vec()
}

/// The vault's id in a field of a message.
///
/// # Errors
/// [`Error::Message`] unless there are exactly 16 bytes.
pub fn vault_from(message: &'static str, field: &'static str, bytes: &[u8]) -> Result<VaultId, Error> {
    bytes16(message, field, bytes).map(|bytes| VaultId::from_u128(u128::from_be_bytes(bytes)))
}

/// Sixteen bytes in a field of a message.
///
/// # Errors
/// [`Error::Message`] for any other number of bytes.
pub fn bytes16(message: &'static str, field: &'static str, bytes: &[u8]) -> Result<[u8; 16], Error> {
    fixed(message, field, bytes)
}

/// Thirty-two bytes in a field of a message.
///
/// # Errors
/// [`Error::Message`] for any other number of bytes.
pub fn bytes32(message: &'static str, field: &'static str, bytes: &[u8]) -> Result<[u8; 32], Error> {
    fixed(message, field, bytes)
}

fn fixed<const N: usize>(message: &'static str, field: &'static str, bytes: &[u8]) -> Result<[u8; N], Error> {
    let problem = || format!("has {} bytes and must have {N}", bytes.len());
    bytes.try_into().map_err(|_| Error::Message { message, field, problem: problem() })
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::{bytes32, control, raft, vault_bytes, vault_from};
    use crate::VaultId;

    #[test]
    fn a_vault_id_travels_as_sixteen_bytes() {
        let vault = VaultId::from_u128(0x0102);
        let bytes = vault_bytes(vault);
        assert_eq!(vault_from("Vault", "vault", &bytes), Ok(vault));
        let error = vault_from("Vault", "vault", &bytes[1..]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "message Vault: field 'vault' has 15 bytes and must have 16; upgrade the older of the two processes"
        );
        assert!(bytes32("Tenant", "token_mac", &[0; 31]).is_err());
    }

    #[test]
    fn messages_keep_their_numbers_on_the_wire() {
        let request = raft::RaftRequest { version: 1, group: 0, to: 2, from: 3, payload: vec![9] };
        assert_eq!(request.encode_to_vec(), [0x08, 1, 0x18, 2, 0x20, 3, 0x2a, 1, 9]);
        let reply = control::WatchReply { version: 1, map_version: 5, reset: true, ..Default::default() };
        assert_eq!(reply.encode_to_vec(), [0x08, 1, 0x10, 5, 0x18, 1]);
    }

    #[test]
    fn every_message_carries_a_version() {
        for text in [include_str!("../wire/control.proto"), include_str!("../wire/raft.proto")] {
            for message in text.split("\nmessage ").skip(1) {
                let (name, body) = message.split_once(" {").unwrap();
                assert!(body.split("\n}").next().unwrap().contains(" version = "), "{name}");
            }
        }
    }
}
