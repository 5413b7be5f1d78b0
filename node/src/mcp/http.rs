//! Messages as bodies of `POST`: what to answer, without any HTTP library.
//!
//! Stateless: no session, no stream. Whoever mounts this checks the bearer, the assertion and the origin before, bounds
//! the body, carries the message out, and answers every other method with 405.

use serde_json::json;
use undercroft_palace::ErrorClass;

use super::failure::echo;
use super::protocol::Answer;
use super::version::VERSIONS;

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
