//! The keys of assertions: minted by the group, sealed under its key, and two at most, so that one can follow the other without
//! a request refused.

use serde::{Deserialize, Serialize};

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, Subject, check};

/// One key, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedKey {
    /// Its number, which every assertion under it names.
    pub id: u32,
    /// The key, sealed under the group's.
    pub sealed: Box<[u8]>,
    /// When it was minted, in milliseconds since 1970 by the cluster's time.
    pub at: u64,
    /// The version of the map in which it was first told.
    pub version: u64,
}

/// The key that is used, and the one before it for as long as somebody may still use that.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AssertionKeys {
    current: Option<SealedKey>,
    previous: Option<SealedKey>,
    /// How many there ever were. Numbers follow from it, so none is used twice.
    pub(super) count: u32,
}

impl AssertionKeys {
    /// The key that is used; `None` before the first is minted.
    #[must_use]
    pub const fn current(&self) -> Option<&SealedKey> {
        self.current.as_ref()
    }

    /// The key before it, while it is still good.
    #[must_use]
    pub const fn previous(&self) -> Option<&SealedKey> {
        self.previous.as_ref()
    }

    /// The keys that are good, the newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &SealedKey> {
        self.current.iter().chain(&self.previous)
    }
}

/// A decision about the keys of assertions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyCommand {
    /// The first key. When there is one, nothing happens.
    Mint {
        /// The key, sealed under the group's.
        sealed: Box<[u8]>,
    },
    /// Another key. The one before it stays good for a while.
    Rotate {
        /// The key, sealed under the group's.
        sealed: Box<[u8]>,
        /// Whether the keys before it end at once: somebody may have them who should not.
        at_once: bool,
    },
    /// The key before the present one is good no more.
    Retire {
        /// Its number.
        id: u32,
        /// Why.
        reason: String,
    },
}

pub(super) fn apply(state: &mut State, cx: &mut Context, command: &KeyCommand) -> Result<Outcome, Refusal> {
    state.cluster.settings().ok_or(Refusal::NotInitialised)?;
    match command {
        KeyCommand::Mint { sealed } => match state.keys.current() {
            Some(key) => Ok(Outcome::AssertionKey(key.id)),
            None => rotate(state, cx, sealed, (false, "there was none")),
        },
        KeyCommand::Rotate { sealed, at_once } => rotate(state, cx, sealed, (*at_once, "an operator asked")),
        KeyCommand::Retire { id, reason } => {
            let gone = state.keys.previous.take_if(|key| key.id == *id);
            gone.ok_or_else(|| Refusal::no_such(Noun::AssertionKey, id))?;
            cx.touch_keys();
            cx.decide(Subject::Cluster, &format!("assertion key {id} retired"), reason);
            Ok(Outcome::AssertionKey(*id))
        }
    }
}

fn rotate(
    state: &mut State,
    cx: &mut Context,
    sealed: &[u8],
    (at_once, reason): (bool, &str),
) -> Result<Outcome, Refusal> {
    check::sealed("sealed", sealed)?;
    // The map has one version more once this entry is applied, because the keys are part of it.
    let version = state.version + 1;
    let keys = &mut state.keys;
    if let Some(previous) = keys.previous.as_ref().filter(|_| !at_once) {
        let doing =
            format!("assertion key {} is still good for who has not seen the present one", previous.id);
        let id = keys.current.as_ref().map_or(0, |key| key.id).to_string();
        return Err(Refusal::Busy { what: Noun::AssertionKey, id, doing });
    }
    keys.count += 1;
    let key = SealedKey { id: keys.count, sealed: sealed.into(), at: cx.now, version };
    let before = keys.current.replace(key);
    keys.previous = before.filter(|_| !at_once);
    let id = keys.count;
    cx.touch_keys();
    let ended = if at_once { ", those before it ended" } else { "" };
    cx.decide(Subject::Cluster, &format!("assertion key {id} minted{ended}"), reason);
    Ok(Outcome::AssertionKey(id))
}
