//! What every request shares: the vaults, the declared protections, the counters.

use std::sync::Arc;
use std::time::Duration;

use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::arriving::Arriving;
use super::auth::AssertionSecret;
use super::leaving::AnswerBytes;
use crate::limits;
use crate::serving::Serving;
use crate::telemetry::Metrics;

/// The token that a client must show. Never printed, wiped from memory when dropped.
pub struct Bearer(Zeroizing<Vec<u8>>);

impl Bearer {
    /// Takes a declared token, which was judged before: it is not blank and does not end in white space.
    #[must_use]
    pub fn new(token: String) -> Self {
        Self(Zeroizing::new(token.into_bytes()))
    }

    /// Whether `shown` is this token, in a time that does not depend on where they part.
    pub(super) fn is(&self, shown: &[u8]) -> bool {
        self.0.as_slice().ct_eq(shown).into()
    }
}

/// How long a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For the head of a request, and between two requests of a connection.
    pub head: Duration,
    /// For a body.
    pub body: Duration,
    /// For taking the next piece of an answer.
    pub answer: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { head: limits::HEADER_WAIT, body: limits::BODY_WAIT, answer: limits::ANSWER_WAIT }
    }
}

/// How much the surface holds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Connections.
    pub connections: usize,
    /// Connections from one address.
    pub connections_of_one: usize,
    /// Further connections on which only health is answered.
    pub spare_connections: usize,
    /// Bytes of answers that their clients have not taken.
    pub answer_bytes: usize,
    /// Requests whose bodies are arriving.
    pub arriving: usize,
    /// The same for one vault.
    pub arriving_of_vault: usize,
    /// Bytes of bodies, from their first byte to the answer; one vault has a quarter of them.
    pub bodies_bytes: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            connections: limits::CONNECTIONS,
            connections_of_one: limits::CONNECTIONS_OF_ONE,
            spare_connections: limits::SPARE_CONNECTIONS,
            answer_bytes: limits::ANSWER_BYTES,
            arriving: limits::ARRIVING,
            arriving_of_vault: limits::ARRIVING_PER_VAULT,
            bodies_bytes: limits::BODIES_BYTES,
        }
    }
}

/// What was declared about the HTTP surface.
#[derive(Default)]
pub struct AppOptions {
    /// Without one, the server is for this machine alone.
    pub bearer: Option<Bearer>,
    /// With one, every request on a vault needs an assertion for it.
    pub assertions: Option<AssertionSecret>,
    /// Whether `/metrics` is served.
    pub metrics: bool,
    /// Chain length from which `stats` says that the chain is long.
    pub audit_ceiling: Option<u64>,
    /// How word and meaning are joined: the label of the search counter.
    pub fusion: &'static str,
    /// How long a client may take.
    pub deadlines: Deadlines,
    /// How much is held at once.
    pub capacity: Capacity,
}

/// The shared state of every handler. Cheap to clone.
#[derive(Clone)]
pub(super) struct App(Arc<Inner>);

pub(super) struct Inner {
    pub(super) serving: Serving,
    pub(super) options: AppOptions,
    pub(super) metrics: Metrics,
    /// Requests that may be worked on at once.
    pub(super) places: Arc<Semaphore>,
    /// Answers that are held until their clients take them.
    pub(super) answers: AnswerBytes,
    /// Bodies that are held, and who is at work on which vault.
    pub(super) arriving: Arriving,
}

impl App {
    pub(super) fn new(serving: Serving, options: AppOptions) -> Self {
        let places = Arc::new(Semaphore::new(limits::REQUESTS));
        let answers = AnswerBytes::new(options.capacity.answer_bytes);
        let arriving = Arriving::new(options.capacity);
        Self(Arc::new(Inner { serving, options, metrics: Metrics::new(), places, answers, arriving }))
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
