//! Which group a member is of: random bytes that are drawn when a group is founded and said with every message between members.
//!
//! Member ids begin at 1 in every group, so an id tells nothing of that. Without this a member whose folder was lost, and that
//! founded a group of its own, would be taken for the one that it was.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

/// Stands beside every message from member to member: the group in hexadecimal digits.
const HEADER: &str = "undercroft-group";

/// A group of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupId([u8; 16]);

impl GroupId {
    /// The group of these random bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Refuses a message that says another group than this one, or says none though it `must`.
    pub(crate) fn check(self, said: &MetadataMap, must: bool) -> Result<(), Status> {
        let own = self.to_string();
        let said = said.get(HEADER).map(|said| said.to_str().unwrap_or("without a name"));
        match said {
            Some(said) if said == own => Ok(()),
            None if !must => Ok(()),
            said => Err(Status::failed_precondition(format!(
                "this member is of the control group {own}, and the message came from one of group {}; a member whose folder \
                 was lost founded a group of its own: stop it, and start it with an empty folder and --join",
                said.unwrap_or("unknown")
            ))),
        }
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// Says the group with every message. Clones share what is known of it: a member that enters learns it by entering.
#[derive(Clone, Default)]
pub(crate) struct Saying(Arc<OnceLock<GroupId>>);

impl Saying {
    /// Says this group from the beginning.
    pub(crate) fn of(group: GroupId) -> Self {
        Self(Arc::new(OnceLock::from(group)))
    }

    /// From now on, says this group. The first one stays.
    pub(crate) fn learn(&self, group: GroupId) {
        self.0.get_or_init(|| group);
    }
}

impl Interceptor for Saying {
    fn call(&mut self, mut call: Request<()>) -> Result<Request<()>, Status> {
        if let Some(group) = self.0.get() {
            let said = MetadataValue::try_from(group.to_string());
            let said = said.map_err(|error| Status::internal(format!("the group has no name: {error}")))?;
            call.metadata_mut().insert(HEADER, said);
        }
        Ok(call)
    }
}

#[cfg(test)]
mod tests {
    use tonic::Request;
    use tonic::service::Interceptor;

    use super::{GroupId, HEADER, Saying};

    #[test]
    fn a_message_of_another_group_or_of_none_is_refused_by_name() {
        let (own, other) = (GroupId::new([1; 16]), GroupId::new([2; 16]));
        let said = Saying::of(own).call(Request::new(())).expect("a call");
        own.check(said.metadata(), true).expect("its own");
        let refused = other.check(said.metadata(), false).expect_err("another").message().to_owned();
        assert!(refused.contains(&own.to_string()) && refused.contains(&other.to_string()), "{refused}");
        let silent = Saying::default().call(Request::new(())).expect("a call");
        assert!(own.check(silent.metadata(), true).is_err());
        own.check(silent.metadata(), false).expect("not asked for");
        let mut odd = Request::new(());
        odd.metadata_mut().insert(HEADER, "01".parse().expect("text"));
        assert!(own.check(odd.metadata(), false).is_err());
    }
}
