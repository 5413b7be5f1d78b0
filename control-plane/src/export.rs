//! Witnesses as lines of JSON that leave the control plane, and the check of such lines by whoever has nothing but them.
//!
//! The first line says what this is, each further one is an entry, vaults and numbers in their order, and the last one counts
//! them and has the SHA-256 of every byte before it. Each entry has the hash of the one before it, so none within a vault can be
//! changed, left out or moved without breaking what follows. What a forger can do is to leave out the newest entries of a vault,
//! or whole vaults, and reckon the last line anew: against that, keep the digest of the last line elsewhere.

use std::io::{BufRead, Read};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use undercroft_proto::{Height, Incarnation, NodeId, Position, VaultId};

use crate::state::{State, Witness};
use crate::{Error, limits};

/// What the first line calls itself.
const NAME: &str = "undercroft-witnesses";
/// The version of these lines.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    export: String,
    version: u32,
    /// The cluster's id, in hexadecimal.
    cluster: String,
    /// Milliseconds since 1970 by the cluster's time.
    at_ms: u64,
    after: Option<VaultId>,
}

/// One entry of a vault's list, as a person or another program reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The vault; in an export alone, where lines of many stand together.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<VaultId>,
    number: u64,
    incarnation: u64,
    height: u64,
    digest: String,
    head: String,
    log_term: u64,
    log_index: u64,
    reporter: NodeId,
    /// Milliseconds since 1970: they are hashed.
    at_ms: u64,
    previous: String,
    hash: String,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// Vaults in these lines.
    pub vaults: u64,
    /// Entries in these lines.
    pub entries: u64,
    /// Ask again with `after` this one for what follows; null when it was all.
    pub next: Option<VaultId>,
    /// SHA-256 of every byte before this line, in hexadecimal.
    pub digest: String,
}

impl Line {
    /// An entry, under the name of its vault or without one.
    #[must_use]
    pub fn of(vault: VaultId, entry: &Witness, named: bool) -> Self {
        Self {
            vault: named.then_some(vault),
            number: entry.number,
            incarnation: entry.position.incarnation.get(),
            height: entry.position.height.get(),
            digest: hex::encode(entry.digest),
            head: hex::encode(entry.head),
            log_term: entry.log_id.0,
            log_index: entry.log_id.1,
            reporter: entry.reporter,
            at_ms: entry.at,
            previous: hex::encode(entry.previous),
            hash: hex::encode(entry.hash(vault)),
        }
    }

    /// The entry that a line states.
    fn entry(&self) -> Result<Witness, String> {
        let bytes = |field: &str, text: &str| {
            let mut bytes = [0; 32];
            let read = hex::decode_to_slice(text, &mut bytes);
            read.map(|()| bytes).map_err(|_| format!("field '{field}' is not 64 hexadecimal digits"))
        };
        Ok(Witness {
            number: self.number,
            position: Position {
                incarnation: Incarnation::new(self.incarnation),
                height: Height::new(self.height),
            },
            digest: bytes("digest", &self.digest)?,
            head: bytes("head", &self.head)?,
            log_id: (self.log_term, self.log_index),
            reporter: self.reporter,
            at: self.at_ms,
            previous: bytes("previous", &self.previous)?,
        })
    }
}

/// Makes the lines, some vaults at a time, so that no state is held still for long.
pub struct Export {
    after: Option<VaultId>,
    /// Vaults that may still follow.
    left: u64,
    hash: Sha256,
    vaults: u64,
    entries: u64,
    begun: bool,
    ended: bool,
}

impl Export {
    /// The lists of the vaults behind one, at most so many of them.
    #[must_use]
    pub fn new(after: Option<VaultId>, most: u64) -> Self {
        Self { after, left: most, hash: Sha256::new(), vaults: 0, entries: 0, begun: false, ended: false }
    }

