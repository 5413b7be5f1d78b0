//! How a member stands: whether it still takes part, whether it leads, who does.

use std::collections::BTreeSet;

use futures_util::FutureExt;
use openraft::async_runtime::WatchReceiver;
use undercroft_proto::MemberId;

use super::Member;
use crate::Error;

impl Member {
    /// Why this member takes part in nothing any more; `None` while it does. A disk that fails ends it, so that nothing is
    /// promised which may not be kept; it goes on when it is started again and the disk is well. One that was removed from its
    /// group never does.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.core_fault().or_else(|| self.removed().then(|| Error::Removed.to_string()))
    }

    fn core_fault(&self) -> Option<String> {
        let mut metrics = self.raft.metrics();
        if let Err(fatal) = &metrics.borrow_watched().running_state {
            return Some(fatal.to_string());
        }
        // The library's task holds the other end. One that panicked could say nothing.
        loop {
            match metrics.changed().now_or_never() {
                None => return None,
                Some(Ok(())) => {}
                Some(Err(_)) => return Some("its core has ended without a word; start it again".into()),
            }
        }
    }

    /// Whether this member was taken out of its group, as far as it knows: its own log says so, or another member has.
    #[must_use]
    pub fn removed(&self) -> bool {
        if self.notices.is_removed() {
            return true;
        }
        let metrics = self.raft.metrics();
        let in_group = metrics.borrow_watched().membership_config.nodes().any(|(id, _)| *id == self.id.get());
        !in_group && self.map.read(|state| state.cluster().was_removed(self.id))
    }

    /// Whether this member leads, as far as it knows.
    #[must_use]
    pub fn leads(&self) -> bool {
        let takes_part = self.fault().is_none();
        let metrics = self.raft.metrics();
        // What it last was stays there when it has ended.
        takes_part && metrics.borrow_watched().state == openraft::ServerState::Leader
    }

    /// Who leads and where, as far as this member knows.
    #[must_use]
    pub fn leader(&self) -> Option<(MemberId, String)> {
        if self.fault().is_some() {
            return None;
        }
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        let leader = metrics.current_leader?;
        let node = metrics.membership_config.membership().get_node(&leader)?;
        Some((MemberId::new(leader), node.addr.clone()))
    }

    /// The voters and the learners of the group, with their addresses, as far as this member knows.
    #[must_use]
    pub fn group(&self) -> Vec<(MemberId, String, bool)> {
        let (_, membership) = self.map.position();
        let voters: BTreeSet<u64> = membership.voter_ids().collect();
        let nodes = membership.nodes();
        nodes.map(|(id, node)| (MemberId::new(*id), node.addr.clone(), voters.contains(id))).collect()
    }
}
