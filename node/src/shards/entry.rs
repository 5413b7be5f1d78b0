//! What stands in a shard's log: a segment of a vault, or a command about one. Owns the byte form; carries nothing out.
//!
//! The form is in `docs/formats/shard-entry.md`. Reading is strict: whatever would not be written like this is refused, and a
//! replica that meets such an entry stops its group there instead of skipping it.

use undercroft_crypto::Segment;
use undercroft_proto::VaultId;
use undercroft_vault::replica::{Adopt, Command, Create, DropVault};

use super::limits::NAME_BYTES;

/// Version of the form.
pub(super) const VERSION: u8 = 1;

/// The kinds, by their byte.
mod kind {
    pub(super) const SEGMENT: u8 = 1;
    pub(super) const CREATE: u8 = 2;
    pub(super) const ADOPT: u8 = 3;
    pub(super) const DROP: u8 = 4;
    pub(super) const FREEZE: u8 = 5;
    pub(super) const ACTIVATE: u8 = 6;
    pub(super) const ABORT_MOVE: u8 = 7;
    pub(super) const MIGRATE_SCHEMA: u8 = 8;
    pub(super) const ARCHIVED_UP_TO: u8 = 9;
    pub(super) const ROTATE: u8 = 10;
}

/// Something that happens to one vault, on every replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardEntry {
    /// The vault.
    pub vault: VaultId,
    /// What happens to it.
    pub what: What,
}

/// What happens to a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A group of writes, under seal.
    Segment(Segment),
    /// It is made.
    Create(Create),
    /// A staged copy takes its place.
    Adopt(Adopt),
    /// It is removed.
    Drop(DropVault),
    /// It changes in a way that is the vault's own business.
    Change(Command),
}

/// Why bytes are no entry of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A newer program wrote it.
    #[error("the entry has version {0} of the format, and this program knows {VERSION}; upgrade this node")]
    Version(u8),
    /// A newer program wrote it, or it is damaged.
    #[error("the entry is of the unknown kind {0}; upgrade this node")]
    Kind(u8),
    /// It is cut short, has bytes behind its end, or holds what no writer writes.
    #[error("the entry is malformed: {0}")]
    Form(&'static str),
    /// Its segment is malformed.
    #[error("the entry's segment cannot be read: {0}")]
    Segment(String),
}

impl ShardEntry {
    /// The entry as bytes: version u8 ‖ kind u8 ‖ vault u128 ‖ what the kind has. Numbers are little-endian.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, self.what.kind()];
        out.extend_from_slice(&self.vault.as_u128().to_le_bytes());
        match &self.what {
            What::Segment(segment) => out.extend_from_slice(segment.as_bytes()),
            What::Create(create) => {
                out.extend_from_slice(&create.at.to_le_bytes());
                out.extend_from_slice(&create.epoch.to_le_bytes());
                out.extend_from_slice(&create.incarnation.to_le_bytes());
                out.extend_from_slice(&create.generation.to_le_bytes());
                text(&mut out, &create.level);
                text(&mut out, &create.name);
            }
            What::Adopt(adopt) => numbers(&mut out, &[adopt.move_id, adopt.epoch]),
            What::Drop(drop) => numbers(&mut out, &[drop.epoch]),
            What::Change(command) => change(&mut out, command),
        }
        out
    }

    /// Reads an entry that fills `bytes` exactly.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut rest = Rest(bytes);
        let version = rest.byte()?;
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let kind = rest.byte()?;
        let vault = VaultId::from_u128(u128::from_le_bytes(rest.take()?));
        let what = What::read(kind, &mut rest)?;
        if rest.0.is_empty() {
            Ok(Self { vault, what })
        } else {
            Err(Malformed::Form("bytes follow its end"))
        }
    }
}

impl What {
    const fn kind(&self) -> u8 {
        match self {
            Self::Segment(_) => kind::SEGMENT,
            Self::Create(_) => kind::CREATE,
            Self::Adopt(_) => kind::ADOPT,
            Self::Drop(_) => kind::DROP,
            Self::Change(Command::Freeze { .. }) => kind::FREEZE,
            Self::Change(Command::Activate { .. }) => kind::ACTIVATE,
            Self::Change(Command::AbortMove { .. }) => kind::ABORT_MOVE,
            Self::Change(Command::MigrateSchema { .. }) => kind::MIGRATE_SCHEMA,
            Self::Change(Command::ArchivedUpTo { .. }) => kind::ARCHIVED_UP_TO,
            Self::Change(Command::Rotate { .. }) => kind::ROTATE,
        }
    }

    fn read(kind: u8, rest: &mut Rest<'_>) -> Result<Self, Malformed> {
        Ok(match kind {
            kind::SEGMENT => {
                let bytes = std::mem::take(&mut rest.0).to_vec();
                Self::Segment(Segment::decode(bytes).map_err(|error| Malformed::Segment(error.to_string()))?)
            }
            kind::CREATE => Self::Create(Create {
                at: i64::from_le_bytes(rest.take()?),
                epoch: rest.number()?,
                incarnation: rest.number()?,
                generation: rest.small()?,
                level: rest.text()?,
                name: rest.text()?,
            }),
            kind::ADOPT => Self::Adopt(Adopt { move_id: rest.number()?, epoch: rest.number()? }),
            kind::DROP => Self::Drop(DropVault { epoch: rest.number()? }),
            kind::FREEZE => Self::Change(Command::Freeze { move_id: rest.number()?, epoch: rest.number()? }),
            kind::ACTIVATE => {
                Self::Change(Command::Activate { move_id: rest.number()?, epoch: rest.number()? })
            }
            kind::ABORT_MOVE => {
                Self::Change(Command::AbortMove { move_id: rest.number()?, epoch: rest.number()? })
            }
            kind::MIGRATE_SCHEMA => Self::Change(Command::MigrateSchema { to: rest.small()? }),
            kind::ARCHIVED_UP_TO => Self::Change(Command::ArchivedUpTo { index: rest.number()? }),
            kind::ROTATE => Self::Change(Command::Rotate { generation: rest.small()? }),
            unknown => return Err(Malformed::Kind(unknown)),
        })
    }
}

fn change(out: &mut Vec<u8>, command: &Command) {
    match *command {
        Command::Freeze { move_id, epoch }
        | Command::Activate { move_id, epoch }
        | Command::AbortMove { move_id, epoch } => numbers(out, &[move_id, epoch]),
        Command::MigrateSchema { to } => out.extend_from_slice(&to.to_le_bytes()),
        Command::ArchivedUpTo { index } => numbers(out, &[index]),
        Command::Rotate { generation } => out.extend_from_slice(&generation.to_le_bytes()),
    }
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Length u8 ‖ UTF-8. A longer text than fits is cut, and refused where the command is checked before it is proposed.
fn text(out: &mut Vec<u8>, text: &str) {
    let bytes = &text.as_bytes()[..text.floor_char_boundary(NAME_BYTES)];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Form("it is cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn small(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_le_bytes)
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.byte()?);
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Form("it is cut short"))?;
        self.0 = rest;
        let text = std::str::from_utf8(taken).map_err(|_| Malformed::Form("a text in it is not UTF-8"))?;
        Ok(text.to_owned())
    }
}