    /// The next lines; `None` at the end.
    pub fn next(&mut self, state: &State) -> Option<Vec<u8>> {
        if self.ended {
            return None;
        }
        let mut out = Vec::new();
        if !self.begun {
            self.begun = true;
            let cluster =
                state.cluster().settings().map_or(String::new(), |settings| hex::encode(settings.id));
            let head = Head {
                export: NAME.into(),
                version: VERSION,
                cluster,
                at_ms: state.now(),
                after: self.after,
            };
            put(&mut out, &head);
        }
        let most = self.left.min(limits::EXPORTED_VAULTS);
        let mut lists = state.witnesses().after(self.after);
        for (vault, list) in lists.by_ref().take(most as usize) {
            list.iter().for_each(|entry| put(&mut out, &Line::of(vault, entry, true)));
            (self.vaults, self.entries) = (self.vaults + 1, self.entries + list.len() as u64);
            (self.left, self.after) = (self.left - 1, Some(vault));
        }
        let more = lists.next().is_some();
        self.hash.update(&out);
        if !more || self.left == 0 {
            self.ended = true;
            let digest = hex::encode(self.hash.clone().finalize());
            let next = self.after.filter(|_| more);
            put(&mut out, &Tail { vaults: self.vaults, entries: self.entries, next, digest });
        }
        Some(out)
    }
}

fn put(out: &mut Vec<u8>, line: &impl Serialize) {
    // Numbers and texts into memory: nothing of it can fail.
    if serde_json::to_writer(&mut *out, line).is_ok() {
        out.push(b'\n');
    }
}

/// Checks the lines of an export, and gives what its last line says. Compare its digest with the one that was kept.
///
/// # Errors
/// [`Error::Export`] with the line at which it does not hold together.
pub fn check(mut lines: impl BufRead) -> Result<Tail, Error> {
    let mut hash = Sha256::new();
    let (mut text, mut number) = (Vec::new(), 0);
    let (mut vaults, mut entries) = (0, 0);
    let mut before: Option<(VaultId, Witness)> = None;
    loop {
        number += 1;
        let wrong = |problem: String| Error::Export { line: number, problem };
        text.clear();
        let mut some = (&mut lines).take(limits::EXPORTED_LINE);
        some.read_until(b'\n', &mut text).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        if text.last() != Some(&b'\n') {
            return Err(wrong("it is cut off, or too long for a line of an export".into()));
        }
        if number == 1 {
            let head: Head = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
            if head.export != NAME || head.version != VERSION {
                return Err(wrong(format!("it is {} of version {}", head.export, head.version)));
            }
        } else if let Ok(tail) = serde_json::from_slice::<Tail>(&text) {
            return ended(tail, (vaults, entries), hash, &mut lines).map_err(wrong);
        } else {
            let line: Line = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
            let vault = line.vault.ok_or_else(|| wrong("field 'vault' is missing".into()))?;
            let entry = line.entry().map_err(wrong)?;
            follows(before.as_ref(), vault, &entry, &line.hash).map_err(wrong)?;
            vaults += u64::from(before.as_ref().is_none_or(|(known, _)| *known != vault));
            entries += 1;
            before = Some((vault, entry));
        }
        hash.update(&text);
    }
}

/// Whether an entry is what its hash says, and has its place behind the one before it.
fn follows(
    before: Option<&(VaultId, Witness)>,
    vault: VaultId,
    entry: &Witness,
    hash: &str,
) -> Result<(), String> {
    if hex::encode(entry.hash(vault)) != hash {
        return Err(format!("entry {} of vault {vault} is not what its hash says", entry.number));
    }
    match before {
        Some((known, _)) if *known > vault => Err(format!("vault {vault} stands behind vault {known}")),
        Some((known, last)) if *known == vault => {
            let next = entry.number == last.number + 1 && entry.previous == last.hash(vault);
            let problem =
                || format!("entry {} of vault {vault} does not follow entry {}", entry.number, last.number);
            if next { Ok(()) } else { Err(problem()) }
        }
        _ => Ok(()),
    }
}

fn ended(tail: Tail, counted: (u64, u64), hash: Sha256, rest: &mut impl BufRead) -> Result<Tail, String> {
    if (tail.vaults, tail.entries) != counted {
        let (vaults, entries) = counted;
        return Err(format!(
            "it counts {} vaults and {} entries, and there are {vaults} and {entries}",
            tail.vaults, tail.entries
        ));
    }
    if hex::encode(hash.finalize()) != tail.digest {
        return Err("its digest is not that of the lines before it".into());
    }
    match rest.fill_buf() {
        Ok([]) => Ok(tail),
        _ => Err("something follows the last line".into()),
    }
}

#[cfg(test)]
#[path = "export_test.rs"]
mod export_test;
