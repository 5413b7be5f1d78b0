//! What a recovery kit holds: the whole state of the control group, and the key under which tenants' tokens are kept.
//!
//! Bytes in, bytes out: `docs/formats/recovery-kit.md` has the parts. How a kit is sealed, and where it is kept, is decided by
//! who makes it.

use serde::Serialize;
use zeroize::Zeroizing;

use crate::Error;
use crate::state::State;

/// Bytes of `UNDERCROFT_ORCH_KEY`.
const KEY_BYTES: usize = 32;

/// What was in a control group at one moment.
pub struct Kit {
    made_at: u64,
    encoded: Vec<u8>,
    state: State,
    key: Option<Zeroizing<[u8; KEY_BYTES]>>,
}

/// What a kit holds, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The cluster's id, in hexadecimal.
    pub cluster: String,
    /// When the kit was made, in seconds since 1970.
    pub made_at: u64,
    /// The newest decision in it, in seconds since 1970.
    pub last_write: u64,
    /// Version of the map.
    pub map_version: u64,
    /// Members of the control group.
    pub members: usize,
    /// Nodes.
    pub nodes: usize,
    /// Shards.
    pub shards: usize,
    /// Tenants.
    pub tenants: usize,
    /// Vaults with their places.
    pub vaults: usize,
    /// Vaults that were dropped, whose key generations are kept.
    pub dropped: usize,
    /// Key generations, sealed.
    pub generations: usize,
    /// Witnesses.
    pub witnesses: usize,
    /// Credentials, sealed.
    pub credentials: usize,
    /// Whether the key of tenants' tokens is in it.
    pub orch_key: bool,
}

impl Kit {
    /// A kit of an encoded state, made at so many seconds since 1970.
    ///
    /// # Errors
    /// [`Error::Kit`] for a state that cannot be read, that contradicts itself, or of a cluster that was never founded.
    pub fn new(
        made_at: u64,
        encoded: Vec<u8>,
        key: Option<Zeroizing<[u8; KEY_BYTES]>>,
    ) -> Result<Self, Error> {
        let state = State::decode(&encoded).map_err(|error| match error {
            newer @ Error::Version { .. } => newer,
            other => unusable(&other.to_string()),
        })?;
        if state.cluster().settings().is_none() {
            return Err(unusable("it is of a cluster that was never founded"));
        }
        Ok(Self { made_at, encoded, state, key })
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// As [`new`](Self::new), and for parts that are missing, unknown, out of order or cut short.
    pub fn decode(body: &[u8]) -> Result<Self, Error> {
        let mut rest = body;
        let made_at = part(&mut rest, "made-at")?;
        let made_at = made_at.try_into().map_err(|_| unusable("part 'made-at' is not of eight bytes"))?;
        let state = part(&mut rest, "state")?.to_vec();
        let key = match rest {
            [] => None,
            _ => Some(part(&mut rest, "orch-key")?),
        };
        let key = key.map(|bytes| match <[u8; KEY_BYTES]>::try_from(bytes) {
            Ok(bytes) => Ok(Zeroizing::new(bytes)),
            Err(_) => Err(unusable("part 'orch-key' is not of 32 bytes")),
        });
        if !rest.is_empty() {
            return Err(unusable("it has a part that this program does not know; use the newer one"));
        }
        Self::new(u64::from_le_bytes(made_at), state, key.transpose()?)
    }

    /// The parts, one behind another.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        // As long as it will be, so that no shorter copy of the key is left behind in memory.
        let mut body = Zeroizing::new(Vec::with_capacity(self.encoded.len() + 256));
        put(&mut body, "made-at", &self.made_at.to_le_bytes());
        put(&mut body, "state", &self.encoded);
        if let Some(key) = &self.key {
            put(&mut body, "orch-key", key.as_slice());
        }
        body
    }

    /// What was decided.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The key of tenants' tokens, when it is in the kit.
    #[must_use]
    pub fn key(&self) -> Option<&[u8; KEY_BYTES]> {
        self.key.as_deref()
    }

    /// What is in it.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let state = &self.state;
        let kept = state.vaults().iter().map(|vault| vault.generations.len());
        let of_dropped = state.vaults().dropped().map(|(_, dropped)| dropped.generations.len());
        Contents {
            cluster: state.cluster().settings().map(|settings| hex::encode(settings.id)).unwrap_or_default(),
            made_at: self.made_at,
            last_write: state.now() / 1000,
            map_version: state.version(),
            members: state.cluster().members().count(),
            nodes: state.nodes().iter().count(),
            shards: state.shards().iter().count(),
            tenants: state.tenants().len(),
            vaults: state.vaults().len(),
            dropped: state.vaults().dropped().count(),
            generations: kept.chain(of_dropped).sum(),
            witnesses: state.witnesses().iter().map(|(_, list)| list.len()).sum(),
            credentials: state.cluster().credentials().count(),
            orch_key: self.key.is_some(),
        }
    }
}

fn unusable(problem: &str) -> Error {
    Error::Kit(problem.to_owned())
}

/// Appends `lp(name) ‖ lp(bytes)`.
fn put(body: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    for text in [name.as_bytes(), bytes] {
        body.extend_from_slice(&(text.len() as u64).to_le_bytes());
        body.extend_from_slice(text);
    }
}

/// The bytes of the next part, which must be of this name.
fn part<'a>(rest: &mut &'a [u8], name: &str) -> Result<&'a [u8], Error> {
    let cut = || unusable(&format!("it ends before part '{name}' does"));
    let found = prefixed(rest).ok_or_else(cut)?;
    if found != name.as_bytes() {
        return Err(unusable(&format!("part '{name}' is not where it belongs; use the newer program")));
    }
    prefixed(rest).ok_or_else(cut)
}

fn prefixed<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (bytes, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

#[cfg(test)]
#[path = "recovery_test.rs"]
mod recovery_test;
