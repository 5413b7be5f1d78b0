//! What every handler has: where decisions are asked for, the operator's token, the key of tenants' tokens.

use std::sync::Arc;

use undercroft_proto::TokenKey;

use super::auth::AdminToken;
use super::errors::Answer;
use crate::service::Desk;
use crate::state::{Command, Outcome, Request, State};

/// Shared by all handlers of a member.
#[derive(Clone)]
pub struct App {
    pub(super) desk: Desk,
    pub(super) token: Arc<AdminToken>,
    pub(super) tokens: Arc<TokenKey>,
}

impl App {
    /// The admin interface of the member at this desk.
    #[must_use]
    pub fn new(desk: Desk, token: AdminToken) -> Self {
        let tokens = Arc::new(desk.key.tokens());
        Self { desk, token: Arc::new(token), tokens }
    }

    pub(super) fn read<T>(&self, reader: impl FnOnce(&State) -> T) -> T {
        self.desk.member.map().read(reader)
    }

    /// Decides a command, once: under the caller's request when it gave a key.
    pub(super) async fn decide(&self, request: Option<Request>, command: Command) -> Answer<Outcome> {
        let outcome = match request {
            Some(request) => self.desk.under(request, command).await?,
            None => self.desk.once(command).await?,
        };
        match outcome {
            Outcome::Refused(refusal) => Err(refusal.into()),
            done => Ok(done),
        }
    }
}
