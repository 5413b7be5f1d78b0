//! Channels to the control service of other members, kept by address.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tonic::Status;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use undercroft_certs::Role;
use undercroft_certs::grpc::Access;
use undercroft_proto::wire::control::control_client::ControlClient;

use crate::limits;
use crate::raft::{Connect, GroupId, Saying};

/// A client of another member.
pub(super) type Client = ControlClient<InterceptedService<Channel, Saying>>;

/// The other members, by address.
#[derive(Clone)]
pub struct Peers {
    connect: Connect,
    known: Arc<Mutex<BTreeMap<String, Client>>>,
    saying: Saying,
}

impl Peers {
    /// Nobody yet.
    #[must_use]
    pub fn new(connect: Connect) -> Self {
        Self { connect, known: Arc::default(), saying: Saying::default() }
    }

    /// From now on, says with every call that it comes from a member of this group.
    pub(crate) fn learn(&self, group: GroupId) {
        self.saying.learn(group);
    }

    /// Who may make calls that are for these roles.
    pub(super) const fn access(&self, roles: &[Role]) -> Access {
        self.connect.access(roles)
    }

    /// The client of the member at an address.
    pub(crate) fn at(&self, address: &str) -> Result<Client, Status> {
        let mut known = self.known.lock();
        if let Some(client) = known.get(address) {
            return Ok(client.clone());
        }
        let channel = self.connect.channel(address).map_err(|problem| {
            Status::invalid_argument(format!("'{address}' is no address: {problem}; give host:port"))
        })?;
        let client = ControlClient::with_interceptor(channel, self.saying.clone())
            .max_decoding_message_size(limits::MESSAGE_BYTES)
            .max_encoding_message_size(limits::MESSAGE_BYTES);
        // Addresses come from the group, so there are few; old ones go when there are more.
        if known.len() >= limits::CHANNELS {
            known.clear();
        }
        known.insert(address.to_owned(), client.clone());
        Ok(client)
    }
}
