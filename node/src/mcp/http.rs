//! Messages as bodies of `POST`: how they are carried out among other requests, and what to answer.
//!
//! Stateless: no session, no stream, and no HTTP library. Whoever mounts this checks the bearer, the assertion and the
//! origin before, bounds the body, and answers every other method with 405.

use serde_json::json;
use undercroft_palace::ErrorClass;
use undercroft_vault::Vault;

use super::failure::echo;
use super::message::Message;
use super::protocol::{Answer, Server};
use super::step::Step;
use super::version::VERSIONS;
use crate::Result;
use crate::serving::{LongPlace, VaultHandle};

/// What to send back. A body is `application/json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body; `None` is an empty one.
    pub body: Option<String>,
}

/// Why a request with this header `MCP-Protocol-Version` is refused before its body is read; `None` lets it pass.
/// Clients send it once they have agreed on a version; without one, any may be meant.
#[must_use]
pub fn refuse_version(header: Option<&str>) -> Option<HttpAnswer> {
    let unknown = header.filter(|version| !VERSIONS.contains(version))?;
    Some(refused(&format!(
        "MCP-Protocol-Version {} is not spoken here; use one of {}",
        echo(unknown),
        VERSIONS.join(", ")
    )))
}

/// Carries one message out in its turn: what reads on the bounded pool, what takes long in the place that was taken for it
/// before the vault was opened, and a change
/// through the vault's writer, together with others that wait. No place of a reader is held while a change waits.
///
/// # Errors
/// When too many requests wait for the vault; a tool that fails is an answer.
pub async fn carry_out(
    handle: &VaultHandle,
    place: Option<LongPlace>,
    server: Server,
    message: Message,
) -> Result<HttpAnswer> {
    let begin = move |vault: &Vault| Ok(server.begin(vault, &message));
    let step = match place {
        Some(place) => handle.work(place, begin).await?,
        None => handle.read(begin).await?,
    };
    let answer = match step {
        Step::Done(answer) => {
            // A tool that fails is an answer, so nobody else sees the verdict that it carries. What a write comes to was
            // judged on its way here.
            if let Answer::Reply { failure: Some(failure), .. } = &answer
                && let Some(error) = failure.error()
            {
                handle.judged(error.clone());
            }
            answer
        }
        Step::Write(change, pending) => pending.finish(handle.write(change).await),
    };
    if let Answer::Reply { failure: Some(failure), .. } = &answer {
        tracing::error!(vault = handle.name(), class = %failure.class(), error = %failure, "a tool failed");
    }
    Ok(answer.into())
}

impl From<Answer> for HttpAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Accepted => Self { status: 202, body: None },
            Answer::Reply { reply, .. } => Self { status: 200, body: Some(reply) },
            Answer::Unreadable { reason, .. } => refused(&reason),
            Answer::Invalid(reply) => Self { status: 400, body: Some(reply) },
        }
    }
}

fn refused(message: &str) -> HttpAnswer {
    let body = json!({ "error": message, "class": ErrorClass::Invalid.as_str() });
    HttpAnswer { status: 400, body: Some(body.to_string()) }
}
