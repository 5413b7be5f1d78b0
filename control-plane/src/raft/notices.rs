//! What other members answer beside Raft's own answers: that this one was removed, or that it is of another group.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use undercroft_proto::MemberId;

/// Stands beside the refusal of a message that came from a removed member.
const REMOVED: &str = "undercroft-removed";

/// What others have told this member. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Notices {
    removed: Arc<AtomicBool>,
    told: Arc<Mutex<BTreeMap<u64, String>>>,
}

impl Notices {
    /// Whether another member said that this one is not of the group any more.
    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Relaxed)
    }

    /// Takes note of a refusal. The same one is logged once.
    pub(super) fn heed(&self, from: u64, status: &Status) {
        if status.code() != Code::FailedPrecondition {
            return;
        }
        if status.metadata().contains_key(REMOVED) {
            self.removed.store(true, Ordering::Relaxed);
        }
        let mut told = self.told.lock();
        if told.get(&from).is_none_or(|before| before != status.message()) {
            tracing::warn!(member = from, refusal = status.message(), "a member takes no messages from here");
            told.insert(from, status.message().to_owned());
        }
    }
}

/// Tells a member that it was removed.
pub(super) fn removed(member: MemberId) -> Status {
    let what = format!("member {member} was removed from this group");
    let mut status = Status::failed_precondition(what);
    status.metadata_mut().insert(REMOVED, MetadataValue::from(member.get()));
    status
}
