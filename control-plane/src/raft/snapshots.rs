//! Snapshots on disk: one file, the newest, put in the place of the one before it.
//!
//! `magic ‖ head length u32 ‖ head ‖ state ‖ crc32 u32`, little-endian; the head is log id and membership, the state is what
//! [`State::encode`](crate::state::State::encode) gives, the checksum is over everything before it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::types::{LogId, Membership, Snapshot, SnapshotData, SnapshotMeta};
use super::{Disk, codec, folder};
use crate::Error;

const MAGIC: [u8; 8] = *b"UCctsnp\x01";

/// The folder of snapshots.
#[derive(Clone)]
pub(super) struct Snapshots {
    file: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Snapshots {
    pub(super) fn open(folder: &Path, disk: Arc<dyn Disk>) -> Result<Self, Error> {
        folder::make(folder).map_err(|error| Error::io("create", folder, error))?;
        Ok(Self { file: folder.join("newest.snapshot"), disk })
    }

    /// Puts a snapshot in the place of the one before it. When this returns it survives a loss of power.
    pub(super) fn save(&self, meta: &SnapshotMeta, state: &[u8]) -> std::io::Result<()> {
        let head = encode_head(meta)?;
        let mut bytes = Vec::with_capacity(MAGIC.len() + 8 + head.len() + state.len());
        bytes.extend(MAGIC);
        bytes.extend((head.len() as u32).to_le_bytes());
        bytes.extend(head);
        bytes.extend(state);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        folder::replace(&*self.disk, &self.file, &bytes)
    }

    /// The newest snapshot; `None` when there never was one.
    pub(super) fn load(&self) -> Result<Option<Snapshot>, Error> {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &self.file, error)),
        };
        let damaged =
            |problem: &str| Error::SnapshotDamaged { file: self.file.clone(), problem: problem.to_owned() };
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or_else(|| damaged("it is too short"))?;
        if crc32fast::hash(content).to_le_bytes() != *checksum {
            return Err(damaged("its checksum is wrong"));
        }
        let parts = content.strip_prefix(&MAGIC).and_then(|rest| {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            rest.split_at_checked(u32::from_le_bytes(*length) as usize)
        });
        let (head, state) = parts.ok_or_else(|| damaged("it is no snapshot of this version"))?;
        let meta = decode_head(head).map_err(|error| damaged(&error.to_string()))?;
        Ok(Some(Snapshot { meta, snapshot: Arc::from(state) }))
    }
}

/// Log id and membership as bytes: on disk, and in the first piece of a snapshot that travels.
pub(super) fn encode_head(meta: &SnapshotMeta) -> std::io::Result<Vec<u8>> {
    codec::encode(&(&meta.last_log_id, &meta.last_membership))
}

pub(super) fn decode_head(bytes: &[u8]) -> std::io::Result<SnapshotMeta> {
    let (last_log_id, last_membership): (Option<LogId>, Membership) = codec::decode(bytes)?;
    Ok(SnapshotMeta { last_log_id, last_membership })
}

/// What a receiver needs to make a snapshot of a head and the bytes of a state.
pub(super) fn assemble(meta: SnapshotMeta, state: Vec<u8>) -> Snapshot {
    Snapshot { meta, snapshot: SnapshotData::from(state) }
}
